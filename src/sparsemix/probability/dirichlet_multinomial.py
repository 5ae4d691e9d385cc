"""Dirichlet-multinomial family: collapsed evidence of clusters of sparse rows of counts.

For a cluster with feature counts `c`, `t` tokens in all, and a symmetric Dirichlet with `a` per feature,

    E(c) = ln G(D a) - ln G(t + D a) + sum_d [ln G(c_d + a) - ln G(a)]

for the tokens in their order, without multinomial coefficients. Features without counts contribute nothing: O(nnz).
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

FloatVector = NDArray[np.float64]


@dataclass(frozen=True)
class DirichletMultinomial:
    """Clusters of rows of counts: one symmetric Dirichlet for their features, one for the mixing weights.

    Parameters
    ----------
    concentration : float
        Pseudo-count of each feature.
    n_features : int
        All features; those without an entry in a matrix of counts have none.
    weight_concentration : float
        Dirichlet pseudo-count per cluster.

    Examples
    --------
    One row with one token of two, uniform prior: a probability of one half.

    >>> family = DirichletMultinomial(1.0, n_features=2, weight_concentration=1.0)
    >>> family.log_evidence(np.array([1.0]), sparse.csr_array(np.array([[1.0, 0.0]]))) / np.log(0.5)
    array([1.])
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
            Tokens of each feature.

        Returns
        -------
        (n_clusters,) float64
            0 for an empty cluster.
        """
        total = self.n_features * self.concentration
        owner = np.repeat(np.arange(sizes.size), np.diff(counts.indptr))
        present = gammaln(counts.data + self.concentration) - gammaln(self.concentration)
        tokens = np.bincount(owner, counts.data, sizes.size)
        partition = gammaln(sizes + self.weight_concentration) - gammaln(self.weight_concentration)
        of_tokens = np.bincount(owner, present, sizes.size) + gammaln(total) - gammaln(tokens + total)
        return np.asarray(partition + of_tokens)

    def natural_parameters(
        self, sizes: FloatVector, counts: sparse.csr_array
    ) -> tuple[sparse.csr_array, FloatVector, FloatVector]:
        """Log probabilities of the features at the posterior means, and what a row without tokens scores.

        Returns
        -------
        log_probabilities : (n_clusters, n_columns) CSR
            With the pattern of `counts`.
        default_log_probabilities : (n_clusters,)
            Of a feature without an entry.
        constants : (n_clusters,)
            Log weight, up to a common term.
        """
        owner = np.repeat(np.arange(sizes.size), np.diff(counts.indptr))
        tokens = np.bincount(owner, counts.data, sizes.size)
        log_total = np.log(tokens + self.n_features * self.concentration)
        log_probabilities = sparse.csr_array(
            (np.log(counts.data + self.concentration) - log_total[owner], counts.indices, counts.indptr),
            counts.shape,
        )
        constants = np.log(sizes + self.weight_concentration)
        return log_probabilities, np.log(self.concentration) - log_total, constants
