"""Files that hold a matrix: SciPy ``.npz``, Matrix Market ``.mtx``, svmlight. Their values are counts."""

import gzip
import lzma
import zipfile
import zlib
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
from sparsemix.data.sparse_forms import safe_view
from sparsemix.data.svmlight import MOST_COLUMNS, svmlight_pieces
from sparsemix.foundation.errors import DataError
from sparsemix.foundation.wording import counted

MOST_EMPTY_ROWS = 2**27
# What the readers of archives and arrays raise on damaged ones; RuntimeError where a part is encrypted or too new.
_DAMAGE = (
    OSError, ValueError, KeyError, TypeError, AttributeError, EOFError, OverflowError, RuntimeError, zipfile.BadZipFile,
    zlib.error, lzma.LZMAError,
)  # fmt: skip
SIZE_REMEDY = "Correct the size that it declares, or leave out what is empty."


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
        _check_shape(file, matrix.shape[0], matrix.shape[1], matrix.size)
    try:
        dataset = Dataset.from_matrix(matrix)
    except DataError as error:
        raise DataError(f"{file}: {error}") from error
    return replace(dataset, report=ReadReport(source=str(file), n_records=dataset.n_rows))


def _load_npz(file: Path) -> Any:
    """Load without pickle, and check the indices: a hostile file neither runs code nor leads astray."""
    return safe_view(sparse.load_npz(file))


def _load_mtx(file: Path) -> Any:
    if not is_gzipped(file):
        _check_declared(file, io.mminfo(file), file.stat().st_size)
        return io.mmread(file)
    with gzip.open(file, "rb") as stream:
        content = stream.read()
    _check_declared(file, io.mminfo(BytesIO(content)), len(content))
    return io.mmread(BytesIO(content))


def _check_declared(file: Path, declared: tuple[Any, ...], n_bytes: int) -> None:
    """Raise DataError for a size that the file cannot hold, before memory of that size is asked for."""
    n_rows, n_columns, n_entries, form = declared[:4]
    # An entry takes four bytes, "1 1" and a line end; two without places, where half of them may be left out.
    least = 4 * n_entries if form == "coordinate" else n_rows * (n_columns - 1)
    if least > n_bytes:
        size = f"{n_rows:,} rows, {n_columns:,} columns and {n_entries:,} entries"
        raise DataError(f"{file} declares {size}, but has only {n_bytes:,} bytes. {SIZE_REMEDY}")
    _check_shape(file, n_rows, n_columns, n_entries)


def _check_shape(file: Path, n_rows: int, n_columns: int, n_entries: int) -> None:
    """Raise DataError for rows and columns without entries beyond what memory is likely to hold."""
    if n_columns > MOST_COLUMNS or n_rows > n_entries + MOST_EMPTY_ROWS:
        raise DataError(
            f"{file} declares {n_rows:,} rows and {n_columns:,} columns for {counted(n_entries, 'non-zero')}, but "
            f"rows and columns without entries take memory too: at most {MOST_COLUMNS:,} columns can be read, and "
            f"{MOST_EMPTY_ROWS:,} rows more than entries. {SIZE_REMEDY}"
        )


@contextmanager
def _damage_reported(file: Path) -> Iterator[None]:
    try:
        yield
    except DataError:
        raise
    except MemoryError as error:
        raise DataError(
            f"{file} takes more memory than there is, and files of this format are read whole. "
            f"Write its rows as svmlight or as a table, which can be read in batches."
        ) from error
    except _DAMAGE as error:
        # NumPy takes what it does not recognise for a pickle, and names the unsafe way to load one.
        reason = "SciPy has not written it" if "pickle" in str(error) else str(error).rstrip(".")
        raise DataError(f"{file} is damaged or is no matrix file: {reason}.") from error
