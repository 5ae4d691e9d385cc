"""CSV and TSV files as blocks of records."""

import io
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.csv as pa_csv

from sparsemix.data.blocks import Block
from sparsemix.data.byte_stream import read_pieces
from sparsemix.data.csv_records import Dialect, Records, careful_records, read_header, record_pieces
from sparsemix.data.headers import check_names_once, common_columns
from sparsemix.foundation.errors import DataError, ParameterError, listed
from sparsemix.foundation.wording import counted


@dataclass(frozen=True)
class _Layout:
    """Where the wanted columns of one file stand.

    Attributes
    ----------
    n_columns : int
    positions : dict of str to int
        Role to position of its column.
    skipped_bytes, skipped_lines : int
        Size of the header.
    """

    n_columns: int
    positions: dict[str, int]
    skipped_bytes: int
    skipped_lines: int


class CsvReader:
    """CSV or TSV files; every value is text, an empty value is an empty string.

    Parameters
    ----------
    files : tuple of Path
    description : str
    dialect : Dialect
    names : sequence of str, optional
        Column names of files without a header.
    """

    def __init__(
        self, files: tuple[Path, ...], description: str, dialect: Dialect, names: Sequence[str] | None = None
    ) -> None:
        self._files = files
        self._dialect = dialect
        self._names = names
        self.description = description

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:  # noqa: ARG002
        """Names of the columns that all files have, in the order of the first file."""
        return common_columns(self.headers())

    def headers(self) -> dict[Path, list[str]]:
        """Names of the columns of each file."""
        return {file: self._header(file)[0] for file in self._files}

    def list_columns(self) -> set[str]:
        """Return none: a cell is text."""
        return set()

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order."""
        for file in self._files:
            yield from self._file_blocks(file, self._layout(file, columns))

    def _header(self, file: Path) -> tuple[list[str], int, int]:
        names, n_bytes, n_lines = read_header(read_pieces(file, size=1 << 16), self._dialect, file)
        if self._names is None:
            return names, n_bytes, n_lines
        if len(names) != len(self._names):
            raise ParameterError(
                f"'columns' of read_table must name {counted(len(names), 'column')}, those of {file}, "
                f"but it names {listed(self._names)}."
            )
        return list(self._names), 0, 0

    def _layout(self, file: Path, columns: dict[str, str]) -> _Layout:
        names, n_bytes, n_lines = self._header(file)
        check_names_once(names, columns.values(), file)
        positions = {role: names.index(name) for role, name in columns.items()}
        return _Layout(len(names), positions, n_bytes, n_lines)

    def _file_blocks(self, file: Path, layout: _Layout) -> Iterator[Block]:
        line = layout.skipped_lines + 1
        records = record_pieces(_skip(read_pieces(file), layout.skipped_bytes), self._dialect)
        for data, is_plain in records:
            if not is_plain:
                rest = chain([data], (piece for piece, _ in records))
                yield from self._careful_blocks(rest, file, layout, line)
                return
            yield self._plain_block(data, file, layout, line)
            line += data.count(b"\n")

    def _plain_block(self, data: bytes, file: Path, layout: _Layout, line: int) -> Block:
        try:
            table = _parse(data, self._dialect, layout)
        except pa.ArrowException as error:
            list(careful_records([data], self._dialect, layout.n_columns, line, file))
            raise DataError(f"{file}, after line {line - 1}: the records cannot be read as CSV.") from error
        columns = {role: table.column(_internal(i)) for role, i in layout.positions.items()}

        def place(record: int) -> str:
            return f"{file}, line {self._line_of(record, data, file, layout, line)}"

        return Block(columns, table.num_rows, place, untyped=True)

    def _line_of(self, record: int, data: bytes, file: Path, layout: _Layout, line: int) -> int:
        for part in careful_records([data], self._dialect, layout.n_columns, line, file):
            if record < len(part.lines):
                return part.lines[record]
            record -= len(part.lines)
        raise IndexError(record)

    def _careful_blocks(
        self, rest: Iterator[bytes], file: Path, layout: _Layout, line: int
    ) -> Iterator[Block]:
        for part in careful_records(rest, self._dialect, layout.n_columns, line, file):
            yield _careful_block(part, file, layout)


def _careful_block(part: Records, file: Path, layout: _Layout) -> Block:
    columns = {
        role: pa.array([values[i] for values in part.values], pa.large_string())
        for role, i in layout.positions.items()
    }
    return Block(columns, len(part.values), lambda record: f"{file}, line {part.lines[record]}", untyped=True)


def _parse(data: bytes, dialect: Dialect, layout: _Layout) -> Any:
    """Parse whole records with Arrow; the wanted columns become dictionaries of text."""
    names = [_internal(i) for i in range(layout.n_columns)]
    wanted = [_internal(i) for i in sorted(set(layout.positions.values()))]
    if not data.strip(b"\r\n"):
        return pa.table({name: pa.array([], pa.string()) for name in wanted})
    return pa_csv.read_csv(
        io.BytesIO(data),
        read_options=pa_csv.ReadOptions(column_names=names, block_size=len(data) + 1),
        parse_options=pa_csv.ParseOptions(
            delimiter=dialect.separator,
            quote_char=dialect.quote or False,
            double_quote=dialect.quote is not None,
            newlines_in_values=dialect.quote is not None,
        ),
        convert_options=pa_csv.ConvertOptions(
            include_columns=wanted,
            column_types=dict.fromkeys(wanted, pa.dictionary(pa.int32(), pa.string())),
            strings_can_be_null=False,
        ),
    )


def _internal(position: int) -> str:
    return f"c{position}"


def _skip(pieces: Iterator[bytes], n_bytes: int) -> Iterator[bytes]:
    for piece in pieces:
        kept = piece[n_bytes:]
        n_bytes -= min(n_bytes, len(piece))
        if kept:
            yield kept
