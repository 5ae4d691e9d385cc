"""What the next draw needs when rows are real numbers: the prior, and the statistics of the clusters."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.probability.gaussian_diagonal_kernels import DiagonalState, NormalGammaPrior
from sparsemix.probability.gaussian_full_kernels import FullState, NormalWishartPrior

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
IntVector = NDArray[np.int64]

GAUSSIAN, GAUSSIAN_FULL = "gaussian", "gaussian_full"
REAL_FAMILIES = (GAUSSIAN, GAUSSIAN_FULL)


class Partition(NamedTuple):
    """Prior of the partition, as in `state.Prior`."""

    process: int
    concentration: float
    discount: float


class RealPrior(NamedTuple):
    """Priors of the partition and of the Gaussians."""

    partition: Partition
    gaussian: NormalGammaPrior | NormalWishartPrior

    @property
    def is_full(self) -> bool:
        """Whether clusters have covariances."""
        return isinstance(self.gaussian, NormalWishartPrior)


class RealClusters(NamedTuple):
    """Statistics of clusters of real rows.

    sizes : (K,) rows, the very array of the statistics in use. n_empty : (1,) clusters without rows.
    """

    sizes: FloatVector
    n_empty: IntVector
    statistics: DiagonalState | FullState
