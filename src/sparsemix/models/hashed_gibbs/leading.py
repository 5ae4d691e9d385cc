"""A start by one pass over the rows: leader clustering by their rare features."""

import numpy as np

from sparsemix.models.hashed_gibbs.leader_kernels import lead
from sparsemix.models.hashed_gibbs.state import FINITE, IntVector, Leaders, Prior, Rows

MOST_FEATURES = 20  # of a row, the rarest
STRENGTH = 0.25  # rows that the prior of a cluster counts for
PLACES = 2  # leaders for each cluster that may stay


def led(rows: Rows, prior: Prior, n_clusters: int, order: IntVector) -> IntVector:
    """Clusters of rows that come in this order, at most `n_clusters`; -1 for rows without, which are few.

    Cost: O(MOST_FEATURES * LONG_LIST) a row at most.

    Parameters
    ----------
    rows : Rows
    prior : Prior
        The priors of the clusters' weights alone are used.
    n_clusters : int
    order : (n,) ndarray of int
        All rows, or some.

    Returns
    -------
    (n_rows,) ndarray of int
    """
    some, n_rows = _with_rarest(rows), rows.lengths.size
    n_places = PLACES * n_clusters if prior.process == FINITE else n_clusters
    starts = np.concatenate([[0], np.cumsum(some.n_rows_with)])
    n_cells = some.columns.size
    leaders = Leaders(
        starts[:-1],
        np.zeros(some.n_rows_with.size, np.int64),
        np.empty(n_cells, np.int32),
        np.empty(n_cells, np.int32),
        np.empty(n_cells, np.float32),
    )
    assigned = np.full(n_rows, -1)
    base = STRENGTH * some.feature_totals / n_rows
    lead(some, prior, base, min(n_places, order.size), order, leaders, assigned)
    return _largest(assigned, n_clusters)


def _with_rarest(rows: Rows) -> Rows:
    """The rows with their rarest features alone."""
    sizes = np.minimum(np.diff(rows.indptr), MOST_FEATURES)
    indptr = np.concatenate([[0], np.cumsum(sizes)])
    at = np.arange(indptr[-1]) + np.repeat(rows.indptr[:-1] - indptr[:-1], sizes)
    columns, counts = rows.columns[at], rows.counts[at]
    n_features = rows.n_rows_with.size
    totals = np.bincount(columns, counts, minlength=n_features).astype(np.int64)
    return Rows(indptr, columns, counts, rows.lengths, np.bincount(columns, minlength=n_features), totals)


def _largest(assigned: IntVector, n_clusters: int) -> IntVector:
    """The largest clusters, numbered from the largest down; rows of others are in none."""
    sizes = np.bincount(assigned[assigned >= 0])
    number = np.full(sizes.size + 1, -1)  # the last for rows without a cluster
    by_size = np.argsort(-sizes, kind="stable")[:n_clusters]
    number[by_size] = np.arange(by_size.size)
    return number[assigned]
