"""Compiled log probability of rows and assignments together, from the statistics of the clusters."""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.kernels import log_plus
from sparsemix.models.hashed_gibbs.state import BERNOULLI, FINITE, MULTINOMIAL
from sparsemix.numeric.jit import kernel
from sparsemix.probability.gamma_ratios import log_rising as log_gamma_ratio


@kernel
def log_joint(prior, clusters):
    """Log joint (eq 7), up to factors of the rows alone and a constant; O(cells + K).

    Equal to the bit for equal statistics, whatever the order in which features list their clusters.
    """
    return log_prior(prior, clusters) + _log_evidence(prior, clusters)


@kernel
def log_prior(prior, clusters):
    """Log prior probability of an assignment with labels, up to a constant; O(K)."""
    n_clusters, n_live, total = clusters.sizes.shape[0], 0, 0.0
    for k in range(n_clusters):
        size = clusters.sizes[k]
        if prior.process == FINITE:
            total += math.lgamma(size + prior.concentration)
        elif size > 0:
            total += math.lgamma(size - prior.discount) - math.lgamma(1.0 - prior.discount)
            total += math.log(prior.concentration + prior.discount * n_live)
            n_live += 1
    if prior.process == FINITE:
        return total
    return total - math.lgamma(n_clusters + 1.0) + math.lgamma(n_clusters - n_live + 1.0)


@kernel
def _log_evidence(prior, clusters):
    n_clusters, total = clusters.sizes.shape[0], 0.0
    everything = prior.a * prior.n_features
    for k in range(n_clusters):
        size, tokens = clusters.sizes[k], clusters.totals[k]
        if prior.family == MULTINOMIAL:
            total -= log_gamma_ratio(everything, tokens)
        elif prior.family == BERNOULLI:
            total += prior.n_features * (
                math.lgamma(prior.b + size)
                - math.lgamma(prior.a + prior.b + size)
                + math.lgamma(prior.a + prior.b)
                - math.lgamma(prior.b)
            )
        else:
            total += everything * prior.log_b[0] - (everything + tokens) * log_plus(
                prior.log_b, prior.b, size
            )
    of_cluster = np.zeros(n_clusters)
    for w in range(prior.n_features):
        n_cells = n_clusters if clusters.mask[w] < 0 else clusters.n_listed[w]
        for j in range(n_cells):
            count = clusters.cell_counts[clusters.start[w] + j]
            if count > 0:
                owner = j if clusters.mask[w] < 0 else np.int64(clusters.keys[clusters.start[w] + j])
                of_cluster[owner] += log_gamma_ratio(prior.a, count)
                if prior.family == BERNOULLI:
                    size = clusters.sizes[owner]
                    of_cluster[owner] += math.lgamma(prior.b + size - count) - math.lgamma(prior.b + size)
    return total + of_cluster.sum()
