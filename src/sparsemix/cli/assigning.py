"""Write assignments row by row as they are found, to Parquet or CSV."""

from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np

from sparsemix.cli.progress import rows_progress
from sparsemix.foundation.errors import parameter_error
from sparsemix.persistence import replacing
from sparsemix.reporting import Assignments, assign

_SUFFIXES = (".parquet", ".csv")
_NONE = Assignments(np.empty(0, np.int64), np.empty(0), np.empty(0))


def assign_batches(
    model: Any,
    batches: Iterable[Any],
    *,
    quiet: bool = False,
) -> Iterator[tuple[Any, Assignments]]:
    """Yield the row ids and the assignments of each batch."""
    with rows_progress("Assigning", None, quiet=quiet) as advance:
        for batch in batches:
            yield batch.row_ids, assign(model, batch)
            advance(len(batch))


def check_suffix(path: Path) -> None:
    """Raise ParameterError unless the file's name says which format it is to have."""
    if path.suffix.lower() not in _SUFFIXES:
        remedy = "Use a .csv file to open it in a spreadsheet, .parquet for anything large."
        raise parameter_error(
            "output", "assign", "a file name that ends in .parquet or .csv", str(path), remedy
        )


def write_assignments(path: Path, parts: Iterable[tuple[Any, Assignments]]) -> int:
    """Write row id, cluster, probability and entropy of each row; the file appears when it is whole.

    Parameters
    ----------
    path : Path
        Ends in ``.parquet`` or ``.csv``.
    parts : iterable of (row ids, Assignments)

    Returns
    -------
    int
        Rows written.

    Raises
    ------
    ParameterError
        When the name has another ending.
    OSError
        When the file cannot be written; one that was there is unchanged.
    """
    check_suffix(path)
    batches = (_record_batch(row_ids, found) for row_ids, found in parts)
    n_rows = 0
    with replacing(path) as temporary:
        first = next(batches, None) or _record_batch(np.empty(0, "U1"), _NONE)
        with _open(path, temporary, first.schema) as writer:
            for batch in chain([first], batches):
                writer.write_batch(batch)
                n_rows += batch.num_rows
    return n_rows


def _record_batch(row_ids: Any, found: Assignments) -> Any:
    import pyarrow as pa

    columns = {"row": row_ids, "cluster": found.clusters}
    columns |= {"probability": found.probabilities, "entropy": found.entropies}
    return pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()})


def _open(path: Path, temporary: Path, schema: Any) -> Any:
    from pyarrow import csv, parquet

    if path.suffix.lower() == ".csv":
        return csv.CSVWriter(temporary, schema)
    return parquet.ParquetWriter(temporary, schema)
