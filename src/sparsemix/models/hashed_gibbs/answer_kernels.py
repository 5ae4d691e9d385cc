"""Compiled loops over rows that are in no cluster: how probable each cluster is for them, and letting them enter."""

import numpy as np

from sparsemix.models.hashed_gibbs.exact_kernels import score_all
from sparsemix.models.hashed_gibbs.kernels import add_row, draw_softmax, log_target
from sparsemix.numeric.jit import kernel

NEAR = 35.0  # nats below the best cluster down to which scores are in double precision
PER_TOKEN = 1e-3  # nats by which single precision may be wrong, for each token of a row


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
    held, scratch = np.empty(scores_out.shape[1], np.float32), np.empty(4)
    for row in range(first, last):
        _score_new_row(rows, row, prior, clusters, held, scratch, scores_out[row - first])


@kernel
def enter_rows(
    rows,
    prior,
    clusters,  # IN, OUT; those without rows are the last
    assigned_out,  # OUT  (n_rows,) int64
    uniforms,  # IN  (n_rows,) float64
):
    """Let rows enter one after another, each drawn from its full conditional given all before it.

    A new cluster is the first without rows. Cost of a row: O(K + cells of its features), Bernoulli rows also
    O(n_features).
    """
    n_clusters = clusters.sizes.shape[0]
    held, scratch, scores = np.empty(n_clusters, np.float32), np.empty(4), np.empty(n_clusters)
    for row in range(assigned_out.shape[0]):
        _score_new_row(rows, row, prior, clusters, held, scratch, scores)
        n_live = n_clusters - clusters.n_empty[0]
        assigned_out[row] = min(draw_softmax(scores, uniforms[row]), n_live)
        add_row(rows, row, prior, clusters, assigned_out[row], 1)


@kernel
def _score_new_row(rows, row, prior, clusters, held, scratch, scores_out):
    """Scores of one row; those that stay as proposals have them get what these leave out from the best one."""
    score_all(rows, row, prior, clusters, -1, held, scores_out, scratch)
    best = scores_out.argmax()
    near = scores_out[best] - NEAR - PER_TOKEN * rows.lengths[row]
    left_out = log_target(rows, row, prior, clusters, best, -1) - scores_out[best]
    for k in range(scores_out.shape[0]):
        if scores_out[k] > near:
            scores_out[k] = log_target(rows, row, prior, clusters, k, -1)
        else:
            scores_out[k] += left_out
