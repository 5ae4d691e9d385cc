"""Evidence, predictive and expected parameters against Beta functions, integrals, enumeration and derivatives."""

from itertools import permutations, product

import numpy as np
import pytest
from count_cases import cluster_of, dense_parameters, numerical_derivative
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.integrate import quad
from scipy.special import betaln, gammaln
from scipy.stats import betabinom

from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior

families = st.builds(
    BetaBernoulli,
    st.builds(BetaPrior, st.floats(0.01, 5.0), st.floats(0.01, 20.0)),
    n_features=st.just(6),
    weight_concentration=st.floats(0.01, 5.0),
)


def draw_counts(seed, n_clusters=4, n_columns=5, *, whole=False):
    """Sizes and counts; the last cluster is empty, and the sixth feature is in no column."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_clusters).astype(float) if whole else rng.gamma(2.0, 5.0, n_clusters)
    counts = (
        sizes[:, None] * rng.random((n_clusters, n_columns)) * rng.integers(2, size=(n_clusters, n_columns))
    )
    sizes[-1], counts[-1] = 0.0, 0.0
    return sizes, np.floor(counts) if whole else counts


def dense_evidence(family, size, counts):
    a, b = family.prior
    every = np.append(counts, np.zeros(family.n_features - counts.size))
    gamma = family.weight_concentration
    return (betaln(every + a, size - every + b) - betaln(a, b)).sum() + gammaln(size + gamma) - gammaln(gamma)


@given(family=families, seed=st.integers(0, 10_000))
def test_evidence_equals_the_definition(family, seed):
    sizes, counts = draw_counts(seed)
    found = family.log_evidence(sizes, sparse.csr_array(counts))
    expected = [dense_evidence(family, size, own) for size, own in zip(sizes, counts, strict=True)]
    assert_allclose(found, expected, rtol=1e-9, atol=1e-9)
    assert found[-1] == pytest.approx(0.0, abs=1e-12)  # nothing is evidence of nothing


@given(family=families, seed=st.integers(0, 10_000))
def test_evidence_is_the_product_of_the_predictions(family, seed):
    """Row by row: weight of the cluster times the probability of each feature, given the rows before."""
    rng, (a, b) = np.random.default_rng(seed), family.prior
    rows, seen, expected = rng.integers(2, size=(7, 6)), np.zeros(6), 0.0
    for n, row in enumerate(rows):
        mean = (seen + a) / (n + a + b)
        expected += np.log(n + family.weight_concentration)
        expected += np.log(np.where(row == 1, mean, 1 - mean)).sum()
        seen += row
    found = family.log_evidence(np.array([7.0]), sparse.csr_array(seen[None]))
    assert found[0] == pytest.approx(expected)


def test_stored_zeros_change_nothing():
    family = BetaBernoulli(BetaPrior(0.3, 2.0), 6, 1.0)
    stored = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 3]), np.array([0, 2])), shape=(1, 6))
    plain = sparse.csr_array((np.array([2.0]), np.array([3]), np.array([0, 1])), shape=(1, 6))
    size = np.array([4.0])
    assert_allclose(family.log_evidence(size, stored), family.log_evidence(size, plain))


def test_no_clusters_and_no_features():
    family = BetaBernoulli(BetaPrior(0.3, 2.0), 6, 1.0)
    assert family.log_evidence(np.empty(0), sparse.csr_array((0, 6))).shape == (0,)
    assert_allclose(
        family.log_evidence(np.array([3.0]), sparse.csr_array((1, 6))),
        dense_evidence(family, 3.0, np.zeros(0)),
    )


@given(family=families, seed=st.integers(0, 10_000))
def test_natural_parameters_score_rows_at_the_posterior_means(family, seed):
    sizes, counts = draw_counts(seed, whole=True)
    log_odds, default, constants = family.natural_parameters(sizes, sparse.csr_array(counts))
    a, b = family.prior
    every = np.column_stack([counts, np.zeros(4)])
    mean = (every + a) / (sizes[:, None] + a + b)
    pattern = counts > 0
    expected = np.log(mean / (1 - mean))
    assert_allclose(log_odds.toarray()[pattern], expected[:, :5][pattern], rtol=1e-9, atol=1e-12)
    assert_allclose(default, np.log(a / (sizes + b)))
    row = np.random.default_rng(seed).integers(2, size=6)
    score = constants + row.sum() * default + (log_odds.toarray() - default[:, None] * pattern) @ row[:5]
    direct = np.log(np.where(row == 1, mean, 1 - mean)).sum(axis=1)
    assert_allclose(score, np.log(sizes + family.weight_concentration) + direct, rtol=1e-9, atol=1e-9)


def test_the_pattern_of_the_counts_is_kept():
    family = BetaBernoulli(BetaPrior(1.0, 1.0), 6, 1.0)
    counts = sparse.csr_array(draw_counts(3)[1])
    log_odds, *_ = family.natural_parameters(draw_counts(3)[0], counts)
    assert_array_equal(log_odds.indices, counts.indices)
    assert_array_equal(log_odds.indptr, counts.indptr)


def test_evidence_of_a_million_rows_is_finite():
    family = BetaBernoulli(BetaPrior(1e-4, 1.0), 1_000_000, 1.0)
    counts = sparse.csr_array(np.array([[1e6, 5e5, 1.0]]))
    assert np.isfinite(family.log_evidence(np.array([1e6]), counts)[0])


def evidence_of(family, rows):
    """Evidence of one cluster, without the factor of the prior on partitions."""
    sizes, counts = cluster_of(rows)
    gamma = family.weight_concentration
    return float(family.log_evidence(sizes, counts)[0]) - gammaln(sizes[0] + gamma) + gammaln(gamma)


def predictive_of(family, row, rows):
    """Of a row after other rows; only what is on is handed over."""
    sizes, counts = cluster_of(np.reshape(rows, (-1, family.n_features)))
    held = counts.toarray()[:, np.flatnonzero(row)]
    return float(family.log_predictive(held, sizes, family.log_empty_row(sizes, counts))[0])


@given(family=families, seed=st.integers(0, 10_000), n_rows=st.integers(1, 5))
def test_predictive_is_the_difference_of_two_evidences(family, seed, n_rows):
    rows = np.random.default_rng(seed).integers(2, size=(n_rows, 6))
    difference = evidence_of(family, rows) - evidence_of(family, rows[:-1])
    assert predictive_of(family, rows[-1], rows[:-1]) == pytest.approx(difference, rel=1e-9, abs=1e-9)


@given(family=families, seed=st.integers(0, 10_000))
def test_predictive_is_beta_binomial_in_each_feature(family, seed):
    rows, (a, b) = np.random.default_rng(seed).integers(2, size=(5, 6)), family.prior
    on = rows[1:].sum(axis=0)
    direct = betabinom.logpmf(rows[0], 1, a + on, b + 4 - on).sum()
    assert predictive_of(family, rows[0], rows[1:]) == pytest.approx(direct, rel=1e-9, abs=1e-9)


@given(family=families, seed=st.integers(0, 10_000))
def test_the_order_of_the_rows_changes_nothing(family, seed):
    rows = np.random.default_rng(seed).integers(2, size=(3, 6))
    chains = [
        sum(predictive_of(family, rows[i], rows[list(order[:at])]) for at, i in enumerate(order))
        for order in permutations(range(3))
    ]
    assert_allclose(chains, evidence_of(family, rows), rtol=1e-9, atol=1e-9)


@given(family=families)
def test_predictive_sums_to_one(family):
    rows = [[1, 0, 0, 0, 1, 0], [1, 1, 0, 0, 0, 0]]
    total = sum(np.exp(predictive_of(family, row, rows)) for row in product(range(2), repeat=6))
    assert total == pytest.approx(1.0)


@pytest.mark.parametrize("prior", [BetaPrior(0.7, 2.0), BetaPrior(3.0, 1.0)])
@pytest.mark.parametrize(("n_on", "n_off"), [(0, 0), (3, 1), (0, 5)])
def test_evidence_is_the_integral_over_the_probability(prior, n_on, n_off):
    def integrand(p):
        return p ** (n_on + prior.alpha - 1) * (1 - p) ** (n_off + prior.beta - 1)

    rows = np.array([1] * n_on + [0] * n_off).reshape(-1, 1)
    found = np.exp(evidence_of(BetaBernoulli(prior, 1, 1.0), rows))
    assert found == pytest.approx(quad(integrand, 0, 1)[0] / np.exp(betaln(*prior)), rel=1e-6)


@given(family=families, seed=st.integers(0, 10_000), feature=st.integers(0, 5))
def test_expected_parameters_are_the_derivative_of_the_evidence(family, seed, feature):
    """Central difference with step 1e-4 away from the ends: the error is below 1e-8, the rounding below 1e-9."""
    rows = np.vstack([np.random.default_rng(seed).integers(2, size=(5, 6)), np.zeros(6), np.ones(6)])
    sizes, counts = cluster_of(rows)
    expected = family.expected_natural_parameters(sizes, counts)
    slope = numerical_derivative(
        lambda c: family.log_evidence(sizes, sparse.csr_array(c[None]))[0], counts.toarray()[0], feature
    )
    assert dense_parameters(*expected[:2], 6)[feature] == pytest.approx(slope, abs=2e-7)


def test_expected_parameters_are_the_mean_over_the_posterior():
    family = BetaBernoulli(BetaPrior(0.5, 2.0), 3, 1.0)
    expected = family.expected_natural_parameters(*cluster_of([[1, 0, 1], [0, 0, 1], [0, 0, 1]]))
    means = np.random.default_rng(0).beta([1.5, 0.5, 3.5], [4.0, 5.0, 2.0], (200_000, 3))
    draws = np.log(means) - np.log1p(-means)
    error = draws.std(axis=0) / np.sqrt(len(draws))
    found = dense_parameters(*expected[:2], 3)
    assert np.all(np.abs(found - draws.mean(axis=0)) < 5 * error)
    rows = np.array(list(product(range(2), repeat=3)))
    assert np.exp(rows @ found - expected.log_partition).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("a", [1e-20, 1e8])
@pytest.mark.parametrize("b", [1e-20, 1e8])
@pytest.mark.parametrize("n_features", [1, 1_000_000])
def test_extremes_are_finite(a, b, n_features):
    family = BetaBernoulli(BetaPrior(a, b), n_features, 1.0)
    sizes = np.array([0.0, 1.0, 1e6, 1e6])
    counts = sparse.csr_array(np.array([[0.0], [0.0], [1e6], [1.0]]))
    log_empty = family.log_empty_row(sizes, counts)
    expected = family.expected_natural_parameters(sizes, counts)
    for found in (
        log_empty,
        family.log_evidence(sizes, counts),
        family.log_predictive(counts.toarray(), sizes, log_empty),
        *family.natural_parameters(sizes, counts)[1:],
        *expected[1:],
        expected.weights.data,
    ):
        assert np.isfinite(found).all()
    assert_array_equal(family.log_predictive(np.empty((4, 0)), sizes, log_empty), log_empty)
