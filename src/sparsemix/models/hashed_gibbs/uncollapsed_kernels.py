"""Compiled parts of uncollapsed sampling: profiles from draws of Gamma variables, and rows given weights and profiles.

A table has a row for each feature and a column for each cluster, so that the scores of a row are sums of contiguous
numbers. A row's score in cluster k is

    bias_k + length * slope_k + sum_w x_w table[w, k]
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw
from sparsemix.models.hashed_gibbs.state import BERNOULLI, ENTER, LEAVE
from sparsemix.numeric.jit import inner_kernel, kernel

FLOOR = -40.0  # nats below the best cluster where weights are those of single precision's last digits


@inner_kernel
def change_statistics(
    rows,
    row,  # IN  int64
    cluster,  # IN  int64
    sign,  # IN  int64, 1 or -1
    counts,  # IN, OUT  (n_features, K) int32
    sizes,  # IN, OUT  (K,) int64
    totals,  # IN, OUT  (K,) int64
):
    """Add a row to the sums of a cluster, or subtract it."""
    columns, row_counts = rows.columns, rows.counts
    sizes[cluster] += sign
    totals[cluster] += sign * rows.lengths[row]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        counts[columns[at], cluster] += sign * row_counts[at]


@kernel
def move_rows(
    rows,
    before,  # IN  (n_rows,) int64, -1 for none
    after,  # IN  (n_rows,) int64
    counts,  # IN, OUT  (n_features, K) int32
    sizes,  # IN, OUT  (K,) int64
    totals,  # IN, OUT  (K,) int64
):
    """Bring the statistics from one assignment to another; returns how many rows moved."""
    n_moved = 0
    for row in range(after.shape[0]):
        if before[row] != after[row]:
            n_moved += 1
            if before[row] >= 0:
                change_statistics(rows, row, before[row], LEAVE, counts, sizes, totals)
            change_statistics(rows, row, after[row], ENTER, counts, sizes, totals)
    return n_moved


@kernel
def log_gammas(
    gammas,  # IN  (n, K) float32, drawn with shapes one higher than those wanted
    exponentials,  # IN  (n, K) float32
    first_shape,  # IN  float64
    counts,  # IN  (n, K) int32, what is added to that shape
    logs_out,  # OUT  (n, K) float32
):
    """Log of Gamma variables, also of those too small for a float: G(s) is G(s + 1) U^(1 / s)."""
    for i in range(counts.shape[0]):
        for k in range(counts.shape[1]):
            shape = np.float32(first_shape + counts[i, k])
            logs_out[i, k] = np.log(gammas[i, k]) - exponentials[i, k] / shape


@kernel
def sum_of_exponentials(
    logs,  # IN  (n, K) float32
    sums_out,  # OUT  (K,) float64
):
    """Sums over the features."""
    sums_out[:] = 0.0
    for i in range(logs.shape[0]):
        for k in range(logs.shape[1]):
            sums_out[k] += math.exp(logs[i, k])


@kernel
def log_odds(
    logs,  # IN, OUT  (n, K) float32: log Gamma variables of "on", then log odds
    logs_off,  # IN  (n, K) float32
    sums_out,  # OUT  (K,) float64: sums over the features of log(1 - p)
):
    """From two Gamma variables to a Beta variable p."""
    sums_out[:] = 0.0
    for i in range(logs.shape[0]):
        for k in range(logs.shape[1]):
            on, off = np.float64(logs[i, k]), np.float64(logs_off[i, k])
            top = max(on, off)
            sums_out[k] += off - top - math.log(math.exp(on - top) + math.exp(off - top))
            logs[i, k] = np.float32(on - off)


@kernel
def draw_rows(
    rows,
    family,  # IN  int64
    first,  # IN  int64
    last,  # IN  int64
    table,  # IN  (n_features, K) float32
    bias,  # IN  (K,) float64
    slope,  # IN  (K,) float64
    uniforms,  # IN  (n_rows,) float64
    assigned_out,  # OUT  (n_rows,) int64
):
    """Draw the clusters of some rows, given weights and profiles."""
    n_clusters = bias.shape[0]
    held, scores = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    indptr, columns, counts, lengths = rows.indptr, rows.columns, rows.counts, rows.lengths
    for row in range(first, last):
        held[:] = np.float32(0.0)
        for at in range(indptr[row], indptr[row + 1]):
            times = np.float32(1.0) if family == BERNOULLI else np.float32(counts[at])
            _add_times(table[columns[at]], times, held)
        length = np.float64(lengths[row])
        for k in range(n_clusters):
            scores[k] = held[k] + (bias[k] + length * slope[k])
        assigned_out[row] = draw(scores, FLOOR, uniforms[row], weights, sums)


@inner_kernel
def _add_times(terms, times, held_out):
    for k in range(held_out.shape[0]):
        held_out[k] += times * terms[k]
