"""Dirichlet-multinomial family: collapsed evidence of clusters of sparse rows of counts.

For a cluster with feature counts `c`, ``N = sum c``, and the prior ``Dirichlet(a, ..., a)`` over `D` features,

    E(c) = ln G(a D) - ln G(a D + N) + sum_w [ln G(c_w + a) - ln G(a)]

It is the evidence of the words in their order: there are no multinomial coefficients, which are the same for every
partition. Features that the cluster does not hold contribute nothing, so that the cost is O(nnz of c).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import digamma, gammaln

from sparsemix.probability.entries import log_gamma, lowered, owners, sum_by_owner
from sparsemix.probability.expected_parameters import ExpectedParameters, sum_over_features, with_pattern
from sparsemix.probability.gamma_ratios import log_rising, sums_of_log_rising

FloatVector = NDArray[np.float64]


@dataclass(frozen=True)
class DirichletMultinomial:
    """Clusters of rows of counts: one symmetric Dirichlet prior for all profiles, another for the weights.

    Parameters
    ----------
    concentration : float
        Dirichlet pseudo-count of every feature.
    n_features : int
        All features, also those without an entry in a matrix of counts.
    weight_concentration : float
        Dirichlet pseudo-count per cluster.

    Examples
    --------
    One row of two different words out of two, uniform prior: one half for the first, a third for the second.

    >>> family = DirichletMultinomial(1.0, n_features=2, weight_concentration=1.0)
    >>> counts = sparse.csr_array(np.array([[1.0, 1.0]]))
    >>> np.exp(family.log_evidence(np.array([1.0]), counts)).round(6)
    array([0.166667])
    """

    concentration: float
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
            0 for an empty cluster.
        """
        owner = owners(counts)
        totals = sum_by_owner(counts.data, owner, sizes.size)
        everything = self.concentration * self.n_features
        held = log_gamma(counts.data, self.concentration) - gammaln(self.concentration)
        words = gammaln(everything) - gammaln(totals + everything) + sum_by_owner(held, owner, sizes.size)
        partition = gammaln(sizes + self.weight_concentration) - gammaln(self.weight_concentration)
        return np.asarray(partition + words)

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Log probabilities of the features at the posterior means, and the log weight of each cluster.

        Returns
        -------
        log_probabilities : (n_clusters, n_columns) CSR
            With the pattern of `counts`.
        default_log_probabilities : (n_clusters,)
            Of a feature without an entry.
        constants : (n_clusters,)
            Log weight up to a common term.
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
        log_totals = np.log(totals + self.concentration * self.n_features)
        data = np.log(counts.data + self.concentration) - log_totals[owners(counts)]
        log_probabilities = with_pattern(data, counts)
        default = np.log(self.concentration) - log_totals
        return log_probabilities, default, np.log(sizes + self.weight_concentration)

    def log_predictive(self, values: FloatVector, held: FloatVector, totals: FloatVector) -> FloatVector:
        """Log probability of a row in each cluster, given the rows of the cluster, in nats. O(nnz of row x clusters).

        Parameters
        ----------
        values : (n_entries,) float64
            The row's counts that are not zero.
        held : (n_clusters, n_entries) float64
            Sums of each cluster's rows in the features of these counts.
        totals : (n_clusters,) float64
            Sum of all counts of each cluster.

        Returns
        -------
        (n_clusters,) float64
            Without the weight of the cluster; of the words in their order, as the evidence.
        """
        words, length = np.empty(totals.size), float(values.sum())
        sums_of_log_rising(held + self.concentration, values, words)
        return words - [log_rising(total, length) for total in totals + self.concentration * self.n_features]

    def expected_natural_parameters(self, sizes: FloatVector, counts: sparse.csr_array) -> ExpectedParameters:
        """``E[ln p]`` of each feature, and the normaliser of one word at them (FASTEX, eq (10)); O(nnz)."""
        owner = owners(counts)
        totals = sum_by_owner(counts.data, owner, sizes.size) + self.concentration * self.n_features
        weights = digamma(counts.data + self.concentration) - digamma(totals)[owner]
        default = digamma(self.concentration) - digamma(totals)
        top = np.array(default)
        np.maximum.at(top, owner, weights)
        explicit, others = np.exp(weights - top[owner]), np.exp(default - top)
        log_partition = top + np.log(sum_over_features(explicit, others, counts, self.n_features))
        return ExpectedParameters(with_pattern(weights, counts), default, log_partition)
