"""Sparse matrices as users hand them over: nothing in them is believed before it has been checked."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.input_cells import as_numbers, no_numbers
from sparsemix.foundation.errors import DataError

_PLACES_PER_CHECK = 1 << 18


def whole_view(matrix: Any, owner: str) -> Any:
    """The same entries as a new CSR, CSC, BSR or COO with numbers of this machine; arrays may be those of `matrix`.

    Raises
    ------
    DataError
        If its values are no numbers, or pointers or places are out of range: SciPy would read beyond the arrays.

    Examples
    --------
    >>> whole_view(sparse.csr_array([[1, 0], [0, 1]]), "the model").format
    'csr'
    """
    if matrix.dtype.kind == "O":
        raise no_numbers(owner, "its values are objects", "Make numbers of them with X.astype(float).")
    as_numbers(np.empty(0, matrix.dtype), owner)
    try:
        return _view(matrix)
    except ValueError as error:
        raise DataError(f"'X' of {owner} is a damaged sparse matrix: {error}. Build it anew.") from error


def _view(matrix: Any) -> Any:
    kind = matrix.dtype.newbyteorder("=")
    if matrix.format not in {"csr", "csc", "bsr"}:
        triples = matrix.tocoo()
        values = triples.data.astype(kind, copy=False)
        return sparse.coo_array((values, (triples.row, triples.col)), shape=matrix.shape)
    container = getattr(sparse, f"{matrix.format}_array")
    values = matrix.data.astype(kind, copy=False)
    if np.any(matrix.indptr[1:] < matrix.indptr[:-1]):
        raise ValueError("index pointers must not decrease")
    view = container((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
    view.check_format(full_check=False)
    if not _is_ordered(view):
        view.check_format(full_check=True)
    return view


def _is_ordered(view: Any) -> bool:
    """Whether places are in range and ascending in each row (column) of a CSR (CSC) whose pointers do not decrease.

    One pass, in pieces that stay in the cache; then there is nothing more to check or to sort.
    """
    if view.format == "bsr":
        return False
    n_places = view.shape[1] if view.format == "csr" else view.shape[0]
    for first in range(0, view.indices.size, _PLACES_PER_CHECK):
        places = view.indices[max(first - 1, 0) : first + _PLACES_PER_CHECK]
        ascends = places[1:] > places[:-1]
        begin = max(first, 1)
        bounds = np.array([begin, begin + ascends.size], view.indptr.dtype)
        starts = slice(*np.searchsorted(view.indptr, bounds))
        ascends[view.indptr[starts] - begin] = True
        if places.min() < 0 or places.max() >= n_places or not ascends.all():
            return False
    view.has_canonical_format = True
    return True
