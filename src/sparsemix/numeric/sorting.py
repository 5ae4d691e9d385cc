"""Sorting by small integers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def stable_order(keys: NDArray[Any], n_keys: int) -> NDArray[np.int64]:
    """Order that sorts integers from 0 to ``n_keys - 1`` and keeps equal ones in place; O(n) for few keys.

    NumPy sorts 16-bit integers by radix.

    Examples
    --------
    >>> stable_order(np.array([1, 0, 1, 0]), 2)
    array([1, 3, 0, 2])
    """
    narrow = keys.astype(np.int16) if n_keys <= np.iinfo(np.int16).max else keys
    return np.argsort(narrow, kind="stable")
