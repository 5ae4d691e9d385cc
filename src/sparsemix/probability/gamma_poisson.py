"""Gamma-Poisson family: clusters of sparse rows of counts, each feature a Poisson count with a rate of its own.

For a cluster of `n` rows with feature counts `c`, ``N = sum c``, and the prior ``Gamma(a, r)`` (shape, rate) on the
rate of each of `D` features,

    E(n, c) = sum_d [ln G(c_d + a) - ln G(a)] - a D ln((r + n) / r) - N ln(r + n)

It leaves out ``-ln x!`` of every count of every row, which is the same for every partition. The predictive of a row `x`
of length `L` is whole, and negative binomial in each feature:

    ln p(x | cluster) = (a D + N) ln((r + n) / (r + n + 1)) - L ln(r + n + 1)
                        + sum_d [ln G(c_d + x_d + a) - ln G(c_d + a) - ln x_d!]

Features that neither row nor cluster holds are counted by the sums alone: the cost is O(nnz).

Hashed sampling has compiled forms of its own; this one is what its tests compare them with.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from sparsemix.probability.entries import log_gamma, lowered, owners, sum_by_owner
from sparsemix.probability.expected_parameters import ExpectedParameters, sum_over_features, with_pattern
from sparsemix.probability.gamma_ratios import sums_of_log_rising

FloatVector = NDArray[np.float64]


class GammaPrior(NamedTuple):
    """Of a Poisson rate: `shape` is a pseudo-count of events, `rate` one of rows."""

    shape: float
    rate: float

    @classmethod
    def from_mean(cls, mean: float, strength: float) -> "GammaPrior":
        """Build the prior from its mean, in events a row, and its pseudo-count of rows.

        Examples
        --------
        >>> GammaPrior.from_mean(0.25, 4.0)
        GammaPrior(shape=1.0, rate=4.0)
        """
        return cls(mean * strength, strength)


@dataclass(frozen=True)
class GammaPoisson:
    """Clusters of rows of counts: one Gamma prior for all rates, a Dirichlet prior on the weights.

    Parameters
    ----------
    prior : GammaPrior
        Prior of the rate of every feature.
    n_features : int
        All features, also those without an entry in a matrix of counts.
    weight_concentration : float
        Dirichlet pseudo-count per cluster.

    Examples
    --------
    One event of one feature, after nothing and after a row of three events:

    >>> family = GammaPoisson(GammaPrior(1.0, 1.0), n_features=1, weight_concentration=1.0)
    >>> one, held = np.array([1.0]), np.array([[0.0], [3.0]])
    >>> np.exp(family.log_predictive(one, held, sizes=np.array([0.0, 1.0]), totals=held[:, 0])).round(6)
    array([0.25    , 0.263374])
    """

    prior: GammaPrior
    n_features: int
    weight_concentration: float

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Collapsed log evidence of each cluster with its factor of the prior on partitions, in nats.

        Parameters
        ----------
        sizes : (n_clusters,) float64
            Rows, or mass, of each cluster.
        counts : (n_clusters, n_columns) CSR
            Sums of its rows.

        Returns
        -------
        (n_clusters,) float64
            0 for an empty cluster. Without `log_base_measure` of the rows.
        """
        shape, rate = self.prior
        owner = owners(counts)
        totals = sum_by_owner(counts.data, owner, sizes.size)
        held = log_gamma(counts.data, shape) - gammaln(shape)
        events = sum_by_owner(held, owner, sizes.size) - totals * np.log(rate + sizes)
        nothing = -shape * self.n_features * np.log1p(sizes / rate)
        partition = gammaln(sizes + self.weight_concentration) - gammaln(self.weight_concentration)
        return np.asarray(partition + events + nothing)

    def log_predictive(
        self, values: FloatVector, held: FloatVector, sizes: FloatVector, totals: FloatVector
    ) -> FloatVector:
        """Log probability of a row in each cluster, given the rows of the cluster, in nats. O(nnz of row x clusters).

        Parameters
        ----------
        values : (n_entries,) float64
            The row's counts that are not zero.
        held : (n_clusters, n_entries) float64
            Sums of each cluster's rows in the features of these counts.
        sizes, totals : (n_clusters,) float64
            Rows of each cluster, and the sum of all their counts.

        Returns
        -------
        (n_clusters,) float64
            Without the weight of the cluster; sums to one over all rows.
        """
        shape, rate = self.prior
        events = np.empty(sizes.size)
        sums_of_log_rising(held + shape, values, events)
        nothing = -(shape * self.n_features + totals) * np.log1p(1.0 / (rate + sizes))
        return np.asarray(
            events + nothing - values.sum() * np.log(rate + sizes + 1.0) + log_base_measure(values)
        )

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Log rates of the features at the posterior means, and what a row without events scores.

        Returns
        -------
        log_rates : (n_clusters, n_columns) CSR
            With the pattern of `counts`.
        default_log_rates : (n_clusters,)
            Of a feature without an entry.
        constants : (n_clusters,)
            Log weight (up to a common term) plus log probability of the empty row.
        """
        return self._parameters(sizes, counts, sum_by_owner(counts.data, owners(counts), sizes.size))

    def parameters_for_members(
        self, sizes: FloatVector, counts: sparse.csr_array, own: FloatVector
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Natural parameters without the row that asks: a row of average length less, and less of what it holds."""
        totals = sum_by_owner(counts.data, owners(counts), sizes.size)
        left = np.maximum(sizes - 1.0, 0.0)
        return self._parameters(left, lowered(counts, own), totals * left / np.maximum(sizes, 1.0))

    def _parameters(
        self, sizes: FloatVector, counts: sparse.csr_array, totals: FloatVector
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        shape, rate = self.prior
        rows = sizes + rate
        log_rates = with_pattern(np.log((counts.data + shape) / rows[owners(counts)]), counts)
        constants = np.log(sizes + self.weight_concentration) - (shape * self.n_features + totals) / rows
        return log_rates, np.log(shape / rows), constants

    def expected_natural_parameters(self, sizes: FloatVector, counts: sparse.csr_array) -> ExpectedParameters:
        """``E[ln rate]`` of each feature, and the sum of the rates at it (FASTEX, eq (10)); O(nnz)."""
        shape, rate = self.prior
        log_rows = np.log(sizes + rate)
        weights = digamma(counts.data + shape) - log_rows[owners(counts)]
        default = digamma(shape) - log_rows
        log_partition = sum_over_features(np.exp(weights), np.exp(default), counts, self.n_features)
        return ExpectedParameters(with_pattern(weights, counts), default, log_partition)


def log_base_measure(values: FloatVector) -> float:
    """``-sum ln x!`` of a row's counts, (n_entries,): its probability's factor that no cluster knows of, in nats.

    Examples
    --------
    >>> round(np.exp(log_base_measure(np.array([1.0, 2.0, 3.0]))), 9)
    np.float64(0.083333333)
    """
    return -float(gammaln(values + 1.0).sum())
