"""Compiled answers about rows that are in no cluster: how probable each cluster is for them."""

import numpy as np

from sparsemix.models.hashed_gibbs.exact_kernels import score_all
from sparsemix.models.hashed_gibbs.kernels import log_target
from sparsemix.numeric.jit import kernel

NEAR = 35.0  # nats below the best cluster down to which scores are in double precision


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
        scores = scores_out[row - first]
        score_all(rows, row, prior, clusters, -1, held, scores, scratch)
        top = scores.max()
        for k in range(scores.shape[0]):
            if scores[k] > top - NEAR:
                scores[k] = log_target(rows, row, prior, clusters, k, -1)
