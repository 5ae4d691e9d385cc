"""The bytes of a text file in large pieces, gzipped or not."""

import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sparsemix.data.formats import is_gzipped
from sparsemix.foundation.errors import DataError

PIECE_BYTES = 1 << 23
UTF8_BOM = b"\xef\xbb\xbf"
BYTES_LOOKED_AT, LEAST_SHARE_OF_ZEROS = 256, 8
WIDE_BOMS = {"UTF-32": (b"\xff\xfe\0\0", b"\0\0\xfe\xff"), "UTF-16": (b"\xff\xfe", b"\xfe\xff")}


@dataclass(frozen=True)
class TextPiece:
    """Whole lines of a file.

    Attributes
    ----------
    data : bytes
    first_line : int
        Number of its first line in the file, counted from 1.
    """

    data: bytes
    first_line: int


def read_pieces(file: Path, size: int = PIECE_BYTES) -> Iterator[bytes]:
    """Yield the bytes of a file without a byte-order mark; a gzipped file is unpacked on the way.

    Raises
    ------
    DataError
        If the file is UTF-16 or UTF-32, or the gzipped data are damaged or cut off.
    """
    try:
        with _open(file) as stream:
            piece = stream.read(size)
            for encoding, marks in WIDE_BOMS.items():
                if piece.startswith(marks):
                    raise DataError(f"{file} is {encoding}, but text files must be UTF-8. Convert it first.")
            beginning = piece[:BYTES_LOOKED_AT]
            if beginning.count(0) * LEAST_SHARE_OF_ZEROS >= len(beginning) > 0:
                raise DataError(
                    f"{file} is no UTF-8: so many of its bytes are zero that it looks like UTF-16 or UTF-32 without a "
                    f"byte-order mark, or like no text. Convert it to UTF-8 first."
                )
            piece = piece.removeprefix(UTF8_BOM)
            while piece:
                yield piece
                piece = stream.read(size)
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise DataError(f"{file} is damaged or cut off: it cannot be unpacked whole.") from error


def line_pieces(file: Path) -> Iterator[TextPiece]:
    """Yield a text file in pieces that end at line ends."""
    rest: list[bytes] = []
    first_line = 1
    for piece in read_pieces(file):
        head, newline, tail = piece.rpartition(b"\n")
        if not newline:
            rest.append(piece)
            continue
        data = b"".join([*rest, head, newline])
        yield TextPiece(data, first_line)
        first_line += data.count(b"\n")
        rest = [tail] if tail else []
    if rest:
        yield TextPiece(b"".join(rest), first_line)


def decode_lines(piece: TextPiece, file: Path) -> list[str]:
    """Return the lines of a piece without their ends.

    Raises
    ------
    DataError
        If a line is not UTF-8; the message names it.
    """
    try:
        text = piece.data.decode("utf-8")
    except UnicodeDecodeError as error:
        line = piece.first_line + piece.data.count(b"\n", 0, error.start)
        raise not_utf8(file, line) from error
    lines = text.split("\n")
    if lines[-1] == "":
        lines.pop()
    return [line.removesuffix("\r") for line in lines]


def not_utf8(file: Path, line: int) -> DataError:
    """Return the error for a line that is not UTF-8."""
    return DataError(f"{file}, line {line}: the text must be UTF-8, but it is not. Convert the file first.")


def _open(file: Path) -> "gzip.GzipFile | BinaryIO":
    return gzip.open(file, "rb") if is_gzipped(file) else file.open("rb")
