"""Expected natural parameters of clusters of sparse rows, in one form for all families (FASTEX, eqs (10), (11)).

The posterior mean ``theta*`` of a cluster's natural parameters is the derivative of its log evidence with respect to
its sufficient statistics. It makes the approximation ``p(row | cluster) = exp(<phi(row), theta*> - g(theta*))``, which
is normalised and linear in the row.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.probability.entries import owners, sum_by_owner

FloatVector = NDArray[np.float64]


class ExpectedParameters(NamedTuple):
    """``theta*`` of each cluster, and the log normaliser at it.

    weights : (n_clusters, n_columns) CSR, with the pattern of the counts.
    default : (n_clusters,) of a feature without an entry.
    log_partition : (n_clusters,) ``g(theta*)``, of a row; of one word where rows are words in their order.
    """

    weights: sparse.csr_array
    default: FloatVector
    log_partition: FloatVector


def sum_over_features(
    explicit: FloatVector, default: FloatVector, counts: sparse.csr_array, n_features: int
) -> FloatVector:
    """Sum of a number of each feature, (n_clusters,): `explicit` (nnz,) where there is an entry, else `default`."""
    return (
        sum_by_owner(explicit, owners(counts), default.size) + (n_features - np.diff(counts.indptr)) * default
    )


def with_pattern(data: FloatVector, counts: sparse.csr_array) -> sparse.csr_array:
    """Other numbers, (nnz,), at the places of the counts."""
    return sparse.csr_array((data, counts.indices, counts.indptr), counts.shape)
