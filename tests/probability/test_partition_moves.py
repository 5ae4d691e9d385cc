"""Split and merge moves: gains are differences of evidence, moves find what is wrong and never lower the evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix.metrics import adjusted_rand
from sparsemix.probability import evidence as evidence_of_many
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior
from sparsemix.probability.cluster_counts import cluster_counts, weighted_counts
from sparsemix.probability.partition_moves import (
    _median,
    best_merges,
    best_splits,
    merge_round,
    repair_round,
)

N_FEATURES = 30
FAMILY = BetaBernoulli(BetaPrior(0.2, 1.0), N_FEATURES, 1.0)


def topic_rows(n_topics, rows_each=40, seed=0, on=0.6, off=0.03):
    rng = np.random.default_rng(seed)
    topics = np.repeat(np.arange(n_topics), rows_each)
    own = np.arange(N_FEATURES) % n_topics == topics[:, None]
    rows = (rng.random(own.shape) < np.where(own, on, off)).astype(float)
    return sparse.csr_array(rows), topics


def evidence_of(rows, labels, n_clusters):
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).astype(float)
    return FAMILY.log_evidence(sizes, cluster_counts(rows, labels, n_clusters))


def repaired(rows, labels, n_clusters, allowed=None, rounds=6):
    """Repair until nothing moves; the labels after each round."""
    rng = np.random.default_rng(0)
    allowed = np.ones(n_clusters, bool) if allowed is None else allowed
    history = [labels]
    for _ in range(rounds):
        labels, n_moves = repair_round(rows, labels, n_clusters, FAMILY, rng, allowed)
        history.append(labels)
        if n_moves == 0:
            break
    return history


def agrees(labels, topics):
    """All but a stray row or two, which the evidence itself may prefer elsewhere."""
    return adjusted_rand(topics, labels) > 0.96


def test_cluster_counts():
    rows = sparse.csr_array(np.array([[1.0, 0, 1], [1, 1, 0], [0, 0, 1]]))
    counts = cluster_counts(rows, np.array([1, -1, 1]), 3)
    assert_array_equal(counts.toarray(), [[0, 0, 0], [1, 0, 2], [0, 0, 0]])


@given(
    seed=st.integers(0, 2**20),
    n_clusters=st.integers(0, 6),
    n_members=st.integers(0, 20),
    n_threads=st.sampled_from([1, 2, 3, 8]),
)
def test_weighted_counts_are_a_product_of_matrices(seed, n_clusters, n_members, n_threads):
    rng = np.random.default_rng(seed)
    rows, n_members = rng.integers(0, 3, (9, 7)) * 1.0, n_members if n_clusters else 0
    members, weights = rng.integers(0, 9, n_members), rng.random(n_members)
    clusters = np.sort(rng.integers(0, max(n_clusters, 1), n_members))
    counts = weighted_counts(sparse.csr_array(rows), members, clusters, weights, n_clusters, n_threads)
    share = (clusters == np.arange(n_clusters)[:, None]) * weights
    assert_allclose(counts.toarray(), share @ rows[members], rtol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 3])
@pytest.mark.parametrize("count", [1.0, 2.0])
def test_threads_change_no_move(monkeypatch, n_threads, count):
    monkeypatch.setattr(evidence_of_many, "ENTRIES_FOR_THREADS", 0)
    rows, topics = topic_rows(6, seed=5)
    rows.data[::3] = count
    labels = np.random.default_rng(1).integers(-1, 8, topics.size)
    allowed = np.ones(8, bool)
    outcomes = []
    for threads in (1, n_threads):
        counts = cluster_counts(rows, labels, 8, threads)
        moved = repair_round(rows, labels, 8, FAMILY, np.random.default_rng(2), allowed, threads)
        joined = merge_round(rows, labels, 8, FAMILY, allowed, threads)
        outcomes.append([counts.indptr, counts.indices, counts.data, *moved, *joined])
    assert outcomes[0][4] > 0
    for one, several in zip(*outcomes, strict=True):
        assert_array_equal(one, several)


@given(values=st.lists(st.floats(-1e9, 1e9), min_size=1, max_size=9))
def test_the_median_is_that_of_numpy(values):
    assert _median(np.array(values)) == np.median(values)


def test_gains_of_merges_are_differences_of_evidence():
    rows, topics = topic_rows(3)
    labels = np.where(np.arange(topics.size) % 2, topics, topics + 3)
    evidence = evidence_of(rows, labels, 7)  # the seventh is dead
    sizes = np.bincount(labels, minlength=7).astype(float)
    merges = best_merges(sizes, cluster_counts(rows, labels, 7), evidence, FAMILY, np.ones(7, bool))
    for merge in merges:
        joined = np.where(labels == merge.second, merge.first, labels)
        assert merge.gain == pytest.approx(evidence_of(rows, joined, 7).sum() - evidence.sum())
    assert {(m.first, m.second) for m in merges[:3]} == {(0, 3), (1, 4), (2, 5)}
    assert [m.gain > 0 for m in merges[:4]] == [True, True, True, False]
    assert all(m.second != 6 for m in merges)


def test_gains_of_splits_are_differences_of_evidence():
    rows, topics = topic_rows(4)
    labels = topics // 2
    evidence = evidence_of(rows, labels, 4)
    splits, side = best_splits(rows, labels, 4, evidence, FAMILY, np.random.default_rng(0))
    for split in splits:
        apart = np.where((labels == split.cluster) & side, 3, labels)
        assert split.gain == pytest.approx(evidence_of(rows, apart, 4).sum() - evidence.sum())
    assert {s.cluster for s in splits if s.gain > 0} == {0, 1}
    assert [s.gain for s in splits] == sorted((s.gain for s in splits), reverse=True)


@pytest.mark.parametrize("seed", range(5))
def test_two_halves_of_one_cluster_are_merged(seed):
    rows, topics = topic_rows(3, seed=seed)
    halves = np.where((topics == 0) & (np.arange(topics.size) % 2 == 0), 3, topics)
    assert agrees(repaired(rows, halves, 4)[-1], topics)


@pytest.mark.parametrize("seed", range(5))
def test_two_glued_clusters_are_split(seed):
    rows, topics = topic_rows(3, seed=seed)
    glued = np.where(topics == 2, 1, topics)
    assert agrees(repaired(rows, glued, 3)[-1], topics)


@pytest.mark.parametrize("seed", range(5))
def test_a_split_takes_the_slot_that_a_merge_frees(seed):
    rows, topics = topic_rows(4, seed=seed)
    wrong = np.where(topics == 3, 2, topics)
    wrong[(topics == 0) & (np.arange(topics.size) % 2 == 0)] = 3
    assert agrees(repaired(rows, wrong, 4)[-1], topics)


@given(seed=st.integers(0, 10_000), n_clusters=st.integers(1, 6), clutter=st.booleans())
def test_repair_never_lowers_the_evidence(seed, n_clusters, clutter):
    rng = np.random.default_rng(seed)
    rows, _ = topic_rows(3, rows_each=12, seed=seed)
    labels = rng.integers(-1 if clutter else 0, n_clusters, rows.shape[0])
    allowed = rng.random(n_clusters) < 0.8
    history = repaired(rows, labels, n_clusters, allowed)
    totals = [evidence_of(rows, each, n_clusters).sum() for each in history]
    assert np.all(np.diff(totals) > -1e-9)
    for each in history:
        assert each.min() >= -1
        assert each.max() < n_clusters
        assert_array_equal(each == -1, labels == -1)
        for kept in np.flatnonzero(~allowed):
            assert_array_equal(each == kept, labels == kept)


def test_the_number_of_moves_is_told():
    rows, topics = topic_rows(3)
    labels, n_moves = repair_round(rows, topics, 3, FAMILY, np.random.default_rng(0), np.ones(3, bool))
    assert n_moves == 0
    assert_array_equal(labels, topics)
    glued = np.where(topics == 2, 1, topics)
    labels, n_moves = repair_round(rows, glued, 3, FAMILY, np.random.default_rng(0), np.ones(3, bool))
    assert n_moves == 1
    assert agrees(labels, topics)


def test_the_input_is_not_changed():
    rows, topics = topic_rows(3)
    glued = np.where(topics == 2, 1, topics)
    before, data = glued.copy(), rows.data.copy()
    repair_round(rows, glued, 3, FAMILY, np.random.default_rng(0), np.ones(3, bool))
    assert_array_equal(glued, before)
    assert_array_equal(rows.data, data)


@pytest.mark.parametrize(
    ("n_rows", "labels"), [(1, [0]), (2, [0, 1]), (3, [0, 0, 0]), (3, [-1, -1, -1]), (4, [2, 2, 2, 2])]
)
def test_tiny_partitions(n_rows, labels):
    for rows in (np.zeros((n_rows, 5)), np.ones((n_rows, 5))):
        matrix = sparse.csr_array(rows)
        labels = np.array(labels)
        found, _ = repair_round(matrix, labels, 3, FAMILY, np.random.default_rng(0), np.ones(3, bool))
        assert_array_equal(found == -1, labels == -1)


def test_rows_alike_stay_together():
    rows = sparse.csr_array(np.ones((40, N_FEATURES)))
    assert_allclose(repaired(rows, np.zeros(40, np.int64), 3)[-1], 0)
