"""Sums of sparse rows per cluster."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import equal_parts, thread_runner
from sparsemix.probability.kernels import add_rows

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


def cluster_counts(
    rows: sparse.csr_array, labels: IntVector, n_clusters: int, n_threads: int = 1
) -> sparse.csr_array:
    """Feature counts per cluster, (n_clusters, n_features); rows labelled -1 are left out. O(nnz)."""
    order = np.argsort(labels, kind="stable")
    order = order[np.searchsorted(labels[order], 0) :]
    return weighted_counts(rows, order, labels[order], np.ones(order.size), n_clusters, n_threads)


def weighted_counts(
    rows: sparse.csr_array,
    members: IntVector,
    clusters: IntVector,
    weights: FloatVector,
    n_clusters: int,
    n_threads: int = 1,
) -> sparse.csr_array:
    """Weighted sums of rows per cluster, (n_clusters, n_features) CSR; O(nnz of the members + n_features n_threads).

    Parameters
    ----------
    rows : (n_rows, n_features) CSR
    members, clusters, weights : (n_members,)
        Row ``members[j]`` counts ``weights[j]`` times in ``clusters[j]``; `clusters` is sorted.
    n_clusters : int
    n_threads : int, default=1
        They share the clusters, and change no bit.
    """
    bounds = np.searchsorted(clusters, np.arange(n_clusters + 1))
    ends = np.append(0, np.cumsum(np.diff(rows.indptr)[members]))[bounds]
    columns, sums = np.empty(ends[-1], np.int32), np.empty(ends[-1])
    n_entries = np.zeros(n_clusters, np.int64)
    members = members.astype(np.int64, copy=False)

    def add(part: tuple[int, int]) -> None:
        first, last = part
        room = slice(ends[first], ends[last])
        place = np.full(rows.shape[1], -1, np.int64)
        add_rows(
            rows.indptr, rows.indices, rows.data, bounds[first : last + 1], members, weights, place,
            n_entries[first:last], columns[room], sums[room],
        )  # fmt: skip

    parts = equal_parts(np.diff(ends) + 1.0, n_threads)
    with thread_runner(n_threads) as run:
        run(add, parts)
    used = [slice(ends[a], ends[a] + n_entries[a:b].sum()) for a, b in parts]
    indptr = np.append(0, np.cumsum(n_entries))
    return sparse.csr_array(
        (_joined(sums, used), _joined(columns, used), indptr), shape=(n_clusters, rows.shape[1])
    )


def _joined(values: NDArray[np.generic], used: list[slice]) -> NDArray[np.generic]:
    """What lies in the slices, without a copy if there is one."""
    kept = [values[place] for place in used] or [values[:0]]
    return kept[0] if len(kept) == 1 else np.concatenate(kept)
