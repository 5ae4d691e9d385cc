"""Compiled answers about rows that are in no cluster: how probable each cluster is for them."""

import numpy as np

from sparsemix.models.hashed_gibbs.exact_kernels import score_all
from sparsemix.models.hashed_gibbs.kernels import log_target
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
    """Log weight and log predictive of every cluster, for rows that are not among those learnt.

    Proposals leave out what is the same for all clusters; those that stay as proposed get it from the best one.
    """
    held, scratch = np.empty(scores_out.shape[1], np.float32), np.empty(4)
    for row in range(first, last):
        scores = scores_out[row - first]
        score_all(rows, row, prior, clusters, -1, held, scores, scratch)
        best = scores.argmax()
        near = scores[best] - NEAR - PER_TOKEN * rows.lengths[row]
        left_out = log_target(rows, row, prior, clusters, best, -1) - scores[best]
        for k in range(scores.shape[0]):
            if scores[k] > near:
                scores[k] = log_target(rows, row, prior, clusters, k, -1)
            else:
                scores[k] += left_out
