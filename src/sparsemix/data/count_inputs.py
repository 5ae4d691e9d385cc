"""Tables of counts as sparse rows: checked, never densified, never changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.input_forms import Names, as_given
from sparsemix.data.inputs import MOST_FEATURES, ROWS_PER_BLOCK
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
        part: Any = self._matrix[first:last]
        if columns is not None:
            shape = (part.shape[0], int(columns.max(initial=-1)) + 1)
            part = sparse.csr_array((part.data, columns[part.indices], part.indptr), shape=shape, copy=True)
            part.sort_indices()
        return CountBlock(
            part.indptr.astype(np.int64),
            part.indices.astype(np.int32, copy=False),
            part.data.astype(np.float64, copy=False),
        )

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
    if matrix.shape[1] > MOST_FEATURES:
        raise DataError(
            f"'X' of {owner} must have at most {MOST_FEATURES} columns, but it has {matrix.shape[1]}. "
            f"Leave out columns without entries."
        )
    rows: Any = _as_csr(matrix, owner)
    _check_values(rows, names, owner)
    if not rows.has_canonical_format or not np.all(rows.data):
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()
    return CountRows(rows, names)


def _as_csr(matrix: Any, owner: str) -> Any:
    """CSR whose arrays may be those of `matrix`."""
    if not sparse.issparse(matrix) or matrix.format != "csr":
        return sparse.csr_array(matrix)
    try:
        view: Any = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
        view.check_format(full_check=True)
    except ValueError as error:
        raise DataError(f"'X' of {owner} is a damaged sparse matrix: {error}.") from error
    return view


def _check_values(rows: Any, names: Names | None, owner: str) -> None:
    wrong = ~(np.isfinite(rows.data) & (rows.data >= 0))
    if not wrong.any():
        return
    at = int(wrong.argmax())
    row = int(np.searchsorted(rows.indptr, at, side="right")) - 1
    column = int(rows.indices[at])
    where = f"column {shorten(names[column])}" if names is not None else f"column {column}"
    value = rows.data[at]
    remedy = "Counts cannot be negative." if value < 0 else "Put 0 where a feature is absent."
    shown = "NaN" if np.isnan(value) else f"{value!s}"
    raise DataError(
        f"'X' of {owner} must hold finite numbers >= 0, but {where} of row {row} is {shown}. {remedy}"
    )
