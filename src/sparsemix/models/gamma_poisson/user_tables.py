"""Tables with a row for each user, in memory or in files without a name, and passes over them block by block.

A pass reads and writes some rows at a time and, of tables in files, lets go of them at once, so that memory need not
hold the tables. Blocks depend on shapes alone: wherever tables are, sums are added in the same order.
"""

import mmap
import tempfile
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatMatrix = NDArray[np.float64]
BLOCK_CELLS = 1 << 16  # of a table, so that a block stays in the processor's cache


def new_table(n_rows: int, n_components: int, *, on_disk: bool) -> FloatMatrix:
    """An unwritten table, (n_rows, n_components); one on disk is gone with the last that refers to it."""
    if not on_disk or not n_rows:
        return np.empty((n_rows, n_components))
    with tempfile.TemporaryFile(prefix="sparsemix-users-") as file:
        return np.memmap(file, np.float64, "w+", shape=(n_rows, n_components))


def on_disk(table: FloatMatrix) -> FloatMatrix:
    """The table in a file; itself if it is in one."""
    if isinstance(table, np.memmap):
        return table
    return fill(new_table(*table.shape, on_disk=True), lambda some: some, table)


def new_like(table: FloatMatrix) -> FloatMatrix:
    """An unwritten table of the same shape in the same kind of place."""
    return new_table(*table.shape, on_disk=isinstance(table, np.memmap))


def row_blocks(first: int, last: int, n_components: int) -> Iterator[slice]:
    """Rows `first` to `last`, some at a time."""
    step = max(1, BLOCK_CELLS // n_components)
    for start in range(first, last, step):
        yield slice(start, min(start + step, last))


def fill(out: FloatMatrix, function: Callable[..., FloatMatrix], *tables: FloatMatrix) -> FloatMatrix:
    """Write what a function makes of the same rows of some tables; returns `out`."""
    for block in row_blocks(0, *out.shape):
        out[block] = function(*(np.asarray(table[block]) for table in tables))
        release(block, out, *tables)
    return out


def total(function: Callable[..., Any], *tables: FloatMatrix) -> Any:
    """The sum of what a function makes of the same rows of some tables, a number or a vector."""
    found: Any = 0.0
    for block in row_blocks(0, *tables[0].shape):
        found = found + function(*(np.asarray(table[block]) for table in tables))
        release(block, *tables)
    return found


def release(block: slice, *tables: FloatMatrix) -> None:
    """Let memory go of the rows of tables that are on disk; nothing of what they hold is lost."""
    if not hasattr(mmap, "MADV_DONTNEED"):
        return
    for table in tables:
        if isinstance(table, np.memmap):
            row = table.shape[1] * table.itemsize
            first = block.start * row // mmap.PAGESIZE * mmap.PAGESIZE
            table._mmap.madvise(mmap.MADV_DONTNEED, first, block.stop * row - first)  # type: ignore[attr-defined]
