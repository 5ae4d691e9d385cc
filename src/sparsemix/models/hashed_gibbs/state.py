"""What the next draw needs: the rows, the statistics of the clusters, and the prior."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
IntVector = NDArray[np.int64]
SmallVector = NDArray[np.int32]

# Plain numbers in calls would make kernels compile once for each of them.
NONE, NO_CLUSTER, ENTER, LEAVE = np.int64(0), np.int64(-1), np.int64(1), np.int64(-1)
MULTINOMIAL, POISSON, BERNOULLI = 0, 1, 2
FAMILIES = {"multinomial": MULTINOMIAL, "poisson": POISSON, "bernoulli": BERNOULLI}
FINITE, PROCESS = 0, 1  # symmetric Dirichlet over the components; Dirichlet or Pitman-Yor process
PROCESSES = {"finite": FINITE, "dp": PROCESS}


class Rows(NamedTuple):
    """Rows of counts, CSR, but with the features of each row from the rarest to the most common.

    indptr : (n_rows + 1,); columns, counts : (nnz,).
    lengths : (n_rows,) sums of the counts.
    n_rows_with : (n_features,) rows that hold a feature; feature_totals : (n_features,) sums of its counts.
    """

    indptr: IntVector
    columns: SmallVector
    counts: SmallVector
    lengths: IntVector
    n_rows_with: IntVector
    feature_totals: IntVector


class Prior(NamedTuple):
    """Family and hyperparameters.

    family, process : one of the numbers above.
    concentration : per component (finite) or of the process; discount : of a Pitman-Yor process, else 0.
    a : pseudo-count of every feature in every cluster (Dirichlet, shape of the Gamma, or of "on"); b : rate of the
    Gamma, or pseudo-count of "off".
    log_a, log_b : (n,) log(a + n) and log(b + n) for counts n from 0; log_single : log_a in single precision.
    """

    family: int
    process: int
    concentration: float
    discount: float
    a: float
    b: float
    n_features: int
    log_a: FloatVector
    log_b: FloatVector
    log_single: NDArray[np.float32]


class Clusters(NamedTuple):
    """Statistics of the clusters: whole numbers, so that what is added can be taken away again.

    sizes : (K,) rows; totals : (K,) sums of their counts.
    start, mask : (n_features,) of each feature's cells. Where the mask is negative there is a cell for every cluster;
    else the first cells are a list of the clusters that hold the feature, ``n_listed`` of them, in no order.
    cell_counts : sum of the feature's counts in each cell's cluster.
    keys : clusters of the cells of lists, which come before those of other features; -1 for none.
    slots : for each list a hash table of ``mask + 1`` slots, a power of two: a cluster and its
    place in the list in one number, or -1.
    spans : (n_features,) the most that a token of the feature can say for one cluster beside another, nats.
    empty : (K,) the clusters without rows come first; place : (K,) where each cluster stands there.
    n_empty : (1,).
    constant : (K, 4) what a row's score owes to the cluster alone: constant, factor of its length, and of two
    polynomials of its length.
    columns : (4, K + 1) the same in single precision, cluster beside cluster; the last is a place to write on.
    off : (K, 2) Bernoulli rows: sums of log(b + size - n_w) and of log(b + size - 1 - n_w) over all features.
    """

    sizes: IntVector
    totals: IntVector
    start: IntVector
    mask: IntVector
    n_listed: SmallVector
    slots: IntVector
    keys: SmallVector
    cell_counts: SmallVector
    spans: NDArray[np.float32]
    empty: SmallVector
    place: SmallVector
    n_empty: IntVector
    constant: NDArray[np.float64]
    columns: NDArray[np.float32]
    off: NDArray[np.float64]


class Leaders(NamedTuple):
    """What clusters hold while rows come one after another: for each feature a list of the clusters that hold it.

    start : (n_features,) where the lists begin, with room for all rows that hold the feature; n_listed : their lengths.
    keys, cell_counts, gains : cluster, sum of counts, and what a token of the feature says for it, nats.
    """

    start: IntVector
    n_listed: IntVector
    keys: SmallVector
    cell_counts: SmallVector
    gains: NDArray[np.float32]


class Workspace(NamedTuple):
    """What proposals from the index write on.

    held : (K,) float32, all zero between proposals: gains of the clusters that are found; found : (K + 1,) those, and a
    place to write on; partial : (K,) their scores from rare features alone.
    counts : as many as a row has entries.
    chosen, scores : (CANDIDATES,) the best of those found.
    empty : (4,) constants of a cluster without rows; empty_score : (1,) its score.
    without : (4,) constants of the row's own cluster without the row.
    """

    held: NDArray[np.float32]
    found: IntVector
    partial: FloatVector
    counts: IntVector
    chosen: IntVector
    scores: FloatVector
    empty: FloatVector
    empty_score: FloatVector
    without: FloatVector
