"""Split and merge moves that repair a clustering, scored by the collapsed evidence of the clusters.

After a start from random seeds some slots are dead, some clusters carry two topics and some topics lie in two
clusters. The best splits are paired with dead slots first, then with the cheapest merges, as long as a pair gains
evidence. Any family with a closed-form evidence and linear natural parameters can use the moves.
"""

from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.jit import kernel

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

SPLIT_STEPS = 8
BALANCED_STEPS = 4
MERGE_CANDIDATES = 4


class Family(Protocol):
    """What the moves need to know of a family of distributions."""

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Collapsed log evidence of each cluster, with its factor of the prior on partitions; 0 if empty."""
        ...

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Weights of the explicit features, their default per cluster, and a constant per cluster."""
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


def cluster_counts(rows: sparse.csr_array, labels: IntVector, n_clusters: int) -> sparse.csr_array:
    """Feature counts per cluster, (n_clusters, n_features); rows labelled -1 are left out. O(nnz)."""
    order = np.argsort(labels, kind="stable")
    order = order[np.searchsorted(labels[order], 0) :]
    return weighted_counts(rows, order, labels[order], np.ones(order.size), n_clusters)


def weighted_counts(
    rows: sparse.csr_array, members: IntVector, clusters: IntVector, weights: FloatVector, n_clusters: int
) -> sparse.csr_array:
    """Weighted sums of rows per cluster, (n_clusters, n_features) CSR; O(nnz of the members).

    Parameters
    ----------
    rows : (n_rows, n_features) CSR
    members, clusters, weights : (n_members,)
        Row ``members[j]`` counts ``weights[j]`` times in ``clusters[j]``; `clusters` is sorted.
    n_clusters : int
    """
    bounds = np.searchsorted(clusters, np.arange(n_clusters + 1))
    room = int(np.diff(rows.indptr)[members].sum())
    indptr, columns, sums = np.zeros(n_clusters + 1, np.int64), np.empty(room, np.int32), np.empty(room)
    place = np.full(rows.shape[1], -1, np.int64)
    add_rows(
        rows.indptr, rows.indices, rows.data, bounds, members.astype(np.int64), weights, place, indptr, columns, sums
    )
    used = int(indptr[-1])
    return sparse.csr_array((sums[:used], columns[:used], indptr), shape=(n_clusters, rows.shape[1]))


@kernel
def add_rows(
    indptr,  # IN  rows as CSR
    columns,
    values,
    bounds,  # IN  (n_clusters + 1,) int64 into `members`
    members,  # IN  (n_members,) int64
    weights,  # IN  (n_members,) float64
    place,  # work (n_features,) int64 of -1
    indptr_out,  # OUT (n_clusters + 1,) int64, zeros on entry
    columns_out,  # OUT (room,) int32
    sums_out,  # OUT (room,) float64
):
    """Add up the rows of each cluster; columns come in the order in which they are met."""
    end = 0
    for k in range(bounds.shape[0] - 1):
        start = end
        for j in range(bounds[k], bounds[k + 1]):
            for e in range(indptr[members[j]], indptr[members[j] + 1]):
                at = place[columns[e]]
                if at < 0:
                    at = end
                    place[columns[e]] = at
                    columns_out[at] = columns[e]
                    sums_out[at] = 0.0
                    end += 1
                sums_out[at] += weights[j] * values[e]
        for at in range(start, end):
            place[columns_out[at]] = -1
        indptr_out[k + 1] = end


def best_merges(
    sizes: FloatVector,
    counts: sparse.csr_array,
    evidence: FloatVector,
    family: Family,
    allowed: NDArray[np.bool_],
) -> list[Merge]:
    """Gains of joining each cluster with its few most similar ones, best first."""
    live = np.flatnonzero((sizes > 0) & allowed)
    if live.size < 2:
        return []
    pairs = _similar_pairs(counts[live], sizes[live])
    first, second = live[pairs[:, 0]], live[pairs[:, 1]]
    n_pairs = first.size
    joiner = sparse.csr_array(
        (np.ones(2 * n_pairs), (np.tile(np.arange(n_pairs), 2), np.concatenate([first, second]))),
        shape=(n_pairs, sizes.size),
    )
    joined = family.log_evidence(sizes[first] + sizes[second], sparse.csr_array(joiner @ counts))
    gains = joined - evidence[first] - evidence[second]
    order = np.argsort(-gains, kind="stable")
    return [Merge(float(gains[p]), int(first[p]), int(second[p])) for p in order]


def _similar_pairs(counts: sparse.csr_array, sizes: FloatVector) -> IntVector:
    """Pairs (n_pairs, 2) of clusters with close mean profiles, by cosine."""
    profiles = sparse.csr_array(sparse.diags_array(1.0 / sizes) @ counts)
    norms = np.sqrt(profiles.multiply(profiles).sum(axis=1))
    profiles = sparse.csr_array(sparse.diags_array(1.0 / np.maximum(norms, 1e-300)) @ profiles)
    similarity = (profiles @ profiles.T).toarray()
    np.fill_diagonal(similarity, -1.0)
    n_near = min(MERGE_CANDIDATES, sizes.size - 1)
    near = np.argsort(-similarity, axis=1, kind="stable")[:, :n_near]
    pairs = np.column_stack([np.repeat(np.arange(sizes.size), n_near), near.ravel()])
    return np.unique(np.sort(pairs, axis=1), axis=0)


def best_splits(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    evidence: FloatVector,
    family: Family,
    rng: np.random.Generator,
) -> tuple[list[Split], NDArray[np.bool_]]:
    """Cut every cluster in two by a few two-way steps; gains, best first, and the side of each row.

    Each cluster's rows start in random halves. The first steps cut at the median score, which lets the strongest
    contrast emerge as in a power iteration; the last ones cut where the evidence does. All clusters advance together:
    a step costs O(nnz).
    """
    order = np.argsort(labels, kind="stable")
    order = order[labels[order] >= 0]
    bounds = np.searchsorted(labels[order], np.arange(n_clusters + 1))
    side = rng.random(labels.size) < 0.5
    score = np.zeros(labels.size)
    for step in range(SPLIT_STEPS):
        sizes, counts = _child_statistics(rows, labels, side, n_clusters)
        weights, defaults, constants = family.natural_parameters(sizes, counts)
        own = family.natural_parameters(np.maximum(sizes - 1.0, 0.0), _one_less(counts))
        contrast_scores(
            rows.indptr, rows.indices, rows.data, order, bounds, side, counts.indptr, counts.indices,
            weights.data, defaults, constants, own[0].data, own[1], own[2],
            np.zeros((2, rows.shape[1])), score,
        )  # fmt: skip
        if step < BALANCED_STEPS:
            _subtract_medians(score, order, bounds)
        side = score > 0
    sizes, counts = _child_statistics(rows, labels, side, n_clusters)
    children = family.log_evidence(sizes, counts)
    gains = children[0::2] + children[1::2] - evidence
    proper = (sizes[0::2] > 0) & (sizes[1::2] > 0)
    ranked = np.argsort(-gains, kind="stable")
    return [Split(float(gains[k]), int(k)) for k in ranked if proper[k]], side


def _child_statistics(
    rows: sparse.csr_array, labels: IntVector, side: NDArray[np.bool_], n_clusters: int
) -> tuple[FloatVector, sparse.csr_array]:
    """Sizes and counts of the two children of each cluster, children of `k` at ``2k`` and ``2k + 1``."""
    child = np.where(labels >= 0, 2 * labels + side, -1)
    sizes = np.bincount(child[child >= 0], minlength=2 * n_clusters).astype(float)
    return sizes, cluster_counts(rows, child, 2 * n_clusters)


def _subtract_medians(score: FloatVector, order: IntVector, bounds: IntVector) -> None:
    for low, high in zip(bounds[:-1], bounds[1:], strict=True):
        if high > low:
            members = order[low:high]
            score[members] -= np.median(score[members])


def _one_less(counts: sparse.csr_array) -> sparse.csr_array:
    return sparse.csr_array((np.maximum(counts.data - 1.0, 0.0), counts.indices, counts.indptr), counts.shape)


@kernel
def contrast_scores(
    indptr,  # IN  rows as CSR
    columns,
    values,
    order,  # IN  (n_ordered,) int64: rows sorted by cluster
    bounds,  # IN  (n_clusters + 1,) int64 into `order`
    side,  # IN  (n_rows,) bool: child that a row is in now
    weight_indptr,  # IN  pattern of the natural parameters of the children, CSR (2 n_clusters, n_features)
    weight_columns,
    weights,  # IN  (n_entries,) float64
    defaults,  # IN  (2 n_clusters,) float64: natural parameter of a feature without an entry
    constants,  # IN  (2 n_clusters,) float64
    own_weights,  # IN  the same three without the row that asks
    own_defaults,
    own_constants,
    contrast,  # work (2, n_features) float64 zeros
    score_out,  # OUT (n_rows,) float64: log odds of the second child against the first
):
    """Log odds of each row between the two children of its cluster, without the row's own vote.

    A rare feature of a row would else speak for whichever child the row happens to be in.
    """
    for k in range(bounds.shape[0] - 1):
        if bounds[k] == bounds[k + 1]:
            continue
        for child in range(2):
            c = 2 * k + child
            sign = 1.0 if child == 1 else -1.0
            for e in range(weight_indptr[c], weight_indptr[c + 1]):
                contrast[child, weight_columns[e]] += sign * (own_weights[e] - own_defaults[c])
                contrast[1 - child, weight_columns[e]] += sign * (weights[e] - defaults[c])
        for at in range(bounds[k], bounds[k + 1]):
            i = order[at]
            now = 1 if side[i] else 0
            mine, other = 2 * k + now, 2 * k + 1 - now
            default = own_defaults[mine] - defaults[other]
            total = own_constants[mine] - constants[other]
            if now == 0:
                default, total = -default, -total
            for e in range(indptr[i], indptr[i + 1]):
                total += values[e] * (default + contrast[now, columns[e]])
            score_out[i] = total
        for child in range(2):
            for e in range(weight_indptr[2 * k + child], weight_indptr[2 * k + child + 1]):
                contrast[0, weight_columns[e]] = 0.0
                contrast[1, weight_columns[e]] = 0.0


def repair_round(
    rows: sparse.csr_array,
    labels: IntVector,
    n_clusters: int,
    family: Family,
    rng: np.random.Generator,
    allowed: NDArray[np.bool_],
) -> tuple[IntVector, int]:
    """Apply every pair of moves that gains evidence; return the new labels and the number of splits and merges.

    Clusters that are not `allowed` stay as they are. A split takes a dead slot where there is one, else the slot
    that the cheapest merge frees.
    """
    sizes = np.bincount(labels[labels >= 0], minlength=n_clusters).astype(float)
    counts = cluster_counts(rows, labels, n_clusters)
    evidence = family.log_evidence(sizes, counts)
    merges = best_merges(sizes, counts, evidence, family, allowed)
    splits, side = best_splits(rows, labels, n_clusters, evidence, family, rng)
    splits = [s for s in splits if allowed[s.cluster]]
    return _apply_moves(labels, sizes, splits, merges, side, allowed)


def _apply_moves(
    labels: IntVector,
    sizes: FloatVector,
    splits: list[Split],
    merges: list[Merge],
    side: NDArray[np.bool_],
    allowed: NDArray[np.bool_],
) -> tuple[IntVector, int]:
    labels, free = labels.copy(), list(np.flatnonzero((sizes == 0) & allowed))
    used: set[int] = set()
    n_moves = 0
    for merge in merges:
        if merge.gain > 0 and not {merge.first, merge.second} & used:
            _join(labels, merge, free, used)
            n_moves += 1
    remaining = [m for m in merges if m.gain <= 0]
    for split in splits:
        if split.cluster in used:
            continue
        if not free:
            merge = next((m for m in remaining if not {m.first, m.second} & (used | {split.cluster})), None)
            if merge is None or merge.gain + split.gain <= 0:
                continue
            _join(labels, merge, free, used)
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
