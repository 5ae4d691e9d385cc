"""Compiled loops over rows that are in no cluster: how probable each cluster is for them, and letting them enter."""

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw_softmax
from sparsemix.models.hashed_gibbs.exact_kernels import score_all
from sparsemix.models.hashed_gibbs.kernels import add_row, log_target
from sparsemix.models.hashed_gibbs.state import ENTER, NO_CLUSTER
from sparsemix.numeric.jit import kernel

NEAR = 35.0  # nats below the best cluster down to which scores are in double precision
NEAR_DRAW = 12.0  # the same where only a draw is made of them
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
    n_clusters = scores_out.shape[1]
    held, products = np.empty(n_clusters + 1, np.float32), np.empty(n_clusters + 1, np.float32)
    scores, scratch = np.empty(n_clusters + 1, np.float32), np.zeros(4)
    for row in range(first, last):
        score_all(rows, row, prior, clusters, NO_CLUSTER, products, held, scores, scratch)
        _refine(rows, row, prior, clusters, n_clusters, NEAR, scores, scores_out[row - first])


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
    held, products = np.empty(n_clusters + 1, np.float32), np.empty(n_clusters + 1, np.float32)
    scores, scratch, refined = np.empty(n_clusters + 1, np.float32), np.zeros(4), np.empty(n_clusters)
    for row in range(first, assigned_out.shape[0]):
        n_live = n_clusters - clusters.n_empty[0]
        if n_live == n_clusters and n_live < most_clusters:
            return row
        score_all(rows, row, prior, clusters, NO_CLUSTER, products, held, scores, scratch)
        _refine(rows, row, prior, clusters, n_live, NEAR_DRAW, scores, refined)
        assigned_out[row] = min(draw_softmax(refined, uniforms[row]), n_live)
        add_row(rows, row, prior, clusters, assigned_out[row], ENTER)
    return assigned_out.shape[0]


@kernel
def _refine(rows, row, prior, clusters, n_live, near, scores, scores_out):
    """Scores of one row as they are; those that stay as proposals have them get what these leave out from the best.

    Clusters from `n_live` on are alike, without rows.
    """
    best = np.int64(scores[:-1].argmax())
    lowest = scores[best] - near - PER_TOKEN * rows.lengths[row]
    left_out = log_target(rows, row, prior, clusters, best, NO_CLUSTER) - scores[best]
    for k in range(n_live):
        scores_out[k] = scores[k] + left_out
        if scores[k] > lowest:
            scores_out[k] = log_target(rows, row, prior, clusters, k, NO_CLUSTER)
    if n_live < scores_out.shape[0]:
        scores_out[n_live:] = log_target(rows, row, prior, clusters, n_live, NO_CLUSTER)
