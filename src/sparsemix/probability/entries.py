"""Entries of a sparse matrix of counts per cluster: whose they are, their sums and their log gamma functions."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


def owners(counts: sparse.csr_array) -> IntVector:
    """Cluster of each entry, (nnz,)."""
    return np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))


def sum_by_owner(values: FloatVector, owner: IntVector, n_owners: int) -> FloatVector:
    """Sum of the values of each cluster, (n_owners,); `values` and `owner` go entry by entry."""
    return np.asarray(np.bincount(owner, weights=values, minlength=n_owners), np.float64)


def row_sums(counts: sparse.csr_array) -> FloatVector:
    """Sum of each row, (n_rows,), in O(n_rows + nnz): of SciPy's own each would ask for a number a column."""
    return sum_by_owner(counts.data, owners(counts), counts.shape[0])


def log_gamma(counts: FloatVector, offset: float) -> FloatVector:
    """``gammaln(counts + offset)``, from a table where the counts are whole and many."""
    top = counts.max(initial=0.0)
    if top >= counts.size or not np.array_equal(counts, np.rint(counts)):
        return np.asarray(gammaln(counts + offset))
    return np.asarray(gammaln(np.arange(top + 1.0) + offset)[counts.astype(np.int64)])


def lowered(counts: sparse.csr_array, by: FloatVector) -> sparse.csr_array:
    """The counts with each entry lower by its number in `by`, (nnz,), at least 0; the pattern is kept."""
    return sparse.csr_array((np.maximum(counts.data - by, 0.0), counts.indices, counts.indptr), counts.shape)
