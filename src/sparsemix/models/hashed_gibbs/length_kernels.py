"""Compiled parts of a score that depend on the cluster and the row's length, and not on which features it holds."""

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import count_of
from sparsemix.models.hashed_gibbs.kernels import constants, log_of_length, log_plus, log_weight
from sparsemix.models.hashed_gibbs.state import BERNOULLI, MULTINOMIAL, NONE
from sparsemix.numeric.jit import inner_inlined_kernel, inner_kernel

_SHORT = 0.2  # rows shorter than this part of a D have a series for the ratio of Gamma functions


@inner_kernel
def score_lengths(prior, clusters, length, held, scores_out):
    """Add to what the features say what a score owes to the cluster and the row's length."""
    if has_series(prior, length):
        ones, pairs, squares = factors_of_length(length)
        constant = clusters.constant
        for k in range(held.shape[0]):
            scores_out[k] = held[k] + (
                constant[k, 0] + ones * constant[k, 1] + pairs * constant[k, 2] + squares * constant[k, 3]
            )
        return
    for k in range(held.shape[0]):
        scores_out[k] = held[k] + score_of_length(
            prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], length
        )


@inner_kernel
def weigh_empty(prior, sizes, empty, n_empty, own, scores_out):
    """Give the clusters without rows their weight, which they share; the own one is without its row."""
    is_alone = own >= 0 and sizes[own] == 1
    if n_empty > 0 or is_alone:
        weight = log_weight(prior, NONE, n_empty + (1 if is_alone else 0), sizes.shape[0])
        for j in range(n_empty):
            scores_out[empty[j]] += weight
        if is_alone:
            scores_out[own] += weight


@inner_kernel
def has_series(prior, length):
    """Whether a row is so short that the ratio of Gamma functions is a short series."""
    return prior.family != MULTINOMIAL or length <= _SHORT * prior.a * prior.n_features


@inner_inlined_kernel
def factors_of_length(length):
    """Factors of the last three of a cluster's constants."""
    pairs = 0.5 * length * (length - 1.0)
    return np.float64(length), pairs, pairs * (2.0 * length - 1.0) / 6.0


@inner_inlined_kernel
def score_of_length(prior, constant, size, total, length):
    """What a score owes to the cluster and the row's length."""
    if has_series(prior, length):
        ones, pairs, squares = factors_of_length(length)
        return constant[0] + ones * constant[1] + pairs * constant[2] + squares * constant[3]
    return constant[0] + log_of_length(prior, size, total, length)


@inner_inlined_kernel
def constants_without(rows, row, prior, clusters, own, out):
    """Constants of a row's own cluster without the row."""
    size, total = clusters.sizes[own] - 1, clusters.totals[own] - rows.lengths[row]
    off = clusters.off[own, 1]
    if prior.family == BERNOULLI:
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            w = rows.columns[at]
            count = count_of(
                clusters.mask[w], clusters.start[w], clusters.slots, clusters.cell_counts, own
            ) - np.int64(rows.counts[at])
            off += log_plus(prior.log_b, prior.b, size - count)
            if count < size:
                off -= log_plus(prior.log_b, prior.b, size - count - 1)
    constants(prior, size, total, off, out)
