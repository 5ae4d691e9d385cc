"""Write assignments row by row as they are found, to Parquet or CSV."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sparsemix.cli.own_files import ASSIGNMENT_COLUMNS
from sparsemix.cli.progress import with_progress
from sparsemix.cli.writing import write_batches
from sparsemix.reporting import Assignments, assign

_NONE = Assignments(np.empty(0, np.int64), np.empty(0), np.empty(0))


def assign_batches(
    model: Any,
    batches: Iterable[Any],
    *,
    quiet: bool = False,
) -> Iterator[tuple[Any, Assignments]]:
    """Yield the row ids and the assignments of each batch."""
    for batch in with_progress("Assigning", batches, quiet=quiet):
        yield batch.row_ids, assign(model, batch)


def write_assignments(path: Path, parts: Iterable[tuple[Any, Assignments]]) -> None:
    """Write row id, cluster, probability and entropy of each row; the file appears when it is whole.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or, for Parquet, in anything else.
    parts : iterable of (row ids, Assignments)

    Raises
    ------
    OSError
        When the file cannot be written; one that was there is unchanged.
    """
    batches = (_record_batch(row_ids, found) for row_ids, found in parts)
    first = next(batches, None) or _record_batch(np.empty(0, "U1"), _NONE)
    write_batches(path, chain([first], batches))


def _record_batch(row_ids: Any, found: Assignments) -> Any:
    import pyarrow as pa

    columns = [row_ids, found.clusters, found.probabilities, found.entropies]
    return pa.RecordBatch.from_arrays([pa.array(values) for values in columns], ASSIGNMENT_COLUMNS)
