"""Rows of draws by cluster, and rows that no draw tells apart."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.chains.inputs import CodeMatrix, by_first_appearance

IntMatrix = NDArray[np.int64]


class Atoms(NamedTuple):
    """Rows that are together in every draw, taken as one.

    of_row : (n_rows,) int32, the atom of each row, in order of first appearance.
    weights : (n_atoms,) int64, how many rows each stands for.
    codes : (n_draws, n_atoms) int32, their clusters in each draw.
    """

    of_row: NDArray[np.int32]
    weights: NDArray[np.int64]
    codes: CodeMatrix


def atoms(codes: CodeMatrix) -> Atoms:
    """Gather rows that no draw tells apart; `codes` is (n_draws, n_rows), as `as_draws` returns it.

    Cost is O(n_draws n_rows log n_rows).
    """
    of_row = codes[0]
    for own in codes[1:]:
        if of_row.max() + 1 == of_row.size:  # all rows differ already
            break
        of_row = by_first_appearance(of_row.astype(np.int64) * (int(own.max()) + 1) + own)
    _, first = np.unique(of_row, return_index=True)
    return Atoms(of_row, np.bincount(of_row), np.ascontiguousarray(codes[:, first]))


def cluster_bounds(codes: CodeMatrix) -> IntMatrix:
    """Where each cluster of a draw begins if its rows are sorted by cluster, (n_draws, most_clusters + 1)."""
    bounds = np.zeros((codes.shape[0], int(codes.max()) + 2), np.int64)
    for own, begin in zip(codes, bounds, strict=True):
        np.cumsum(np.bincount(own, minlength=begin.size - 1), out=begin[1:])
    return bounds


def by_size(labels: NDArray[np.integer]) -> NDArray[np.int64]:
    """The same partition with clusters numbered from the largest down; (n_rows,)."""
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(sizes.size, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return rank[numbers]
