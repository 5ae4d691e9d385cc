"""Clusters of real rows as they are after sampling, and what they say about rows."""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.hashed_gibbs import real_kernels
from sparsemix.models.hashed_gibbs.real_building import RealHyperparameters, clusters_of, prior_of
from sparsemix.models.hashed_gibbs.real_state import FloatMatrix, FloatVector, IntVector, RealClusters
from sparsemix.probability.gaussian_full_kernels import FullState


class RealSolution(NamedTuple):
    """Clusters with rows, those of a fit from the largest down."""

    hyper: RealHyperparameters
    clusters: RealClusters
    features: FeatureNames

    @property
    def sizes(self) -> IntVector:
        """Rows, (K,)."""
        return self.clusters.sizes.astype(np.int64)

    @property
    def n_parameters(self) -> int:
        """Natural parameters of a cluster."""
        n = self.features.n_features
        return n + n * (n + 1) // 2 if isinstance(self.clusters.statistics, FullState) else 2 * n

    @property
    def means(self) -> FloatMatrix:
        """Posterior means of the features, (K, n_features)."""
        state = self.clusters.statistics
        return np.asarray(state.means + state.shift)

    @property
    def covariances(self) -> FloatMatrix:
        """Posterior means of the variances, (K, n_features), or covariances, (K, n_features, n_features)."""
        hyper, state, n_features = self.hyper, self.clusters.statistics, self.features.n_features
        sizes = state.sizes
        if not isinstance(state, FullState):
            return np.asarray(state.rates / (hyper.b + 0.5 * sizes - 1.0)[:, None])
        scales = state.factors @ state.factors.transpose(0, 2, 1)
        return np.asarray(scales / (hyper.b + sizes - n_features - 1.0)[:, None, None])

    @property
    def mean_spread(self) -> tuple[FloatMatrix, FloatVector]:
        """Posterior of the means: scale of Student's t around `means`, (K, n_features); degrees of freedom, (K,)."""
        hyper, state, n_features = self.hyper, self.clusters.statistics, self.features.n_features
        sizes = state.sizes
        strength = hyper.a + sizes
        if not isinstance(state, FullState):
            shape = hyper.b + 0.5 * sizes
            return np.sqrt(state.rates / (shape * strength)[:, None]), 2.0 * shape
        freedom = hyper.b + sizes - n_features + 1.0
        squares = np.sum(state.factors**2, axis=2)
        return np.sqrt(squares / (freedom * strength)[:, None]), freedom


def solution_of(
    hyper: RealHyperparameters, rows: FloatMatrix, labels: IntVector, features: FeatureNames
) -> RealSolution:
    """Statistics of a partition; O(n_rows n_features), of full covariances O(n_rows n_features**2)."""
    n_clusters = int(labels.max(initial=-1)) + 1
    return RealSolution(hyper, clusters_of(rows, prior_of(hyper), labels, n_clusters), features)


def grown(solution: RealSolution, rows: FloatMatrix, labels: IntVector) -> RealSolution:
    """Statistics with more rows, in clusters that are there or come after those."""
    n_clusters = max(solution.clusters.sizes.size, int(labels.max(initial=-1)) + 1)
    clusters = clusters_of(rows, prior_of(solution.hyper), labels, n_clusters, solution.clusters)
    return solution._replace(clusters=clusters)


def raw_scores(solution: RealSolution, rows: FloatMatrix, step: int) -> Iterator[FloatMatrix]:
    """Log weight plus log predictive of rows, `step` rows at a time; log weights up to a constant."""
    prior, n_rows = prior_of(solution.hyper), len(rows)
    for first in range(0, n_rows, step):
        last = min(n_rows, first + step)
        found = np.empty((last - first, solution.clusters.sizes.size))
        real_kernels.score_new_rows(rows, first, last, prior, solution.clusters, found)
        yield found
