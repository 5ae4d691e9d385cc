"""A stream: rows are learnt once, in the order of their times, and the last of them may be looked at again."""

from typing import Any, NamedTuple

import numpy as np

from sparsemix.models.time_sensitive import stream_kernels, window_kernels
from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.stream_state import (
    SCRATCH,
    SOFT,
    Cells,
    Clusters,
    Ended,
    StreamRows,
    StreamRules,
    no_cells,
    no_live_clusters,
    with_cells,
    with_features,
    with_slots,
)
from sparsemix.probability.entries import row_sums

LINES = 1024  # ends of clusters that are kept before they are told
CELLS = 4_000_000  # rows times clusters that are asked about at a time


class Window(NamedTuple):
    """The last rows; positions : (n_rows,) how many came before each; slots : (n_rows,) clusters that they are in."""

    rows: StreamRows
    positions: IntVector
    slots: IntVector


class Held(NamedTuple):
    """What the live clusters hold, in the order of their ids, CSR; features as the cells are linked."""

    indptr: IntVector
    columns: IntVector
    counts: FloatVector


def stream_rows(matrix: Any, times: FloatVector) -> StreamRows:
    """Rows of a CSR matrix of whole numbers with ascending columns."""
    counts = matrix.data.astype(np.float64)
    indptr, columns = matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32)
    return StreamRows(indptr, columns, counts, row_sums(matrix), np.asarray(times))


def part(rows: StreamRows, first: int, end: int) -> StreamRows:
    """Some of the rows."""
    indptr = rows.indptr[first : end + 1]
    cells = slice(int(indptr[0]), int(indptr[-1]))
    counts, lengths, times = rows.counts[cells], rows.lengths[first:end], rows.times[first:end]
    return StreamRows(indptr - indptr[0], rows.columns[cells], counts, lengths, times)


def joined(one: StreamRows, other: StreamRows) -> StreamRows:
    """Rows, and others after them."""
    indptr = np.append(one.indptr, one.indptr[-1] + other.indptr[1:])
    columns, counts = np.append(one.columns, other.columns), np.append(one.counts, other.counts)
    lengths, times = np.append(one.lengths, other.lengths), np.append(one.times, other.times)
    return StreamRows(indptr, columns, counts, lengths, times)


def no_window() -> Window:
    """A window without rows."""
    none = np.empty(0)
    rows = StreamRows(np.zeros(1, np.int64), np.empty(0, np.int32), none, none, none)
    return Window(rows, np.empty(0, np.int64), np.empty(0, np.int64))


class Stream:
    """Live clusters in the middle of a stream.

    Parameters
    ----------
    rules : StreamRules
    window : int
        Rows that are looked at again, each twice; 0 for none.
    seed : int
        Of the draws for these. They depend on it and on how many rows have come, not on how they were handed over.
    """

    def __init__(self, rules: StreamRules, window: int, seed: int) -> None:
        self.rules, self.window, self.seed = rules, window, seed
        self.clusters: Clusters = no_live_clusters()
        self.cells: Cells = no_cells(rules.n_features)
        self.recent = no_window()
        self.n_seen, self.latest = 0, -np.inf

    @property
    def active(self) -> IntVector:
        """Slots of the live clusters, in the order of their ids."""
        return self.clusters.active[: self.clusters.numbers[0]]

    @property
    def stride(self) -> int:
        """Rows between two sweeps over the window."""
        return max(1, self.window // 2)

    def know(self, n_features: int) -> None:
        """Make lists for more features."""
        if n_features > self.rules.n_features:
            self.rules = self.rules._replace(n_features=n_features)
            self.cells = with_features(self.cells, n_features)
            stream_kernels.renew_totals(self.rules, self.clusters)

    def learn(self, rows: StreamRows) -> tuple[IntVector, FloatMatrix]:
        """Learn rows; returns their clusters by id, and those that have ended, as in `Ended`."""
        n_rows, begun = rows.times.size, self.n_seen
        ids, slots = np.empty((2, n_rows), np.int64)
        told, row = [], 0
        while row < n_rows:
            end = min(n_rows, row + self.stride - self.n_seen % self.stride) if self.window else n_rows
            first = row
            while row < end:
                row, ends = self._learn_some(rows, row, end, slots, ids)
                told.append(ends)
            self.n_seen += end - first
            if self.window:
                self._hold(part(rows, first, end), slots[first:end])
                if self.n_seen % self.stride == 0:
                    self._retire(ids, begun)
                    told.append(self._resample())
        self.latest = float(rows.times[-1]) if n_rows else self.latest
        self._name(ids, begun, self.recent)
        return ids, np.concatenate([np.empty((0, 5)), *told])

    def ask(self, rows: StreamRows) -> tuple[FloatMatrix, FloatVector]:
        """Log prior weight plus log predictive of each live cluster and a new one, and the log sum of these weights.

        The stream stays as it is, so that questions may be asked side by side, and of a stream that cannot be written.
        """
        n_rows, n_live = rows.times.size, self.active.size
        scratch = {name: np.zeros_like(getattr(self.clusters, name)) for name in SCRATCH}
        clusters = self.clusters._replace(**scratch)
        scores, log_weight = np.empty((n_rows, n_live + 1)), np.empty(n_rows)
        stream_kernels.ask_rows(rows, self.rules, clusters, self.cells, scores, log_weight)
        return scores, log_weight

    def held(self) -> Held:
        """What the live clusters hold."""
        n_cells = int(self.clusters.n_held[self.active].sum())
        found = Held(np.empty(self.active.size + 1, np.int64), np.empty(n_cells, np.int64), np.empty(n_cells))
        stream_kernels.list_cells(self.clusters, self.cells, *found)
        return found

    def _learn_some(
        self, rows: StreamRows, row: int, end: int, slots: IntVector, ids: IntVector
    ) -> tuple[int, FloatMatrix]:
        """Learn rows while there is room, and make some for the next; returns that one, and what has ended."""
        ended = _no_ends(LINES + self.clusters.ids.size)
        state = (self.rules, self.clusters, self.cells)
        row = int(stream_kernels.learn_rows(rows, row, end, *state, slots, ids, ended))
        if row < end:
            n_learners = self.active.size + 1 if self.rules.assignment == SOFT else 1
            self._make_room(1, n_learners * int(rows.indptr[row + 1] - rows.indptr[row]))
        return row, _told(ended)

    def _make_room(self, n_slots: int, n_cells: int) -> None:
        """See to that many unused slots and cells, twice as many as there were at least where there are too few."""
        slots, cells = self.clusters.ids.size, self.cells.slot.size
        if self.clusters.numbers[1] < n_slots:
            self.clusters = with_slots(self.clusters, 2 * slots + n_slots)
        if self.cells.numbers[1] < n_cells:
            self.cells = with_cells(self.cells, 2 * cells + n_cells)

    def _hold(self, rows: StreamRows, slots: IntVector) -> None:
        positions = np.arange(self.n_seen - slots.size, self.n_seen)
        self.recent = Window(
            joined(self.recent.rows, rows),
            np.concatenate([self.recent.positions, positions]),
            np.concatenate([self.recent.slots, slots]),
        )

    def _retire(self, ids: IntVector, begun: int) -> None:
        """Rows that have left the window stay where they are."""
        rows, positions, slots = self.recent
        n = max(0, slots.size - self.window)
        self._name(ids, begun, Window(rows, positions[:n], slots[:n]))
        window_kernels.retire(rows, n, self.rules, self.clusters, slots)
        self.recent = Window(part(rows, n, slots.size), positions[n:], slots[n:])

    def _resample(self) -> FloatMatrix:
        """One sweep over the window; returns clusters that it has emptied."""
        rows, _, slots = self.recent
        self._make_room(slots.size, rows.columns.size)
        log_weight, stamp, factor = np.empty((3, self.clusters.ids.size))
        uniforms = np.random.default_rng([self.seed, self.n_seen]).random(slots.size)
        ended = _no_ends(slots.size)
        state = (self.rules, self.clusters, self.cells)
        window_kernels.resample(rows, *state, slots, uniforms, log_weight, stamp, factor, ended)
        return _told(ended)

    def _name(self, ids: IntVector, begun: int, window: Window) -> None:
        """Tell the clusters of those rows of the window that the call has brought."""
        is_new = window.positions >= begun
        ids[window.positions[is_new] - begun] = self.clusters.ids[window.slots[is_new]]


def _no_ends(n_lines: int) -> Ended:
    return Ended(np.empty((n_lines, 5)), np.zeros(1, np.int64))


def _told(ended: Ended) -> FloatMatrix:
    n = int(ended.n[0])
    ended.n[0] = 0
    return ended.table[:n].copy()
