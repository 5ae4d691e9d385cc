"""Whatever a user hands to an estimator, as sparse binary rows: checked, never densified, never changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from sklearn.utils.validation import check_array

from sparsemix.foundation.errors import DataError

ROWS_PER_BLOCK = 65_536
_VALUES_PER_CHECK = 1 << 20

Names = NDArray[np.object_]


class RowBlock(NamedTuple):
    """Rows as the kernels read them: columns of row `i` are ``columns[indptr[i]:indptr[i + 1]]``."""

    indptr: NDArray[np.int64]
    columns: NDArray[np.int32]

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    def slice(self, first: int, last: int) -> "RowBlock":
        """Rows `first` to `last`."""
        indptr = self.indptr[first : last + 1]
        return RowBlock(indptr - indptr[0], self.columns[indptr[0] : indptr[-1]])

    def to_csr(self, n_features: int) -> sparse.csr_array:
        """The rows as a matrix of ones."""
        ones = np.ones(self.columns.size)
        return sparse.csr_array((ones, self.columns, self.indptr), shape=(self.n_rows, n_features))


class BinaryRows:
    """Rows of zeros and ones, with sorted columns; slices become `RowBlock` without copying the whole.

    Parameters
    ----------
    matrix : (n_rows, n_features) canonical CSR
        Every stored entry counts as one.
    names : (n_features,) array of str, or None
    """

    def __init__(self, matrix: Any, names: Names | None) -> None:
        self._matrix = matrix
        self.names = names
        self.n_rows, self.n_features = map(int, matrix.shape)

    def block(self, first: int, last: int, columns: NDArray[np.int32] | None = None) -> RowBlock:
        """Rows `first` to `last`; `columns` renames them, (n_features,) new numbers."""
        indptr = self._matrix.indptr[first : last + 1].astype(np.int64)
        taken = self._matrix.indices[indptr[0] : indptr[-1]]
        indptr -= indptr[0]
        if columns is None:
            return RowBlock(indptr, taken.astype(np.int32, copy=False))
        return RowBlock(indptr, _sort_within_rows(indptr, columns[taken]))

    def blocks(self, columns: NDArray[np.int32] | None = None) -> Iterator[RowBlock]:
        """All rows, some ten thousand at a time."""
        for first in range(0, self.n_rows, ROWS_PER_BLOCK):
            yield self.block(first, min(self.n_rows, first + ROWS_PER_BLOCK), columns)


def _sort_within_rows(indptr: NDArray[np.int64], columns: NDArray[np.int32]) -> NDArray[np.int32]:
    n_features = int(columns.max(initial=-1)) + 1
    ones = np.ones(columns.size, np.int8)
    matrix = sparse.csr_array((ones, columns, indptr), shape=(indptr.size - 1, n_features))
    matrix.sort_indices()
    return np.asarray(matrix.indices, np.int32)


def as_binary_rows(X: Any, *, binarize: float | None = None, owner: str = "the model") -> BinaryRows:
    """Check and canonicalise binary input.

    Parameters
    ----------
    X : Dataset, sparse matrix of any format, array, or data frame (pandas, polars, Arrow)
        Zeros and ones, (n_rows, n_features). Entries stored twice count once; stored zeros count as zeros.
    binarize : float >= 0, optional
        Values above it count as one, all others as zero. Without it a value other than 0 and 1 is an error.
    owner : str
        Who asks, for messages.

    Returns
    -------
    BinaryRows

    Raises
    ------
    DataError
        If a value is neither 0 nor 1 and `binarize` is None.

    Examples
    --------
    >>> rows = as_binary_rows(np.array([[0, 1, 1], [0, 0, 0]]))
    >>> rows.block(0, 2)
    RowBlock(indptr=array([0, 2, 2]), columns=array([1, 2], dtype=int32))
    """
    matrix, names = _matrix_and_names(X)
    checked = check_array(
        matrix,
        accept_sparse="csr",
        accept_large_sparse=True,
        ensure_min_samples=0,
        input_name="X",
        estimator=owner,
    )
    rows = _canonical(checked, names, binarize, owner)
    return BinaryRows(rows, names)


def _matrix_and_names(X: Any) -> tuple[Any, Names | None]:
    if hasattr(X, "matrix") and hasattr(X, "feature_names"):
        return X.matrix, X.feature_names
    if type(X).__module__.split(".")[0] in {"pandas", "polars", "pyarrow"} and hasattr(X, "columns"):
        return _from_frame(X)
    return X, None


def _from_frame(frame: Any) -> tuple[Any, Names | None]:
    """Matrix and column names of a table with a column per feature; only string names are names."""
    columns = getattr(frame, "column_names", None) or list(frame.columns)
    named = all(isinstance(c, str) for c in columns)
    names = np.array(columns, dtype=object) if named else None
    sparse_columns = getattr(frame, "sparse", None)
    if sparse_columns is not None and all(hasattr(dtype, "subtype") for dtype in frame.dtypes):
        return sparse.csr_array(sparse_columns.to_coo()), names
    if type(frame).__module__.startswith("pyarrow"):
        return np.column_stack([column.to_numpy() for column in frame.columns]), names
    return (frame.to_numpy() if frame.shape[1] else np.empty(frame.shape)), names


def _canonical(matrix: Any, names: Names | None, binarize: float | None, owner: str) -> Any:
    if not sparse.issparse(matrix):
        kept = matrix > binarize if binarize is not None else matrix != 0
        if binarize is None:
            _check_dense(matrix, names, owner)
        return sparse.csr_array(kept)
    view = sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
    if binarize is not None:
        view = sparse.csr_array((view.data > binarize, view.indices, view.indptr), shape=view.shape)
    else:
        _check_stored(view, names, owner)
    has_zeros = not all(np.all(part) for part in _parts(view.data))
    if has_zeros or not view.has_canonical_format:
        view = view.astype(bool, copy=True) if not has_zeros else _without_zeros(view)
        view.sum_duplicates()
    return view


def _without_zeros(view: Any) -> Any:
    kept = view.astype(bool, copy=True)
    kept.indices, kept.indptr = kept.indices.copy(), kept.indptr.copy()
    kept.eliminate_zeros()
    return kept


def _parts(values: NDArray[Any]) -> Iterator[NDArray[Any]]:
    for first in range(0, values.size, _VALUES_PER_CHECK):
        yield values[first : first + _VALUES_PER_CHECK]


def _check_stored(view: Any, names: Names | None, owner: str) -> None:
    for number, part in enumerate(_parts(view.data)):
        wrong = (part != 0) & (part != 1)
        if wrong.any():
            at = number * _VALUES_PER_CHECK + int(wrong.argmax())
            row = int(np.searchsorted(view.indptr, at, side="right")) - 1
            raise _not_binary(view.data[at], row, int(view.indices[at]), names, owner)


def _check_dense(matrix: NDArray[Any], names: Names | None, owner: str) -> None:
    wrong = (matrix != 0) & (matrix != 1)
    if wrong.any():
        row, column = np.argwhere(wrong)[0]
        raise _not_binary(matrix[row, column], int(row), int(column), names, owner)


def _not_binary(value: Any, row: int, column: int, names: Names | None, owner: str) -> DataError:
    where = f"column {names[column]!r}" if names is not None else f"column {column}"
    return DataError(
        f"'X' of {owner} must hold only 0 and 1, but {where} of row {row} is {value!s}. "
        f"Set binarize=0 to count every value above 0 as present, or use a model for counts."
    )
