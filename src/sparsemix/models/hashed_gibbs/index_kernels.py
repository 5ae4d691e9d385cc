"""Compiled sweep with proposals from an index: the clusters that hold the rare features of a row.

The lists of a row's rarest features are added up, as many as a budget allows. The best of the clusters found there are
scored with the other features, too; they and the clusters without rows make the proposal, which is next to the full
conditional as long as no other cluster matters. A small part of it is uniform, so that every cluster can be reached.
Cost of a row: O(budget + its features), whatever the number of clusters.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import count_of
from sparsemix.models.hashed_gibbs.exact_kernels import (
    add_tokens,
    constants_without,
    further_gain,
    gain,
    score_of_length,
)
from sparsemix.models.hashed_gibbs.kernels import FEW, add_row, constants, log_plus, log_target, log_weight
from sparsemix.models.hashed_gibbs.state import BERNOULLI, PROCESS, Workspace
from sparsemix.numeric.jit import kernel

ELSEWHERE = 0.02  # uniform share of the proposals
CANDIDATES = 16  # clusters at most that are scored with all features
WINDOW = 20.0  # nats below the best by rare features alone where candidates end


@kernel
def sweep_index(
    rows,
    prior,
    clusters,  # IN, OUT
    budget,  # IN  int64, entries of the lists that a proposal looks at
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
        n, total, top = propose(rows, row, budget, prior, clusters, own, work)
        new = draw_proposal(clusters, own, n, total, top, uniforms[i, 0], work)
        tally_out[2] += 1
        if new == own:
            continue
        tally_out[0] += 1
        log_ratio = log_share(clusters, own, own, n, total, top, work)
        log_ratio -= log_share(clusters, own, new, n, total, top, work)
        log_ratio += log_target(rows, row, prior, clusters, new, own)
        log_ratio -= log_target(rows, row, prior, clusters, own, own)
        if math.log(1.0 - uniforms[i, 1]) < log_ratio:
            tally_out[1] += 1
            add_row(rows, row, prior, clusters, own, -1)
            add_row(rows, row, prior, clusters, new, 1)
            assigned[row] = new


@kernel
def place(
    rows,
    prior,
    clusters,  # IN, OUT
    budget,  # IN  int64
    order,  # IN  (n,) int64
    assigned,  # IN, OUT  (n_rows,) int64; -1 for rows that are not placed yet
    uniforms,  # IN  (n,) float64
):
    """Let rows enter one after another: each is drawn from the proposals that the rows before it make."""
    work = workspace(prior, clusters)
    for i in range(order.shape[0]):
        row = order[i]
        n, total, top = propose(rows, row, budget, prior, clusters, -1, work)
        uniform = ELSEWHERE + (1 - ELSEWHERE) * uniforms[i]
        assigned[row] = draw_proposal(clusters, -1, n, total, top, uniform, work)
        add_row(rows, row, prior, clusters, assigned[row], 1)


@kernel
def workspace(prior, clusters):
    """Arrays that proposals write on."""
    n_clusters = clusters.sizes.shape[0]
    empty = np.empty(4)
    constants(prior, 0, 0, prior.n_features * log_plus(prior.log_b, prior.b, 0), empty)
    return Workspace(
        np.zeros(n_clusters, np.float32),
        np.empty(n_clusters + 1, np.int64),
        np.empty(CANDIDATES, np.int64),
        np.empty(CANDIDATES),
        empty,
        np.empty(1),
        np.empty(4),
    )


@kernel
def propose(rows, row, budget, prior, clusters, own, work):
    """Score the candidates for a row, without the row, and the clusters without rows together.

    Returns how many candidates there are, the sum of all exponentials and the highest score.
    """
    is_alone = own >= 0 and clusters.sizes[own] == 1
    n_empty = clusters.n_empty[0] + (1 if is_alone else 0)
    if own >= 0:
        constants_without(rows, row, prior, clusters, own, work.without)
    n, last = _candidates(rows, row, budget, prior, clusters, own, work)
    _add_others(rows, row, last, prior, clusters, own, n, work)
    of_empty = -np.inf
    if n_empty:
        of_empty = score_of_length(prior, work.empty, 0, 0, rows.lengths[row])
        if prior.process == PROCESS:
            of_empty += log_weight(prior, 0, n_empty, clusters.sizes.shape[0])
    work.empty_score[0] = of_empty
    top = of_empty
    for j in range(n):
        top = max(top, work.scores[j])
    if top == -np.inf:
        return n, 0.0, top
    total = n_empty * math.exp(of_empty - top) if n_empty else 0.0
    for j in range(n):
        total += math.exp(work.scores[j] - top)
    return n, total, top


@kernel
def _candidates(rows, row, budget, prior, clusters, own, work):
    """Choose the clusters with the best scores from rare features alone; returns (how many, end of those features)."""
    first, end, length = rows.indptr[row], rows.indptr[row + 1], rows.lengths[row]
    n_found, n_seen, held_by_own, at = 0, np.int64(0), np.float32(0.0), first
    while at < end:
        w, added = rows.columns[at], np.int64(rows.counts[at])
        mask, start = clusters.mask[w], clusters.start[w]
        n_cells = np.int64(clusters.n_listed[w]) if mask >= 0 else work.held.shape[0]
        count = np.int64(0)
        if own >= 0:
            count = count_of(mask, start, clusters.slots, clusters.keys, clusters.cell_counts, own) - added
        n_others = n_cells - (1 if own >= 0 and count == 0 and mask >= 0 else 0)
        if n_seen > 0 and n_seen + n_others > budget:
            break
        n_seen += n_others
        if n_others:
            n_found = _add_found(prior, clusters, w, n_cells, added, own, work, n_found)
        if count > 0:
            held_by_own = add_tokens(prior, clusters.sizes[own] - 1, count, added, held_by_own)
        at += 1
    n = 0
    for j in range(n_found):
        k = work.found[j]
        score = work.held[k] + score_of_length(
            prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], length
        )
        work.held[k] = np.float32(0.0)
        n = _insert(work, n, k, score)
    if held_by_own > 0.0:
        size, total = clusters.sizes[own] - 1, clusters.totals[own] - length
        n = _insert(work, n, own, held_by_own + score_of_length(prior, work.without, size, total, length))
    while n > 1 and work.scores[n - 1] < work.scores[0] - WINDOW:
        n -= 1
    return n, at


@kernel
def _add_found(prior, clusters, feature, n_cells, added, own, work, n):
    """Add a feature's gains to the clusters that hold it, but for the own one; returns how many are found by now."""
    start, is_list = clusters.start[feature], clusters.mask[feature] >= 0
    is_plain = prior.family != BERNOULLI and added <= FEW
    for j in range(n_cells):
        k = np.int64(clusters.keys[start + j]) if is_list else j
        count = np.int64(clusters.cell_counts[start + j])
        if k == own or count == 0:
            continue
        before = work.held[k]
        work.found[n] = k
        n += 1 if before == 0.0 else 0
        if is_plain:
            held = before + clusters.gains[start + j]
            for token in range(1, added):
                held += further_gain(prior, count, token)
            work.held[k] = held
        else:
            work.held[k] = before + gain(prior, clusters.sizes[k], count, added)
    return n


@kernel
def _insert(work, n, cluster, score):
    """Keep the best candidates in order, equals by their number; returns how many there are."""
    if n == CANDIDATES:
        worst = work.scores[n - 1]
        if score < worst or (score == worst and cluster > work.chosen[n - 1]):
            return n
        n -= 1
    at = n
    while at > 0 and (
        work.scores[at - 1] < score or (work.scores[at - 1] == score and work.chosen[at - 1] > cluster)
    ):
        work.scores[at], work.chosen[at] = work.scores[at - 1], work.chosen[at - 1]
        at -= 1
    work.scores[at], work.chosen[at] = score, cluster
    return n + 1


@kernel
def _add_others(rows, row, first, prior, clusters, own, n, work):
    """Add to the candidates' scores what the features from entry `first` on say."""
    for at in range(first, rows.indptr[row + 1]):
        w, added = rows.columns[at], np.int64(rows.counts[at])
        mask, start = clusters.mask[w], clusters.start[w]
        for j in range(n):
            k = work.chosen[j]
            count = count_of(mask, start, clusters.slots, clusters.keys, clusters.cell_counts, k)
            size = clusters.sizes[k]
            if k == own:
                count, size = count - added, size - 1
            if count > 0:
                work.scores[j] += add_tokens(prior, size, count, added, np.float32(0.0))


@kernel
def draw_proposal(clusters, own, n, total, top, uniform, work):
    """Draw from the proposal."""
    n_clusters = clusters.sizes.shape[0]
    if total == 0.0 or uniform < ELSEWHERE:
        share = uniform if total == 0.0 else uniform / ELSEWHERE
        return min(np.int64(share * n_clusters), n_clusters - 1)
    left = (uniform - ELSEWHERE) / (1.0 - ELSEWHERE) * total
    for j in range(n):
        left -= math.exp(work.scores[j] - top)
        if left < 0.0:
            return work.chosen[j]
    n_empty = clusters.n_empty[0] + (1 if own >= 0 and clusters.sizes[own] == 1 else 0)
    share = math.exp(work.empty_score[0] - top)
    if n_empty == 0 or share == 0.0:
        return work.chosen[n - 1]
    chosen = np.int64(min(left / share, n_empty - 1.0))
    return own if chosen == clusters.n_empty[0] else np.int64(clusters.empty[chosen])


@kernel
def log_share(clusters, own, cluster, n, total, top, work):
    """Log probability of a proposal."""
    n_clusters = clusters.sizes.shape[0]
    if total == 0.0:
        return -math.log(n_clusters)
    is_alone = own >= 0 and clusters.sizes[own] == 1
    share = 0.0
    if clusters.sizes[cluster] == 0 or (cluster == own and is_alone):
        share = math.exp(work.empty_score[0] - top) / total
    for j in range(n):
        if work.chosen[j] == cluster:
            share = math.exp(work.scores[j] - top) / total
    return math.log(ELSEWHERE / n_clusters + (1.0 - ELSEWHERE) * share)
