"""Who learns from which row: rows are scored with the index as it stands, on several threads."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import kernels, scoring_kernels
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.numeric.threads import Run, row_parts

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

LEARNERS_PER_ROW = 4


class Scored(NamedTuple):
    """Consecutive rows, up to the row before `last`, and who learns from them.

    rows, components, responsibilities : (n_learners,) by row.
    waiting : (n_waiting,) rows that fit no component.
    """

    last: int
    rows: IntVector
    components: NDArray[np.int32]
    responsibilities: FloatVector
    waiting: IntVector

    def with_waiting(self, most: int) -> "Scored":
        """The rows up to the one with which so many wait."""
        if self.waiting.size < max(most, 1):
            return self
        waiting = self.waiting[:most]
        last = int(waiting[-1]) + 1
        kept = slice(int(np.searchsorted(self.rows, last)))
        return Scored(last, self.rows[kept], self.components[kept], self.responsibilities[kept], waiting)


def joined(parts: list[Scored]) -> Scored:
    """Parts that follow each other as one."""
    if len(parts) == 1:
        return parts[0]
    columns = zip(*(part[1:] for part in parts), strict=True)
    return Scored(parts[-1].last, *map(np.concatenate, columns))


class Hands(NamedTuple):
    """The rows of each component, in their order: component `k` learns ``rows[bounds[k]:bounds[k + 1]]``.

    bounds : (n_components + 1,).
    rows, shares : (n_learners,) rows, and how far they are the component's.
    n_held : (n_components,) features that its rows hold, those that several hold once for each.
    n_unsure : (n_components,) rows of which it is not certain.
    """

    bounds: IntVector
    rows: IntVector
    shares: FloatVector
    n_held: IntVector
    n_unsure: IntVector


def dealt(scored: Scored, indptr: IntVector, n_components: int) -> Hands:
    """Deal rows out; `indptr`, (n_rows + 1,), is that of all rows."""
    counts = np.empty((2, n_components), np.int64)
    n_learners = scored.rows.size
    hands = Hands(
        np.empty(n_components + 1, np.int64), np.empty(n_learners, np.int64), np.empty(n_learners), *counts
    )
    kernels.deal(indptr, scored.rows, scored.components, scored.responsibilities, hands)
    return hands


class Scoring(NamedTuple):
    """Rows of a block that are to be scored.

    labels : (n_rows,) component by position, or -1.
    log_evidence : (n_rows,) gets the log density of each row, nats.
    """

    stream: Stream
    block: RowBlock
    labels: IntVector
    settings: Settings
    log_evidence: FloatVector

    def parts(self, run: Run[tuple[int, int]], n_threads: int) -> Iterator[Scored]:
        """Score all rows and yield them in order, each part to be learnt before the next; until no more may wait.

        Each thread has a range of rows and stops when its list of learners is full. Where it stopped depends on
        the threads, what becomes of a row does not.
        """
        left = row_parts(self.block.indptr, n_threads)
        found: dict[int, Scored] = {}

        def score(part: tuple[int, int]) -> None:
            found[part[1]] = self._scored(*part)

        while left:
            run(score, [part for part in left if part[1] not in found])
            ready: list[Scored] = []
            while left:
                end = left.pop(0)[1]
                ready.append(found.pop(end))
                if ready[-1].last < end:
                    left.insert(0, (ready[-1].last, end))
                    break
            yield joined(ready).with_waiting(self.stream.waiting.room)

    def _scored(self, first: int, last: int) -> Scored:
        index, n_rows = self.stream.index, last - first
        rival = np.full(n_rows, -np.inf)
        if self.stream.waiting.capacity:
            scoring_kernels.find_rivals(
                self.block.indptr[first : last + 1], self.block.columns, self.stream.background, rival
            )
        n_components = index.base.size
        capacity = LEARNERS_PER_ROW * n_rows + n_components
        rows, components = np.empty(capacity, np.int64), np.empty(capacity, np.int32)
        shares = np.empty(capacity)
        waiting = np.empty(min(self.stream.waiting.room, n_rows), np.int64)
        last, n_learners, n_waiting = scoring_kernels.find_learners(
            self.block.indptr, self.block.columns, self.labels[:last], first, index,
            self.settings.min_responsibility, np.empty(n_components), rival, self.log_evidence,
            rows, components, shares, waiting,
        )  # fmt: skip
        used = slice(n_learners)
        return Scored(last, rows[used], components[used], shares[used], waiting[:n_waiting])
