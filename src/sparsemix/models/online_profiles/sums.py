"""Sums over the components, feature by feature: each thread sums features of its own, so that the order stays."""

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import culling_kernels
from sparsemix.models.online_profiles.state import Posterior
from sparsemix.numeric.threads import thread_runner

FloatVector = NDArray[np.float64]


def feature_sums(
    posterior: Posterior, weights: FloatVector, rest: FloatVector, n_features: int, n_threads: int = 1
) -> NDArray[np.float64]:
    """Sums over the components in which each feature is explicit, (3, n_features).

    Of weight times mean, of the weights, and of weight times `rest`, (n_components,), the mean of other features.
    """
    sums, share_of = np.zeros((n_features, 3)), shares(n_features, n_threads)
    with thread_runner(n_threads) as run:
        run(
            lambda share: culling_kernels.add_feature_sums(
                posterior, weights, rest, share[0], share_of, sums
            ),
            [(share, n_threads) for share in range(n_threads)],
        )
    return sums.T


def shares(n_features: int, n_threads: int) -> NDArray[np.int16]:
    """Whose each block of features is, in turn, since popular features are often neighbours; (n_blocks,)."""
    n_blocks = (n_features >> culling_kernels.BLOCK_BITS) + 1
    return (np.arange(n_blocks) % n_threads).astype(np.int16)
