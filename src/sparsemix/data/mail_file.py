"""The messages of a mailbox file (mbox), one after another."""

import mailbox
import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from sparsemix.data.byte_stream import read_pieces
from sparsemix.data.formats import is_gzipped
from sparsemix.data.scratch import scratch_folder
from sparsemix.foundation.errors import DataError, parameter_error

BEGINNING = b"From "
HEADERS = re.compile(
    rb"(?:[!-9;-~]+:.*\n|[ \t].*\n)*?(?:from|date|subject|message-id|received|return-path)\s*:", re.IGNORECASE
)
MOST_HEADERS = 1 << 16  # bytes of headers that are looked at


@dataclass(frozen=True)
class Piece:
    """A message as it stands in a file.

    Attributes
    ----------
    envelope : str
        The line before it, ``From address date``.
    content : bytes
        Headers and body.
    """

    envelope: str
    content: bytes


def pieces_of(path: str | os.PathLike[str]) -> Iterator[Piece]:
    """Yield the messages of an mbox file, plain or gzipped.

    A line of a body that begins with "From " and that nobody has escaped begins no message, for no headers follow it.

    Raises
    ------
    DataError
        If there is no such file, or it is no mbox file, or damaged.
    ParameterError
        If `path` is no path.
    """
    file = _checked(path)
    with _unpacked(file) as plain:
        found = mailbox.mbox(plain, create=False)
        try:
            parts: list[bytes] = []
            for key in found.iterkeys():
                part = found.get_bytes(key, from_=True)
                if parts and _has_headers(part):
                    yield _piece(parts)
                    parts = []
                if not parts and not _has_headers(part):
                    raise _no_mailbox(file, "no headers of a message follow its first line")
                parts.append(part)
            yield _piece(parts)
        finally:
            found.close()


def _piece(parts: list[bytes]) -> Piece:
    envelope, _, content = b"\n".join(parts).partition(b"\n")
    return Piece(envelope.decode("latin-1").strip(), content)


def _has_headers(part: bytes) -> bool:
    begin = part.find(b"\n") + 1
    return bool(begin) and bool(HEADERS.match(part, begin, begin + MOST_HEADERS))


def _checked(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike) or not str(path):
        raise parameter_error("path", "read_mailbox", "the path of an mbox file", path)
    file = Path(path)
    if file.is_dir():
        raise DataError(f"{file} is a folder. Give a file in mbox form, as mail programs export it.")
    if not file.is_file():
        raise DataError(f"{file} does not exist, or is no file (looked in {Path.cwd()}). Check the path.")
    return file


@contextmanager
def _unpacked(file: Path) -> Iterator[Path]:
    """Give a plain file that begins as mailboxes do."""
    with scratch_folder() as folder:
        try:
            plain = file
            if is_gzipped(file):
                plain = folder / "mbox"
                with plain.open("wb") as target:
                    target.writelines(read_pieces(file))
            with plain.open("rb") as stream:
                _check_beginning(file, stream.read(len(BEGINNING)))
        except OSError as error:
            raise DataError(f"{file} cannot be read: {error.strerror or error}.") from error
        yield plain


def _check_beginning(file: Path, content: bytes) -> None:
    if not content:
        raise DataError(f"{file} is empty. Export the mailbox again.")
    if not content.startswith(BEGINNING):
        raise _no_mailbox(file, "it does not begin with 'From '")


def _no_mailbox(file: Path, reason: str) -> DataError:
    return DataError(f"{file} is no mailbox in mbox form: {reason}. Export the mail as mbox.")
