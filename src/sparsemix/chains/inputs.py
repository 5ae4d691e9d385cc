"""What the functions about chains accept, checked and brought into one form."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.foundation.errors import DataError, shorten

FloatMatrix = NDArray[np.float64]
CodeMatrix = NDArray[np.int32]


def as_chains(chains: ArrayLike, owner: str) -> FloatMatrix:
    """Return chains of one quantity as floats, (n_chains, n_draws); a vector is one chain.

    Raises
    ------
    DataError
        If the chains differ in length, are empty, or hold something else than finite numbers.
    """
    given = np.atleast_1d(_as_array(chains, "chains", owner, "Cut all chains to the same number of draws."))
    values = given[None] if given.ndim == 1 else given
    if values.ndim != 2 or values.size == 0 or values.dtype.kind not in "iuf":
        raise DataError(
            f"'chains' of {owner} must be numbers of shape (n_chains, n_draws) with at least one draw, but its shape "
            f"is {given.shape} and its type {given.dtype}. Pass one quantity, such as the log joint, of every draw."
        )
    numbers = values.astype(np.float64, copy=False)
    if not np.isfinite(numbers).all():
        chain, draw = np.argwhere(~np.isfinite(numbers))[0]
        raise DataError(
            f"'chains' of {owner} must be finite, but draw {draw} of chain {chain} is {numbers[chain, draw]}. "
            "Leave out the draws before the quantity is defined."
        )
    return numbers


def as_draws(draws: ArrayLike, owner: str) -> CodeMatrix:
    """Return draws of partitions as codes 0, 1, ... in order of first appearance, (n_draws, n_rows) int32.

    Equal partitions have equal codes, whatever their labels were.

    Raises
    ------
    DataError
        If the draws differ in length, hold no draw or no row, or labels that are no integers.
    """
    labels = _as_array(draws, "draws", owner, "Each draw must hold a label for every row.")
    if labels.ndim != 2 or labels.size == 0 or labels.dtype.kind not in "iu":
        raise DataError(
            f"'draws' of {owner} must be integer labels of shape (n_draws, n_rows) with at least one draw and one "
            f"row, but its shape is {labels.shape} and its type {labels.dtype}. Put the draws of all chains one "
            "below the other; number labels that are no integers with numpy.unique(..., return_inverse=True)."
        )
    codes = np.empty(labels.shape, np.int32)
    for draw, own in zip(codes, labels, strict=True):
        draw[:] = by_first_appearance(own)
    return codes


def by_first_appearance(labels: NDArray[Any]) -> NDArray[np.int32]:
    """Return integer labels of any range as 0, 1, ... in the order in which they appear.

    Examples
    --------
    >>> by_first_appearance(np.array([7, -1, 7, 3]))
    array([0, 1, 0, 2], dtype=int32)
    """
    _, first, code = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int32)
    rank[np.argsort(first)] = np.arange(first.size, dtype=np.int32)
    return rank[code]


def _as_array(values: ArrayLike, name: str, owner: str, remedy: str) -> NDArray[Any]:
    try:
        return np.asarray(values)
    except ValueError as error:  # rows of different lengths
        raise DataError(
            f"'{name}' of {owner} must be a table, but it is {shorten(values)}. {remedy}"
        ) from error
