"""What tells the rows of an interrupted fit from others."""

from hashlib import blake2b
from typing import Any

import numpy as np


def digest_of(matrix: Any, *more: Any) -> str:
    """A digest that is the same for equal rows in the same order.

    Parameters
    ----------
    matrix : (n_rows, n_features) ndarray or CSR
    *more : ndarray
        What else belongs to the rows, such as their times.

    Returns
    -------
    str
        32 characters. Cost O(nnz).

    Examples
    --------
    >>> digest_of(np.eye(2)) == digest_of(np.eye(2))
    True
    >>> digest_of(np.eye(2)) == digest_of(np.eye(2)[::-1])
    False
    """
    rows = [matrix] if isinstance(matrix, np.ndarray) else [matrix.indptr, matrix.indices, matrix.data]
    found = blake2b(digest_size=16)
    for part in (*rows, *more):
        wide = np.int64 if part.dtype.kind == "i" else np.float64
        found.update(np.ascontiguousarray(part, dtype=wide).data)
    return found.hexdigest()
