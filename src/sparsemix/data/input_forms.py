"""What users hand over as rows, told apart: a matrix of numbers with names, or an error that says what it is."""

import os
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.input_cells import FOR_LISTS, as_numbers, no_numbers
from sparsemix.data.sparse_forms import dtype_of, whole_view
from sparsemix.foundation.errors import DataError, shorten

Names = NDArray[np.object_]

MOST_FEATURES = 2**31 - 1  # columns have 32-bit numbers
FORMS = "Give a Dataset, a sparse matrix, an array or a data frame."
_LIBRARIES = {"pandas", "polars", "pyarrow"}


class Given(NamedTuple):
    """Rows as a matrix.

    matrix : (n_rows, n_features) CSR, CSC or COO array whose places are in range, or array of numbers
    names : (n_features,) of str, or None; is_frame : whether it was a data frame.
    """

    matrix: Any
    names: Names | None
    is_frame: bool = False


def as_given(X: Any, owner: str, n_threads: int = 1) -> Given:
    """Tell the form of `X`, without a copy where that can be.

    Parameters
    ----------
    X : Dataset, sparse matrix of any format, array, or data frame (pandas, polars, Arrow)
    owner : str
        Who asks, for messages.
    n_threads : int, default=1
        Threads that check a sparse matrix.

    Returns
    -------
    Given

    Raises
    ------
    DataError
        If `X` is anything else, such as a path or lists of keywords; the message says how to make rows of it.

    Examples
    --------
    >>> as_given([[0, 1], [1, 0]], "the model").matrix.shape
    (2, 2)
    """
    if hasattr(X, "matrix") and hasattr(X, "feature_names"):
        return Given(_checked(X.matrix, owner, n_threads, named=X.feature_names is not None), X.feature_names)
    if _is_frame(X):
        return _from_frame(X, owner)
    _refuse_what_has_no_rows(X, owner)
    return Given(_checked(X, owner, n_threads), None)


def _checked(given: Any, owner: str, n_threads: int, *, named: bool = False) -> Any:
    """The matrix with two dimensions, numbers, and columns; named columns may be none, they can grow."""
    is_sparse = sparse.issparse(given)
    matrix = given if is_sparse else _as_array(given, owner)
    if matrix.ndim != 2:
        remedy = "Reshape your data to (n_rows, n_features); a single row goes in brackets, [X]."
        raise no_numbers(owner, f"its shape is {matrix.shape}", remedy)
    if is_sparse:
        _check_kind(dtype_of(matrix, f"'X' of {owner}"), owner)
        matrix = whole_view(matrix, f"'X' of {owner}", n_threads)
    else:
        matrix = _of_this_machine(as_numbers(matrix, owner))
    if not matrix.shape[1] and not named:
        raise _no_columns(matrix.shape, owner)
    return matrix


def _check_kind(dtype: np.dtype[Any], owner: str) -> None:
    """Raise DataError unless values of a sparse matrix are numbers."""
    if dtype.kind == "O":
        raise no_numbers(owner, "its values are objects", "Make numbers of them with X.astype(float).")
    as_numbers(np.empty(0, dtype), owner)


def _of_this_machine(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers in the byte order of the machine, the only one that SciPy knows."""
    return values.astype(values.dtype.newbyteorder("="), copy=False)


def _no_columns(shape: tuple[int, ...], owner: str) -> DataError:
    # scikit-learn looks for these words.
    found = f"0 feature(s) (shape={shape}) while a minimum of 1 is required"
    return DataError(f"'X' of {owner} must have at least one column, but it has {found}. Add the features.")


def _refuse_what_has_no_rows(X: Any, owner: str) -> None:
    """Raise DataError for what NumPy would take for a single thing."""
    if isinstance(X, str | os.PathLike) or X is None:
        remedy = "Read a file with sparsemix.read_table and give what that returns."
        raise no_numbers(owner, f"it is {shorten(X)}", remedy)
    if isinstance(X, Iterator):
        remedy = "Give batches to partial_fit one by one, or read the table whole with sparsemix.read_table."
        raise no_numbers(owner, f"it is of the type {type(X).__name__}, which can be read only once", remedy)
    if hasattr(X, "collect"):
        raise no_numbers(owner, f"it is of the type {type(X).__name__}", "Call its collect() first.")
    if isinstance(X, np.ma.MaskedArray) and np.ma.getmaskarray(X).any():
        remedy = "Values may not be missing: put 0 where a feature is absent, X.filled(0)."
        raise no_numbers(owner, "some of its values are masked", remedy)


def _as_array(X: Any, owner: str) -> NDArray[Any]:
    try:
        values = np.asarray(X)
    except (ValueError, TypeError) as error:
        raise _uneven(X, owner, error) from error
    if values.ndim == 0:
        raise no_numbers(owner, f"it is of the type {type(X).__name__}", FORMS)
    if values.ndim == 1 and values.size and not np.issubdtype(values.dtype, np.number):
        _refuse_lists(values.tolist(), owner)
    return values


def _uneven(X: Any, owner: str, error: Exception) -> DataError:
    """What is wrong with rows that make no array."""
    if isinstance(X, list | tuple) and all(isinstance(row, list | tuple | np.ndarray) for row in X):
        _refuse_lists(X, owner)
        lengths = [len(row) for row in X]
        odd = next((i for i, length in enumerate(lengths) if length != lengths[0]), None)
        if odd is not None:
            found = f"row 0 has {lengths[0]} values and row {odd} has {lengths[odd]}"
            return no_numbers(owner, found, f"Give each row a value for each feature. {FOR_LISTS}")
    return no_numbers(owner, f"NumPy makes no array of it ({error})", FORMS)


def _refuse_lists(rows: Any, owner: str) -> None:
    """Raise DataError for rows that list the features that they hold."""
    for row in rows:
        if isinstance(row, set | frozenset | dict):
            raise no_numbers(owner, f"its rows are of the type {type(row).__name__}", FOR_LISTS)
        cells = row if isinstance(row, list | tuple | np.ndarray) else [row]
        text = next((cell for cell in cells if isinstance(cell, str)), None)
        if text is not None:
            raise no_numbers(owner, f"it holds text, such as {shorten(text)}", FOR_LISTS)


def _is_frame(X: Any) -> bool:
    libraries = {kind.__module__.split(".")[0] for kind in type(X).__mro__}
    return bool(libraries & _LIBRARIES) and hasattr(X, "shape") and hasattr(X, "columns")


def _from_frame(frame: Any, owner: str) -> Given:
    """Matrix and column names of a table with a column per feature; only text names features."""
    columns = getattr(frame, "column_names", None) or list(frame.columns)
    texts = sum(isinstance(column, str) for column in columns)
    if 0 < texts < len(columns):
        other = next(column for column in columns if not isinstance(column, str))
        raise DataError(
            f"'X' of {owner} must have names for all of its columns or for none, but {shorten(other)} is no text. "
            f"Rename the columns."
        )
    if not columns:
        raise _no_columns(frame.shape, owner)
    names = np.array(columns, dtype=object) if texts else None
    if all(getattr(dtype, "fill_value", None) == 0 for dtype in getattr(frame, "dtypes", [None])):
        return Given(frame.sparse.to_coo(), names, is_frame=True)
    whole = frame.to_numpy() if hasattr(frame, "iloc") else None
    if whole is None or whole.dtype.kind not in "biuf":
        parts = zip(columns, _values_of_columns(frame), strict=True)
        whole = np.column_stack([as_numbers(part[:, None], owner, name) for name, part in parts])
    return Given(_of_this_machine(whole), names, is_frame=True)


def _values_of_columns(frame: Any) -> Iterator[NDArray[Any]]:
    """The columns one by one, each (n_rows,); what pandas calls missing is NaN."""
    if hasattr(frame, "iloc"):
        for i in range(frame.shape[1]):
            column = frame.iloc[:, i]
            values: Any = column.to_numpy()
            yield np.where(column.isna(), np.nan, values) if values.dtype == object else values
    elif hasattr(frame, "get_columns"):
        yield from (column.to_numpy() for column in frame.get_columns())
    else:
        yield from (column.to_numpy(zero_copy_only=False) for column in frame.columns)


def check_width(matrix: Any, owner: str) -> None:
    """Raise DataError if there are more columns than 32 bits can number."""
    if matrix.shape[1] > MOST_FEATURES:
        raise DataError(
            f"'X' of {owner} must have at most {MOST_FEATURES} columns, but it has {matrix.shape[1]}. "
            f"Leave out columns without entries."
        )
