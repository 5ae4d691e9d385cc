"""Compiled sweep of plain collapsed Gibbs sampling: every cluster is looked at for every row.

The clusters that hold a feature are added up feature by feature, in single precision; Metropolis-Hastings in double
precision makes the draw exact. Cost of a row: O(K + cells of its features).
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import count_of
from sparsemix.models.hashed_gibbs.kernels import (
    FEW,
    add_row,
    constants,
    draw,
    gain_of_one,
    log_of_length,
    log_plus,
    log_rising,
    log_target,
    log_weight,
)
from sparsemix.models.hashed_gibbs.state import BERNOULLI, MULTINOMIAL, PROCESS
from sparsemix.numeric.jit import kernel

FLOOR = (
    -40.0
)  # nats below the best cluster where proposals stop to fall, so that a row can leave the worst place, too
_SHORT = 0.2  # rows shorter than this part of a D have a series for the ratio of Gamma functions


@kernel
def sweep_exact(
    rows,
    prior,
    clusters,  # IN, OUT
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows
):
    """One draw for each row."""
    n_clusters = clusters.sizes.shape[0]
    held, scores = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    weights, scratch = np.empty(n_clusters), np.empty(4)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        score_all(rows, row, prior, clusters, own, held, scores, scratch)
        new, top = draw(scores, FLOOR, uniforms[i, 0], weights)
        tally_out[2] += 1
        if new == own:
            continue
        tally_out[0] += 1
        log_ratio = max(scores[own] - top, FLOOR) - max(scores[new] - top, FLOOR)
        log_ratio += log_target(rows, row, prior, clusters, new, own)
        log_ratio -= log_target(rows, row, prior, clusters, own, own)
        if math.log(1.0 - uniforms[i, 1]) < log_ratio:
            tally_out[1] += 1
            add_row(rows, row, prior, clusters, own, -1)
            add_row(rows, row, prior, clusters, new, 1)
            assigned[row] = new


@kernel
def score_all(
    rows,
    row,
    prior,
    clusters,
    own,
    held_out,  # OUT  (K,) float32
    scores_out,  # OUT  (K,) float64
    scratch,  # OUT  (4,) float64
):
    """Scores of a row in all clusters, without the row; a function of the others alone, to the last bit."""
    held_out[:] = np.float32(0.0)
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w = rows.columns[at]
        _add_gains(prior, clusters, clusters.mask[w], clusters.start[w], np.int64(rows.counts[at]), held_out)
    for k in range(clusters.sizes.shape[0]):
        scores_out[k] = held_out[k] + score_of_length(
            prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], rows.lengths[row]
        )
    if own >= 0:
        scores_out[own], _ = score_without(rows, row, rows.indptr[row + 1], prior, clusters, own, scratch)
    if prior.process == PROCESS:
        weigh_empty(prior, clusters, own, scores_out)


@kernel
def weigh_empty(prior, clusters, own, scores_out):
    """Give the clusters without rows their weight, which they share; the own one is without its row."""
    n_clusters, n_empty = clusters.sizes.shape[0], clusters.n_empty[0]
    is_alone = own >= 0 and clusters.sizes[own] == 1
    if n_empty == 0 and not is_alone:
        return
    weight = log_weight(prior, 0, n_empty + (1 if is_alone else 0), n_clusters)
    for j in range(n_empty):
        scores_out[clusters.empty[j]] += weight
    if is_alone:
        scores_out[own] += weight


@kernel
def _add_gains(prior, clusters, mask, start, added, held_out):
    """Add what a feature says for each cluster that holds it, token by token."""
    n_cells = held_out.shape[0] if mask < 0 else mask + 1
    counts = clusters.cell_counts[start : start + n_cells]
    if prior.family == BERNOULLI or added > FEW:
        for j in range(n_cells):
            k = j if mask < 0 else np.int64(clusters.keys[start + j])
            if k >= 0 and counts[j] > 0:
                held_out[k] += gain(prior, clusters.sizes[k], np.int64(counts[j]), added)
    elif mask < 0:
        _add_direct(clusters.gains[start : start + n_cells], held_out)
        for token in range(1, added):
            _add_further(prior, counts, token, held_out)
    else:
        for j in range(n_cells):
            k = np.int64(clusters.keys[start + j])
            if k >= 0:
                held_out[k] += clusters.gains[start + j]
                for token in range(1, added):
                    held_out[k] += further_gain(prior, np.int64(counts[j]), token)


@kernel
def _add_direct(gains, held_out):
    for k in range(gains.shape[0]):
        held_out[k] += gains[k]


@kernel
def _add_further(prior, counts, token, held_out):
    for k in range(counts.shape[0]):
        held_out[k] += further_gain(prior, np.int64(counts[k]), token)


@kernel
def further_gain(prior, count, token):
    """What a further token of a feature adds to the score of a cluster that holds it; single precision."""
    return np.float32(log_plus(prior.log_a, prior.a, count + token) - prior.log_a[token])


@kernel
def gain(prior, size, count, added):
    """What all tokens of a feature add to the score of a cluster that holds it, beside one that does not."""
    if prior.family == BERNOULLI:
        off = log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
        return np.float32(log_plus(prior.log_a, prior.a, count) - prior.log_a[0] + off)
    return np.float32(log_rising(prior, count, added) - log_rising(prior, 0, added))


@kernel
def score_of_length(prior, constant, size, total, length):
    """What a score owes to the cluster and the row's length."""
    if prior.family == MULTINOMIAL and length > _SHORT * prior.a * prior.n_features:
        return constant[0] + log_of_length(prior, size, total, length)
    series = 0.5 * constant[2] + (2.0 * length - 1.0) / 12.0 * constant[3]
    return constant[0] + length * constant[1] + length * (length - 1.0) * series


@kernel
def score_without(rows, row, last, prior, clusters, own, scratch):
    """Score of a row in its own cluster without it, by the same steps as in any other cluster.

    Entries of the row before `last` have a say; returns the score and how many of them the rest of the cluster holds.
    """
    length = rows.lengths[row]
    size, total, off = clusters.sizes[own] - 1, clusters.totals[own] - length, clusters.off[own, 1]
    held, n_held = np.float32(0.0), 0
    for at in range(rows.indptr[row], rows.indptr[row + 1] if prior.family == BERNOULLI else last):
        w, added = rows.columns[at], np.int64(rows.counts[at])
        count = (
            count_of(clusters.mask[w], clusters.start[w], clusters.keys, clusters.cell_counts, own) - added
        )
        if at < last and count > 0:
            n_held += 1
            if prior.family == BERNOULLI or added > FEW:
                held += gain(prior, size, count, added)
            else:
                held += gain_of_one(prior, count)
                for token in range(1, added):
                    held += further_gain(prior, count, token)
        if prior.family == BERNOULLI:
            off += log_plus(prior.log_b, prior.b, size - count)
            if count < size:
                off -= log_plus(prior.log_b, prior.b, size - count - 1)
    constants(prior, size, total, off, scratch)
    return held + score_of_length(prior, scratch, size, total, length), n_held
