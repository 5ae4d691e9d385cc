"""Runs of EM: objectives that never fall, fixed points, labels, and rows or components that have gone astray."""

import numpy as np
import pytest
from em_cases import (
    APART,
    FLAT,
    IMPOSSIBLE,
    NAMES,
    assert_same_bits,
    dense_of,
    draw_labels,
    draw_rows,
    draw_seeds,
    draw_statistics,
    expect,
    log_joint_of,
    log_prior,
    maximize,
    rows_of,
    topic_rows,
)
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.naive_bayes import BernoulliNB, MultinomialNB

from sparsemix.metrics import adjusted_rand
from sparsemix.models.em import engine, equations
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Prior, Statistics

seeds = st.integers(0, 10_000)
names = pytest.mark.parametrize("name", NAMES)
ways = pytest.mark.parametrize("is_hard", [True, False], ids=["hard", "soft"])


def random_start(rng, rows, n_components, n_features):
    """Statistics of random responsibilities; known rows are where they belong."""
    shares = equations.clamp(rng.dirichlet(np.ones(n_components), rows.n_rows), rows.labels)
    start = Statistics.zeros(n_components, n_features)
    engine.add_expected(start, rows, shares)
    return start


def run(rows, start, name, prior=FLAT, **loop):
    return engine.run(lambda: [rows], start, FAMILIES[name], prior, engine.Loop(**loop))


@names
def test_whole_runs_have_the_same_bits_on_more_threads(name):
    rng = np.random.default_rng(1)
    rows = rows_of(topic_rows(rng, name)[0])
    start = random_start(rng, rows, 5, 9)
    alone, *others = (run(rows, start, name, Prior(0.1, 0.1), n_threads=n, max_iter=30) for n in (1, 2, 3))
    for other in others:
        assert other.trace == alone.trace
        assert_same_bits(other.statistics, alone.statistics)


def draw_prior(rng, smoothing, class_weight, seeded, n_components, n_features):
    return Prior(smoothing, class_weight, draw_seeds(rng, n_components, n_features) if seeded else None)


@names
@ways
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@given(
    seed=seeds,
    class_weight=st.sampled_from([0.0, 0.5, 2.0]),
    seeded=st.booleans(),
    share_known=st.sampled_from([0.0, 0.3]),
    unlabeled_weight=st.sampled_from([1.0, 0.3]),
    n_components=st.integers(1, 5),
)
@settings(max_examples=25)
def test_the_objective_never_falls(
    name, is_hard, smoothing, seed, class_weight, seeded, share_known, unlabeled_weight, n_components
):
    rng = np.random.default_rng(seed)
    dense = draw_rows(rng, name, 25)
    labels = draw_labels(rng, 25, n_components, share_known)
    rows = rows_of(dense, labels, np.where(labels < 0, unlabeled_weight, 1.0))
    prior = draw_prior(rng, smoothing, class_weight, seeded, n_components, 6)
    start = random_start(rng, rows, n_components, 6)
    fit = run(rows, start, name, prior, is_hard=is_hard, max_iter=25, tol=0.0)
    trace = np.array(fit.trace)
    assert not np.isnan(trace).any()
    assert_array_equal(fit.n_impossible, 0)
    assert np.all(np.diff(trace) >= -1e-9 * np.abs(trace[:-1]))
    # The last entry is the objective of the parameters that are handed back.
    last = dense_of(name, fit.parameters)
    joint, responsibilities = expect(name, last, dense, labels, is_hard=is_hard)
    expected = equations.lower_bound(joint, responsibilities, rows.row_weights)
    assert fit.log_likelihood == pytest.approx(expected, abs=1e-8)
    assert trace[-1] == pytest.approx(expected + log_prior(name, last, prior), abs=1e-8)
    assert_same_parameters(fit.parameters, FAMILIES[name].maximize(fit.statistics, prior))


def assert_same_parameters(one, other):
    assert_array_equal(one.log_weights, other.log_weights)
    assert_array_equal(one.constants, other.constants)
    assert_array_equal(one.feature_weights, other.feature_weights)


@names
@given(seed=seeds)
@settings(max_examples=10)
def test_the_objective_of_soft_em_without_a_prior_is_the_likelihood(name, seed):
    rng = np.random.default_rng(seed)
    dense = draw_rows(rng, name, 25)
    rows = rows_of(dense)
    fit = run(rows, random_start(rng, rows, 3, 6), name, max_iter=5, tol=0.0)
    joint = log_joint_of(name, dense_of(name, fit.parameters), dense)
    assert fit.trace[-1] == pytest.approx(equations.log_likelihood(joint, np.ones(25)))


@names
@ways
@pytest.mark.parametrize("smoothing", [0.0, 0.5])
def test_a_fixed_point_is_reached(name, is_hard, smoothing):
    rng = np.random.default_rng(3)
    rows, prior = rows_of(topic_rows(rng, name)[0]), Prior(smoothing, 0.0)
    start = random_start(rng, rows, 3, 9)
    fit = run(rows, start, name, prior, is_hard=is_hard, max_iter=3_000, tol=0.0)
    assert fit.is_converged
    again = engine.summarize([rows], fit.parameters, is_hard=is_hard)
    assert_allclose(again.sizes, fit.statistics.sizes, atol=1e-4)
    assert_allclose(again.counts, fit.statistics.counts, atol=1e-4)


@names
@ways
def test_topics_are_found(name, is_hard):
    dense, topics = topic_rows(np.random.default_rng(4), name, 300)
    rows = rows_of(dense)
    fits = [
        run(
            rows,
            random_start(np.random.default_rng(s), rows, 3, 9),
            name,
            Prior(0.1, 0.0),
            is_hard=is_hard,
        )
        for s in range(10)
    ]
    best = max(fits, key=lambda fit: fit.trace[-1])
    assert adjusted_rand(topics, engine.assignments([rows], best.parameters)) > 0.8


@names
def test_the_loop_stops_by_tolerance_or_number(name):
    rng = np.random.default_rng(0)
    rows = rows_of(draw_rows(rng, name, 25), row_weights=np.full(25, 2.0))
    start = random_start(rng, rows, 3, 6)
    whole = run(rows, start, name, max_iter=400, tol=0.0).trace
    gains = np.diff(whole)
    tol = gains[:5].min() / 50.0 * (1 - 1e-9)  # nats per unit of weight: of 25 rows that count twice
    fit = run(rows, start, name, max_iter=400, tol=tol)
    assert fit.is_converged is True
    assert len(fit.trace) == 2 + int(np.argmax(gains <= 50.0 * tol)) > 6
    cut = run(rows, start, name, max_iter=3, tol=tol)
    assert cut.is_converged is False
    assert cut.trace == whole[:3]


@names
def test_an_onlooker_may_end_the_run(name):
    rng, seen = np.random.default_rng(0), []

    def look(fit):
        seen.append((len(fit.trace), fit.trace[-1]))
        if len(seen) == 3:
            raise KeyboardInterrupt

    rows = rows_of(draw_rows(rng, name, 25))
    start = random_start(rng, rows, 3, 6)
    with pytest.raises(KeyboardInterrupt):
        engine.run(lambda: [rows], start, FAMILIES[name], FLAT, engine.Loop(tol=0.0), look)
    assert seen == list(enumerate(run(rows, start, name, max_iter=3, tol=0.0).trace, start=1))


@names
@pytest.mark.parametrize("smoothing", [1e-3, 0.1, 1.0])
def test_rows_that_are_all_known_are_naive_bayes(name, smoothing):
    rng = np.random.default_rng(5)
    dense, topics = topic_rows(rng, name)
    rows = rows_of(dense, topics)
    fit = run(rows, random_start(rng, rows, 3, 9), name, Prior(smoothing, 0.0), max_iter=3)
    bayes = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}[name](alpha=smoothing).fit(dense, topics)
    assert_allclose(fit.parameters.log_weights, bayes.class_log_prior_, rtol=1e-12)
    profiles = FAMILIES[name].profiles(fit.parameters)
    assert_allclose(np.log(profiles), bayes.feature_log_prob_, rtol=1e-12, atol=1e-12)
    new = draw_rows(rng, name, 20, 9)
    found, _ = engine.responsibilities_of(rows_of(new), fit.parameters)
    assert_allclose(found, bayes.predict_proba(new), rtol=1e-9, atol=1e-15)
    assert_array_equal(engine.assignments([rows_of(new)], fit.parameters), bayes.predict(new))


@names
def test_known_rows_alone_count_where_the_others_weigh_nothing(name):
    rng = np.random.default_rng(6)
    dense, topics = topic_rows(rng, name)
    labels = np.where(np.arange(60) % 4, -1, topics)
    rows = rows_of(dense, labels, np.where(labels < 0, 0.0, 1.0))
    fit = run(rows, random_start(rng, rows, 3, 9), name, Prior(0.5, 0.0))
    known = labels >= 0
    alone = rows_of(dense[known], topics[known])
    expected = run(alone, random_start(rng, alone, 3, 9), name, Prior(0.5, 0.0))
    assert_array_equal(fit.parameters.feature_weights, expected.parameters.feature_weights)
    assert fit.trace[-1] == pytest.approx(expected.trace[-1])


@names
@ways
def test_em_recovers_from_impossible_rows(name, is_hard):
    start = Statistics(APART.weights, (APART.weights[:, None] * APART.profiles).T)
    told = []
    fit = engine.run(
        lambda: [rows_of(IMPOSSIBLE)], start, FAMILIES[name], FLAT, engine.Loop(is_hard=is_hard),
        lambda fit: told.append((fit.n_impossible, fit.trace[-1])),
    )  # fmt: skip
    assert told[0] == (1, -np.inf)
    assert fit.n_impossible == 0
    assert np.isfinite(fit.log_likelihood)
    assert fit.is_converged


@names
@ways
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_more_components_than_rows(name, is_hard, smoothing):
    rng = np.random.default_rng(8)
    rows = rows_of(draw_rows(rng, name, 4) + np.eye(4, 6) * (name == "multinomial"))
    start = random_start(rng, rows, 9, 6)
    fit = run(rows, start, name, Prior(smoothing, 0.0), is_hard=is_hard, max_iter=50, tol=0.0)
    assert not np.isnan(fit.trace).any()
    assert np.all(np.diff(fit.trace) >= -1e-9)
    assert np.exp(fit.parameters.log_weights).sum() == pytest.approx(1.0)
    found, _ = engine.responsibilities_of(rows, fit.parameters)
    assert_allclose(found.sum(axis=1), 1.0)


@names
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@ways
def test_a_component_that_died_stays_dead_and_harmless(name, smoothing, is_hard):
    rng = np.random.default_rng(9)
    rows = rows_of(draw_rows(rng, name))
    start = random_start(rng, rows, 3, 6)
    start.sizes[1], start.counts[:, 1] = 0.0, 0.0
    fit = run(rows, start, name, Prior(smoothing, 0.0), is_hard=is_hard, max_iter=10, tol=0.0)
    assert fit.parameters.log_weights[1] == -np.inf
    assert np.all(np.isfinite(fit.trace))
    assert 1 not in engine.assignments([rows], fit.parameters)


@names
def test_the_input_is_not_changed(name):
    rng = np.random.default_rng(0)
    rows = rows_of(draw_rows(rng, name), draw_labels(rng, 12, 3))
    start = draw_statistics(rng)
    before = [array.copy() for array in (*rows[:5], start.sizes, start.counts)]
    run(rows, start, name, Prior(0.1, 0.1), max_iter=3)
    for now, then in zip((*rows[:5], start.sizes, start.counts), before, strict=True):
        assert_array_equal(now, then)


@names
def test_one_epoch_is_an_e_step_and_an_m_step(name):
    rng = np.random.default_rng(0)
    dense_rows = draw_rows(rng, name)
    rows, prior = rows_of(dense_rows), Prior(0.5, 0.5)
    start = draw_statistics(rng)
    first = maximize(name, start.sizes, start.counts.T, prior)
    _, shares = expect(name, first, dense_rows, rows.labels, is_hard=False)
    sizes = equations.expected_sizes(shares, np.ones(12))
    second = maximize(name, sizes, equations.expected_counts(dense_rows, shares, np.ones(12)), prior)
    fit = run(rows, start, name, prior, max_iter=2, tol=0.0)
    found = dense_of(name, fit.parameters)
    assert_allclose(found.weights, second.weights)
    assert_allclose(found.profiles, second.profiles)
