"""Sums of sparse rows per cluster."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.probability.kernels import add_rows

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


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
        rows.indptr,
        rows.indices,
        rows.data,
        bounds,
        members.astype(np.int64),
        weights,
        place,
        indptr,
        columns,
        sums,
    )
    used = int(indptr[-1])
    return sparse.csr_array((sums[:used], columns[:used], indptr), shape=(n_clusters, rows.shape[1]))
