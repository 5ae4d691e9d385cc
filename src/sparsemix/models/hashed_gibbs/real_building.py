"""From real rows to what the sampler works on: priors in the units of the data, and statistics of clusters."""

from typing import NamedTuple

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
    """The prior as the kernels read it; that of the other family has no features."""
    is_full, none = hyper.family == GAUSSIAN_FULL, np.empty(0)
    centre, spread = (none, none) if is_full else (hyper.centre, hyper.spread)
    diagonal = NormalGammaPrior(centre, hyper.a, hyper.b, spread)
    centre, spread = (hyper.centre, hyper.spread) if is_full else (none, none)
    full = normal_wishart_prior(centre, hyper.a, hyper.b, np.diag(spread))
    partition = Partition(PROCESSES[hyper.process], hyper.concentration, hyper.discount)
    return RealPrior(partition, is_full, diagonal, full)


def no_clusters(prior: RealPrior, n_clusters: int) -> RealClusters:
    """As many clusters without rows."""
    diagonal = GaussianDiagonal(prior.diagonal).init(0 if prior.is_full else n_clusters, prior.diagonal.mean)
    full = GaussianFull(prior.full).init(n_clusters if prior.is_full else 0, prior.full.mean)
    sizes = full.sizes if prior.is_full else diagonal.sizes
    return RealClusters(sizes, np.array([n_clusters]), diagonal, full)


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
    renew(prior, clusters)
    return clusters


def renew(prior: RealPrior, clusters: RealClusters) -> None:
    """All that follows from the sums, anew; factors that have followed rows one by one are made from the sums."""
    clusters.n_empty[0] = np.count_nonzero(clusters.sizes == 0)
    real_kernels.refresh_all(prior, clusters)


def _copy(base: RealClusters, clusters: RealClusters) -> None:
    """Put the sums of clusters into the first places."""
    for source, target in ((base.diagonal, clusters.diagonal), (base.full, clusters.full)):
        for name in ("sizes", "sums", "sums_low", "squares", "squares_low", "products", "products_low"):
            if hasattr(source, name):
                getattr(target, name)[: len(source.sizes)] = getattr(source, name)


def log_evidence(prior: RealPrior, clusters: RealClusters) -> FloatVector:
    """Collapsed log evidence of each cluster's rows; (K,)."""
    if prior.is_full:
        return GaussianFull(prior.full).log_evidence(clusters.full)
    return GaussianDiagonal(prior.diagonal).log_evidence(clusters.diagonal)
