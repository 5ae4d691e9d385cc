"""Cut the bytes of a CSV file where records end, and read the parts that need care record by record.

The quick way hands whole pieces to Arrow. It is safe while every quotation mark of a piece opens, closes or
is doubled inside a quoted value, which NumPy checks on the bytes. From the first piece on where that does not
hold, the careful way (Python's strict CSV reader) takes over: it allows a mark inside a bare value
(``5" nails``) and reports loose ones with their line.
"""

import csv
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.byte_stream import not_utf8
from sparsemix.foundation.errors import DataError

RECORDS_PER_CAREFUL_PART = 1 << 16
QUOTE_REMEDY = (
    "A quotation mark that opens a value must be closed before the next separator, "
    "and marks inside are doubled. If the file does not use quotation marks, pass quote=None."
)
SYNTAX_ERRORS = (
    ("expected after", "text follows a closing quotation mark", QUOTE_REMEDY),
    ("unexpected end", "the quotation mark that opens here is never closed", QUOTE_REMEDY),
    ("new-line", "a carriage return stands outside quotation marks", "Convert the line ends of the file."),
)
"""Words of Python's reader, and ours."""


@dataclass(frozen=True)
class Dialect:
    """How a file is written.

    Attributes
    ----------
    separator : str
        One character between values.
    quote : str or None
        One character around values that hold a separator, a line break or the quote itself; None = unused.
    """

    separator: str
    quote: str | None


@dataclass(frozen=True)
class Records:
    """Consecutive records that were read carefully.

    Attributes
    ----------
    values : list of list of str
    lines : list of int
        Line on which each record begins, counted from 1.
    """

    values: list[list[str]]
    lines: list[int]


def record_pieces(pieces: Iterable[bytes], dialect: Dialect) -> Iterator[tuple[bytes, bool]]:
    """Yield (bytes, is_plain): pieces that end where a record ends; the last one may end anywhere.

    A piece that is not plain is followed by the untouched rest of the file.
    """
    source = iter(pieces)
    held: list[bytes] = []
    size = enough = 0
    for piece in source:
        held.append(piece)
        size += len(piece)
        if size < enough:
            continue
        pending = b"".join(held)
        if not _is_plain(pending, dialect, is_whole=False):
            yield pending, False
            yield from ((rest, False) for rest in source)
            return
        end = _last_record_end(pending, dialect)
        if end:
            yield pending[:end], True
        held, size = [pending[end:]], len(pending) - end
        enough = 2 * size  # a record longer than a piece: do not look again too soon
    pending = b"".join(held)
    if pending:
        yield pending, _is_plain(pending, dialect, is_whole=True)


def careful_records(
    pieces: Iterable[bytes], dialect: Dialect, n_columns: int, first_line: int, file: Path
) -> Iterator[Records]:
    """Read records one by one.

    Raises
    ------
    DataError
        If a quotation mark is loose, a record has another number of values than the header, or a line is not
        UTF-8; the message names the line.
    """
    reader = csv_reader(_text_lines(pieces, first_line, file), dialect)
    while True:
        with _long_values():
            records = _take_records(reader, n_columns, first_line, file)
        if not records.values:
            return
        yield records


def csv_reader(lines: Iterable[str], dialect: Dialect) -> Any:
    """Return Python's strict reader for a dialect."""
    if dialect.quote is None:
        return csv.reader(lines, delimiter=dialect.separator, quoting=csv.QUOTE_NONE, strict=True)
    return csv.reader(lines, delimiter=dialect.separator, quotechar=dialect.quote, strict=True)


def read_header(pieces: Iterable[bytes], dialect: Dialect, file: Path) -> tuple[list[str], int, int]:
    """Return the values of the first record, the bytes that it takes and the number of its lines."""
    n_bytes = 0

    def counted() -> Iterator[str]:
        nonlocal n_bytes
        for line in _text_lines(pieces, 1, file):
            n_bytes += len(line.encode())
            yield line

    reader = csv_reader(counted(), dialect)
    try:
        with _long_values():
            for values in reader:
                if values:
                    return values, n_bytes, reader.line_num
    except csv.Error as error:
        raise _syntax_error(error, file, 1) from error
    raise DataError(f"{file} has no header line: it is empty. Write the names of the columns first.")


def _take_records(reader: Any, n_columns: int, first_line: int, file: Path) -> Records:
    records = Records([], [])
    start = first_line + reader.line_num
    try:
        for values in reader:
            if values:
                _check_record(values, n_columns, f"{file}, line {start}")
                records.values.append(values)
                records.lines.append(start)
            start = first_line + reader.line_num
            if len(records.values) == RECORDS_PER_CAREFUL_PART:
                break
    except csv.Error as error:
        raise _syntax_error(error, file, start) from error
    return records


def _syntax_error(error: csv.Error, file: Path, line: int) -> DataError:
    for words, reason, remedy in SYNTAX_ERRORS:
        if words in str(error):
            return DataError(f"{file}, line {line}: {reason}. {remedy}")
    return DataError(f"{file}, line {line}: {error}.")


def _check_record(record: list[str], n_columns: int, where: str) -> None:
    if len(record) != n_columns:
        raise DataError(
            f"{where}: the record must have {n_columns} values as the header, but has {len(record)}. "
            "Quote values with the delimiter in them, and fill gaps."
        )


def _last_record_end(data: bytes, dialect: Dialect) -> int:
    """Position after the last line end that lies outside quotation marks, 0 if there is none."""
    if dialect.quote is None or dialect.quote.encode() not in data:
        return data.rfind(b"\n") + 1
    octets = np.frombuffer(data, dtype=np.uint8)
    ends = np.flatnonzero(octets == ord("\n"))
    marks = np.flatnonzero(octets == ord(dialect.quote))
    outside = ends[np.searchsorted(marks, ends) % 2 == 0]
    return int(outside[-1]) + 1 if outside.size else 0


def _is_plain(data: bytes, dialect: Dialect, is_whole: bool) -> bool:
    """Whether Arrow reads `data` as the strict reader would.

    That is so while every quotation mark opens, closes or is doubled inside a quoted value, and no carriage
    return stands alone. If `data` is not whole, its last value may be open.
    """
    if data.count(b"\r") != data.count(b"\r\n") + (not is_whole and data.endswith(b"\r")):
        return False
    if dialect.quote is None or dialect.quote.encode() not in data:
        return True
    octets = np.frombuffer(data, dtype=np.uint8)
    marks = np.flatnonzero(octets == ord(dialect.quote))
    if is_whole and marks.size % 2:
        return False
    line_end = np.frombuffer(b"\n", dtype=np.uint8)
    around = np.concatenate([line_end, octets, line_end])  # octets[i] is around[i + 1]
    opens = _is_border(around[marks[0::2]], dialect)
    closes = _is_border(around[marks[1::2] + 2], dialect)
    n_next = opens.size - 1
    doubled = marks[2::2] == marks[1::2][:n_next] + 1  # a closing mark and at once the next opening one
    opens[1:] |= doubled
    closes[:n_next] |= doubled
    return bool(opens.all() and closes.all())


def _is_border(octets: NDArray[np.uint8], dialect: Dialect) -> NDArray[np.bool_]:
    return np.isin(octets, np.frombuffer(dialect.separator.encode() + b"\r\n", dtype=np.uint8))


def _text_lines(pieces: Iterable[bytes], first_line: int, file: Path) -> Iterator[str]:
    """Decode line by line; a line keeps its end."""
    rest = b""
    number = first_line
    for piece in pieces:
        lines = (rest + piece).split(b"\n")
        rest = lines.pop()
        for line in lines:
            yield _decoded(line, number, file) + "\n"
            number += 1
    if rest:
        yield _decoded(rest, number, file)


def _decoded(line: bytes, number: int, file: Path) -> str:
    try:
        return line.decode("utf-8")
    except UnicodeDecodeError as error:
        raise not_utf8(file, number) from error


@contextmanager
def _long_values() -> Iterator[None]:
    """Lift the limit of Python's reader on the length of a value, and put it back."""
    before = csv.field_size_limit(min(sys.maxsize, 2**31 - 1))
    try:
        yield
    finally:
        csv.field_size_limit(before)
