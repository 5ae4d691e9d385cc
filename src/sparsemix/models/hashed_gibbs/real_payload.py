"""Clusters of real rows as plain arrays, and back, with every size and range checked."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.hashed_gibbs import real_building
from sparsemix.models.hashed_gibbs.real_building import RealHyperparameters
from sparsemix.models.hashed_gibbs.real_reading import LARGEST_VALUE, MOST_CELLS
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.real_state import GAUSSIAN_FULL
from sparsemix.persistence.unpacking import INT, MOST_ROWS, ArrayReader

_LEAST, _MOST = LARGEST_VALUE**-2.5, LARGEST_VALUE**2.5  # of variances, times any pseudo-count
_SUMS = {
    False: ("sums", "sums_low", "squares", "squares_low"),
    True: ("sums", "sums_low", "products", "products_low"),
}


def arrays_of(solution: RealSolution) -> dict[str, NDArray[Any]]:
    """Statistics and prior; of symmetric matrices the lower triangles."""
    hyper, is_full = solution.hyper, solution.hyper.family == GAUSSIAN_FULL
    state: Any = solution.clusters.statistics
    below = np.tril_indices(solution.features.n_features)
    arrays = {"sizes": solution.sizes, "centre": hyper.centre, "spread": hyper.spread}
    for name in _SUMS[is_full]:
        sums = getattr(state, name)
        arrays[name] = sums[:, below[0], below[1]] if sums.ndim == 3 else sums
    return arrays


def solution_of(
    hyper: dict[str, Any], arrays: dict[str, NDArray[Any]], n_clusters: int, features: FeatureNames
) -> RealSolution:
    """Build the clusters, or raise ModelFileError for whatever does not fit; `hyper` has the checked numbers."""
    n_features, is_full = features.n_features, hyper["family"] == GAUSSIAN_FULL
    n_entries = n_features * (n_features + 1) // 2 if is_full else n_features
    if n_clusters * n_entries > MOST_CELLS:
        raise ModelFileError(f"it says that it has {n_clusters} clusters of {n_features} features")
    if is_full and hyper["b"] <= n_features - 1.0:
        raise ModelFileError("it has too few degrees of freedom for its features")
    reader = ArrayReader(arrays)
    sizes = reader.inside("sizes", INT, 1, MOST_ROWS, n_clusters)
    centre, spread = reader.finite("centre", n_features), reader.positive("spread", n_features)
    if np.any(np.abs(centre) > LARGEST_VALUE) or np.any(spread < _LEAST) or np.any(spread > _MOST):
        raise ModelFileError("it has a prior that cannot be")
    whole = RealHyperparameters(**hyper, centre=centre, spread=spread)
    prior = real_building.prior_of(whole)
    clusters = real_building.no_clusters(prior, n_clusters)
    state: Any = clusters.statistics
    below = np.tril_indices(n_features)
    clusters.sizes[:] = sizes
    for name, power in zip(_SUMS[is_full], (1, 1, 2, 2), strict=True):
        found = reader.finite(name, n_clusters, n_features if power == 1 else n_entries)
        if np.any(np.abs(found) > 2.0 * LARGEST_VALUE**power * sizes[:, None].astype(float) * power):
            raise ModelFileError(f"the array {name!r} holds sums that cannot be")
        sums = getattr(state, name)
        sums[(slice(None), *below) if sums.ndim == 3 else slice(None)] = found
    reader.close()
    real_building.renew(prior, clusters)
    return RealSolution(whole, clusters, features)
