"""Tables of zeros and ones as sparse binary rows: checked, never densified, never changed."""

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.input_forms import Names, as_given, check_width
from sparsemix.foundation.errors import DataError, shorten
from sparsemix.numeric.threads import holds_everywhere

ROWS_PER_BLOCK = 65_536
_VALUES_PER_CHECK = 1 << 20


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

    def unknown(self, n_known: int) -> NDArray[np.bool_]:
        """Which rows hold columns, but none below `n_known`; (n_rows,). Columns are sorted within rows."""
        is_unknown = np.diff(self.indptr) > 0
        is_unknown[is_unknown] = self.columns[self.indptr[:-1][is_unknown]] >= n_known
        return is_unknown

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


def as_binary_rows(
    X: Any, *, binarize: float | None = None, owner: str = "the model", n_threads: int = 1
) -> BinaryRows:
    """Check and canonicalise binary input.

    Parameters
    ----------
    X : Dataset, sparse matrix of any format, array, or data frame (pandas, polars, Arrow)
        Zeros and ones, (n_rows, n_features). Entries stored twice add up before anything else; stored zeros are zeros.
    binarize : float >= 0, optional
        Values above it count as one, all others as zero. Without it a value other than 0 and 1 is an error.
    owner : str
        Who asks, for messages.
    n_threads : int, default=1
        Threads that check a sparse matrix.

    Returns
    -------
    BinaryRows

    Raises
    ------
    DataError
        If `X` is no table of numbers, or a value is neither 0 nor 1 and `binarize` is None.

    Examples
    --------
    >>> rows = as_binary_rows(np.array([[0, 1, 1], [0, 0, 0]]))
    >>> rows.block(0, 2)
    RowBlock(indptr=array([0, 2, 2]), columns=array([1, 2], dtype=int32))
    """
    matrix, names, is_frame = as_given(X, owner, n_threads)
    return BinaryRows(_canonical(matrix, _Rule(binarize, names, owner, is_frame), n_threads), names)


class _Rule(NamedTuple):
    """Which values count as one, and the words for those that are none."""

    binarize: float | None
    names: Names | None
    owner: str
    is_frame: bool

    def ones(self, values: NDArray[Any]) -> NDArray[np.bool_]:
        """Which of good values count as one."""
        return np.asarray(values != 0 if self.binarize is None else values > self.binarize)

    def first_wrong(self, values: NDArray[Any]) -> int:
        """Position of the first value that breaks the rule, or -1; `values` is flat."""
        for start in range(0, values.size, _VALUES_PER_CHECK):
            part = values[start : start + _VALUES_PER_CHECK]
            wrong = (part != 0) & (part != 1) if self.binarize is None else ~np.isfinite(part)
            if wrong.any():
                return start + int(wrong.argmax())
        return -1

    def error(self, value: Any, row: int, column: int) -> DataError:
        """What is wrong, where, and what to do."""
        where = f"column {shorten(self.names[column])}" if self.names is not None else f"column {column}"
        rule = "only 0 and 1" if self.binarize is None else "finite numbers"
        remedy = "Set binarize=0 to count every value above 0 as present, or use a model for counts."
        if self.is_frame:
            remedy += (
                " A data frame in which each record names a row and a feature is for sparsemix.read_table."
            )
        if not np.isfinite(value):
            remedy = "Values may not be missing or infinite: put 0 where a feature is absent."
        shown = "NaN" if np.isnan(value) else f"{float(value)}"
        return DataError(
            f"'X' of {self.owner} must hold {rule}, but {where} of row {row} is {shown}. {remedy}"
        )


def _canonical(matrix: Any, rule: _Rule, n_threads: int) -> Any:
    """CSR with sorted columns, without zeros or duplicates; arrays may be those of `matrix`."""
    check_width(matrix, rule.owner)
    if not sparse.issparse(matrix):
        _check_dense(matrix, rule)
        return sparse.csr_array(rule.ones(matrix))
    summed = _summed(matrix)
    if rule.binarize is None and _are_ones(summed.data, n_threads):
        return summed.tocsr()
    _check_sparse(summed, rule)
    if rule.binarize is not None:
        summed = type(summed)((rule.ones(summed.data), summed.indices, summed.indptr), shape=summed.shape)
    rows = summed.tocsr()
    if not holds_everywhere(
        lambda piece: bool(np.all(rows.data[piece])), rows.data.size, _VALUES_PER_CHECK, n_threads
    ):
        rows = rows.astype(bool, copy=True)
        rows.eliminate_zeros()
    return rows


def _summed(view: Any) -> Any:
    """CSR, or CSC of a CSC, with each entry stored once; arrays may be those of `view`.

    Numbers that are stored for the same place add up in double precision, whatever their type; truth values stay so.
    """
    kind = bool if view.dtype == bool else np.float64
    if view.format not in {"csr", "csc"}:
        triples = view.tocoo()
        places = (triples.row, triples.col)
        return sparse.csr_array((triples.data.astype(kind, copy=False), places), shape=view.shape)
    if not view.has_canonical_format:
        view = view.astype(kind, copy=True)
        view.sum_duplicates()
    return view


def _check_dense(matrix: NDArray[Any], rule: _Rule) -> None:
    n_columns = matrix.shape[1]
    rows_at_once = max(1, _VALUES_PER_CHECK // n_columns)
    for first in range(0, matrix.shape[0], rows_at_once):
        wrong = rule.first_wrong(matrix[first : first + rows_at_once].reshape(-1))
        if wrong >= 0:
            row, column = first + wrong // n_columns, wrong % n_columns
            raise rule.error(matrix[row, column], row, column)


def _check_sparse(view: Any, rule: _Rule) -> None:
    wrong = rule.first_wrong(view.data)
    if wrong >= 0:
        outer, inner = int(np.searchsorted(view.indptr, wrong, side="right")) - 1, int(view.indices[wrong])
        place = (outer, inner) if view.format == "csr" else (inner, outer)
        raise rule.error(view.data[wrong], *place)


def _are_ones(values: NDArray[Any], n_threads: int) -> bool:
    """Whether all values are one, as they mostly are: one look at each tells that there is no more to check."""
    return holds_everywhere(
        lambda piece: bool(np.all(values[piece] == 1)), values.size, _VALUES_PER_CHECK, n_threads
    )
