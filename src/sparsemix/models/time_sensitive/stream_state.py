"""What the next row of a stream needs: live clusters, and for each feature a list of those that hold it."""

from typing import Any, NamedTuple

import numpy as np

from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector, SmallVector

FIRST_SLOTS, FIRST_CELLS = 64, 1024
WHOLE = {"active", "free", "ids", "n_held", "own", "in_window"}
SCRATCH = ("gain", "factors", "scores")
EXPIRED, EMPTIED = 0, 1  # why a cluster has ended
MAP, SOFT = 0, 1


class StreamRows(NamedTuple):
    """Rows in the order in which they are learnt, CSR.

    indptr : (n_rows + 1,); columns : (nnz,) ascending in a row; counts : (nnz,); lengths : (n_rows,) sums of counts.
    times : (n_rows,) seconds since 1970, ascending.
    """

    indptr: IntVector
    columns: SmallVector
    counts: FloatVector
    lengths: FloatVector
    times: FloatVector


class StreamRules(NamedTuple):
    """Family and hyperparameters, and what is done with a row.

    family, a, b : see `state.Prior`. rate : decay per second. log_least : log weight below which a cluster ends.
    assignment : MAP or SOFT. is_held : 1 if rows are looked at again, which keeps their clusters alive.
    """

    family: int
    concentration: float
    a: float
    b: float
    n_features: int
    rate: float
    log_least: float
    assignment: int
    is_held: int


class Clusters(NamedTuple):
    """Live clusters; each has a slot, which another gets when it has ended.

    active : (n_slots,) slots in the order of their ids; free : (n_slots,) stack of unused ones.
    ids : (n_slots,); born, last : times of the first row and the last.
    sizes, totals : rows, and sums of their counts, each as far as it belongs to the cluster.
    log_total : log of the total with its pseudo-counts. weight, log_weight : of the history just after the last row.
    n_held : different features; own : first cell.
    off : Bernoulli rows: sum of log(b + size - n_w) over the features held.
    in_window : rows that may still move; base, base_time : weight of the others after their last, and its time.
    gain : zeros between rows; factors, scores : (n_slots + 1,) of the candidates: log prior weight, and that with the
    predictive. numbers : (3,) clusters alive, unused slots, next id.
    """

    active: IntVector
    free: IntVector
    ids: IntVector
    born: FloatVector
    last: FloatVector
    sizes: FloatVector
    totals: FloatVector
    log_total: FloatVector
    weight: FloatVector
    log_weight: FloatVector
    n_held: IntVector
    own: IntVector
    off: FloatVector
    in_window: IntVector
    base: FloatVector
    base_time: FloatVector
    gain: FloatVector
    factors: FloatVector
    scores: FloatVector
    numbers: IntVector


class Cells(NamedTuple):
    """Counts of features in clusters, each linked into the list of its feature and that of its cluster; -1 ends one.

    slot, feature, counts : (n_cells,); log_counts : log(a + count).
    before, after : in the list of the feature; own_before, own_after : of the cluster.
    first : (n_features,) where the lists of the features begin, from 1 on; 0 for none, so that what is not read
        takes no memory. numbers : (2,) first unused cell, and how many.
    """

    slot: IntVector
    feature: IntVector
    counts: FloatVector
    log_counts: FloatVector
    before: IntVector
    after: IntVector
    own_before: IntVector
    own_after: IntVector
    first: IntVector
    numbers: IntVector


class Ended(NamedTuple):
    """Clusters that have ended: id, birth, last row, size and reason, (n, 5); n : (1,) how many."""

    table: FloatMatrix
    n: IntVector


def no_live_clusters() -> Clusters:
    """A stream without rows."""
    empty: Any = {name: np.zeros(0, np.int64 if name in WHOLE else np.float64) for name in Clusters._fields}
    return with_slots(Clusters(**empty | {"numbers": np.zeros(3, np.int64)}), FIRST_SLOTS)


def with_slots(clusters: Clusters, n_slots: int) -> Clusters:
    """The same clusters with more slots."""
    n_old, n_free = clusters.ids.size, int(clusters.numbers[1])
    grown = _grown(clusters, n_slots, {"numbers"})
    for name in ("factors", "scores"):
        grown[name] = np.zeros(n_slots + 1)
    grown["free"][n_free : n_free + n_slots - n_old] = np.arange(n_slots - 1, n_old - 1, -1)
    clusters.numbers[1] += n_slots - n_old
    return clusters._replace(**grown)


def no_cells(n_features: int) -> Cells:
    """Lists without clusters."""
    real = ("counts", "log_counts")
    empty: Any = {name: np.zeros(0, np.float64 if name in real else np.int64) for name in Cells._fields}
    known = {"first": np.zeros(n_features, np.int64), "numbers": np.array([-1, 0])}
    return with_cells(Cells(**empty | known), FIRST_CELLS)


def with_cells(cells: Cells, n_cells: int) -> Cells:
    """The same cells with more unused ones."""
    n_old = cells.slot.size
    grown = _grown(cells, n_cells, {"first", "numbers"})
    grown["after"][n_old:] = np.arange(n_old + 1, n_cells + 1)
    grown["after"][-1] = cells.numbers[0]
    cells.numbers[:] = n_old, cells.numbers[1] + n_cells - n_old
    return cells._replace(**grown)


def with_features(cells: Cells, n_features: int) -> Cells:
    """The same cells with lists for more features."""
    first = np.zeros(n_features, np.int64)
    first[: cells.first.size] = cells.first
    return cells._replace(first=first)


def _grown(arrays: Clusters | Cells, size: int, fixed: set[str]) -> dict[str, Any]:
    """Copies of all arrays but some, with zeros at their ends."""
    return {
        name: np.append(array, np.zeros(size - array.size, array.dtype))
        for name, array in arrays._asdict().items()
        if name not in fixed | {"factors", "scores"}
    }
