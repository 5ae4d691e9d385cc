"""Write assignments row by row as they are found, to Parquet or CSV."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from sparsemix.cli.progress import rows_progress
from sparsemix.foundation.errors import parameter_error
from sparsemix.persistence import replacing
from sparsemix.reporting import Assignments, assign

_SUFFIXES = (".parquet", ".csv")


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
    import pyarrow as pa

    check_suffix(path)
    n_rows, writer = 0, None
    with replacing(path) as temporary:
        for row_ids, found in parts:
            columns = {"row": row_ids, "cluster": found.clusters}
            columns |= {"probability": found.probabilities, "entropy": found.entropies}
            batch = pa.RecordBatch.from_pydict({name: pa.array(values) for name, values in columns.items()})
            writer = writer or _open(path, temporary, batch.schema)
            writer.write_batch(batch)
            n_rows += batch.num_rows
        if writer is not None:
            writer.close()
    return n_rows


def _open(path: Path, temporary: Path, schema: Any) -> Any:
    from pyarrow import csv, parquet

    if path.suffix.lower() == ".csv":
        return csv.CSVWriter(temporary, schema)
    return parquet.ParquetWriter(temporary, schema)
