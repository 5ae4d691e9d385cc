"""Uncollapsed sampling: its posterior by enumeration, its statistics, and the estimator around it."""

import numpy as np
import pytest
from gibbs_cases import FAMILIES, TINY, all_assignments, setting
from gibbs_models import hash_of, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

import sparsemix as sm
from sparsemix.models.hashed_gibbs import equations, uncollapsed_kernels
from sparsemix.models.hashed_gibbs.uncollapsed_chain import UncollapsedChain

pytestmark = pytest.mark.slow


def partition(assigned):
    """The assignment without the labels."""
    seen = {}
    return tuple(seen.setdefault(int(k), len(seen)) for k in assigned)


def chain_of(case, seed=0, n_threads=1):
    return UncollapsedChain(case.rows, case.prior, case.n_clusters, n_threads, np.random.SeedSequence(seed))


@pytest.mark.parametrize("family", FAMILIES)
def test_long_chain_visits_partitions_by_their_posterior(family):
    case = setting(family, dense=TINY[[0, 1, 2, 4]])
    chain, n_sweeps = chain_of(case, seed=3), 30_000
    chain.start(np.full(4, -1))
    visits = dict.fromkeys(map(partition, all_assignments(case)), 0.0)
    for _ in range(n_sweeps):
        chain.sweep()
        visits[partition(chain.assigned)] += 1.0 / n_sweeps
    states = all_assignments(case)
    joints = np.array([equations.log_joint(case.prior, case.dense, each, case.n_clusters) for each in states])
    for each, probability in zip(states, np.exp(joints - logsumexp(joints)), strict=True):
        visits[partition(each)] -= probability
    assert 0.5 * sum(map(abs, visits.values())) < 0.02


@pytest.mark.parametrize("family", FAMILIES)
def test_log_joint_and_statistics_are_those_of_the_assignment(family):
    dense = np.random.default_rng(1).poisson(0.7, (40, 12))
    case = setting(family, dense=dense, n_clusters=5)
    chain = chain_of(case)
    chain.start(np.full(40, -1))
    for _ in range(5):
        done = chain.sweep()
    sizes = np.bincount(chain.assigned, minlength=5)
    counts = np.array([case.dense[chain.assigned == k].sum(axis=0) for k in range(5)])
    assert_array_equal(chain._sizes, sizes)
    assert_array_equal(chain._counts, counts.T)
    assert done.n_clusters == np.count_nonzero(sizes)
    if family != "bernoulli":
        assert_array_equal(chain._totals, counts.sum(axis=1))
    expected = equations.log_joint(case.prior, case.dense, chain.assigned, 5)
    start = np.zeros(40, np.int64)
    other = chain_of(case)
    other.start(start)
    difference = expected - equations.log_joint(case.prior, case.dense, start, 5)
    assert_allclose(done.log_joint - other.log_joint(), difference, rtol=1e-9)


def test_log_gammas_have_the_distribution_also_where_floats_end():
    rng, n = np.random.default_rng(0), 200_000
    shape, counts = 0.02, np.zeros((1, n), np.int32)
    logs = np.empty((1, n), np.float32)
    gammas = rng.standard_gamma(np.full((1, n), shape + 1.0, np.float32), dtype=np.float32)
    exponentials = rng.standard_exponential((1, n), dtype=np.float32)
    uncollapsed_kernels.log_gammas(gammas, exponentials, shape, counts, logs)
    assert np.isfinite(logs).all()
    assert logs.min() < -400.0  # nothing that a float holds
    # digamma and trigamma of the shape
    assert_allclose(logs.mean(), -50.54478937, rtol=0.01)
    assert_allclose(logs.var(), 2501.59, rtol=0.03)


@pytest.mark.parametrize("family", FAMILIES)
def test_threads_change_nothing(family, monkeypatch):
    monkeypatch.setattr("sparsemix.models.hashed_gibbs.uncollapsed_chain.ROWS_PER_BLOCK", 7)
    monkeypatch.setattr("sparsemix.models.hashed_gibbs.uncollapsed_chain.CELLS_PER_BLOCK", 16)
    rows, _ = table_of(family)
    options = {"family": family, "n_sweeps": 6, "burn_in": 3, "random_state": 1}
    one, three = (sm.UncollapsedGibbsMixture(4, n_jobs=n, **options).fit(rows) for n in (1, 3))
    assert_array_equal(one.draws_, three.draws_)
    assert_array_equal(one.log_joint_, three.log_joint_)


@pytest.mark.parametrize("family", FAMILIES)
def test_topics_are_found_and_questions_answered(family, tmp_path):
    rows, topics = table_of(family)
    model = sm.UncollapsedGibbsMixture(3, family=family, n_chains=2, random_state=2).fit(rows)
    assert sm.metrics.adjusted_rand(topics, model.labels_) > 0.8
    assert model.acceptance_rate_ == 1.0
    assert model.draws_.shape == (10, rows.shape[0])
    assert sm.metrics.adjusted_rand(topics, model.predict(rows)) > 0.8
    sm.save_model(model, tmp_path / "m.smx")
    loaded = sm.load_model(tmp_path / "m.smx")
    assert type(loaded) is sm.UncollapsedGibbsMixture
    assert hash_of(loaded) == hash_of(model)
    assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))


def test_given_clusters_are_the_start_and_files_say_random(tmp_path):
    rows, topics = table_of()
    model = sm.UncollapsedGibbsMixture(3, init=topics, n_sweeps=3, burn_in=0, random_state=0).fit(rows)
    assert sm.metrics.adjusted_rand(topics, model.labels_) > 0.9
    sm.save_model(model, tmp_path / "m.smx")
    assert sm.load_model(tmp_path / "m.smx").init == "random"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"init": "sequential"}, "init.*'random'"),
        ({"n_components": 5_000_000}, "HashedGibbsMixture"),
        ({"family": "gauss"}, "family"),
        ({"weight_concentration": 0.0}, "weight_concentration"),
        ({"n_jobs": 0}, "n_jobs"),
    ],
)
def test_wrong_parameters_are_named(changes, message):
    rows = np.ones((3, 300), int)
    with pytest.raises(sm.ParameterError, match=message):
        sm.UncollapsedGibbsMixture(**{"n_components": 2} | changes).fit(rows)
