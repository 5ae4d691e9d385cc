"""Sparse matrices as users hand them over: nothing in them is believed before it has been checked."""

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.foundation.errors import DataError
from sparsemix.numeric.threads import holds_everywhere

_PLACES_PER_CHECK = 1 << 18


def whole_view(matrix: Any, name: str, n_threads: int = 1) -> Any:
    """The same entries as a new CSR, CSC or COO with numbers of this machine; arrays may be those of `matrix`.

    Raises
    ------
    DataError
        If pointers or places are out of range: SciPy would read beyond the arrays. The message begins with the name.

    Examples
    --------
    >>> whole_view(sparse.csr_array([[1, 0], [0, 1]]), "'X' of the model").format
    'csr'
    """
    try:
        return safe_view(matrix, n_threads)
    except (ArithmeticError, AttributeError, LookupError, TypeError, ValueError) as error:
        raise _damaged(name, error) from error


def dtype_of(matrix: Any, name: str) -> np.dtype[Any]:
    """Type of the values; DataError if there are none that have one."""
    try:
        dtype: np.dtype[Any] = np.dtype(matrix.dtype)
    except (AttributeError, TypeError) as error:
        raise _damaged(name, error) from error
    return dtype


def _damaged(name: str, error: Exception) -> DataError:
    return DataError(f"{name} is a damaged sparse matrix: {error}. Build it anew.")


def safe_view(matrix: Any, n_threads: int = 1) -> Any:
    """What `whole_view` returns; whatever Python and SciPy raise for one that is damaged."""
    if matrix.format not in {"csr", "csc", "bsr"}:
        triples = _CHECKED.get(matrix.format, lambda given: given)(matrix).tocoo()
        _check_places(triples.row, triples.col)
        return sparse.coo_array((_usual(triples.data), (triples.row, triples.col)), shape=matrix.shape)
    container = getattr(sparse, f"{matrix.format}_array")
    _check_places(matrix.indices, matrix.indptr)
    if np.any(matrix.indptr[1:] < matrix.indptr[:-1]):
        raise ValueError("index pointers must not decrease")
    values = _usual(matrix.data)
    view = container((values, matrix.indices, matrix.indptr), shape=matrix.shape, copy=False)
    view.check_format(full_check=False)
    if not _is_ordered(view, n_threads):
        view.check_format(full_check=True)
    return view.tocoo() if view.format == "bsr" else view


def _usual(values: NDArray[Any]) -> NDArray[Any]:
    """Numbers of a type that SciPy knows: in the byte order of this machine, and at least of single precision."""
    kind = np.dtype(np.float32) if values.dtype.itemsize == 2 and values.dtype.kind == "f" else values.dtype
    return values.astype(kind.newbyteorder("="), copy=False)


def _check_places(*places: NDArray[Any]) -> None:
    for numbers in places:
        if numbers.dtype.kind not in "iu":
            raise ValueError(f"places must be integers, but they are {numbers.dtype}")


def _checked_lists(matrix: Any) -> Any:
    """A LIL; ValueError unless it has as many places, whole numbers, as values in each of its rows."""
    if not matrix.rows.size == matrix.data.size == matrix.shape[0]:
        raise ValueError("it must have a list of places and one of values for each row")
    for places, values in zip(matrix.rows, matrix.data, strict=True):
        if len(places) != len(values):
            raise ValueError("each row must have as many places as values")
        _check_whole(places)
    return matrix


def _checked_keys(matrix: Any) -> Any:
    """A DOK; ValueError unless its keys are pairs of whole numbers."""
    for key in matrix.keys():  # noqa: SIM118  (a matrix is no dictionary)
        if len(key) != 2:
            raise ValueError(f"its keys must be pairs, but one is {key}")
        _check_whole(key)
    return matrix


def _checked_diagonals(matrix: Any) -> Any:
    """A DIA built anew, which compares the number of diagonals and of offsets."""
    _check_places(matrix.offsets)
    return sparse.dia_array((_usual(matrix.data), matrix.offsets), shape=matrix.shape)


def _check_whole(places: Any) -> None:
    odd = next((place for place in places if not isinstance(place, Integral)), None)
    if odd is not None:
        raise ValueError(f"places must be integers, but one is {odd!r}")


_CHECKED = {"lil": _checked_lists, "dok": _checked_keys, "dia": _checked_diagonals}


def _is_ordered(view: Any, n_threads: int) -> bool:
    """Whether places are in range and ascending in each row (column) of a CSR (CSC) whose pointers do not decrease.

    One pass, in pieces that stay in the cache; then there is nothing more to check or to sort.
    """
    if view.format == "bsr":
        return False
    n_places = view.shape[1] if view.format == "csr" else view.shape[0]

    def is_good(piece: slice) -> bool:
        places = view.indices[piece]
        ascends = places[1:] > places[:-1]
        begin = piece.start + 1
        bounds = np.array([begin, begin + ascends.size], view.indptr.dtype)
        starts = slice(*np.searchsorted(view.indptr, bounds))
        ascends[view.indptr[starts] - begin] = True
        return bool(places.min() >= 0 and places.max() < n_places and ascends.all())

    if not holds_everywhere(is_good, view.indices.size, _PLACES_PER_CHECK, n_threads, overlap=1):
        return False
    view.has_canonical_format = True
    return True
