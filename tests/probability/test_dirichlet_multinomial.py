"""The collapsed evidence of counts against Gamma functions, predictions, integrals and enumeration; its repairs."""

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
from scipy.stats import dirichlet_multinomial

from sparsemix.metrics import adjusted_rand
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.dirichlet_multinomial import DirichletMultinomial
from sparsemix.probability.partition_moves import best_merges, best_splits, repair_round

seeds = st.integers(0, 10_000)
families = st.builds(
    DirichletMultinomial,
    st.floats(0.01, 5.0),
    n_features=st.just(6),
    weight_concentration=st.floats(0.01, 5.0),
)


def draw_counts(seed, n_clusters=4, n_columns=5, *, whole=False):
    """Sizes and counts; the last cluster is empty, and the sixth feature is in no column."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 30, n_clusters).astype(float)
    counts = rng.gamma(1.0, 5.0, (n_clusters, n_columns)) * rng.integers(2, size=(n_clusters, n_columns))
    sizes[-1], counts[-1] = 0.0, 0.0
    return sizes, np.floor(counts) if whole else counts


def of_partition(family, size):
    """Factor of the prior on partitions, in nats."""
    return gammaln(size + family.weight_concentration) - gammaln(family.weight_concentration)


def of_words(family, counts):
    """Evidence of one cluster's words, without the factor of the prior on partitions."""
    found = family.log_evidence(np.zeros(1), sparse.csr_array(np.atleast_2d(counts).astype(float)))
    return float(found[0])


@given(family=families, seed=seeds, whole=st.booleans())
def test_evidence_equals_the_definition(family, seed, whole):
    sizes, counts = draw_counts(seed, whole=whole)
    found = family.log_evidence(sizes, sparse.csr_array(counts))
    prior = np.full(6, family.concentration)
    for size, own, evidence in zip(sizes, counts, found, strict=True):
        after = prior + np.append(own, 0.0)
        words = (gammaln(after) - gammaln(prior)).sum() + gammaln(prior.sum()) - gammaln(after.sum())
        assert evidence == pytest.approx(words + of_partition(family, size), rel=1e-9, abs=1e-9)
    assert found[-1] == pytest.approx(0.0, abs=1e-12)  # nothing is evidence of nothing


@given(family=families, seed=seeds)
def test_evidence_is_that_of_scipy_without_its_coefficient(family, seed):
    counts = np.random.default_rng(seed).integers(5, size=6)
    orders = gammaln(counts.sum() + 1) - gammaln(counts + 1).sum()
    direct = dirichlet_multinomial(np.full(6, family.concentration), counts.sum()).logpmf(counts)
    assert of_words(family, counts) == pytest.approx(direct - orders, abs=1e-9)


@given(family=families, seed=seeds)
def test_evidence_is_the_product_of_the_predictions(family, seed):
    """Row by row and word by word: weight of the cluster, then each word given the words before."""
    rng, seen, expected = np.random.default_rng(seed), np.zeros(6), 0.0
    for n in range(5):
        expected += np.log(n + family.weight_concentration)
        for word in rng.integers(6, size=rng.integers(4)):
            expected += np.log((seen[word] + family.concentration) / (seen.sum() + 6 * family.concentration))
            seen[word] += 1.0
    found = family.log_evidence(np.array([5.0]), sparse.csr_array(seen[None]))
    assert found[0] == pytest.approx(expected)


@given(concentration=st.floats(0.01, 5.0))
def test_texts_of_one_length_have_evidence_that_sums_to_one(concentration):
    family = DirichletMultinomial(concentration, 3, 1.0)
    texts = list(product(range(3), repeat=4))
    evidence = [of_words(family, np.bincount(text, minlength=3)) for text in texts]
    assert np.exp(evidence).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("concentration", [0.7, 1.0, 3.0])
@pytest.mark.parametrize("counts", [(0, 0), (3, 1), (0, 5)])
def test_evidence_is_the_integral_over_the_profiles(concentration, counts):
    def integrand(p):
        return p ** (counts[0] + concentration - 1) * (1 - p) ** (counts[1] + concentration - 1)

    prior = np.exp(2 * gammaln(concentration) - gammaln(2 * concentration))
    evidence = of_words(DirichletMultinomial(concentration, 2, 1.0), np.array(counts))
    assert np.exp(evidence) == pytest.approx(quad(integrand, 0.0, 1.0)[0] / prior, rel=1e-6)


def test_stored_zeros_change_nothing():
    family, size = DirichletMultinomial(0.3, 6, 1.0), np.array([4.0])
    stored = sparse.csr_array((np.array([0.0, 2.0]), np.array([1, 3]), np.array([0, 2])), shape=(1, 6))
    plain = sparse.csr_array((np.array([2.0]), np.array([3]), np.array([0, 1])), shape=(1, 6))
    assert_allclose(family.log_evidence(size, stored), family.log_evidence(size, plain))


def test_no_clusters_and_no_words():
    family = DirichletMultinomial(0.3, 6, 2.0)
    assert family.log_evidence(np.empty(0), sparse.csr_array((0, 6))).shape == (0,)
    assert_allclose(family.log_evidence(np.array([3.0]), sparse.csr_array((1, 6))), of_partition(family, 3.0))


def test_evidence_of_a_billion_words_is_finite():
    family = DirichletMultinomial(1e-4, 1_000_000, 1.0)
    counts = sparse.csr_array(np.array([[1e9, 5e5, 1.0]]))
    assert np.isfinite(family.log_evidence(np.array([1e6]), counts)[0])


def scores(parameters, row):
    """What each cluster says of a row of five features, of which some have no entry, and one more."""
    weights, default, constants = parameters
    pattern = weights.toarray() != 0.0
    own = np.where(pattern, weights.toarray(), default[:, None])
    return constants + own @ row[:5] + default * row[5]


@given(family=families, seed=seeds)
def test_natural_parameters_score_rows_at_the_posterior_means(family, seed):
    sizes, counts = draw_counts(seed, whole=True)
    after = np.column_stack([counts, np.zeros(4)]) + family.concentration
    row = np.random.default_rng(seed).integers(4, size=6)
    direct = np.log(after / after.sum(axis=1, keepdims=True)) @ row + np.log(
        sizes + family.weight_concentration
    )
    found = scores(family.natural_parameters(sizes, sparse.csr_array(counts)), row)
    assert_allclose(found, direct, rtol=1e-9, atol=1e-9)


@given(family=families, seed=seeds, n_rows=st.integers(1, 5))
def test_a_member_does_not_see_itself(family, seed, n_rows):
    """A cluster of equal rows: without the one that asks, it is a cluster of one row less."""
    row = np.append(np.random.default_rng(seed).integers(4, size=5), 0)
    counts = sparse.csr_array(n_rows * row[None, :5].astype(float))
    own = row[counts.indices].astype(float)
    found = scores(family.parameters_for_members(np.array([float(n_rows)]), counts, own), row)
    fewer = (n_rows - 1) * row + family.concentration
    direct = np.log(fewer / fewer.sum()) @ row + np.log(n_rows - 1 + family.weight_concentration)
    assert found[0] == pytest.approx(direct)


def test_the_pattern_of_the_counts_is_kept():
    family, (sizes, dense) = DirichletMultinomial(1.0, 6, 1.0), draw_counts(3)
    counts = sparse.csr_array(dense)
    for weights, *_ in (
        family.natural_parameters(sizes, counts),
        family.parameters_for_members(sizes, counts, counts.data),
    ):
        assert_array_equal(weights.indices, counts.indices)
        assert_array_equal(weights.indptr, counts.indptr)


FAMILY = DirichletMultinomial(0.1, 40, 1.0)


def text_rows(n_topics, rows_each=30, length=15, seed=0):
    """Texts of topics with words of their own, a few words of anybody's, some words many times; their topics."""
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.arange(n_topics), rows_each)
    own = np.where(np.arange(40) % n_topics == np.arange(n_topics)[:, None], 1.0, 0.05)
    profiles = own * rng.gamma(1.0, 1.0, own.shape) + 1e-3
    profiles /= profiles.sum(axis=1, keepdims=True)
    lengths = rng.poisson(length, topics.size) + 3
    rows = np.array([rng.multinomial(n, profiles[k]) for n, k in zip(lengths, topics, strict=True)], float)
    return sparse.csr_array(rows), topics


def evidence_of(rows, labels, n_clusters):
    sizes = np.bincount(labels, minlength=n_clusters).astype(float)
    return FAMILY.log_evidence(sizes, cluster_counts(rows, labels, n_clusters))


def repaired(rows, labels, n_clusters, rounds=6):
    """Repair until nothing moves; the labels after each round."""
    rng, history = np.random.default_rng(0), [labels]
    for _ in range(rounds):
        labels, n_moves = repair_round(rows, labels, n_clusters, FAMILY, rng, np.ones(n_clusters, bool))
        history.append(labels)
        if n_moves == 0:
            break
    return history


@pytest.mark.parametrize("seed", range(10))
def test_two_topics_in_one_cluster_and_one_in_two_are_repaired(seed):
    rows, topics = text_rows(4, seed=seed)
    wrong = np.where(topics == 3, 2, topics)
    wrong[(topics == 0) & (np.arange(topics.size) % 2 == 0)] = 3
    assert adjusted_rand(topics, wrong) < 0.8
    assert adjusted_rand(topics, repaired(rows, wrong, 4)[-1]) > 0.96


@pytest.mark.parametrize("seed", range(5))
def test_a_dead_cluster_takes_one_of_two_glued_topics(seed):
    rows, topics = text_rows(3, seed=seed)
    glued = np.where(topics == 2, 1, topics)
    assert adjusted_rand(topics, repaired(rows, glued, 3)[-1]) > 0.96


@pytest.mark.parametrize("seed", range(5))
def test_topics_that_are_right_stay(seed):
    rows, topics = text_rows(4, seed=seed)
    assert_array_equal(repaired(rows, topics, 4)[-1], topics)


def test_gains_are_differences_of_evidence():
    rows, topics = text_rows(4)
    labels = np.where(topics == 3, 2, topics)
    labels[(topics == 0) & (np.arange(topics.size) % 2 == 0)] = 3
    evidence = evidence_of(rows, labels, 5)
    sizes = np.bincount(labels, minlength=5).astype(float)
    merges = best_merges(sizes, cluster_counts(rows, labels, 5), evidence, FAMILY, np.ones(5, bool))
    assert (merges[0].first, merges[0].second) == (0, 3)
    joined = np.where(labels == 3, 0, labels)
    assert merges[0].gain == pytest.approx(evidence_of(rows, joined, 5).sum() - evidence.sum())
    splits, side = best_splits(rows, labels, 5, evidence, FAMILY, np.random.default_rng(0))
    assert splits[0].cluster == 2
    apart = np.where((labels == 2) & side, 4, labels)
    assert splits[0].gain == pytest.approx(evidence_of(rows, apart, 5).sum() - evidence.sum())


@given(seed=seeds, n_clusters=st.integers(1, 6))
def test_repair_never_lowers_the_evidence(seed, n_clusters):
    rows, _ = text_rows(3, rows_each=10, seed=seed)
    labels = np.random.default_rng(seed).integers(n_clusters, size=rows.shape[0])
    totals = [evidence_of(rows, each, n_clusters).sum() for each in repaired(rows, labels, n_clusters)]
    assert np.all(np.diff(totals) > -1e-9)


def test_a_word_repeated_in_one_text_does_not_hold_it_where_it_is():
    """Each text has a word of its own many times, which says nothing of topics: a split must not follow it."""
    rows, topics = text_rows(2, rows_each=40)
    bursts = sparse.csr_array(20.0 * np.eye(80))
    rows = sparse.csr_array(sparse.hstack([rows, bursts]))
    family = DirichletMultinomial(0.1, 120, 1.0)
    evidence = family.log_evidence(np.array([80.0]), sparse.csr_array(rows.sum(axis=0)[None]))
    _, side = best_splits(rows, np.zeros(80, np.int64), 1, evidence, family, np.random.default_rng(0))
    assert adjusted_rand(topics, side.astype(int)) > 0.9


def predictive_of(family, row, rows):
    """Of a row after other rows; only what is not zero is handed over."""
    seen, at = np.asarray(rows, float).reshape(-1, family.n_features).sum(axis=0), np.flatnonzero(row)
    values = np.asarray(row, float)[at]
    return float(family.log_predictive(values, seen[None, at], np.array([seen.sum()]))[0])


@given(family=families, seed=seeds, n_rows=st.integers(1, 5))
def test_predictive_is_the_difference_of_two_evidences(family, seed, n_rows):
    rows = np.random.default_rng(seed).integers(4, size=(n_rows, 6))
    difference = of_words(family, rows.sum(axis=0)) - of_words(family, rows[:-1].sum(axis=0))
    assert predictive_of(family, rows[-1], rows[:-1]) == pytest.approx(difference, rel=1e-9, abs=1e-9)


@given(family=families, seed=seeds)
def test_predictive_is_that_of_scipy_without_its_coefficient(family, seed):
    rows = np.random.default_rng(seed).integers(4, size=(4, 6))
    row, after = rows[0], family.concentration + rows[1:].sum(axis=0)
    orders = gammaln(row.sum() + 1) - gammaln(row + 1).sum()
    direct = dirichlet_multinomial(after, row.sum()).logpmf(row)
    assert predictive_of(family, row, rows[1:]) == pytest.approx(direct - orders, rel=1e-9, abs=1e-9)


@given(family=families, seed=seeds)
def test_the_order_of_the_rows_changes_nothing(family, seed):
    rows = np.random.default_rng(seed).integers(4, size=(3, 6))
    chains = [
        sum(predictive_of(family, rows[i], rows[list(order[:at])]) for at, i in enumerate(order))
        for order in permutations(range(3))
    ]
    assert_allclose(chains, of_words(family, rows.sum(axis=0)), rtol=1e-9, atol=1e-9)


@given(concentration=st.floats(0.01, 5.0), length=st.integers(0, 4))
def test_predictive_of_texts_of_one_length_sums_to_one(concentration, length):
    family, texts = DirichletMultinomial(concentration, 3, 1.0), product(range(3), repeat=length)
    rows = [np.bincount(np.array(text, int), minlength=3) for text in texts]
    total = sum(np.exp(predictive_of(family, row, [[4, 0, 1], [2, 0, 0]])) for row in rows)
    assert total == pytest.approx(1.0)


@given(family=families, seed=seeds, feature=st.integers(0, 5))
def test_expected_parameters_are_the_derivative_of_the_evidence(family, seed, feature):
    """Central difference with step 1e-4 at counts from 1 on: the error is below 1e-8, the rounding below 1e-9."""
    rows = np.random.default_rng(seed).integers(4, size=(5, 6)) + 1.0
    expected = family.expected_natural_parameters(*cluster_of(rows))
    slope = numerical_derivative(lambda counts: of_words(family, counts), rows.sum(axis=0), feature)
    assert dense_parameters(*expected[:2], 6)[feature] == pytest.approx(slope, abs=2e-7)


def test_expected_parameters_are_the_mean_over_the_posterior():
    family = DirichletMultinomial(0.5, 3, 1.0)
    expected = family.expected_natural_parameters(*cluster_of([[1, 0, 4], [0, 0, 3]]))
    draws = np.log(np.random.default_rng(0).dirichlet([1.5, 0.5, 7.5], 200_000))
    error = draws.std(axis=0) / np.sqrt(len(draws))
    found = dense_parameters(*expected[:2], 3)
    assert np.all(np.abs(found - draws.mean(axis=0)) < 5 * error)
    assert np.exp(found - expected.log_partition).sum() == pytest.approx(1.0)


@pytest.mark.parametrize("concentration", [1e-8, 1e8])
@pytest.mark.parametrize("n_features", [1, 1_000_000])
def test_extremes_are_finite(concentration, n_features):
    family = DirichletMultinomial(concentration, n_features, 1.0)
    sizes, counts = np.array([0.0, 1.0, 1e6]), sparse.csr_array(np.array([[0.0], [0.0], [1e12]]))
    expected = family.expected_natural_parameters(sizes, counts)
    assert np.isfinite(np.concatenate([expected.weights.data, *expected[1:]])).all()
    totals = counts.toarray()[:, 0]
    for value in (1.0, 1e6):
        found = family.log_predictive(np.array([value]), counts.toarray(), totals)
        assert np.isfinite(found).all()
        assert np.all(found <= 1e-12)
    assert_allclose(family.log_predictive(np.empty(0), np.empty((3, 0)), totals), 0.0, atol=1e-15)


def test_a_predictive_after_a_billion_words_keeps_its_digits():
    """Half of the words are the first: the same word three times has one eighth, up to one over the number of words."""
    family = DirichletMultinomial(1.0, 2, 1.0)
    found = family.log_predictive(np.array([3.0]), np.array([[1e9]]), np.array([2e9]))
    assert found[0] == pytest.approx(np.log(1 / 8), abs=1e-8)
