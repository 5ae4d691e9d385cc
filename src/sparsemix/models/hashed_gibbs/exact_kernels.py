"""Compiled sweep of plain collapsed Gibbs sampling: every cluster is looked at for every row.

What its features say for clusters is multiplied in single precision; Metropolis-Hastings in double precision makes the
draw exact. Cost of a row: O(K + cells of its features).
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import ask_for
from sparsemix.models.hashed_gibbs.draw_kernels import draw
from sparsemix.models.hashed_gibbs.kernels import add_row, log_gain
from sparsemix.models.hashed_gibbs.length_kernels import (
    constants_without,
    factors_of_length,
    has_series,
    score_of_length,
    weigh_empty,
)
from sparsemix.models.hashed_gibbs.product_kernels import add_features
from sparsemix.models.hashed_gibbs.state import ENTER, LEAVE, PROCESS
from sparsemix.numeric.jit import inner_inlined_kernel, kernel

FLOOR = (
    -40.0
)  # nats below the best cluster where proposals stop to fall, so that a row can leave the worst place, too
_ALL = np.iinfo(np.int64).max  # cells may be asked for
_NEAR = 1 << 20  # counts that the processor has at hand without being asked


@kernel
def sweep_exact(
    rows,
    prior,
    clusters,  # IN, OUT
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64, -1 for rows that are to enter
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows that had a cluster
):
    """One draw for each row."""
    n_clusters = clusters.sizes.shape[0]
    held, products = np.empty(n_clusters + 1, np.float32), np.empty(n_clusters + 1, np.float32)
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    scores, scratch = np.empty(n_clusters + 1, np.float32), np.empty(4)
    scratch[:] = 0.0
    is_large = clusters.cell_counts.shape[0] > _NEAR
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        if is_large:
            ask_for(rows, clusters, order, i, _ALL)
        score_all(rows, row, prior, clusters, own, products, held, scores, scratch)
        new = draw(scores[:-1], FLOOR, uniforms[i, 0], weights, sums)
        if own >= 0:
            tally_out[2] += 1
            if new == own:
                continue
            tally_out[0] += 1
            log_ratio = math.log(weights[own] / weights[new])
            log_ratio += log_gain(rows, row, prior, clusters, own, new)
            if not math.log(1.0 - uniforms[i, 1]) < log_ratio:
                continue
            tally_out[1] += 1
            add_row(rows, row, prior, clusters, own, LEAVE)
        add_row(rows, row, prior, clusters, new, ENTER)
        assigned[row] = new


@inner_inlined_kernel
def score_all(
    rows,
    row,
    prior,
    clusters,
    own,  # IN  int64, -1 for none
    products,  # work  (K + 1,) float32
    held,  # work  (K + 1,) float32
    scores_out,  # OUT  (K + 1,) float32; the last is a place to write on
    scratch,  # work  (4,) float64
):
    """Scores of a row in all clusters, without the row; a function of the others alone."""
    add_features(rows, row, prior, clusters, own, products, held)
    n_clusters, length = clusters.sizes.shape[0], rows.lengths[row]
    if own >= 0:
        constants_without(rows, row, prior, clusters, own, scratch)
    if has_series(prior, length):
        _add_series(clusters.columns, length, scratch, held, scores_out)
    else:
        for k in range(n_clusters):
            scores_out[k] = held[k] + score_of_length(
                prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], length
            )
        if own >= 0:
            size, total = clusters.sizes[own] - 1, clusters.totals[own] - length
            of_length = score_of_length(prior, scratch, size, total, length)
            scores_out[n_clusters] = held[n_clusters] + of_length
    if own >= 0:
        scores_out[own] = scores_out[n_clusters]
    if prior.process == PROCESS:
        weigh_empty(prior, clusters.sizes, clusters.empty, clusters.n_empty[0], own, scores_out)


@inner_inlined_kernel
def _add_series(columns, length, of_own, held, scores_out):
    """Add to what the features say what short rows owe to the cluster and their length."""
    for j in range(4):
        columns[j, -1] = of_own[j]
    ones, pairs, squares = factors_of_length(length)
    a, b, c = np.float32(ones), np.float32(pairs), np.float32(squares)
    for k in range(columns.shape[1]):
        of_length = a * columns[1, k] + (b * columns[2, k] + c * columns[3, k])
        scores_out[k] = held[k] + (columns[0, k] + of_length)
