"""From real rows to what the sampler works on: priors in the units of the data, and statistics of clusters."""

from typing import Any, NamedTuple

import numpy as np

from sparsemix.models.hashed_gibbs import real_kernels
from sparsemix.models.hashed_gibbs.real_state import (
    GAUSSIAN,
    GAUSSIAN_FULL,
    FloatMatrix,
    FloatVector,
    IntVector,
    Partition,
    RealClusters,
    RealPrior,
)
from sparsemix.models.hashed_gibbs.state import PROCESSES
from sparsemix.probability import gaussian_diagonal, gaussian_full
from sparsemix.probability.gaussian_diagonal import GaussianDiagonal
from sparsemix.probability.gaussian_diagonal_kernels import NormalGammaPrior
from sparsemix.probability.gaussian_full import GaussianFull, normal_wishart_prior
from sparsemix.probability.gaussian_full_kernels import NormalWishartPrior


class RealHyperparameters(NamedTuple):
    """Family and prior, as numbers that a file can hold.

    family, process : names. concentration : per component (finite) or of the process.
    a : pseudo-count of rows that say where means are; b : shape of the Gamma, or degrees of freedom of the Wishart.
    centre : (n_features,) where means are expected, and from where sums are taken.
    spread : (n_features,) rate of the Gamma, or diagonal of the scale of the Wishart.
    """

    family: str
    process: str
    concentration: float
    discount: float
    a: float
    b: float
    centre: FloatVector
    spread: FloatVector


def hyperparameters_of(
    rows: FloatMatrix, family: str, process: str, concentration: float, discount: float, share: float
) -> RealHyperparameters:
    """Priors in the units of the data; `share` of their variance is expected inside clusters."""
    partition = (family, process, concentration, discount)
    if family == GAUSSIAN:
        weak = gaussian_diagonal.weak_prior(rows, share)
        return RealHyperparameters(*partition, weak.strength, weak.shape, weak.mean, weak.rate)
    full = gaussian_full.weak_prior(rows, share)
    return RealHyperparameters(*partition, full.strength, full.degrees, full.mean, np.diag(full.scale).copy())


def prior_of(hyper: RealHyperparameters) -> RealPrior:
    """The prior as the kernels read it."""
    partition = Partition(PROCESSES[hyper.process], hyper.concentration, hyper.discount)
    if hyper.family == GAUSSIAN_FULL:
        scale = np.diag(hyper.spread)
        return RealPrior(partition, normal_wishart_prior(hyper.centre, hyper.a, hyper.b, scale))
    return RealPrior(partition, NormalGammaPrior(hyper.centre, hyper.a, hyper.b, hyper.spread))


def family_of(prior: RealPrior) -> GaussianDiagonal | GaussianFull:
    """Clusters of these Gaussians."""
    if isinstance(prior.gaussian, NormalWishartPrior):
        return GaussianFull(prior.gaussian)
    return GaussianDiagonal(prior.gaussian)


def no_clusters(prior: RealPrior, n_clusters: int) -> RealClusters:
    """As many clusters without rows."""
    statistics = family_of(prior).init(n_clusters, prior.gaussian.mean)
    return RealClusters(statistics.sizes, np.array([n_clusters]), statistics)


def clusters_of(
    rows: FloatMatrix,
    prior: RealPrior,
    assigned: IntVector,
    n_clusters: int,
    base: RealClusters | None = None,
) -> RealClusters:
    """Statistics of an assignment, -1 for rows in no cluster; a function of these alone, to the bit.

    With a `base` its clusters come first, and have their rows beside these.
    """
    clusters = no_clusters(prior, n_clusters)
    if base is not None:
        _copy(base, clusters)
    real_kernels.add_rows(rows, prior, clusters, assigned)
    clusters.n_empty[0] = np.count_nonzero(clusters.sizes == 0)
    return clusters


def renew(prior: RealPrior, clusters: RealClusters) -> None:
    """All that follows from the sums, anew."""
    no_rows = np.empty((0, prior.gaussian.mean.size))
    real_kernels.add_rows(no_rows, prior, clusters, np.empty(0, np.int64))
    clusters.n_empty[0] = np.count_nonzero(clusters.sizes == 0)


def _copy(base: RealClusters, clusters: RealClusters) -> None:
    """Put the sums of clusters into the first places."""
    source, target = base.statistics, clusters.statistics
    for name in ("sizes", "sums", "sums_low", "squares", "squares_low", "products", "products_low"):
        if hasattr(source, name):
            getattr(target, name)[: len(source.sizes)] = getattr(source, name)


def log_evidence(prior: RealPrior, clusters: RealClusters) -> FloatVector:
    """Collapsed log evidence of each cluster's rows; (K,)."""
    family: Any = family_of(prior)
    return np.asarray(family.log_evidence(clusters.statistics))
