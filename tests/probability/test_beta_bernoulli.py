"""The collapsed evidence against products of Beta functions and of predictive probabilities."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import betaln, gammaln

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
