"""Compiled answers about rows that are in no cluster: how probable each cluster is for them at their times."""

import math

import numpy as np

from sparsemix.models.time_sensitive.chain_kernels import pass_by
from sparsemix.models.time_sensitive.kernels import drop_past, empty_window, look_ahead
from sparsemix.models.time_sensitive.score_kernels import score_near
from sparsemix.numeric.jit import borrowing_kernel


@borrowing_kernel
def score_new_rows(
    rows,
    prior,
    timing,
    chains,  # IN, OUT: cursors
    window,  # IN, OUT: empty before and after
    place,  # IN  (n_rows,) int64: line of the result for rows without a cluster
    scores_out,  # OUT (n_new, n_clusters + 1) float64, -inf on entry; the last is a new cluster
    log_weight_out,  # OUT (n_new,) float64: log of the sum of the prior weights
):
    """Log prior weight plus log predictive of the clusters for all rows without one; those with one stay there."""
    for row in range(place.shape[0]):
        look_ahead(rows, prior, timing, chains, window, row)
        if chains.assigned[row] >= 0:
            chains.cursor[chains.assigned[row]] = row
            pass_by(timing, chains, row)
            continue
        drop_past(rows, prior, timing, chains, window, row)
        n = score_near(rows, row, prior, timing, chains, window, math.inf)
        line, total = place[row], 0.0
        for at in range(n):
            cluster = window.active[at] if at < n - timing.rates.shape[0] else scores_out.shape[1] - 1
            scores_out[line, cluster] = np.logaddexp(scores_out[line, cluster], window.scores[at])
            total += math.exp(window.factors[at])
        log_weight_out[line] = math.log(total)
    empty_window(rows, prior, chains, window)
