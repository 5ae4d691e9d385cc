"""What chains of partitions say: whether they have met, which rows belong together, and one partition for all."""

from sparsemix.chains.advice import convergence_advice
from sparsemix.chains.cluster_numbers import ClusterNumbers, posterior_of_n_clusters
from sparsemix.chains.diagnostics import effective_sample_size, r_hat
from sparsemix.chains.nearest_partition import PointEstimate, point_estimate
from sparsemix.chains.pair_probabilities import co_clustering

__all__ = [
    "ClusterNumbers",
    "PointEstimate",
    "co_clustering",
    "convergence_advice",
    "effective_sample_size",
    "point_estimate",
    "posterior_of_n_clusters",
    "r_hat",
]
