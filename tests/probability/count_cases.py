"""Rows of counts and the clusters that they make, for the tests of the sparse families."""

import numpy as np
from scipy import sparse


def cluster_of(rows):
    """Size, (1,), and counts, (1, n_features), of the cluster that holds these rows."""
    rows = np.asarray(rows, float)
    return np.array([float(len(rows))]), sparse.csr_array(rows.sum(axis=0, keepdims=True))


def numerical_derivative(evidence, counts, feature, step=1e-4):
    """Derivative of a log evidence with respect to one count; error about step**2 of its third derivative."""
    up, down = counts.copy(), counts.copy()
    up[feature] += step
    down[feature] -= step
    return (evidence(up) - evidence(down)) / (2.0 * step)


def dense_parameters(weights, default, n_features):
    """Natural parameter of every feature of the first cluster, (n_features,), from its sparse form."""
    dense = np.full(n_features, default[0])
    first = slice(weights.indptr[0], weights.indptr[1])
    dense[weights.indices[first]] = weights.data[first]
    return dense
