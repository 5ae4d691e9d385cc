"""Rows that wait: those that no component explains are set aside, and looked at together."""

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock

IntVector = NDArray[np.int64]

NO_ROWS = RowBlock(np.zeros(1, np.int64), np.empty(0, np.int32))


@dataclass
class Reservoir:
    """Rows that were seen and not yet learnt, oldest first.

    capacity : most rows that wait; 0 where none does.
    """

    capacity: int
    rows: RowBlock = field(default=NO_ROWS)

    @property
    def room(self) -> int:
        """Rows that may still come."""
        return self.capacity - self.rows.n_rows

    @property
    def is_full(self) -> bool:
        """Whether rows may wait, and as many do as may."""
        return 0 < self.capacity <= self.rows.n_rows

    def add(self, block: RowBlock, rows: IntVector) -> RowBlock:
        """Let the numbered rows of a block wait; return the copies."""
        added = rows_of(block, rows)
        self.rows = joined_rows(self.rows, added)
        return added

    def take(self) -> RowBlock:
        """All rows, which no longer wait."""
        rows, self.rows = self.rows, NO_ROWS
        return rows


def rows_of(block: RowBlock, rows: IntVector) -> RowBlock:
    """Copy of the numbered rows of a block."""
    lengths = np.diff(block.indptr)[rows]
    ends = np.cumsum(lengths)
    places = np.arange(int(lengths.sum())) + np.repeat(block.indptr[rows] - (ends - lengths), lengths)
    return RowBlock(np.append(0, ends).astype(np.int64), block.columns[places])


def joined_rows(first: RowBlock, second: RowBlock) -> RowBlock:
    """The rows of one block, then those of the other."""
    indptr = np.append(first.indptr, first.indptr[-1] + second.indptr[1:])
    return RowBlock(indptr, np.append(first.columns, second.columns))
