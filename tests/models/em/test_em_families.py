"""What the two families say of words and keywords: M steps, priors, posteriors and divergences."""

import numpy as np
import pytest
from em_cases import (
    FLAT,
    NAMES,
    Dense,
    dense_of,
    draw_rows,
    draw_seeds,
    draw_statistics,
    log_joint_of,
    log_prior,
    maximize,
    rows_of,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix.models.em import engine, equations
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Prior, Statistics

seeds = st.integers(0, 10_000)
names = pytest.mark.parametrize("name", NAMES)
smoothings = st.sampled_from([0.0, 0.1, 1.0])
class_weights = st.sampled_from([0.0, 0.5])


def draw_case(seed, smoothing, class_weight, *, seeded, extremes):
    """Statistics and a prior; `extremes` are an empty component, a feature never seen and one seen always."""
    rng = np.random.default_rng(seed)
    statistics = draw_statistics(rng)
    if extremes:
        statistics.counts[0] = 0.0
        statistics.counts[1] = statistics.sizes
        statistics.sizes[2], statistics.counts[:, 2] = 0.0, 0.0
    return statistics, Prior(smoothing, class_weight, draw_seeds(rng) if seeded else None)


cases = st.builds(
    draw_case, seeds, smoothings, class_weights, seeded=st.booleans(), extremes=st.booleans()
)  # fmt: skip


@names
@given(case=cases)
def test_the_m_step_counts_and_divides(name, case):
    statistics, prior = case
    found = dense_of(name, FAMILIES[name].maximize(*case))
    expected = maximize(name, statistics.sizes, statistics.counts.T, prior)
    assert_allclose(found.weights, expected.weights, rtol=1e-12)
    assert_allclose(found.profiles, expected.profiles, rtol=1e-11, atol=1e-15)
    if name == "multinomial":
        assert_allclose(found.profiles.sum(axis=1), 1.0, rtol=1e-12)


@names
@given(case=cases)
def test_the_m_step_leaves_the_statistics_alone(name, case):
    statistics, prior = case
    sizes, counts = statistics.sizes.copy(), statistics.counts.copy()
    FAMILIES[name].maximize(statistics, prior)
    FAMILIES[name].betas(statistics, prior)
    assert_array_equal(statistics.sizes, sizes)
    assert_array_equal(statistics.counts, counts)


def expected_objective(name, statistics, dense, prior):
    """Expected log likelihood under the statistics, plus the log prior: what an M step is to maximise."""
    sizes, counts = statistics.sizes, statistics.counts.T
    rows_alone = equations.log_prior(
        dense.weights, sizes
    )  # sum_k E[c(k)] log p(k), as a prior's pseudo-counts
    if name == "bernoulli":
        off = sizes[:, None] - counts
        features = equations.bernoulli_log_prior(dense.profiles, 0.0, counts)
        features += equations.bernoulli_log_prior(1.0 - dense.profiles, 0.0, off)
    else:
        features = equations.multinomial_log_prior(dense.profiles, counts)
    return rows_alone + features + log_prior(name, dense, prior)


def nudged(rng, name, dense, scale):
    """A mixture near this one."""
    weights = dense.weights * np.exp(scale * rng.standard_normal(3))
    noise = np.exp(scale * rng.standard_normal(dense.profiles.shape))
    if name == "bernoulli":
        profiles = dense.profiles * noise / (dense.profiles * noise + 1.0 - dense.profiles)
    else:
        profiles = dense.profiles * noise / (dense.profiles * noise).sum(axis=1, keepdims=True)
    return Dense(weights / weights.sum(), profiles)


@names
@pytest.mark.parametrize("scale", [1e-3, 0.1, 1.0])
@given(case=cases)
def test_nothing_near_the_m_step_is_better(name, scale, case):
    statistics, prior = case
    rng = np.random.default_rng(0)
    best = dense_of(name, FAMILIES[name].maximize(statistics, prior))
    highest = expected_objective(name, statistics, best, prior)
    for _ in range(10):
        other = nudged(rng, name, best, scale)
        assert expected_objective(name, statistics, other, prior) <= highest + 1e-9


@names
@given(case=cases)
def test_log_prior(name, case):
    prior = case[1]
    parameters = FAMILIES[name].maximize(*case)
    found = engine.log_prior(FAMILIES[name], parameters, prior)
    assert found == pytest.approx(log_prior(name, dense_of(name, parameters), prior), abs=1e-9)


@names
def test_a_flat_prior_adds_nothing(name):
    statistics, _ = draw_case(0, 0.0, 0.0, seeded=False, extremes=True)
    parameters = FAMILIES[name].maximize(statistics, FLAT)
    assert engine.log_prior(FAMILIES[name], parameters, FLAT) == 0.0
    assert FLAT.is_flat
    for prior in (Prior(0.1, 0.0), Prior(0.0, 0.1), Prior(0.0, 0.0, draw_seeds(np.random.default_rng(0)))):
        assert not prior.is_flat


@names
@given(case=cases)
def test_the_means_of_the_betas_are_the_profiles(name, case):
    alpha, beta = FAMILIES[name].betas(*case)
    profiles = FAMILIES[name].profiles(FAMILIES[name].maximize(*case)).T
    assert alpha.shape == beta.shape == profiles.shape
    assert np.all((alpha >= 0.0) & (beta >= 0.0))
    known = alpha + beta > 0.0
    assert_allclose(
        (alpha / np.where(known, alpha + beta, 1.0))[known], profiles[known], rtol=1e-11, atol=1e-15
    )


def test_betas_hold_what_was_seen():
    # Four rows; the first feature in three of them, smoothing one half.
    statistics = Statistics(np.array([4.0]), np.array([[3.0], [1.0]]))
    alpha, beta = FAMILIES["bernoulli"].betas(statistics, Prior(0.5, 0.0))
    assert_array_equal(np.hstack([alpha, beta]), [[3.5, 1.5], [1.5, 3.5]])
    # Four words, of which three the first: the marginals of Dirichlet(3.5, 1.5).
    alpha, beta = FAMILIES["multinomial"].betas(statistics, Prior(0.5, 0.0))
    assert_array_equal(np.hstack([alpha, beta]), [[3.5, 1.5], [1.5, 3.5]])
    # Seeds are rows that hold the feature, or words.
    seeded = Prior(0.5, 0.0, sparse.csr_array(np.array([[2.0], [0.0]])))
    alpha, beta = FAMILIES["bernoulli"].betas(statistics, seeded)
    assert_array_equal(np.hstack([alpha, beta]), [[5.5, 1.5], [1.5, 3.5]])
    alpha, beta = FAMILIES["multinomial"].betas(statistics, seeded)
    assert_array_equal(np.hstack([alpha, beta]), [[5.5, 1.5], [1.5, 5.5]])


def test_counts_that_exceed_the_rows_by_rounding_are_features_held_always():
    statistics = Statistics(np.array([1.0]), np.array([[1.0 + 2e-16], [0.5]]))
    parameters = FAMILIES["bernoulli"].maximize(statistics, FLAT)
    assert_array_equal(FAMILIES["bernoulli"].profiles(parameters), [[1.0, 0.5]])


def test_certain_features_are_listed():
    statistics, prior = draw_case(0, 0.0, 0.0, seeded=False, extremes=True)
    certain = FAMILIES["bernoulli"].maximize(statistics, prior).certain
    expected = np.zeros((6, 3))
    expected[1, :2] = 1.0
    assert_array_equal(certain.pattern.toarray(), expected)
    assert_array_equal(certain.n_required, [1.0, 1.0, 0.0])
    assert FAMILIES["bernoulli"].maximize(statistics, Prior(0.1, 0.0)).certain is None
    assert FAMILIES["multinomial"].maximize(statistics, prior).certain is None


def test_free_parameters():
    # Three components, five features: two weights, and four or five probabilities a component.
    assert FAMILIES["multinomial"].n_parameters(3, 5) == 2 + 3 * 4
    assert FAMILIES["bernoulli"].n_parameters(3, 5) == 2 + 3 * 5
    assert FAMILIES["multinomial"].n_parameters(1, 1) == 0


@names
def test_names(name):
    assert FAMILIES[name].name == name


def own_profile(name, row):
    """The profile that makes the row most likely."""
    return row / row.sum() if name == "multinomial" else row


@names
@given(seed=seeds)
def test_the_highest_probability_is_that_under_the_own_profile(name, seed):
    rows = draw_rows(np.random.default_rng(seed), name)
    found = FAMILIES[name].highest(sparse.csr_array(rows))
    for row, highest in zip(rows, found, strict=True):
        best = own_profile(name, row) if row.any() else np.zeros(6)
        assert highest == pytest.approx(
            log_joint_of(name, Dense(np.ones(1), best[None]), row)[0, 0], abs=1e-9
        )


@names
def test_the_highest_probabilities_of_no_rows(name):
    assert FAMILIES[name].highest(sparse.csr_array((0, 3))).shape == (0,)


@names
def test_rows_of_the_cases(name):
    dense = draw_rows(np.random.default_rng(0), name)
    rows = rows_of(dense)
    assert_array_equal(rows.to_csr(6).toarray(), dense)
    assert (dense.max() == 1.0) == (name == "bernoulli")
