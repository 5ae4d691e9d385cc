"""Which files a path means, and in which format they are."""

import glob
import os
import stat
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparsemix.foundation.errors import DataError, parameter_error

SUFFIXES = {
    ".parquet": "parquet",
    ".pq": "parquet",
    ".csv": "csv",
    ".tsv": "tsv",
    ".tab": "tsv",
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".dat": "baskets",
    ".svmlight": "svmlight",
    ".libsvm": "svmlight",
    ".svm": "svmlight",
    ".npz": "npz",
    ".mtx": "mtx",
}
FORMATS = tuple(dict.fromkeys(SUFFIXES.values()))
MATRIX_FORMATS = ("svmlight", "npz", "mtx")
GZIP_MAGIC = b"\x1f\x8b"


@dataclass(frozen=True)
class FileSet:
    """Files of one format, in reading order.

    Attributes
    ----------
    files : tuple of Path
    format : str
        One of `FORMATS`.
    is_explicit : bool
        Whether the caller named the format.
    """

    files: tuple[Path, ...]
    format: str
    is_explicit: bool = False

    @property
    def description(self) -> str:
        """The file, or the first one and how many more."""
        more = f" and {len(self.files) - 1} more" if len(self.files) > 1 else ""
        return f"{self.files[0]}{more}"


def is_path(source: object) -> bool:
    """Whether `source` is a path, or a list of paths."""
    if isinstance(source, str | os.PathLike):
        return True
    return isinstance(source, list | tuple) and all(isinstance(part, str | os.PathLike) for part in source)


def find_files(
    source: "str | os.PathLike[str] | Sequence[str | os.PathLike[str]]", format: str | None
) -> FileSet:
    """Return the files of a path, a folder (with its subfolders), a glob pattern, or a list of those.

    Files of a folder or pattern are read in the order of their names. In a folder, hidden files, files that
    begin with ``_`` and files of unknown formats are left out.

    Raises
    ------
    ParameterError
        If `format` is unknown.
    DataError
        If nothing is found, a file is empty, the format of a file is not known or the formats differ.
    """
    if format is not None and not (isinstance(format, str) and format in FORMATS):
        raise parameter_error("format", "read_table", f"one of {', '.join(FORMATS)} or None", format)
    parts = [source] if isinstance(source, str | os.PathLike) else list(source)
    if not parts:
        raise DataError("The list of files is empty. Give at least one path.")
    files = [file for part in parts for file in _expand(_checked_path(part), format)]
    for file in files:
        _check_file(file)
    formats = {format_of(file) if format is None else format for file in files}
    if len(formats) > 1:
        raise DataError(
            f"{parts[0]} holds files of several formats ({', '.join(sorted(formats))}). "
            f"Choose with a pattern such as '{parts[0]}/*.parquet'."
        )
    return FileSet(tuple(files), formats.pop(), format is not None)


def format_of(file: Path) -> str:
    """Return the format that the name of a file says.

    Examples
    --------
    >>> format_of(Path("ads.csv.gz"))
    'csv'
    """
    found = _known_format(file)
    if found is None:
        raise DataError(
            f"{file} has no known suffix ({', '.join(SUFFIXES)}, also with .gz). "
            f"Rename it or pass format=, one of {', '.join(FORMATS)}."
        )
    return found


def is_gzipped(file: Path) -> bool:
    """Whether the content of a file is gzipped, whatever its name."""
    with file.open("rb") as stream:
        return stream.read(2) == GZIP_MAGIC


def _known_format(file: Path) -> str | None:
    name = file.name.lower().removesuffix(".gz")
    return SUFFIXES.get(Path(name).suffix)


def _expand(text: str, format: str | None) -> Iterable[Path]:
    path = Path(text)
    if path.is_dir():
        inside = [file for file in sorted(path.rglob("*")) if file.is_file() and _is_data(file, path)]
        files = [file for file in inside if format is not None or _known_format(file) is not None]
        if not files:
            raise DataError(f"Folder {text} holds no file of a known format ({', '.join(SUFFIXES)}).")
        return files
    if path.exists():
        return [path]
    if glob.has_magic(text):
        found = sorted(Path(name) for name in glob.glob(text, recursive=True))  # noqa: PTH207  (may be absolute)
        files = [file for file in found if file.is_file()]
        if not files:
            raise DataError(f"No file matches {_shown(text)} (looked in {Path.cwd()}). Check the pattern.")
        return files
    raise DataError(
        f"{_shown(text)} does not exist (looked in {Path.cwd()}). Check the path; only local files are read."
    )


def _checked_path(part: "str | os.PathLike[str]") -> str:
    path = os.fspath(part)
    if not isinstance(path, str) or not path or "\0" in path:
        remedy = "For the working folder pass '.'." if path == "" else ""
        raise parameter_error("path_or_table", "read_table", "a path of at least one character", part, remedy)
    return path


def _shown(path: str) -> str:
    return path.encode("utf-8", "backslashreplace").decode()


def _is_data(file: Path, folder: Path) -> bool:
    return not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts)


def _check_file(file: Path) -> None:
    try:
        if not stat.S_ISREG(file.stat().st_mode):
            raise DataError(
                f"{file} is a pipe or a device, but a table is read more than once. Save it to a file and pass that."
            )
        if file.stat().st_size == 0:
            raise DataError(f"{file} is empty. Leave it out, or write it again.")
        with file.open("rb"):
            pass
    except OSError as error:
        raise DataError(f"{file} cannot be read: {error.strerror or error}.") from error
