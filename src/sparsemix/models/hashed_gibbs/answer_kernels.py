"""Compiled loops over rows that are in no cluster: how probable each cluster is for them, and letting them enter."""

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw_softmax, highest
from sparsemix.models.hashed_gibbs.kernels import add_row, log_of_length, log_rising, rise
from sparsemix.models.hashed_gibbs.length_kernels import (
    factors_of_length,
    has_series,
    score_lengths,
    weigh_empty,
)
from sparsemix.models.hashed_gibbs.state import BERNOULLI, ENTER, MULTINOMIAL, NO_CLUSTER, NONE, PROCESS
from sparsemix.numeric.jit import inner_kernel, kernel

NEAR = 35.0  # nats below the best cluster down to which the ratio of Gamma functions is no series


@kernel
def score_new_rows(
    rows,
    first,  # IN  int64
    last,  # IN  int64
    prior,
    clusters,
    scores_out,  # OUT  (last - first, K) float64
):
    """Log weight and log predictive of every cluster, for rows that are not among those learnt."""
    for row in range(first, last):
        _score(rows, row, prior, clusters, scores_out[row - first])


@kernel
def enter_rows(
    rows,
    prior,
    clusters,  # IN, OUT; those without rows are the last
    most_clusters,  # IN  int64, with rows
    first,  # IN  int64
    assigned_out,  # OUT  (n_rows,) int64
    uniforms,  # IN  (n_rows,) float64
):
    """Let rows enter one after another from `first` on, each drawn from its full conditional given all before it.

    A new cluster is the first without rows. Ends before a row for which none is left, though there may be
    `most_clusters`; returns that row. Cost of a row: O(K + cells of its features), Bernoulli rows also O(n_features).
    """
    n_clusters = clusters.sizes.shape[0]
    scores = np.empty(n_clusters)
    for row in range(first, assigned_out.shape[0]):
        n_live = n_clusters - clusters.n_empty[0]
        if n_live == n_clusters and n_live < most_clusters:
            return row
        _score(rows, row, prior, clusters, scores)
        assigned_out[row] = min(draw_softmax(scores, uniforms[row]), n_live)
        add_row(rows, row, prior, clusters, assigned_out[row], ENTER)
    return assigned_out.shape[0]


@inner_kernel
def _score(rows, row, prior, clusters, scores_out):
    """Scores of one row, in double precision."""
    mask, starts, n_listed = clusters.mask, clusters.start, clusters.n_listed
    keys, counts, sizes, log_a = clusters.keys, clusters.cell_counts, clusters.sizes, prior.log_a
    length, of_none = rows.lengths[row], 0.0
    for j in range(scores_out.shape[0]):
        scores_out[j] = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = rows.columns[at], np.int64(rows.counts[at])
        first, is_list, without = starts[w], mask[w] >= 0, log_rising(log_a, prior.a, NONE, added)
        of_none += without
        for j in range(n_listed[w] if is_list else scores_out.shape[0]):
            count = np.int64(counts[first + j])
            if count > 0:
                k = np.int64(keys[first + j]) if is_list else j
                if prior.family == BERNOULLI:
                    scores_out[k] += rise(prior, sizes[k], count, added)
                else:
                    scores_out[k] += log_rising(log_a, prior.a, count, added) - without
    score_lengths(prior, clusters, length, scores_out, scores_out)
    if prior.process == PROCESS:
        weigh_empty(prior, sizes, clusters.empty, clusters.n_empty[0], NO_CLUSTER, scores_out)
    if prior.family == MULTINOMIAL and has_series(prior, length):
        lowest, constant = highest(scores_out) - NEAR, clusters.constant
        ones, pairs, squares = factors_of_length(length)
        for k in range(scores_out.shape[0]):
            if scores_out[k] > lowest:
                series = ones * constant[k, 1] + pairs * constant[k, 2] + squares * constant[k, 3]
                scores_out[k] += log_of_length(prior, sizes[k], clusters.totals[k], length) - series
    for k in range(scores_out.shape[0]):
        scores_out[k] += of_none
