"""Tables of counts as sparse rows: checked, never densified, never changed."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.input_forms import Names, as_given, check_width
from sparsemix.data.inputs import ROWS_PER_BLOCK
from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import DataError, shorten


class CountBlock(NamedTuple):
    """Rows as the kernels read them, CSR with sorted columns."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]
    values: NDArray[np.float64]


class CountRows:
    """Rows of counts; slices become `CountBlock` without copying the whole.

    Parameters
    ----------
    matrix : (n_rows, n_features) canonical CSR
    names : (n_features,) array of str, or None
    """

    def __init__(self, matrix: Any, names: Names | None) -> None:
        self._matrix = matrix
        self.names = names
        self.n_rows, self.n_features = map(int, matrix.shape)

    def block(self, first: int, last: int, columns: NDArray[np.int32] | None = None) -> CountBlock:
        """Rows `first` to `last`; `columns` renames them, (n_features,) new numbers."""
        indptr = self._matrix.indptr[first : last + 1].astype(np.int64)
        part = slice(indptr[0], indptr[-1])
        indptr -= indptr[0]
        indices, values = self._matrix.indices[part], self._matrix.data[part].astype(np.float64, copy=False)
        if columns is None:
            return CountBlock(indptr, indices.astype(np.int32, copy=False), values)
        shape = (last - first, int(columns.max(initial=-1)) + 1)
        renamed: Any = sparse.csr_array((values, columns[indices], indptr), shape=shape, copy=True)
        renamed.sort_indices()
        return CountBlock(indptr, renamed.indices.astype(np.int32, copy=False), renamed.data)

    def blocks(self, columns: NDArray[np.int32] | None = None) -> Iterator[CountBlock]:
        """All rows, some ten thousand at a time."""
        for first in range(0, self.n_rows, ROWS_PER_BLOCK):
            yield self.block(first, min(self.n_rows, first + ROWS_PER_BLOCK), columns)


def as_count_rows(X: Any, *, owner: str = "the model") -> CountRows:
    """Check and canonicalise counts.

    Parameters
    ----------
    X : Dataset, sparse matrix of any format, array, or data frame (pandas, polars, Arrow)
        Finite numbers >= 0, (n_rows, n_features), whole or not. Entries stored twice add up.
    owner : str
        Who asks, for messages.

    Returns
    -------
    CountRows

    Raises
    ------
    DataError
        If `X` is no table of numbers, or a value is negative, infinite or missing.

    Examples
    --------
    >>> as_count_rows(np.array([[0, 2, 1], [0, 0, 0]])).block(0, 2)
    CountBlock(indptr=array([0, 2, 2]), columns=array([1, 2], dtype=int32), values=array([2., 1.]))
    """
    matrix, names, _ = as_given(X, owner)
    check_width(matrix, owner)
    return CountRows(_canonical(matrix, names, owner), names)


def _canonical(matrix: Any, names: Names | None, owner: str) -> Any:
    """CSR with sorted columns, without zeros or duplicates; arrays may be those of `matrix`.

    What is stored twice adds up in double precision, whatever the type.
    """
    rows = matrix
    if not sparse.issparse(matrix):
        half = matrix.dtype == np.float16  # which SciPy does not know
        rows = sparse.csr_array(matrix.astype(np.float32) if half else matrix)
    if rows.format == "csr":
        _check_values(rows.data, lambda at: (_row_of(rows.indptr, at), rows.indices[at]), names, owner)
    else:
        triples = rows.tocoo()
        _check_values(triples.data, lambda at: (triples.row[at], triples.col[at]), names, owner)
        places = (triples.row, triples.col)
        rows = sparse.csr_array((triples.data.astype(np.float64), places), shape=rows.shape)
    if not rows.has_canonical_format or not np.all(rows.data):
        rows = rows.astype(np.float64, copy=True)
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return rows


def _row_of(indptr: NDArray[Any], at: int) -> int:
    return int(np.searchsorted(indptr, at, side="right")) - 1


def _check_values(
    values: NDArray[Any], place_of: Callable[[int], tuple[int, int]], names: Names | None, owner: str
) -> None:
    most = min(LARGEST, float(np.finfo(values.dtype).max)) if values.dtype.kind == "f" else LARGEST
    wrong = ~((values >= 0) & (values <= most))
    if not wrong.any():
        return
    at = int(wrong.argmax())
    row, column = map(int, place_of(at))
    value = values[at]
    remedy = f"Counts are at most {LARGEST}; put 0 where a feature is absent."
    if value < 0:
        remedy = "Negative values in data are no counts."  # words that scikit-learn looks for
    where = f"column {column if names is None else shorten(names[column])}"
    shown = "NaN" if np.isnan(value) else f"{value!s}"
    raise DataError(
        f"'X' of {owner} must hold finite numbers >= 0, but {where} of row {row} is {shown}. {remedy}"
    )
