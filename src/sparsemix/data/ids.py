"""Ids that were text on the way: back to integers where they all are."""

from typing import Any

import pyarrow as pa
from numpy.typing import NDArray

from sparsemix.data.object_arrays import object_array

WIDTHS = ("int64", "uint64")


def natural_ids(texts: NDArray[Any], is_text: bool) -> NDArray[Any]:
    """Return ids as integers if they all are integers, else as they are.

    Parameters
    ----------
    texts : ndarray of object (n,)
        Digits or any text; None is left alone.
    is_text : bool
        Whether the source said that the ids are text; then digits stay text.

    Returns
    -------
    ndarray (n,)
        int64, or uint64 for larger ones, if all are integers; object if not, or if one is None.

    Examples
    --------
    >>> import numpy as np
    >>> natural_ids(np.array(["7", "12"], dtype=object), is_text=False)
    array([ 7, 12])
    >>> natural_ids(np.array(["007", "12"], dtype=object), is_text=False)
    array(['007', '12'], dtype=object)
    """
    width = None if is_text else _integer_width(texts)
    return texts if width is None else as_integers(texts, width)


def as_integers(texts: NDArray[Any], width: str) -> NDArray[Any]:
    """Return digits as integers of a width; None stays None, in an object array."""
    numbers = pa.array(texts, pa.large_string()).cast(width)
    return object_array(numbers.to_pylist()) if numbers.null_count else numbers.to_numpy()


def _integer_width(texts: NDArray[Any]) -> str | None:
    column = pa.array(texts, pa.large_string())
    for width in WIDTHS:
        try:
            numbers = column.cast(width)
        except pa.ArrowInvalid:
            continue
        return width if numbers.cast(pa.large_string()).equals(column) else None
    return None
