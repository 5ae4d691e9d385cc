"""Compiled sweep of real rows with proposals from binary signatures (FASTEX, section 3).

A row x says ``<phi(x), theta_k> - g_k`` for a cluster, where theta_k is the posterior mean of its natural parameters
and g_k the log normaliser there. With z the row less a fixed point, phi has z and its squares, or with full covariances
all products of two entries. Common means are taken away on both sides,

    <phi - m, theta_k - c> + <m, theta_k> - g_k  +  the same for all k

and only the first product is estimated from the bits. Cost of a row: O(K n_bits / 64 + n_parameters n_bits), with full
covariances also O(n_features**3).
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw
from sparsemix.models.hashed_gibbs.exact_kernels import FLOOR
from sparsemix.models.hashed_gibbs.kernels import n_differing
from sparsemix.models.hashed_gibbs.real_kernels import (
    FULL,
    add_log_weights,
    add_row,
    log_target,
    remove_row,
    settle,
)
from sparsemix.numeric.jit import inner_kernel, kernel


@kernel
def sweep_hash(
    rows,
    prior,
    clusters,  # IN, OUT
    signatures,  # IN, OUT
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows
):
    """One proposal for each row."""
    n_clusters = clusters.sizes.shape[0]
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    scores, work = np.empty(n_clusters), np.empty(rows.shape[1])
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        remove_row(clusters.statistics, clusters.n_empty, prior.gaussian, rows[row], own)
        renew_signature(prior, clusters, signatures, own)
        score_by_bits(row, prior, clusters, signatures, scores)
        new = draw(scores, FLOOR, uniforms[i, 0], weights, sums)
        log_ratio = math.log(weights[own] / weights[new])
        if new != own:
            log_ratio += log_target(rows, row, prior, clusters, new, work)
            log_ratio -= log_target(rows, row, prior, clusters, own, work)
        assigned[row] = settle(own, new, log_ratio, uniforms[i, 1], tally_out)
        add_row(clusters.statistics, clusters.n_empty, prior.gaussian, rows[row], assigned[row])
        renew_signature(prior, clusters, signatures, assigned[row])


@inner_kernel
def score_by_bits(
    row,
    prior,
    clusters,
    signatures,
    scores_out,  # OUT  (K,) float64
):
    """Approximate scores of a row, which is in none of the clusters."""
    of_row, row_norm = signatures.row_bits[row], signatures.row_norms[row]
    bits, cosines = signatures.bits, signatures.cosines
    norms, constants = signatures.norms, signatures.constants
    for k in range(norms.shape[0]):
        scores_out[k] = norms[k] * row_norm * cosines[n_differing(bits[k], of_row)] + constants[k]
    add_log_weights(prior.partition, clusters.sizes, clusters.n_empty[0], scores_out)
    scores_out *= signatures.tempering


@kernel
def renew_signature(prior, clusters, signatures, cluster):
    """Bits, norm and constant of a cluster whose rows have changed; O(n_parameters n_bits)."""
    theta = np.empty(signatures.centre.shape[0])
    constant = -natural_parameters(prior.gaussian, clusters.statistics, cluster, theta)
    if not signatures.is_raw:
        for p in range(theta.shape[0]):
            constant += signatures.row_mean[p] * theta[p]
            theta[p] = (theta[p] - signatures.centre[p]) / signatures.scale[p]
    signatures.constants[cluster] = constant
    signatures.norms[cluster] = project(theta, signatures.directions, signatures.bits[cluster])


@kernel
def renew_all(prior, clusters, signatures):
    """Signatures of all clusters."""
    for k in range(clusters.sizes.shape[0]):
        renew_signature(prior, clusters, signatures, k)


@kernel
def project_rows(
    statistics,  # IN  (n_rows, n_parameters) float64, centred and scaled
    first,  # IN  int64
    signatures,  # OUT  row_bits, row_norms
):
    """Signatures of rows from `first` on."""
    for i in range(statistics.shape[0]):
        bits = signatures.row_bits[first + i]
        signatures.row_norms[first + i] = project(statistics[i], signatures.directions, bits)


@kernel
def project(
    vector,  # IN  (n_parameters,) float64
    directions,  # IN  (n_parameters, n_bits) float64
    bits_out,  # OUT  (n_bits / 64,) uint64
):
    """Signs of a vector's products with random directions, as bits; returns the norm of the vector."""
    products, square = np.zeros(directions.shape[1]), 0.0
    for p in range(vector.shape[0]):
        value, direction = vector[p], directions[p]
        square += value * value
        for i in range(products.shape[0]):
            products[i] += value * direction[i]
    for j in range(bits_out.shape[0]):
        word = np.uint64(0)
        for i in range(64):
            word |= np.uint64(products[64 * j + i] >= 0.0) << np.uint64(i)
        bits_out[j] = word
    return math.sqrt(square)


@kernel
def natural_parameters(
    prior,  # IN  of the Gaussians
    statistics,  # IN
    cluster,
    theta_out,  # OUT  (n_parameters,) float64
):
    """Posterior mean of a cluster's natural parameters (FASTEX, eq 10); returns the log normaliser there."""
    means = statistics.means[cluster]
    if len(statistics) == FULL:
        degrees = prior.degrees + statistics.sizes[cluster]
        return _of_covariance(degrees, means, statistics.factors[cluster], theta_out)
    shape, rates = prior.shape + 0.5 * statistics.sizes[cluster], statistics.rates[cluster]
    n_features, partition = means.shape[0], 0.0
    for j in range(n_features):
        precision = shape / rates[j]
        theta_out[j] = precision * means[j]
        theta_out[n_features + j] = -0.5 * precision
        partition += precision * means[j] * means[j] - math.log(precision / (2.0 * math.pi))
    return 0.5 * partition


@inner_kernel
def _of_covariance(degrees, means, factor, theta_out):
    """The same with the inverse of a covariance; products of different features stand once, so they count twice."""
    n_features = means.shape[0]
    inverse = _inverse(factor)
    partition, at = 0.0, n_features
    theta_out[:n_features] = 0.0
    for j in range(n_features):
        for i in range(j + 1):
            precision = 0.0
            for k in range(j, n_features):
                precision += inverse[k, i] * inverse[k, j]
            precision *= degrees
            theta_out[j] += precision * means[i]
            if i < j:
                theta_out[i] += precision * means[j]
            theta_out[at] = -0.5 * precision if i == j else -precision
            at += 1
    for j in range(n_features):
        partition += theta_out[j] * means[j] + 2.0 * math.log(factor[j, j])
        partition += math.log(2.0 * math.pi / degrees)
    return 0.5 * partition


@kernel
def _inverse(factor):
    """Inverse of a lower triangle."""
    inverse = np.zeros(factor.shape)
    for column in range(factor.shape[0]):
        inverse[column, column] = 1.0 / factor[column, column]
        for j in range(column + 1, factor.shape[0]):
            total = 0.0
            for i in range(column, j):
                total -= factor[j, i] * inverse[i, column]
            inverse[j, column] = total / factor[j, j]
    return inverse
