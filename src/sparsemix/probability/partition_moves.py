"""Split and merge moves that repair a clustering, scored by the collapsed evidence of the clusters.

After a start from random seeds some slots are dead, some clusters carry two topics and some topics lie in two
clusters. The best splits are paired with dead slots first, then with the cheapest merges, as long as a pair gains
evidence. Any family with a closed-form evidence and linear natural parameters can use the moves.
"""

from itertools import pairwise
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import equal_parts, thread_runner
from sparsemix.probability.cluster_counts import cluster_counts, weighted_counts
from sparsemix.probability.evidence import Collapsed, log_evidence
from sparsemix.probability.kernels import contrast_scores
from sparsemix.probability.similarity import cosines

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

SPLIT_STEPS = 8
BALANCED_STEPS = 4
MERGE_CANDIDATES = 4
ENTRIES_AT_ONCE = 1 << 18  # of pairs that are joined: as many as stay in the cache


class Family(Collapsed, Protocol):
    """What the moves need to know of a family of distributions."""

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Weights of the explicit features, their default per cluster, and a constant per cluster."""
        ...

    def parameters_for_members(
        self, sizes: FloatVector, counts: sparse.csr_array, own: FloatVector
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Natural parameters as a row of the cluster is to see them, without its own part in the statistics.

        `own`, (nnz of counts,), is the count that a row has of a feature it holds, on average over the words.
        """
        ...


class Split(NamedTuple):
    """A way to cut one cluster in two."""

    gain: float
    cluster: int


class Merge(NamedTuple):
    """Two clusters that may become one."""

    gain: float
    first: int
    second: int


def best_merges(
    sizes: FloatVector,
    counts: sparse.csr_array,
    evidence: FloatVector,
    family: Family,
    allowed: NDArray[np.bool_],
    n_threads: int = 1,
) -> list[Merge]:
    """Gains of joining each cluster with its few most similar ones, best first; threads share the pairs."""
    live = np.flatnonzero((sizes > 0) & allowed)
    if live.size < 2:
        return []
    first, second = live[_similar_pairs(counts[live], n_threads)].T
    gains = np.empty(first.size)

    def fill(part: tuple[int, int]) -> None:
        a, b = first[slice(*part)], second[slice(*part)]
        pair = np.repeat(np.arange(a.size), 2)
        joined = weighted_counts(counts, np.column_stack([a, b]).ravel(), pair, np.ones(pair.size), a.size)
        gains[slice(*part)] = family.log_evidence(sizes[a] + sizes[b], joined) - evidence[a] - evidence[b]

    work = 1.0 + np.diff(counts.indptr)[first] + np.diff(counts.indptr)[second]
    with thread_runner(n_threads) as run:
        run(fill, equal_parts(work, max(n_threads, int(work.sum()) // ENTRIES_AT_ONCE)))
    order = np.argsort(-gains, kind="stable")
    return [Merge(float(gains[p]), int(first[p]), int(second[p])) for p in order]


def _similar_pairs(counts: sparse.csr_array, n_threads: int) -> IntVector:
    """Pairs (n_pairs, 2) of clusters with close profiles, by cosine."""
    similarity = cosines(counts, counts, n_threads)
    np.fill_diagonal(similarity, -np.inf)
    n_clusters = counts.shape[0]
    n_near = min(MERGE_CANDIDATES, n_clusters - 1)
    near = np.argsort(-similarity, axis=1, kind="stable")[:, :n_near]
    pairs = np.column_stack([np.repeat(np.arange(n_clusters), n_near), near.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def best_splits(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    evidence: FloatVector,
    family: Family,
    rng: np.random.Generator,
    n_threads: int = 1,
) -> tuple[list[Split], NDArray[np.bool_]]:
    """Cut every cluster in two by a few two-way steps; gains, best first, and the side of each row.

    Each cluster's rows start in random halves. The first steps cut at the median score, which lets the strongest
    contrast emerge as in a power iteration; the last ones cut where the evidence does. All clusters advance together:
    a step costs O(nnz). Threads share the clusters.
    """
    side = _sides(rows, labels, n_clusters, family, rng, n_threads)
    sizes, counts = _child_statistics(rows, labels, side, n_clusters, n_threads)
    children = log_evidence(family, sizes, counts, n_threads)
    gains = children[0::2] + children[1::2] - evidence
    proper = (sizes[0::2] > 0) & (sizes[1::2] > 0)
    ranked = np.argsort(-gains, kind="stable")
    return [Split(float(gains[k]), int(k)) for k in ranked if proper[k]], side


def _sides(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    family: Family,
    rng: np.random.Generator,
    n_threads: int,
) -> NDArray[np.bool_]:
    side = rng.random(labels.size) < 0.5
    work = 1.0 + np.bincount(labels[labels >= 0], minlength=n_clusters).astype(np.float64)

    def cut(part: tuple[int, int]) -> None:
        first, last = part
        own = np.where((labels >= first) & (labels < last), labels - first, -1)
        _cut_in_two(rows, own, last - first, family, side)

    with thread_runner(n_threads) as run:
        run(cut, equal_parts(work, n_threads))
    return side


def _cut_in_two(
    rows: sparse.csr_array, labels: IntVector, n_clusters: int, family: Family, side: NDArray[np.bool_]
) -> None:
    """Let the rows of all clusters find their side, from that where they are; others stay."""
    order = np.argsort(labels, kind="stable")
    order = order[np.searchsorted(labels[order], 0) :]
    bounds = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    score = np.zeros(labels.size)
    squares = sparse.csr_array((rows.data**2, rows.indices, rows.indptr), rows.shape)
    is_binary = np.array_equal(squares.data, rows.data)
    for step in range(SPLIT_STEPS):
        sizes, counts = _child_statistics(rows, labels, side, n_clusters)
        weights, defaults, constants = family.natural_parameters(sizes, counts)
        held = np.ones(counts.nnz)
        if not is_binary:
            held = _child_statistics(squares, labels, side, n_clusters)[1].data / counts.data
        own = family.parameters_for_members(sizes, counts, held)
        contrast_scores(
            rows.indptr, rows.indices, rows.data, order, bounds, side, counts.indptr, counts.indices,
            weights.data, defaults, constants, own[0].data, own[1], own[2],
            np.zeros((2, rows.shape[1])), score,
        )  # fmt: skip
        if step < BALANCED_STEPS:
            _subtract_medians(score, order, bounds)
        side[order] = score[order] > 0


def _child_statistics(
    rows: sparse.csr_array,
    labels: IntVector,
    side: NDArray[np.bool_],
    n_clusters: int,
    n_threads: int = 1,
) -> tuple[FloatVector, sparse.csr_array]:
    """Sizes and counts of the two children of each cluster, children of `k` at ``2k`` and ``2k + 1``."""
    child = np.where(labels >= 0, 2 * labels + side, -1)
    sizes = np.bincount(child[child >= 0], minlength=2 * n_clusters).astype(float)
    return sizes, cluster_counts(rows, child, 2 * n_clusters, n_threads)


def _subtract_medians(score: FloatVector, order: IntVector, bounds: IntVector) -> None:
    for low, high in pairwise(bounds):
        if high > low:
            members = order[low:high]
            score[members] -= _median(score[members])


def _median(values: FloatVector) -> float:
    """What `numpy.median` says of a few numbers, without its checks."""
    middle = values.size // 2
    parted = np.partition(values, middle)
    upper = float(parted[middle])
    return upper if values.size % 2 else (float(parted[:middle].max()) + upper) / 2.0


def repair_round(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    family: Family,
    rng: np.random.Generator,
    allowed: NDArray[np.bool_],
    n_threads: int = 1,
) -> tuple[IntVector, int]:
    """Apply every pair of moves that gains evidence; return the new labels and the number of splits and merges.

    Clusters that are not `allowed` stay as they are. A split takes a dead slot where there is one, else the slot
    that the cheapest merge frees. Threads share the clusters, and change no bit.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).astype(float)
    counts = cluster_counts(rows, labels, n_clusters, n_threads)
    evidence = log_evidence(family, sizes, counts, n_threads)
    merges = best_merges(sizes, counts, evidence, family, allowed, n_threads)
    splits, side = best_splits(rows, labels, n_clusters, evidence, family, rng, n_threads)
    splits = [s for s in splits if allowed[s.cluster]]
    return _apply_moves(labels, sizes, splits, merges, side, allowed)


def merge_round(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    family: Family,
    allowed: NDArray[np.bool_],
    n_threads: int = 1,
) -> tuple[IntVector, int]:
    """Join pairs of clusters that gain evidence as one; return the new labels and the number of merges."""
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).astype(float)
    counts = cluster_counts(rows, labels, n_clusters, n_threads)
    evidence = log_evidence(family, sizes, counts, n_threads)
    merges = gaining(best_merges(sizes, counts, evidence, family, allowed, n_threads))
    labels = labels.copy()
    for merge in merges:
        labels[labels == merge.second] = merge.first
    return labels, len(merges)


def gaining(merges: list[Merge]) -> list[Merge]:
    """Merges that gain evidence, best first, no cluster in two of them.

    Examples
    --------
    >>> [merge.second for merge in gaining([Merge(2.0, 0, 1), Merge(1.0, 1, 2), Merge(0.5, 3, 4), Merge(-1.0, 5, 6)])]
    [1, 4]
    """
    used: set[int] = set()
    chosen = []
    for merge in merges:
        if merge.gain > 0 and not {merge.first, merge.second} & used:
            used |= {merge.first, merge.second}
            chosen.append(merge)
    return chosen


def _apply_moves(
    labels: IntVector,
    sizes: FloatVector,
    splits: list[Split],
    merges: list[Merge],
    side: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
) -> tuple[IntVector, int]:
    labels, free = labels.copy(), np.flatnonzero((sizes == 0) & allowed).tolist()
    used: set[int] = set()
    n_moves = 0
    for split in splits:
        if split.cluster in used:
            continue
        if not free:
            cheapest = next((m for m in merges if not {m.first, m.second} & (used | {split.cluster})), None)
            if cheapest is None or cheapest.gain + split.gain <= 0:
                continue
            _join(labels, cheapest, free, used)
            n_moves += 1
        if split.gain <= 0:
            break
        used.add(split.cluster)
        labels[(labels == split.cluster) & side] = free.pop()
        n_moves += 1
    return labels, n_moves


def _join(labels: IntVector, merge: Merge, free: list[int], used: set[int]) -> None:
    labels[labels == merge.second] = merge.first
    free.append(merge.second)
    used.update((merge.first, merge.second))
