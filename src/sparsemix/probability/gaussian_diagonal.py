"""Gaussian family with independent features: collapsed evidence of clusters of real rows, a few features each.

Per feature, in the letters of `gaussian_diagonal_kernels`, a cluster of `n` rows has the log evidence

    ln G(a_n) - ln G(a) + a ln b - a_n ln b_n + ln(kappa / kappa_n) / 2 - n ln(2 pi) / 2

Rows are dense. A state is changed row by row with `add_row` and `remove_row`; clusters without rows predict with the
prior alone.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.probability.gamma_ratios import log_rising
from sparsemix.probability.gaussian_diagonal_kernels import (
    DiagonalState,
    NormalGammaPrior,
    add_row,
    log_predictive,
    refresh,
)
from sparsemix.probability.real_rows import add_labelled, predictives, variances

FloatArray = NDArray[np.float64]
IntVector = NDArray[np.int64]

_SHAPE = 2.0  # the smallest whole shape for which the variance has a mean


class DiagonalParameters(NamedTuple):
    """``theta*`` of each cluster for the statistics ``z`` and ``z**2`` of a row, where ``z = row - shift``.

    linear, quadratic : (n_clusters, n_features) E[1 / variance] times the mean, and -E[1 / variance] / 2.
    log_partition : (n_clusters,) normaliser of a row at them.
    """

    linear: FloatArray
    quadratic: FloatArray
    log_partition: FloatArray


def weak_prior(rows: FloatArray, share: float = 0.1) -> NormalGammaPrior:
    """Prior that a few rows outweigh, in the units of the data.

    Parameters
    ----------
    rows : (n_rows, n_features) float64
    share : float
        Variance that is expected inside a cluster, as a share of the variance of the data. The means of the clusters
        are expected to spread as the rows do.

    Returns
    -------
    NormalGammaPrior
        A feature that is the same in all rows has the unit as its variance.

    Examples
    --------
    >>> weak_prior(np.array([[0.0, 7.0], [2.0, 7.0]])).rate
    array([0.1, 0.1])
    """
    return NormalGammaPrior(rows.mean(axis=0), float(share), _SHAPE, (_SHAPE - 1.0) * share * variances(rows))


@dataclass(frozen=True)
class GaussianDiagonal:
    """Clusters of real rows whose features are independent Gaussians of unknown mean and variance.

    Parameters
    ----------
    prior : NormalGammaPrior
        See `weak_prior`.

    Examples
    --------
    >>> rows = np.array([[0.0], [0.2], [9.0], [9.2]])
    >>> family = GaussianDiagonal(weak_prior(rows))
    >>> state = family.state_of(rows, np.array([0, 0, 1, 1]), n_clusters=3)
    >>> family.log_predictive(state, np.array([[0.1], [9.1], [50.0]])).argmax(axis=1)
    array([0, 1, 2])
    """

    prior: NormalGammaPrior

    def init(self, n_clusters: int, shift: FloatArray) -> DiagonalState:
        """Clusters without rows; `shift`, (n_features,), is where sums are taken from, such as the mean of the data."""
        sums, sums_low, squares, squares_low, means, rates = np.zeros((6, n_clusters, shift.size))
        sizes, constants = np.zeros((2, n_clusters))
        state = DiagonalState(
            np.array(shift, float), sizes, sums, sums_low, squares, squares_low, means, rates, constants
        )
        for k in range(n_clusters):
            refresh(state, self.prior, k)
        return state

    def state_of(self, rows: FloatArray, labels: IntVector, n_clusters: int) -> DiagonalState:
        """Clusters of these rows, summed from the mean of all of them; rows labelled -1 are left out."""
        state = self.init(n_clusters, rows.mean(axis=0))
        add_labelled(add_row, state, self.prior, rows, labels)
        return state

    def log_predictive(self, state: DiagonalState, rows: FloatArray) -> FloatArray:
        """Log density of rows under each cluster, given the cluster's rows, in nats; (n_rows, n_clusters)."""
        return predictives(log_predictive, state, self.prior, rows)

    def log_evidence(self, state: DiagonalState) -> FloatArray:
        """Collapsed log evidence of each cluster, in nats; (n_clusters,), 0 for an empty cluster.

        Without a factor of the prior on partitions.
        """
        prior, sizes = self.prior, state.sizes
        rising = np.array([log_rising(prior.shape, 0.5 * size) for size in sizes])
        each = rising - 0.5 * np.log1p(sizes / prior.strength) - 0.5 * sizes * np.log(2.0 * np.pi)
        spread = prior.shape * np.log(state.rates / prior.rate).sum(axis=1)
        spread += 0.5 * sizes * np.log(state.rates).sum(axis=1)
        return np.asarray(state.shift.size * each - spread)

    def expected_natural_parameters(self, state: DiagonalState) -> DiagonalParameters:
        """Posterior means of the natural parameters of each cluster (FASTEX, eq (10))."""
        precisions = (self.prior.shape + 0.5 * state.sizes)[:, None] / state.rates
        partition = precisions * state.means**2 - np.log(precisions) + np.log(2.0 * np.pi)
        return DiagonalParameters(
            precisions * state.means, -0.5 * precisions, 0.5 * np.asarray(partition.sum(axis=1))
        )
