"""Draws of partitions in NumPy, by definition: the twin that the kernels are tested against."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.metrics import variation_of_information


def co_clustering(draws: NDArray[Any]) -> NDArray[np.float64]:
    """Share of the draws (n_draws, n_rows) in which two rows are together, (n_rows, n_rows)."""
    shares: NDArray[np.float64] = (draws[:, :, None] == draws[:, None, :]).mean(axis=0)
    return shares


def expected_variation_of_information(labels: ArrayLike, draws: NDArray[Any]) -> float:
    """Mean distance of a partition to the draws, in nats."""
    return float(np.mean([variation_of_information(labels, draw) for draw in draws]))


def single_moves(labels: NDArray[Any], row: int) -> Iterator[NDArray[Any]]:
    """Yield the partition with one row in each cluster in turn, its own too, and alone."""
    for target in [*np.unique(labels), labels.max() + 1]:
        yield np.where(np.arange(labels.size) == row, target, labels)
