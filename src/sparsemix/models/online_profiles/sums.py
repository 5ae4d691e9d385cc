"""Sums over the components, feature by feature."""

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import culling_kernels
from sparsemix.models.online_profiles.state import Posterior

FloatVector = NDArray[np.float64]


def feature_sums(
    posterior: Posterior, weights: FloatVector, rest: FloatVector, n_features: int
) -> NDArray[np.float64]:
    """Sums over the components in which each feature is explicit, (3, n_features).

    Of weight times mean, of the weights, and of weight times `rest`, (n_components,), the mean of other features.
    """
    sums = np.zeros((n_features, 3))
    culling_kernels.add_feature_sums(posterior, weights, rest, sums)
    return sums.T
