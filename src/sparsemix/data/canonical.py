"""Any matrix of counts to the one form that everything else relies on."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.sparse_forms import dtype_of, whole_view
from sparsemix.foundation.errors import DataError, shorten

LARGEST_FLOAT32_INTEGER = 2**24
LARGEST_FLOAT64_INTEGER = 2**53


def canonical_counts(matrix: Any, feature_names: NDArray[Any] | None = None) -> sparse.csr_array:
    """Return counts as a canonical CSR array; the input is never changed.

    Canonical means: column indices sorted, no pair stored twice (duplicates are summed), no stored zeros.

    Parameters
    ----------
    matrix : scipy sparse matrix or array of any format and index width, or ndarray (n_rows, n_features)
        Whole numbers >= 0 of any dtype.
    feature_names : ndarray of str (n_features,), optional
        Names for error messages.

    Returns
    -------
    csr_array (n_rows, n_features)
        float32, or float64 where a count is too large to be exact in float32 (above 2**24).

    Raises
    ------
    DataError
        If a value is negative, fractional, NaN or infinite; the message names its row and column.

    Examples
    --------
    >>> import numpy as np
    >>> canonical_counts(np.array([[0, 2], [1, 0]])).toarray()
    array([[0., 2.],
           [1., 0.]], dtype=float32)
    """
    rows = _as_csr(matrix, feature_names)
    width = np.int32 if max(rows.nnz, *rows.shape) <= np.iinfo(np.int32).max else np.int64
    parts = (rows.data.astype(np.float64), rows.indices.astype(width), rows.indptr.astype(width))
    counts = sparse.csr_array(parts, shape=rows.shape)
    counts.sum_duplicates()
    counts.eliminate_zeros()
    counts.data = compact_counts(counts.data)
    return counts


def compact_counts(counts: NDArray[Any]) -> NDArray[Any]:
    """Return whole numbers as float32 where that is exact, else as float64.

    Examples
    --------
    >>> compact_counts(np.array([1.0, 2.0**24])).dtype, compact_counts(np.array([2.0**24 + 1])).dtype
    (dtype('float32'), dtype('float64'))
    """
    exact = counts.size == 0 or counts.max() <= LARGEST_FLOAT32_INTEGER
    return counts.astype(np.float32 if exact else np.float64)


def _as_csr(matrix: Any, feature_names: NDArray[Any] | None) -> Any:
    """CSR of checked values; what is stored twice is summed in double precision, or still stored twice."""
    given: Any = matrix
    if sparse.issparse(matrix):
        if given.ndim != 2:
            raise DataError(f"A matrix of counts must have 2 axes, but it has {given.ndim}.")
        _check_dtype(dtype_of(given, "A matrix of counts"))
        view = whole_view(given, "A matrix of counts")
        if view.format == "csr":
            _check_values(view.data, lambda at: (_row_of(view, at), view.indices[at]), feature_names)
            return view
        triples = view.tocoo()
        _check_values(triples.data, lambda at: (triples.row[at], triples.col[at]), feature_names)
        places = (triples.row, triples.col)
        return sparse.csr_array((triples.data.astype(np.float64), places), shape=given.shape)
    if isinstance(matrix, np.ndarray) and matrix.ndim == 2:
        _check_dtype(matrix.dtype)
        return _as_csr(sparse.csr_array(matrix), feature_names)
    raise DataError(
        f"A matrix of counts must be a SciPy sparse matrix or a 2-D array, but it is {type(matrix).__name__}."
    )


def _check_dtype(dtype: np.dtype[Any]) -> None:
    if dtype.kind not in "buif":
        raise DataError(f"A matrix of counts must hold numbers, but its dtype is {dtype}.")


def _row_of(rows: Any, at: int) -> int:
    return int(np.searchsorted(rows.indptr, at, side="right")) - 1


def _check_values(
    values: NDArray[Any], place_of: Callable[[int], tuple[int, int]], feature_names: NDArray[Any] | None
) -> None:
    if values.dtype.kind in "bu":
        return
    bad = not_a_count(values)
    if not bad.any():
        return
    position = int(np.argmax(bad))
    row, column = map(int, place_of(position))
    name = "" if feature_names is None else f" ({shorten(feature_names[column])})"
    raise DataError(
        f"Counts must be whole numbers >= 0, but row {row}, column {column}{name} is {values[position]}. "
        f"Clip, round or binarize the values first."
    )


def not_a_count(values: NDArray[Any]) -> NDArray[np.bool_]:
    """Mark values that are not whole numbers from 0 to 2**53.

    Examples
    --------
    >>> not_a_count(np.array([0.0, 3.0, -1.0, 0.5, np.nan, np.inf])).tolist()
    [False, False, True, True, True, True]
    """
    with np.errstate(invalid="ignore"):
        good = (values >= 0) & (values <= LARGEST_FLOAT64_INTEGER) & (np.floor(values) == values)
    bad: NDArray[np.bool_] = ~good
    return bad
