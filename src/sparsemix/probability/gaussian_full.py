"""Gaussian family with full covariance: collapsed evidence of clusters of real rows, a few features each.

In the letters of `gaussian_full_kernels`, a cluster of `n` rows has the log evidence

    ln G_d(nu_n / 2) - ln G_d(nu / 2) + (nu / 2) ln |P| - (nu_n / 2) ln |P_n|
    + (d / 2) ln(kappa / kappa_n) - (n d / 2) ln pi

where `G_d` is the Gamma function of `d` dimensions. Rows are dense. A state is changed row by row with `add_row` and
`remove_row`; clusters without rows predict with the prior alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.probability.gamma_ratios import log_rising
from sparsemix.probability.gaussian_full_kernels import (
    FullState,
    NormalWishartPrior,
    add_row,
    log_predictive,
    refresh,
)
from sparsemix.probability.real_rows import add_labelled, predictives, variances

FloatArray = NDArray[np.float64]
IntVector = NDArray[np.int64]


class FullParameters(NamedTuple):
    """``theta*`` of each cluster for the statistics ``z`` and ``z z^T`` of a row, where ``z = row - shift``.

    linear : (n_clusters, n_features) E[inverse covariance] times the mean.
    quadratic : (n_clusters, n_features, n_features) -E[inverse covariance] / 2.
    log_partition : (n_clusters,) normaliser of a row at them.
    """

    linear: FloatArray
    quadratic: FloatArray
    log_partition: FloatArray


def normal_wishart_prior(
    mean: FloatArray, strength: float, degrees: float, scale: FloatArray
) -> NormalWishartPrior:
    """Prior with its Cholesky factor, see `NormalWishartPrior`; `scale` must be positive definite.

    Examples
    --------
    >>> normal_wishart_prior(np.zeros(2), 1.0, 4.0, 9.0 * np.eye(2)).factor
    array([[3., 0.],
           [0., 3.]])
    """
    matrix = np.array(scale, float)
    return NormalWishartPrior(
        np.array(mean, float), float(strength), float(degrees), matrix, np.linalg.cholesky(matrix)
    )


def weak_prior(rows: FloatArray, share: float = 0.1) -> NormalWishartPrior:
    """Prior that a few rows outweigh, in the units of the data, without correlations.

    Parameters
    ----------
    rows : (n_rows, n_features) float64
    share : float
        Variance that is expected inside a cluster, as a share of the variance of the data. The means of the clusters
        are expected to spread as the rows do.

    Returns
    -------
    NormalWishartPrior
        A feature that is the same in all rows has the unit as its variance.

    Examples
    --------
    >>> weak_prior(np.array([[0.0, 7.0], [2.0, 7.0]])).scale
    array([[0.1, 0. ],
           [0. , 0.1]])
    """
    # n_features + 2 are the fewest whole degrees of freedom for which the covariance has a mean
    return normal_wishart_prior(
        rows.mean(axis=0), share, rows.shape[1] + 2.0, share * np.diag(variances(rows))
    )


@dataclass(frozen=True)
class GaussianFull:
    """Clusters of real rows with a Gaussian of unknown mean and covariance.

    Parameters
    ----------
    prior : NormalWishartPrior
        See `weak_prior` and `normal_wishart_prior`.

    Examples
    --------
    Two clusters on parallel lines:

    >>> along = np.linspace(0.0, 9.0, 10)
    >>> rows = np.vstack([np.column_stack([along, along]), np.column_stack([along, along + 3.0])])
    >>> family = GaussianFull(weak_prior(rows))
    >>> state = family.state_of(rows, np.repeat([0, 1], 10), n_clusters=2)
    >>> family.log_predictive(state, np.array([[12.0, 12.0], [12.0, 15.0]])).argmax(axis=1)
    array([0, 1])
    """

    prior: NormalWishartPrior

    def init(self, n_clusters: int, shift: FloatArray) -> FullState:
        """Clusters without rows; `shift`, (n_features,), is where sums are taken from, such as the mean of the data."""
        sizes, constants = np.zeros((2, n_clusters))
        sums, sums_low, means = np.zeros((3, n_clusters, shift.size))
        products, products_low, factors = np.zeros((3, n_clusters, shift.size, shift.size))
        changes = np.zeros(n_clusters, np.int64)
        state = FullState(
            np.array(shift, float), sizes, sums, sums_low, products, products_low, means, factors, changes, constants
        )  # fmt: skip
        for k in range(n_clusters):
            refresh(state, self.prior, k)
        return state

    def state_of(self, rows: FloatArray, labels: IntVector, n_clusters: int) -> FullState:
        """Clusters of these rows, summed from the mean of all of them; rows labelled -1 are left out."""
        state = self.init(n_clusters, rows.mean(axis=0))
        add_labelled(add_row, state, self.prior, rows, labels)
        for k in range(n_clusters):
            refresh(state, self.prior, k)
        return state

    def log_predictive(self, state: FullState, rows: FloatArray) -> FloatArray:
        """Log density of rows under each cluster, given the cluster's rows, in nats; (n_rows, n_clusters)."""
        return predictives(log_predictive, state, self.prior, rows)

    def log_evidence(self, state: FullState) -> FloatArray:
        """Collapsed log evidence of each cluster, in nats; (n_clusters,), 0 for an empty cluster.

        Without a factor of the prior on partitions.
        """
        prior, n_features = self.prior, state.shift.size
        log_determinants = _log_determinants(state.factors)
        spread = prior.degrees * (log_determinants - _log_determinants(prior.factor))
        spread += state.sizes * (log_determinants + n_features * np.log(np.pi))
        spread += n_features * np.log1p(state.sizes / prior.strength)
        lost = np.arange(n_features)
        gained = [
            sum(log_rising(0.5 * (prior.degrees - j), 0.5 * size) for j in lost) for size in state.sizes
        ]
        return np.asarray(gained - 0.5 * spread)

    def expected_natural_parameters(self, state: FullState) -> FullParameters:
        """Posterior means of the natural parameters of each cluster (FASTEX, eq (10))."""
        inverse = np.linalg.inv(state.factors)
        degrees = self.prior.degrees + state.sizes
        precisions = degrees[:, None, None] * (inverse.transpose(0, 2, 1) @ inverse)
        linear = np.einsum("kij,kj->ki", precisions, state.means)
        partition = (linear * state.means).sum(axis=1) + _log_determinants(state.factors)
        partition += state.shift.size * (np.log(2.0 * np.pi) - np.log(degrees))
        return FullParameters(linear, -0.5 * precisions, 0.5 * partition)


def _log_determinants(factors: FloatArray) -> FloatArray:
    """Of the matrices that have these Cholesky factors, (..., d, d)."""
    return np.asarray(2.0 * np.log(np.diagonal(factors, axis1=-2, axis2=-1)).sum(axis=-1))
