"""Compiled log probability of rows and assignments together, from the statistics of the clusters."""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.kernels import log_plus
from sparsemix.models.hashed_gibbs.state import BERNOULLI, FINITE, MULTINOMIAL, POISSON
from sparsemix.numeric.jit import kernel
from sparsemix.probability.gamma_ratios import log_rising as log_gamma_ratio


@kernel
def log_joint(
    prior,
    sizes,  # IN  (K,) int64
    totals,  # IN  (K,) int64
    start,  # IN  (n_features,) int64
    mask,  # IN  (n_features,) int64
    n_listed,  # IN  (n_features,) int32
    keys,  # IN  (n_cells of lists,) int32
    cell_counts,  # IN  (n_cells,) int32
):
    """Log joint (eq 7), up to factors of the rows alone and a constant; O(cells + K).

    Equal to the bit for equal statistics, whatever the order in which features list their clusters.
    """
    n_clusters, total, of_cells = sizes.shape[0], 0.0, 0.0
    everything = prior.a * prior.n_features
    of_cluster = np.empty(n_clusters)
    for k in range(n_clusters):
        of_cluster[k] = 0.0
        if prior.family == MULTINOMIAL:
            total -= log_gamma_ratio(everything, totals[k])
        elif prior.family == BERNOULLI:
            total += prior.n_features * (
                math.lgamma(prior.b + sizes[k])
                - math.lgamma(prior.a + prior.b + sizes[k])
                + math.lgamma(prior.a + prior.b)
                - math.lgamma(prior.b)
            )
        elif prior.family == POISSON:
            total += everything * prior.log_b[0] - (everything + totals[k]) * log_plus(
                prior.log_b, prior.b, sizes[k]
            )
        else:
            total = math.nan
    for w in range(prior.n_features):
        is_list = mask[w] >= 0
        for j in range(np.int64(n_listed[w]) if is_list else n_clusters):
            count = np.int64(cell_counts[start[w] + j])
            if count > 0:
                owner = np.int64(keys[start[w] + j]) if is_list else j
                of_cluster[owner] += log_gamma_ratio(prior.a, int(count))
                if prior.family == BERNOULLI:
                    size = sizes[owner]
                    of_cluster[owner] += math.lgamma(prior.b + size - count) - math.lgamma(prior.b + size)
    for k in range(n_clusters):
        of_cells += of_cluster[k]
    return log_prior(prior.process, prior.concentration, prior.discount, sizes) + (total + of_cells)


@kernel
def log_prior(
    process,  # IN  int64
    concentration,  # IN  float64
    discount,  # IN  float64
    sizes,  # IN  (K,) int64 or float64
):
    """Log prior probability of an assignment with labels, up to a constant; O(K)."""
    n_clusters, n_live, total = sizes.shape[0], 0, 0.0
    for k in range(n_clusters):
        if process == FINITE:
            total += math.lgamma(sizes[k] + concentration)
        elif sizes[k] > 0:
            total += math.lgamma(sizes[k] - discount) - math.lgamma(1.0 - discount)
            total += math.log(concentration + discount * n_live)
            n_live += 1
    if process == FINITE:
        return total
    return total - math.lgamma(n_clusters + 1.0) + math.lgamma(n_clusters - n_live + 1.0)
