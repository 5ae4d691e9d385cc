"""From rows to what the sampler works on: indexed rows, tables of logarithms, clusters without rows."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from sparsemix.models.hashed_gibbs.kernels import FEW, add_rows
from sparsemix.models.hashed_gibbs.state import (
    BERNOULLI,
    FAMILIES,
    PROCESSES,
    Clusters,
    FloatVector,
    IntVector,
    Prior,
    Rows,
)

MOST_TABLED = 1 << 20  # counts whose logarithms are kept


def rows_of(
    indptr: Any, columns: Any, counts: Any, n_features: int, n_rows_with: IntVector | None = None
) -> Rows:
    """Sort the entries of CSR rows by how common the features are, in these or in other rows; O(nnz + n_features).

    Turned twice, first into columns, entries come in the order of the columns: features from the rarest on.
    """
    indptr = np.asarray(indptr, np.int64)
    columns, counts = np.asarray(columns, np.int32), np.asarray(counts, np.int32)
    if n_rows_with is None:
        n_rows_with = np.bincount(columns, minlength=n_features)
    by_rarity = np.argsort(n_rows_with, kind="stable").astype(np.int32)
    rank = np.empty_like(by_rarity)
    rank[by_rarity] = np.arange(n_features, dtype=np.int32)
    turned = csr_array((counts, rank[columns], indptr), shape=(indptr.size - 1, n_features)).tocsc().tocsr()
    sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    totals = np.bincount(columns, counts, minlength=n_features).astype(np.int64)
    return Rows(indptr, by_rarity[turned.indices], turned.data, np.diff(sums[indptr]), n_rows_with, totals)


def prior_of(
    rows: Rows,
    family: str,
    process: str,
    concentration: float,
    discount: float,
    a: float,
    b: float,
) -> Prior:
    """Hyperparameters with the tables of logarithms that these rows ask for."""
    most = min(int(rows.feature_totals.max(initial=0)) + FEW, MOST_TABLED)
    log_a, log_b = _logarithms(a, most), _logarithms(b, min(rows.lengths.size, MOST_TABLED))
    n_features = rows.feature_totals.size
    return Prior(
        FAMILIES[family],
        PROCESSES[process],
        concentration,
        discount,
        a,
        b,
        n_features,
        log_a,
        log_b,
        log_a.astype(np.float32),
    )


def no_clusters(rows: Rows, prior: Prior, n_components: int) -> Clusters:
    """Statistics of as many clusters without rows. Memory O(nnz), whatever the number of clusters.

    A feature has either a number for each cluster, or a list of the clusters that hold it and a hash table.
    """
    most = rows.n_rows_with  # no more clusters hold a feature than rows do
    places = np.left_shift(1, np.ceil(np.log2(1.5 * most + 1.0)).astype(np.int64))
    is_direct = places >= n_components
    size = np.where(is_direct, n_components, places)
    in_order = np.argsort(is_direct, kind="stable")  # lists first: what only they need ends with them
    start = np.empty(most.size, np.int64)
    start[in_order] = np.cumsum(size[in_order]) - size[in_order]
    n_listed, n_cells = int(size[~is_direct].sum()), int(size.sum())
    clusters = Clusters(
        np.zeros(n_components, np.int64),
        np.zeros(n_components, np.int64),
        start,
        np.where(is_direct, -1, places - 1),
        np.zeros(most.size, np.int32),
        np.full(n_listed, -1, np.int64),
        np.full(n_listed, -1, np.int32),
        np.zeros(n_cells, np.int32),
        _spans(rows, prior),
        np.arange(n_components, dtype=np.int32),
        np.arange(n_components, dtype=np.int32),
        np.array([n_components]),
        np.zeros((n_components, 4)),
        np.zeros((4, n_components + 1), np.float32),
        np.zeros((n_components, 2)),
    )
    _renew(rows, prior, clusters)
    return clusters


def _spans(rows: Rows, prior: Prior) -> NDArray[np.float32]:
    """No cluster holds more of a feature than all rows together; Bernoulli rows lack it at most as often."""
    spans = np.log1p(rows.feature_totals / prior.a)
    if prior.family == BERNOULLI:
        spans += np.log1p(rows.feature_totals / prior.b)
    return np.asarray(spans, np.float32)


def filled_clusters(members: Rows, prior: Prior, sizes: IntVector) -> Clusters:
    """Statistics of clusters of which the sums are known: `members` has the sums of each as if it were one row.

    `sizes`, (K,), may be longer: with zeros, of clusters without rows.
    """
    clusters = no_clusters(members, prior, sizes.size)
    add_rows(members, prior, clusters, np.arange(members.lengths.size))
    clusters.sizes[:] = sizes
    _renew(members, prior, clusters)
    return clusters


def _renew(rows: Rows, prior: Prior, clusters: Clusters) -> None:
    """Renew what is kept about all clusters; a kernel of its own would have to be compiled, too."""
    add_rows(rows, prior, clusters, np.empty(0, np.int64))


def _logarithms(pseudo_count: float, most: int) -> FloatVector:
    return np.log(pseudo_count + np.arange(most + 1, dtype=np.float64))
