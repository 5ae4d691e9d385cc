"""Write tables batch by batch, to Parquet or CSV."""

from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import Any

from sparsemix.persistence import replacing


def write_batches(path: Path, batches: Iterable[Any]) -> None:
    """Write record batches; the file appears when it is whole.

    Parameters
    ----------
    path : Path
        Ends in ``.csv`` or, for Parquet, in anything else.
    batches : iterable of pyarrow.RecordBatch
        At least one; all with the columns of the first.

    Raises
    ------
    OSError
        When the file cannot be written; one that was there is unchanged.
    """
    rest = iter(batches)
    with replacing(path) as temporary:
        first = next(rest)
        with _open(path, temporary, first.schema) as writer:
            for batch in chain([first], rest):
                writer.write_batch(batch)


def _open(path: Path, temporary: Path, schema: Any) -> Any:
    from pyarrow import csv, parquet

    if path.suffix.lower() == ".csv":
        return csv.CSVWriter(temporary, schema)
    return parquet.ParquetWriter(temporary, schema)
