"""Tables in memory (pandas, polars, Arrow) and Parquet files, as blocks of records."""

import gzip
import shutil
import zlib
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sparsemix.data.arrow_numpy import is_text
from sparsemix.data.blocks import Block
from sparsemix.data.formats import is_gzipped
from sparsemix.data.headers import check_names_once, common_columns
from sparsemix.data.pairs import is_list
from sparsemix.data.scratch import scratch_folder
from sparsemix.foundation.errors import DataError, shorten

RECORDS_PER_BLOCK = 1 << 20
BASKETS_PER_BLOCK = 1 << 16
BYTES_PER_BLOCK = 1 << 28
RECORDS_PER_READ = 1 << 17


class ArrowReader:
    """A table in memory.

    Parameters
    ----------
    table : pyarrow Table, polars DataFrame, or anything else that offers the Arrow stream interface
    """

    def __init__(self, table: Any) -> None:
        try:
            self._table = pa.table(table.to_arrow() if hasattr(table, "to_arrow") else table)
        except (pa.ArrowException, TypeError, ValueError) as error:
            raise DataError(f"The table cannot be converted to Arrow: {_first_line(error)}.") from error
        self.description = f"a {_package(table)} table"

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:  # noqa: ARG002
        """Names of the columns."""
        return list(self._table.column_names)

    def list_columns(self) -> set[str]:
        """Names of the columns that hold lists."""
        return {field.name for field in self._table.schema if is_list(field.type)}

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order."""
        check_names_once(self._table.column_names, columns.values(), self.description)
        chosen = {role: self._table.column(name) for role, name in columns.items()}
        for role, values in chosen.items():
            try:
                values.validate(full=True)
            except pa.ArrowException as error:
                raise DataError(
                    f"Column {shorten(columns[role])} of {self.description} is damaged: not all of it is UTF-8, or it "
                    f"points outside of its values. Build it anew."
                ) from error
        return _table_blocks(chosen)


class PandasReader:
    """A pandas DataFrame; named levels of its index count as columns.

    Parameters
    ----------
    frame : pandas.DataFrame
    """

    description = "a pandas table"

    def __init__(self, frame: Any) -> None:
        index = frame.index
        levels = {name: index.get_level_values(name) for name in index.names if name is not None}
        self._names = [*(str(name) for name in levels), *(str(name) for name in frame.columns)]
        self._series = [*levels.values(), *(frame.iloc[:, i] for i in range(frame.shape[1]))]

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:  # noqa: ARG002
        """Names of the index levels and columns."""
        return self._names

    def list_columns(self) -> set[str]:
        """Names of the columns whose first value is a list."""
        firsts = {name: next(iter(values.dropna()), None) for name, values in self._object_series()}
        return {name for name, first in firsts.items() if isinstance(first, list | tuple | np.ndarray)}

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order."""
        check_names_once(self._names, columns.values(), self.description)
        return _table_blocks({role: self._column(name) for role, name in columns.items()})

    def _object_series(self) -> Iterator[tuple[str, Any]]:
        pairs = zip(self._names, self._series, strict=True)
        return ((name, series) for name, series in pairs if series.dtype == object)

    def _column(self, name: str) -> Any:
        series = self._series[self._names.index(name)]
        try:
            return pa.chunked_array(_chunks(pa.Array.from_pandas(series)))
        except (pa.ArrowException, TypeError, ValueError) as error:
            remedy = "Give the column one type, for instance by casting it to text."
            raise DataError(
                f"Column {shorten(name)} cannot be converted to Arrow: {_first_line(error)}. {remedy}"
            ) from error


def memory_reader(table: object) -> ArrowReader | PandasReader | None:
    """Return the reader of a table in memory, or None if `table` is none."""
    if _package(table) == "pandas" and hasattr(table, "columns"):
        return PandasReader(table)
    is_polars = _package(table) == "polars" and hasattr(table, "to_arrow")
    is_arrow = hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")
    return ArrowReader(table) if is_polars or is_arrow else None


def _package(table: object) -> str:
    return type(table).__module__.partition(".")[0]


def _chunks(values: Any) -> list[Any]:
    return list(values.chunks) if isinstance(values, pa.ChunkedArray) else [values]


def _table_blocks(columns: dict[str, Any]) -> Iterator[Block]:
    n_records = max(len(values) for values in columns.values())
    size = BASKETS_PER_BLOCK if is_list(columns["feature"].type) else RECORDS_PER_BLOCK
    for start in range(0, n_records, size):
        part = {role: values.slice(start, size) for role, values in columns.items()}
        n_part = min(size, n_records - start)
        yield Block(part, n_part, _numbered("", start))


class ParquetReader:
    """Parquet files; each may be gzipped as a whole.

    Parameters
    ----------
    files : tuple of Path
    description : str
    """

    def __init__(self, files: tuple[Path, ...], description: str) -> None:
        self._files = files
        self.description = description

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:  # noqa: ARG002
        """Names of the columns that all files have, in the order of the first file."""
        return common_columns(self.headers())

    def headers(self) -> dict[Path, list[str]]:
        """Names of the columns of each file."""
        return {file: self._names(file) for file in self._files}

    def list_columns(self) -> set[str]:
        """Names of the columns that hold lists in the first file."""
        with _opened(self._files[0]) as parquet:
            return {field.name for field in parquet.schema_arrow if is_list(field.type)}

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order; text stays dictionary-encoded as it is in the file."""
        for file in self._files:
            with _opened(file) as parquet, _as_data_errors(file):
                check_names_once(parquet.schema_arrow.names, columns.values(), file)
                yield from _parquet_blocks(parquet, file, columns)

    @staticmethod
    def _names(file: Path) -> list[str]:
        with _opened(file) as parquet:
            return list(parquet.schema_arrow.names)


def _parquet_blocks(parquet: Any, file: Path, columns: dict[str, str]) -> Iterator[Block]:
    gathered: list[Any] = []
    first = 0
    for batch in parquet.iter_batches(batch_size=RECORDS_PER_READ, columns=sorted(set(columns.values()))):
        gathered.append(batch)
        n_records = sum(part.num_rows for part in gathered)
        if n_records >= RECORDS_PER_BLOCK or sum(part.nbytes for part in gathered) >= BYTES_PER_BLOCK:
            yield _gathered_block(gathered, first, file, columns)
            first += n_records
            gathered = []
    if gathered:
        yield _gathered_block(gathered, first, file, columns)


def _gathered_block(batches: list[Any], first: int, file: Path, columns: dict[str, str]) -> Block:
    table = pa.Table.from_batches(batches)
    chosen = {role: table.column(name) for role, name in columns.items()}
    table.validate(full=True)  # so that damaged text and numbers are found where the file is known
    return Block(chosen, table.num_rows, _numbered(f"{file}, ", first))


@contextmanager
def _opened(file: Path) -> Iterator[Any]:
    """Open a Parquet file; a gzipped one is unpacked to a temporary file first."""
    with _plain(file) as plain, _as_data_errors(file):
        schema = pq.read_schema(plain)
        text = [f.name for f in schema if is_text(f.type)]
        with pq.ParquetFile(plain, read_dictionary=text, pre_buffer=False) as parquet:
            yield parquet


@contextmanager
def _plain(file: Path) -> Iterator[Path]:
    if not is_gzipped(file):
        yield file
        return
    with scratch_folder() as folder:
        plain = folder / "table.parquet"
        with _as_data_errors(file), gzip.open(file, "rb") as packed, plain.open("wb") as unpacked:
            shutil.copyfileobj(packed, unpacked)
        yield plain


@contextmanager
def _as_data_errors(file: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except (pa.ArrowException, OSError, EOFError, zlib.error, UnicodeDecodeError) as error:
        if isinstance(error, OSError) and error.errno is not None and error.strerror:
            raise DataError(f"{file} cannot be read: {error.strerror}.") from error
        raise DataError(
            f"{file} is damaged or is no Parquet file. Write it again, or pass the format= that it has."
        ) from error


def _first_line(error: Exception) -> str:
    return shorten(str(error).partition("\n")[0]).strip("'\"").rstrip(".")


def _numbered(source: str, first: int) -> Callable[[int], str]:
    return lambda record: f"{source}row {first + record} (from 0)"
