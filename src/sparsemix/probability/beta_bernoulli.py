"""Beta-Bernoulli family: collapsed evidence of clusters of sparse binary rows.

For a cluster of `n` rows with feature counts `c` and the prior ``Beta(a, b)`` on every feature,

    E(n, c) = sum_d [ln B(c_d + a, n - c_d + b) - ln B(a, b)]

Features that no row of the cluster holds contribute a function of `n` alone, so that the cost is O(nnz of c).
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from sparsemix.numeric.threads import equal_parts
from sparsemix.probability.entries import log_gamma, lowered, owners, sum_by_owner
from sparsemix.probability.expected_parameters import ExpectedParameters, sum_over_features, with_pattern

FloatVector = NDArray[np.float64]

ENTRIES_AT_ONCE = 1 << 15  # of which what is computed on the way stays in the cache of a core


class BetaPrior(NamedTuple):
    """Pseudo-counts of a feature being on (`alpha`) and off (`beta`)."""

    alpha: float
    beta: float

    @classmethod
    def from_mean(cls, mean: float, strength: float) -> "BetaPrior":
        """Build the prior from its mean and its total pseudo-count.

        Examples
        --------
        >>> BetaPrior.from_mean(0.25, 4.0)
        BetaPrior(alpha=1.0, beta=3.0)
        """
        return cls(mean * strength, (1.0 - mean) * strength)


@dataclass(frozen=True)
class BetaBernoulli:
    """Clusters of binary rows: one Beta prior for all features, a Dirichlet prior on the weights.

    Parameters
    ----------
    prior : BetaPrior
        Prior of every feature.
    n_features : int
        All features; those without an entry in a matrix of counts are off in every row.
    weight_concentration : float
        Dirichlet pseudo-count per cluster.

    Examples
    --------
    One row that holds one of two features, uniform prior: one half for each feature.

    >>> family = BetaBernoulli(BetaPrior(1.0, 1.0), n_features=2, weight_concentration=1.0)
    >>> counts = sparse.csr_array(np.array([[1.0, 0.0]]))
    >>> family.log_evidence(np.array([1.0]), counts) / np.log(0.5)
    array([2.])
    """

    prior: BetaPrior
    n_features: int
    weight_concentration: float

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Collapsed log evidence of each cluster with its factor of the prior on partitions, in nats.

        Parameters
        ----------
        sizes : (n_clusters,) float64
            Rows, or mass, of each cluster.
        counts : (n_clusters, n_columns) CSR
            How many of its rows hold each feature.

        Returns
        -------
        (n_clusters,) float64
            0 for an empty cluster.
        """
        evidence = np.empty(sizes.size)
        for part in _parts(counts):
            evidence[part] = self._log_evidence(sizes[part], sparse.csr_array(counts[part]))
        return evidence

    def _log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        a, b = self.prior
        owner = owners(counts)
        own_size = sizes[owner]
        absent = gammaln(sizes + b) - gammaln(sizes + a + b) + gammaln(a + b) - gammaln(b)
        present = log_gamma(counts.data, a) - gammaln(a) + log_gamma(own_size - counts.data, b)
        present -= gammaln(sizes + b)[owner]
        partition = gammaln(sizes + self.weight_concentration) - gammaln(self.weight_concentration)
        return partition + self.n_features * absent + sum_by_owner(present, owner, sizes.size)

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Log odds of the features at the posterior means, and what a row without features scores.

        Returns
        -------
        log_odds : (n_clusters, n_columns) CSR
            With the pattern of `counts`.
        default_log_odds : (n_clusters,)
            Of a feature without an entry.
        constants : (n_clusters,)
            Log weight (up to a common term) plus log probability of the empty row.
        """
        a, b = self.prior
        log_odds = with_pattern(np.log((counts.data + a) / (sizes[owners(counts)] - counts.data + b)), counts)
        constants = np.log(sizes + self.weight_concentration) + self.log_empty_row(sizes, counts)
        return log_odds, np.log(a / (sizes + b)), constants

    def parameters_for_members(
        self, sizes: FloatVector, counts: sparse.csr_array, own: FloatVector
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Natural parameters without the row that asks: one row less, and less of what it holds."""
        return self.natural_parameters(np.maximum(sizes - 1.0, 0.0), lowered(counts, own))

    def log_empty_row(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Log probability that a row has no features, given each cluster's rows; (n_clusters,), O(nnz of counts)."""
        a, b = self.prior
        own_size = sizes[owners(counts)]
        explicit = np.log((own_size - counts.data + b) / (own_size + a + b))
        return sum_over_features(explicit, -np.log1p(a / (sizes + b)), counts, self.n_features)

    def log_predictive(self, held: FloatVector, sizes: FloatVector, log_empty: FloatVector) -> FloatVector:
        """Log probability of a row in each cluster, given the rows of the cluster, in nats. O(nnz of row x clusters).

        Parameters
        ----------
        held : (n_clusters, n_entries) float64
            How many rows of each cluster hold each feature of the row.
        sizes, log_empty : (n_clusters,) float64
            Rows of each cluster, and their `log_empty_row`.

        Returns
        -------
        (n_clusters,) float64
            Without the weight of the cluster; sums to one over all rows.
        """
        a, b = self.prior
        return np.asarray(log_empty + np.log((held + a) / (sizes[:, None] - held + b)).sum(axis=1))

    def expected_natural_parameters(self, sizes: FloatVector, counts: sparse.csr_array) -> ExpectedParameters:
        """Expected log odds of each feature, and the normaliser of a row at them (FASTEX, eq (10)); O(nnz)."""
        a, b = self.prior
        weights = digamma(counts.data + a) - digamma(sizes[owners(counts)] - counts.data + b)
        default = digamma(a) - digamma(sizes + b)
        log_partition = sum_over_features(
            np.logaddexp(0.0, weights), np.logaddexp(0.0, default), counts, self.n_features
        )
        return ExpectedParameters(with_pattern(weights, counts), default, log_partition)


def _parts(counts: sparse.csr_array) -> list[slice]:
    """Consecutive clusters with about so many entries at once."""
    n_parts = max(1, int(counts.nnz) // ENTRIES_AT_ONCE)
    return [slice(*part) for part in equal_parts(np.diff(counts.indptr) + 1.0, n_parts)]
