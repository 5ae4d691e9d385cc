"""Files that hold a matrix: SciPy ``.npz``, Matrix Market ``.mtx``, svmlight. Their values are counts."""

import gzip
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import Any

from scipy import io, sparse

from sparsemix.data.dataset import Dataset, concatenate
from sparsemix.data.formats import FileSet, is_gzipped
from sparsemix.data.report import ReadReport
from sparsemix.data.svmlight import svmlight_pieces
from sparsemix.foundation.errors import DataError


def read_matrix_file(files: FileSet) -> Dataset:
    """Read matrix files whole; the rows are numbered from 0, the features have no names."""
    pieces = list(matrix_pieces(files))
    if not pieces:
        raise DataError(f"{files.description} holds no rows.")
    return concatenate(pieces)


def matrix_pieces(files: FileSet) -> Iterator[Dataset]:
    """Yield the rows of matrix files in pieces of any size, all with the same columns.

    Raises
    ------
    DataError
        If there are several files where the format allows one, a file is damaged, or a value is no count.
    """
    if files.format == "svmlight":
        return svmlight_pieces(files.files, files.description)
    if len(files.files) > 1:
        raise DataError(
            f"Only one .{files.format} file can be read at a time, but there are {len(files.files)}."
        )
    return iter([_read_whole(files.files[0], files.format)])


def _read_whole(file: Path, format: str) -> Dataset:
    with _damage_reported(file):
        matrix = _load_npz(file) if format == "npz" else _load_mtx(file)
    try:
        dataset = Dataset.from_matrix(matrix)
    except DataError as error:
        raise DataError(f"{file}: {error}") from error
    return replace(dataset, report=ReadReport(source=str(file), n_records=dataset.n_rows))


def _load_npz(file: Path) -> Any:
    """Load without pickle, and check the indices: a hostile file neither runs code nor leads astray."""
    matrix = sparse.load_npz(file)
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return matrix


def _load_mtx(file: Path) -> Any:
    if not is_gzipped(file):
        return io.mmread(file)
    with gzip.open(file, "rb") as stream:
        return io.mmread(BytesIO(stream.read()))


@contextmanager
def _damage_reported(file: Path) -> Iterator[None]:
    try:
        yield
    except (OSError, ValueError, KeyError, EOFError, OverflowError, zipfile.BadZipFile) as error:
        # NumPy takes what it does not recognise for a pickle, and names the unsafe way to load one.
        reason = "SciPy has not written it" if "pickle" in str(error) else str(error).rstrip(".")
        raise DataError(f"{file} is damaged or is no matrix file: {reason}.") from error
