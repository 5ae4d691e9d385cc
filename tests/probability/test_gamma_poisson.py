"""The Gamma-Poisson family against negative binomials, integrals, enumeration and its own derivatives."""

from itertools import permutations, product

import numpy as np
import pytest
from count_cases import cluster_of, dense_parameters, numerical_derivative
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.integrate import quad
from scipy.special import gammaln
from scipy.stats import gamma, nbinom, poisson

from sparsemix.metrics import adjusted_rand
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.gamma_poisson import GammaPoisson, GammaPrior, log_base_measure
from sparsemix.probability.partition_moves import repair_round

N_FEATURES = 6
seeds = st.integers(0, 10_000)
families = st.builds(
    GammaPoisson,
    st.builds(GammaPrior, st.floats(0.01, 5.0), st.floats(0.01, 20.0)),
    n_features=st.just(N_FEATURES),
    weight_concentration=st.floats(0.01, 5.0),
)


def draw_rows(seed, n_rows=5, high=4):
    return np.random.default_rng(seed).integers(high, size=(n_rows, N_FEATURES)).astype(float)


def of_partition(family, size):
    return gammaln(size + family.weight_concentration) - gammaln(family.weight_concentration)


def evidence_of(family, rows):
    """Evidence of one cluster, without the factor of the prior on partitions."""
    sizes, counts = cluster_of(rows)
    return float(family.log_evidence(sizes, counts)[0]) - of_partition(family, sizes[0])


def predictive_of(family, row, rows):
    """Of a row after other rows; only what is not zero is handed over."""
    rows = np.asarray(rows, float).reshape(-1, family.n_features)
    seen, at = rows.sum(axis=0), np.flatnonzero(row)
    sizes, totals = np.array([float(len(rows))]), np.array([seen.sum()])
    return float(family.log_predictive(np.asarray(row, float)[at], seen[None, at], sizes, totals)[0])


@given(family=families, seed=seeds)
def test_predictive_is_negative_binomial_in_each_feature(family, seed):
    rows, (shape, rate) = draw_rows(seed), family.prior
    row, others = rows[0], rows[1:]
    direct = nbinom.logpmf(row, shape + others.sum(axis=0), (rate + 4) / (rate + 5)).sum()
    assert predictive_of(family, row, others) == pytest.approx(direct, rel=1e-9, abs=1e-9)


@given(family=families, seed=seeds, n_rows=st.integers(1, 5))
def test_predictive_is_the_difference_of_two_evidences(family, seed, n_rows):
    rows = draw_rows(seed, n_rows)
    difference = evidence_of(family, rows) - evidence_of(family, rows[:-1])
    found = predictive_of(family, rows[-1], rows[:-1]) - log_base_measure(rows[-1])
    assert found == pytest.approx(difference, rel=1e-9, abs=1e-9)


@given(family=families, seed=seeds)
def test_the_order_of_the_rows_changes_nothing(family, seed):
    rows = draw_rows(seed, 3)
    chains = [
        sum(predictive_of(family, rows[i], rows[list(order[:at])]) for at, i in enumerate(order))
        for order in permutations(range(3))
    ]
    assert_allclose(chains, evidence_of(family, rows) + log_base_measure(rows), rtol=1e-9, atol=1e-9)


@given(family=families)
def test_nothing_is_evidence_of_nothing(family):
    empty = sparse.csr_array((1, N_FEATURES))
    assert family.log_evidence(np.zeros(1), empty)[0] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("prior", [GammaPrior(0.5, 1.0), GammaPrior(1.0, 0.2), GammaPrior(4.0, 3.0)])
@pytest.mark.parametrize("counts", [(0,), (3,), (0, 5, 1), (2, 2, 2, 2)])
def test_evidence_is_the_integral_over_the_rate(prior, counts):
    density = gamma(prior.shape, scale=1.0 / prior.rate)

    def integrand(root):  # rate = root**4, which takes the pole of shape 1/2 away
        rate = root**4
        return poisson.pmf(counts, rate).prod() * density.pdf(rate) * 4.0 * root**3

    rows = np.array(counts, float)[:, None]
    found = evidence_of(GammaPoisson(prior, 1, 1.0), rows) + log_base_measure(rows)
    assert np.exp(found) == pytest.approx(quad(integrand, 0.0, 4.0, epsabs=1e-13)[0], rel=1e-7)


@pytest.mark.parametrize("prior", [GammaPrior(0.5, 1.0), GammaPrior(2.0, 3.0)])
def test_predictive_sums_to_one(prior):
    family = GammaPoisson(prior, 2, 1.0)
    rows = [[1, 0], [2, 3]]
    total = sum(np.exp(predictive_of(family, row, rows)) for row in product(range(60), repeat=2))
    assert total == pytest.approx(1.0, abs=1e-9)


@given(family=families, seed=seeds)
def test_natural_parameters_score_rows_at_the_posterior_means(family, seed):
    rows, (shape, rate) = draw_rows(seed, high=2), family.prior
    sizes, counts = cluster_of(rows)
    means = (rows.sum(axis=0) + shape) / (5 + rate)
    row = draw_rows(seed + 1, 1)[0]
    log_rates, default, constants = family.natural_parameters(sizes, counts)
    direct = poisson.logpmf(row, means).sum() - log_base_measure(row)
    score = constants[0] + dense_parameters(log_rates, default, N_FEATURES) @ row
    assert score == pytest.approx(direct + np.log(5 + family.weight_concentration), rel=1e-9, abs=1e-9)
    assert_array_equal(log_rates.indices, counts.indices)


@given(family=families, seed=seeds, n_rows=st.integers(1, 5))
def test_a_member_does_not_see_itself(family, seed, n_rows):
    """A cluster of equal rows: without the one that asks, it is a cluster of one row less."""
    row, (shape, rate) = draw_rows(seed, 1)[0], family.prior
    sizes, counts = cluster_of(np.tile(row, (n_rows, 1)))
    log_rates, default, constants = family.parameters_for_members(sizes, counts, row[counts.indices])
    score = constants[0] + dense_parameters(log_rates, default, N_FEATURES) @ row
    means = ((n_rows - 1) * row + shape) / (n_rows - 1 + rate)
    direct = poisson.logpmf(row, means).sum() - log_base_measure(row)
    assert score == pytest.approx(direct + np.log(n_rows - 1 + family.weight_concentration))


@given(family=families, seed=seeds, feature=st.integers(0, N_FEATURES - 1))
def test_expected_parameters_are_the_derivative_of_the_evidence(family, seed, feature):
    """Central difference with step 1e-4 at counts from 1 on: the error is below 1e-8, the rounding below 1e-9."""
    sizes, counts = cluster_of(draw_rows(seed) + 1.0)
    expected = family.expected_natural_parameters(sizes, counts)
    slope = numerical_derivative(
        lambda c: family.log_evidence(sizes, sparse.csr_array(c[None]))[0], counts.toarray()[0], feature
    )
    assert dense_parameters(*expected[:2], N_FEATURES)[feature] == pytest.approx(slope, abs=2e-7)


def test_expected_parameters_are_the_mean_over_the_posterior():
    family = GammaPoisson(GammaPrior(0.5, 2.0), 3, 1.0)
    sizes, counts = cluster_of([[1, 0, 4], [0, 0, 3]])
    expected = family.expected_natural_parameters(sizes, counts)
    draws = np.log(np.random.default_rng(0).gamma(np.array([1.5, 0.5, 7.5]), 1.0 / 4.0, (200_000, 3)))
    error = draws.std(axis=0) / np.sqrt(len(draws))
    found = dense_parameters(*expected[:2], 3)
    assert np.all(np.abs(found - draws.mean(axis=0)) < 5 * error)
    assert expected.log_partition[0] == pytest.approx(np.exp(found).sum())


def test_the_approximation_by_expected_parameters_sums_to_one():
    family = GammaPoisson(GammaPrior(0.5, 2.0), 2, 1.0)
    expected = family.expected_natural_parameters(*cluster_of([[1, 0], [2, 0]]))
    theta = dense_parameters(*expected[:2], 2)
    rows = np.array(list(product(range(40), repeat=2)))
    log_base = np.array([log_base_measure(row) for row in rows])
    assert np.exp(rows @ theta - expected.log_partition + log_base).sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    "prior", [GammaPrior(1e-8, 1e-8), GammaPrior(1e8, 1e8), GammaPrior(1e-8, 1e8), GammaPrior(1e8, 1e-8)]
)
@pytest.mark.parametrize("n_features", [1, 1_000_000])
def test_extremes_are_finite(prior, n_features):
    family = GammaPoisson(prior, n_features, 1.0)
    sizes, totals = np.array([0.0, 1.0, 1e6]), np.array([0.0, 0.0, 1e12])
    counts = sparse.csr_array(np.array([[0.0], [0.0], [1e12]]))
    assert np.isfinite(family.log_evidence(sizes, counts)).all()
    assert np.isfinite(np.concatenate([counts.data, *family.natural_parameters(sizes, counts)[1:]])).all()
    expected = family.expected_natural_parameters(sizes, counts)
    assert np.isfinite(np.concatenate([expected.weights.data, *expected[1:]])).all()
    for value in (1.0, 1e6):
        held = counts.toarray()
        assert np.isfinite(family.log_predictive(np.array([value]), held, sizes, totals)).all()
    nothing = family.log_predictive(np.empty(0), np.empty((3, 0)), sizes, totals)
    assert np.isfinite(nothing).all()
    assert np.all(nothing <= 0.0)


def test_a_predictive_at_a_million_rows_keeps_its_digits():
    """A Poisson of rate one in the limit; the gap is of the order of one over the number of rows."""
    family = GammaPoisson(GammaPrior(1.0, 1.0), 1, 1.0)
    values, rows = np.array([3.0]), 1e9
    found = family.log_predictive(values, np.array([[rows]]), np.array([rows]), np.array([rows]))
    assert found[0] == pytest.approx(poisson.logpmf(3, 1.0), abs=1e-8)


@pytest.mark.parametrize("seed", range(3))
def test_the_moves_repair_clusters_of_events(seed):
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.arange(3), 40)
    rates = np.where(np.arange(12) % 3 == topics[:, None], 1.5, 0.05)
    rows = sparse.csr_array(rng.poisson(rates).astype(float))
    labels = np.where(topics == 2, 1, topics)
    family = GammaPoisson(GammaPrior(0.3, 1.0), 12, 1.0)
    before = family.log_evidence(np.bincount(labels, minlength=3) * 1.0, cluster_counts(rows, labels, 3))
    labels, _ = repair_round(rows, labels, 3, family, rng, np.ones(3, bool))
    after = family.log_evidence(np.bincount(labels, minlength=3) * 1.0, cluster_counts(rows, labels, 3))
    assert after.sum() > before.sum()
    assert adjusted_rand(topics, labels) > 0.96
