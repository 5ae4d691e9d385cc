"""Pairs of row and feature numbers to a matrix of counts."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.canonical import compact_counts


def in_row_order(
    rows: NDArray[Any], features: NDArray[Any], counts: NDArray[np.float64] | None
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
    """Sort pairs by row; the pairs of a row keep their order."""
    if rows.size == 0 or (rows[1:] >= rows[:-1]).all():
        return rows, features, counts
    order = np.argsort(rows, kind="stable")
    return rows[order], features[order], None if counts is None else counts[order]


def by_first_appearance(features: NDArray[Any], n_features: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Renumber features in order of first appearance.

    Returns
    -------
    order : ndarray (n_features,)
        Old number of each new one.
    renumbered : ndarray (n_pairs,)

    Examples
    --------
    >>> by_first_appearance(np.array([2, 0, 2, 1]), 3)
    (array([2, 0, 1]), array([0, 1, 0, 2]))
    """
    first = np.empty(n_features, dtype=np.int64)
    first[features[::-1]] = np.arange(features.size - 1, -1, -1)
    order = np.argsort(first)
    new_number = np.empty(n_features, dtype=features.dtype)
    new_number[order] = np.arange(n_features, dtype=features.dtype)
    return order, new_number[features]


def build_matrix(
    rows: NDArray[Any], features: NDArray[Any], counts: NDArray[np.float64] | None, shape: tuple[int, int]
) -> sparse.csr_array:
    """Return the matrix of pairs that are sorted by row.

    Parameters
    ----------
    rows, features : ndarray of int (n_pairs,)
    counts : ndarray of float64 (n_pairs,) or None
        Counts of repeated pairs are summed; None marks presence, however often a pair is repeated.
    shape : tuple of int

    Returns
    -------
    csr_array (n_rows, n_features)
        Canonical; float32, or float64 where a count needs it.
    """
    starts = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=shape[0]))])
    indptr = starts.astype(np.int32 if rows.size <= np.iinfo(np.int32).max else np.int64)
    data = np.ones(rows.size, dtype=np.float32) if counts is None else counts
    matrix = sparse.csr_array((data, features, indptr), shape=shape)
    matrix.sum_duplicates()
    if counts is None:
        matrix.data = np.ones(matrix.nnz, dtype=np.float32)
    else:
        matrix.data = compact_counts(matrix.data)
    return matrix
