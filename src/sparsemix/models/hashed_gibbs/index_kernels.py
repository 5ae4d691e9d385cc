"""Compiled sweep with proposals from an index: the clusters that hold the rare features of a row.

The cells of a row's rarest features are added up, as many as a budget allows. The clusters found there, each with its
score from those features alone, and the clusters without rows make the proposal; a small part of it is uniform, so that
every cluster can be reached. Then only the old and the new cluster are scored in full. Cost of a row: O(budget + its
features), whatever the number of clusters.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.exact_kernels import (
    further_gain,
    gain,
    score_of_length,
    score_without,
)
from sparsemix.models.hashed_gibbs.kernels import (
    FEW,
    add_row,
    constants,
    gain_of_one,
    log_plus,
    log_target,
    log_weight,
)
from sparsemix.models.hashed_gibbs.state import BERNOULLI, PROCESS, Workspace
from sparsemix.numeric.jit import kernel

ELSEWHERE = 0.02  # uniform share of the proposals


@kernel
def sweep_index(
    rows,
    prior,
    clusters,  # IN, OUT
    indexed_to,  # IN  (n_rows,) int64, end of the entries of each row that the proposals look at
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows
):
    """One proposal for each row."""
    work = workspace(prior, clusters)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        n, total, top = propose(rows, row, indexed_to[row], prior, clusters, own, work)
        new = draw_proposal(clusters, own, n, total, top, uniforms[i, 0], work)
        tally_out[2] += 1
        if new != own:
            tally_out[0] += 1
            log_ratio = log_share(clusters, own, own, total, top, work)
            log_ratio -= log_share(clusters, own, new, total, top, work)
            log_ratio += log_target(rows, row, prior, clusters, new, own)
            log_ratio -= log_target(rows, row, prior, clusters, own, own)
            if math.log(1.0 - uniforms[i, 1]) < log_ratio:
                tally_out[1] += 1
                add_row(rows, row, prior, clusters, own, -1)
                add_row(rows, row, prior, clusters, new, 1)
                assigned[row] = new
        for j in range(n):
            work.held[work.found[j]] = np.float32(0.0)


@kernel
def place(
    rows,
    prior,
    clusters,  # IN, OUT
    indexed_to,  # IN  (n_rows,) int64
    order,  # IN  (n,) int64
    assigned,  # IN, OUT  (n_rows,) int64; -1 for rows that are not placed yet
    uniforms,  # IN  (n,) float64
):
    """Let rows enter one after another: each is drawn from the proposals that the rows before it make."""
    work = workspace(prior, clusters)
    for i in range(order.shape[0]):
        row = order[i]
        n, total, top = propose(rows, row, indexed_to[row], prior, clusters, -1, work)
        assigned[row] = draw_proposal(
            clusters, -1, n, total, top, ELSEWHERE + (1 - ELSEWHERE) * uniforms[i], work
        )
        for j in range(n):
            work.held[work.found[j]] = np.float32(0.0)
        add_row(rows, row, prior, clusters, assigned[row], 1)


@kernel
def workspace(prior, clusters):
    """Arrays that proposals write on."""
    n_clusters = clusters.sizes.shape[0]
    empty = np.empty(4)
    constants(prior, 0, 0, prior.n_features * log_plus(prior.log_b, prior.b, 0), empty)
    return Workspace(
        np.zeros(n_clusters, np.float32),
        np.empty(n_clusters, np.int64),
        np.empty(n_clusters),
        empty,
        np.empty(1),
        np.empty(4),
    )


@kernel
def propose(rows, row, last, prior, clusters, own, work):
    """Score the clusters that hold the row's rare features, without the row, and the clusters without rows together.

    Returns how many are found, the sum of their exponentials and the highest score.
    """
    first = rows.indptr[row]
    n = 0
    for at in range(first, last):
        w = rows.columns[at]
        added = np.int64(rows.counts[at])
        n = _add_found(prior, clusters, clusters.mask[w], clusters.start[w], added, own, work, n)
    is_alone = own >= 0 and clusters.sizes[own] == 1
    if own >= 0 and not is_alone:
        score, n_held = score_without(rows, row, last, prior, clusters, own, work.scratch)
        if n_held:
            work.held[own] = np.float32(1.0)
            work.found[n] = own
            work.scores[own] = score
            n += 1
    n_empty = clusters.n_empty[0] + (1 if is_alone else 0)
    length = rows.lengths[row]
    of_empty = -np.inf
    if n_empty:
        of_empty = score_of_length(prior, work.empty, 0, 0, length)
        if prior.process == PROCESS:
            of_empty += log_weight(prior, 0, n_empty, clusters.sizes.shape[0])
    top = of_empty
    for j in range(n):
        k = work.found[j]
        if k != own:
            work.scores[k] = work.held[k] + score_of_length(
                prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], length
            )
        top = max(top, work.scores[k])
    work.empty_score[0] = of_empty
    if top == -np.inf:
        return n, 0.0, top
    total = n_empty * math.exp(of_empty - top) if n_empty else 0.0
    for j in range(n):
        total += math.exp(work.scores[work.found[j]] - top)
    return n, total, top


@kernel
def _add_found(prior, clusters, mask, start, added, own, work, n):
    """Add a feature's gains to the clusters that hold it, but for the own one; returns how many are found by now."""
    n_cells = work.held.shape[0] if mask < 0 else mask + 1
    is_plain = prior.family != BERNOULLI and added <= FEW
    for j in range(n_cells):
        k = j if mask < 0 else np.int64(clusters.keys[start + j])
        count = np.int64(clusters.cell_counts[start + j])
        if k < 0 or k == own or count == 0:
            continue
        if work.held[k] == 0.0:
            work.found[n] = k
            n += 1
        if is_plain:
            work.held[k] += gain_of_one(prior, count)
            for token in range(1, added):
                work.held[k] += further_gain(prior, count, token)
        else:
            work.held[k] += gain(prior, clusters.sizes[k], count, added)
    return n


@kernel
def draw_proposal(clusters, own, n, total, top, uniform, work):
    """Draw from the proposal."""
    n_clusters = clusters.sizes.shape[0]
    if total == 0.0 or uniform < ELSEWHERE:
        share = uniform if total == 0.0 else uniform / ELSEWHERE
        return min(np.int64(share * n_clusters), n_clusters - 1)
    left = (uniform - ELSEWHERE) / (1.0 - ELSEWHERE) * total
    for j in range(n):
        left -= math.exp(work.scores[work.found[j]] - top)
        if left < 0.0:
            return work.found[j]
    n_empty = clusters.n_empty[0] + (1 if own >= 0 and clusters.sizes[own] == 1 else 0)
    share = math.exp(work.empty_score[0] - top)
    if n_empty == 0 or share == 0.0:
        return work.found[n - 1]
    chosen = np.int64(min(left / share, n_empty - 1.0))
    return own if chosen == clusters.n_empty[0] else np.int64(clusters.empty[chosen])


@kernel
def log_share(clusters, own, cluster, total, top, work):
    """Log probability of a proposal."""
    n_clusters = clusters.sizes.shape[0]
    if total == 0.0:
        return -math.log(n_clusters)
    is_alone = own >= 0 and clusters.sizes[own] == 1
    share = 0.0
    if work.held[cluster] > 0.0:
        share = math.exp(work.scores[cluster] - top) / total
    elif clusters.sizes[cluster] == 0 or (cluster == own and is_alone):
        share = math.exp(work.empty_score[0] - top) / total
    return math.log(ELSEWHERE / n_clusters + (1.0 - ELSEWHERE) * share)
