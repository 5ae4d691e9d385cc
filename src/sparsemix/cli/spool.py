"""Answers about rows, kept on disk until those of all rows are there."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparsemix.data.duck import interruptible, open_duckdb

_ROW = "row"


class Spool:
    """Takes answers part by part and gives them back in parts of one size.

    Row ids are integers only where those of all parts are; so no part can be written before the last is known.

    Parameters
    ----------
    folder : Path
        Takes one file; DuckDB sorts there too.
    """

    def __init__(self, folder: Path) -> None:
        self._folder, self._file = folder, folder / "answers.arrow"
        self._writer: Any = None
        self._kinds: set[str] = set()
        self._has_negative = False

    def add(self, row_ids: NDArray[Any], answers: Sequence[NDArray[Any]]) -> None:
        """Take the answers of some rows, each (n_rows,)."""
        self._kinds.add(row_ids.dtype.name)
        self._has_negative |= row_ids.dtype.kind == "i" and bool((row_ids < 0).any())
        columns = [pa.array(row_ids).cast(pa.large_string()), *map(pa.array, answers)]
        batch = pa.RecordBatch.from_arrays(columns, [_ROW, *(f"answer {i}" for i in range(len(answers)))])
        if self._writer is None:
            self._writer = pa.ipc.new_file(self._file, batch.schema)
        self._writer.write_batch(batch)

    def close(self) -> None:
        """Take no more."""
        if self._writer is not None:
            self._writer.close()

    def repeated_row(self) -> str | None:
        """Return the id of a row that was added twice, or None; call it when the spool is closed."""
        if self._writer is None:
            return None
        query = f"SELECT {_ROW} FROM answers GROUP BY {_ROW} HAVING count(*) > 1 LIMIT 1"
        with pa.memory_map(str(self._file)) as file, open_duckdb(temp_folder=self._folder) as connection:
            connection.register("answers", pa.ipc.open_file(file).read_all())
            found = interruptible(connection, lambda: connection.execute(query).fetchone())
        return None if found is None else str(found[0])

    def parts(self, n_rows: int) -> Iterator[tuple[NDArray[Any], list[NDArray[Any]]]]:
        """Yield row ids and answers, so many rows at a time, when the spool is closed."""
        if self._writer is None:
            return
        with pa.memory_map(str(self._file)) as file:
            table = pa.ipc.open_file(file).read_all()
            for first in range(0, table.num_rows, n_rows):
                row_ids, *answers = (column.combine_chunks() for column in table.slice(first, n_rows).columns)
                yield self._natural(row_ids), [values.to_numpy() for values in answers]

    def _natural(self, row_ids: Any) -> NDArray[Any]:
        """Ids as `read_table` has them that reads all rows at once."""
        if not self._kinds <= {"int64", "uint64"} or (self._has_negative and "uint64" in self._kinds):
            texts: NDArray[Any] = np.asarray(row_ids.to_numpy(zero_copy_only=False), object)
            return texts
        numbers: NDArray[Any] = row_ids.cast("uint64" if "uint64" in self._kinds else "int64").to_numpy()
        return numbers
