"""Compiled sweep with proposals from an index: the clusters that hold the rare features of a row.

The lists of a row's rarest features are added up, as many as a budget allows. The best of the clusters found there are
scored with the other features, too; they and the clusters without rows make the proposal, which is next to the full
conditional as long as no other cluster matters. A small part of it is uniform, so that every cluster can be reached.
Cost of a row: O(budget + its features), whatever the number of clusters.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import ask_for, ask_for_cells, count_of
from sparsemix.models.hashed_gibbs.draw_kernels import highest
from sparsemix.models.hashed_gibbs.gain_kernels import (
    add_own,
    add_tokens,
    has_tokens,
)
from sparsemix.models.hashed_gibbs.kernels import (
    add_row,
    constants,
    gain,
    log_gain,
    log_plus,
    log_weight,
)
from sparsemix.models.hashed_gibbs.length_kernels import (
    constants_without,
    factors_of_length,
    has_series,
    score_of_length,
)
from sparsemix.models.hashed_gibbs.state import ENTER, LEAVE, NO_CLUSTER, NONE, PROCESS, Workspace
from sparsemix.numeric.jit import inner_inlined_kernel, inner_kernel, kernel

ELSEWHERE = 0.02  # uniform share of the proposals
CANDIDATES = 8  # clusters at most that are scored with all features
_ONE = np.int64(1)
CERTAIN = 37.0  # nats between two probabilities of which the sum is the larger one, in double precision
WINDOW = 8.0  # nats below the best by rare features alone where candidates end


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
    work = workspace(rows, prior, clusters)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        ask_for(rows, clusters, order, i, budget)
        n, total, top = propose(rows, row, budget, prior, clusters, own, work)
        new = draw_proposal(clusters, own, n, total, top, uniforms[i, 0], work)
        tally_out[2] += 1
        if new == own:
            continue
        tally_out[0] += 1
        ask_for_cells(rows, row, clusters, own)
        ask_for_cells(rows, row, clusters, new)
        log_ratio = log_share(clusters, own, own, n, total, top, work)
        log_ratio -= log_share(clusters, own, new, n, total, top, work)
        log_ratio += log_gain(rows, row, prior, clusters, own, new)
        if math.log(1.0 - uniforms[i, 1]) < log_ratio:
            tally_out[1] += 1
            add_row(rows, row, prior, clusters, own, LEAVE)
            add_row(rows, row, prior, clusters, new, ENTER)
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
    work = workspace(rows, prior, clusters)
    for i in range(order.shape[0]):
        row = order[i]
        n, total, top = propose(rows, row, budget, prior, clusters, NO_CLUSTER, work)
        uniform = ELSEWHERE + (1 - ELSEWHERE) * uniforms[i]
        assigned[row] = draw_proposal(clusters, NO_CLUSTER, n, total, top, uniform, work)
        add_row(rows, row, prior, clusters, assigned[row], ENTER)


@kernel
def n_well_read(rows, clusters, budget, looked_at, few):
    """How many of these rows have so few features, or all that they have, in lists that fit the budget together."""
    n_well, n_clusters = 0, clusters.sizes.shape[0]
    for row in looked_at:
        n_seen, at, end = 0, rows.indptr[row], rows.indptr[row + 1]
        end = min(end, at + few)
        while at < end and n_seen <= budget:
            w = rows.columns[at]
            n_seen += clusters.n_listed[w] if clusters.mask[w] >= 0 else n_clusters
            at += 1
        if n_seen <= budget:
            n_well += 1
    return n_well


@kernel
def workspace(rows, prior, clusters):
    """Arrays that proposals write on."""
    n_clusters = clusters.sizes.shape[0]
    empty = np.empty(4)
    constants(prior, NONE, NONE, prior.n_features * log_plus(prior.log_b, prior.b, NONE), empty)
    return Workspace(
        np.zeros(n_clusters, np.float32),
        np.empty(n_clusters + 1, np.int64),
        np.empty(n_clusters),
        np.empty(longest(rows), np.int64),
        np.empty(CANDIDATES, np.int64),
        np.empty(CANDIDATES),
        empty,
        np.empty(1),
        np.empty(4),
    )


@inner_kernel
def longest(rows):
    """Most entries of a row."""
    most = 0
    for row in range(rows.lengths.shape[0]):
        most = max(most, rows.indptr[row + 1] - rows.indptr[row])
    return most


@inner_kernel
def propose(rows, row, budget, prior, clusters, own, work):
    """Score the candidates for a row, without the row, and the clusters without rows together.

    Returns how many candidates there are, the sum of all exponentials and the highest score.
    """
    is_alone = own >= 0 and clusters.sizes[own] == 1
    n_empty = clusters.n_empty[0] + (1 if is_alone else 0)
    if own >= 0:
        constants_without(rows, row, prior, clusters, own, work.without)
    n, last = _candidates(rows, row, budget, prior, clusters, own, work)
    of_empty = -np.inf
    if n_empty:
        of_empty = score_of_length(prior, work.empty, NONE, NONE, rows.lengths[row])
        if prior.process == PROCESS:
            of_empty += log_weight(prior, NONE, n_empty, clusters.sizes.shape[0])
    work.empty_score[0] = of_empty
    # Further features can only raise a score, and a single candidate that has all the probability needs none.
    if n > 1 or (n_empty and (n == 0 or work.scores[0] < of_empty + math.log(n_empty) + CERTAIN)):
        _add_others(rows, row, last, prior, clusters, own, n, work)
    top = of_empty
    for j in range(n):
        top = max(top, work.scores[j])
    if top == -np.inf:
        return n, 0.0, top
    total = n_empty * math.exp(of_empty - top) if n_empty else 0.0
    for j in range(n):
        total += math.exp(work.scores[j] - top)
    return n, total, top


@inner_inlined_kernel
def _candidates(rows, row, budget, prior, clusters, own, work):
    """Choose the clusters with the best scores from rare features alone; returns (how many, end of those features).

    Where that is depends on the other rows alone: of each list those count that hold the feature without the row.
    """
    columns, added_counts, mask, starts = rows.columns, rows.counts, clusters.mask, clusters.start
    n_listed, keys, counts = clusters.n_listed, clusters.keys, clusters.cell_counts
    held, found, logs, sizes = work.held, work.found, prior.log_single, clusters.sizes
    at, end, length = rows.indptr[row], rows.indptr[row + 1], rows.lengths[row]
    n_found, n_seen, held_by_own = np.uint64(0), np.int64(0), np.float32(0.0)
    while at < end and n_seen < budget:
        w, added = columns[at], np.int64(added_counts[at])
        first, is_list = np.uint64(starts[w]), mask[w] >= 0
        n_cells = np.uint64(n_listed[w]) if is_list else np.uint64(held.shape[0])
        if not is_list and n_seen > 0 and n_seen + held.shape[0] > budget:
            break
        if not has_tokens(prior, added):
            n_found, of_own = _find_at_once(
                prior, sizes, is_list, keys, counts, first, n_cells, added, own, held, found, n_found
            )
        elif added == 1:  # the usual case, compiled by itself
            n_found, of_own = _find(
                logs, prior.a, is_list, keys, counts, first, n_cells, _ONE, own, held, found, n_found
            )
        else:
            n_found, of_own = _find(
                logs, prior.a, is_list, keys, counts, first, n_cells, added, own, held, found, n_found
            )
        n_seen += np.int64(n_cells) - (1 if is_list and of_own == added else 0)
        held_by_own = add_own(prior, sizes, own, of_own, added, held_by_own)
        at += 1
    n = _best(prior, clusters, length, own, n_found, work)
    if held_by_own > 0.0:
        size, total = clusters.sizes[own] - 1, clusters.totals[own] - length
        n = _insert(work, n, own, held_by_own + score_of_length(prior, work.without, size, total, length))
    while n > 1 and work.scores[n - 1] < work.scores[0] - WINDOW:
        n -= 1
    return n, at


@inner_inlined_kernel
def _find(logs, a, is_list, keys, counts, first, n_cells, added, own, held, found, n):
    """Add what the tokens of a feature say to the clusters that hold it.

    Returns how many clusters are found by now, and the count of the row's own.
    """
    of_own = np.int64(0)
    for j in range(n_cells):
        count = np.int64(counts[first + j])
        k = np.uint64(np.uint32(keys[first + j])) if is_list else j
        before = held[k]
        after = add_tokens(logs, a, count, added, before)
        found[n] = k
        n += np.uint64(before == 0.0) & np.uint64(after > 0.0)
        held[k] = after
        of_own += count * np.int64(np.int64(k) == own)
    return n, of_own


@inner_inlined_kernel
def _find_at_once(prior, sizes, is_list, keys, counts, first, n_cells, added, own, held, found, n):
    """As `_find`, of features whose tokens are not added one after another."""
    of_own = np.int64(0)
    for j in range(n_cells):
        count = np.int64(counts[first + j])
        if count > 0:
            k = np.int64(keys[first + j]) if is_list else np.int64(j)
            before = held[k]
            found[n] = k
            n += np.uint64(before == 0.0)
            held[k] = before + gain(prior, sizes[k], count, added)
            of_own += count * np.int64(k == own)
    return n, of_own


@inner_inlined_kernel
def _best(prior, clusters, length, own, n_found, work):
    """Keep the best of the clusters found, but for the own one, and forget the others; returns how many."""
    held, found, partial, constant = work.held, work.found, work.partial, clusters.constant
    if has_series(prior, length):
        ones, pairs, squares = factors_of_length(length)
        for j in range(n_found):
            k = np.uint64(found[j])
            of_length = ones * constant[k, 1] + pairs * constant[k, 2] + squares * constant[k, 3]
            partial[j] = held[k] + (constant[k, 0] + of_length)
    else:
        for j in range(n_found):
            k = found[j]
            of_length = score_of_length(prior, constant[k], clusters.sizes[k], clusters.totals[k], length)
            partial[j] = held[k] + of_length
    for j in range(n_found):
        held[np.uint64(found[j])] = np.float32(0.0)
        if found[j] == own:
            partial[j] = -np.inf
    n, least = 0, highest(partial[:n_found]) - WINDOW if n_found else np.inf
    for j in range(n_found):
        if partial[j] >= least and found[j] != own:
            n = _insert(work, n, found[j], partial[j])
    return n


@inner_inlined_kernel
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


@inner_inlined_kernel
def _add_others(rows, row, first, prior, clusters, own, n, work):
    """Add to the candidates' scores what the features from entry `first` on say."""
    end, columns, added, counts = rows.indptr[row + 1], rows.columns, rows.counts, work.counts
    mask, starts, sizes = clusters.mask, clusters.start, clusters.sizes
    slots, cell_counts = clusters.slots, clusters.cell_counts
    logs, a = prior.log_single, prior.a
    for j in range(n):
        k = work.chosen[j]
        _look_up(columns, first, end, mask, starts, slots, cell_counts, k, counts)
        score = 0.0
        for at in range(first, end):
            tokens = np.int64(added[at])
            count = counts[at - first] - (tokens if k == own else 0)
            if count > 0 and has_tokens(prior, tokens):
                score += add_tokens(logs, a, count, tokens, np.float32(0.0))
            elif count > 0:
                score += gain(prior, sizes[k] - (1 if k == own else 0), count, tokens)
        work.scores[j] += score


@inner_inlined_kernel
def _look_up(columns, first, end, mask, starts, slots, cell_counts, cluster, counts_out):
    """Counts of features in a cluster; in a loop of their own the processor fetches many at a time."""
    for at in range(first, end):
        w = columns[at]
        counts_out[at - first] = count_of(mask[w], starts[w], slots, cell_counts, cluster)


@inner_inlined_kernel
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


@inner_inlined_kernel
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
