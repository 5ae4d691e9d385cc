"""Write files so that the old one stays whole until the new one is."""

import errno
import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Hand out a temporary file beside `path` and put it in the place of `path` when the block ends well.

    The data are on disk before the name changes, and the name is on disk before the block returns. When the
    block fails, `path` is as it was and the temporary file is gone. The rights of a file that was there stay;
    a new one has those of any file that the user writes.

    Parameters
    ----------
    path : str or PathLike
        A symbolic link stays one: the file that it points to is replaced.

    Yields
    ------
    Path
        An empty file in the same folder.

    Raises
    ------
    OSError
        When the folder is missing or cannot be written to, or `path` is there and no regular file, as a pipe.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     target = Path(folder) / "result.txt"
    ...     with replacing(target) as temporary:
    ...         _ = temporary.write_text("whole")
    ...     target.read_text()
    'whole'
    """
    target = Path(os.path.realpath(path))
    if target.is_dir():
        raise IsADirectoryError(f"{target} is a folder")
    if target.exists() and not target.is_file():
        raise OSError(errno.EINVAL, "it is no regular file", os.fspath(path))
    temporary = target.with_name(f".{target.name[:100]}.{secrets.token_hex(6)}.tmp")
    try:
        temporary.touch(exist_ok=False)
    except OSError as error:
        raise type(error)(error.errno, error.strerror, os.fspath(path)) from None
    rights = _rights(temporary)
    try:
        yield temporary
        # Whoever wrote may have put a file with other rights in its place.
        temporary.chmod(_rights(target) if target.exists() else rights)
        _flush(temporary)
        temporary.replace(target)
        _flush(target.parent)
    finally:
        temporary.unlink(missing_ok=True)


def _rights(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def _flush(path: Path) -> None:
    if os.name == "nt" and path.is_dir():
        return  # Windows cannot open folders
    descriptor = os.open(path, os.O_RDONLY if path.is_dir() else os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
