"""Compiled moves that cut a cluster in two, or join two, at once; accepted by Metropolis-Hastings.

Two rows are chosen whatever the partition is. If they are together, each becomes the seed of one half, and the other
members are drawn into the halves one after another in the order of time, by their words and by the time since the last
member; if they are apart, the move joins their clusters, and the same draws tell how probable the way back is. The
ratio of the joints is exact, so that the draws only decide how often a move is accepted. Cost O(nnz of the members).
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.chain_kernels import pass_by, weight_between
from sparsemix.models.time_sensitive.rate_kernels import halve_sums
from sparsemix.models.time_sensitive.row_kernels import draw, log_tokens
from sparsemix.models.time_sensitive.state import COUNT, MULTINOMIAL, RECURSION
from sparsemix.numeric.jit import kernel
from sparsemix.probability.gamma_ratios import log_rising

LEAST = 1e-3  # weight of a half that the time speaks against, while members are drawn
BOTH = -1


@kernel
def collect(chains, first, second, members_out):
    """Members of one or two clusters (`second` may be -1) in the order of time; returns how many."""
    a, b, n = chains.head[first], -1, 0
    if second >= 0:
        b = chains.head[second]
    while a >= 0 or b >= 0:
        if b < 0 or (0 <= a < b):
            members_out[n] = a
            a = chains.after[a]
        else:
            members_out[n] = b
            b = chains.after[b]
        n += 1
    return n


@kernel
def _add(rows, row, counts, totals, sizes, half, sign):
    sizes[half] += sign
    totals[half] += sign * rows.lengths[row]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        counts[half, rows.columns[at]] += sign * rows.counts[at]


@kernel
def log_time_prior_of(timing, log_new, members, n, side, half, rate):
    """Log prior of the members of one half, or `BOTH` together, with a rate; minus infinity if that is impossible.

    Without the normalisers.
    """
    total, weight, last, size = log_new, 0.0, -1, 0
    for k in range(n):
        row = members[k]
        if half not in (BOTH, side[k]):
            continue
        if last >= 0:
            if timing.way == RECURSION:
                gap = timing.rates[rate] * (timing.times[row] - timing.times[last])
                total += math.log1p(weight) - gap
                weight = (weight + 1.0) * math.exp(-gap)
            elif timing.way == COUNT:
                total += math.log(size)
            else:
                weight = _history_in(timing, members, k, side, half)
                if weight == 0.0:
                    return -math.inf
                total += math.log(weight)
        last = row
        size += 1
    return total


@kernel
def _history_in(timing, members, k, side, half):
    row, weight, earlier = members[k], 0.0, k - 1
    while earlier >= 0 and timing.times[row] - timing.times[members[earlier]] <= timing.support:
        if half in (BOTH, side[earlier]):
            weight += weight_between(timing, members[earlier], row)
        earlier -= 1
    return weight


@kernel
def log_evidence_of(rows, prior, members, n, side, half, counts):
    """Log evidence of the rows of one half, or `BOTH` together; `counts` are zeros before and after."""
    size, length, log_a = 0, 0, prior.log_a
    for k in range(n):
        if half in (BOTH, side[k]):
            size += 1
            length += rows.lengths[members[k]]
            for at in range(rows.indptr[members[k]], rows.indptr[members[k] + 1]):
                counts[0, rows.columns[at]] += rows.counts[at]
    if prior.family == MULTINOMIAL:
        total = -log_rising(prior.a * prior.n_features, float(length))
    else:
        total = prior.n_features * (log_rising(prior.b, size) - log_rising(prior.a + prior.b, size))
    for k in range(n):
        for at in range(rows.indptr[members[k]], rows.indptr[members[k] + 1]):
            w = rows.columns[at]
            count = counts[0, w]
            if count > 0:
                total += log_a[0] if count == 1 else log_tokens(log_a, prior.a, 0, count)
                if prior.family != MULTINOMIAL:
                    total += log_rising(prior.b, float(size - count)) - log_rising(prior.b, float(size))
                counts[0, w] = 0
    return total


@kernel
def draw_sides(
    rows,
    prior,
    timing,
    members,  # IN  (n,) int64
    n,
    first,  # IN  seeds: rows
    second,
    rates,  # IN  of the two halves
    uniforms,  # IN  (n,) float64, or none where the sides are given
    side,  # IN, OUT (n,) int64
    counts,  # work (2, n_features) int64 zeros
):
    """Draw each member into one of two halves; returns the log probability of the sides."""
    totals, sizes, last = np.zeros(2, np.int64), np.zeros(2, np.int64), np.full(2, -1)
    weight, score = np.zeros(2), np.zeros(2)
    _add(rows, first, counts, totals, sizes, 0, 1)
    _add(rows, second, counts, totals, sizes, 1, 1)
    log_q = 0.0
    for k in range(n):
        row = members[k]
        if row in (first, second):
            side[k] = 0 if row == first else 1
        else:
            for half in range(2):
                seed = first if half == 0 else second
                passed = _weight_in_half(
                    timing, rates[half], weight[half], last[half], sizes[half], seed, row
                )
                score[half] = math.log(passed + LEAST)
                score[half] += _log_words(rows, row, prior, counts[half], totals[half], sizes[half])
            share = 1.0 / (1.0 + math.exp(min(score[0] - score[1], 700.0)))
            if uniforms.shape[0] > 0:
                side[k] = 1 if uniforms[k] < share else 0
            # Written so that a share next to one loses no digits.
            own, other = score[side[k]], score[1 - side[k]]
            log_q -= np.logaddexp(0.0, other - own)
            _add(rows, row, counts, totals, sizes, side[k], 1)
        half = side[k]
        if timing.way == RECURSION and last[half] >= 0:
            gap = timing.rates[rates[half]] * (timing.times[row] - timing.times[last[half]])
            weight[half] = (weight[half] + 1.0) * math.exp(-gap)
        last[half] = row
    for k in range(n):
        _add(rows, members[k], counts, totals, sizes, side[k], -1)
    return log_q


@kernel
def _weight_in_half(timing, rate, weight, last, size, seed, row):
    if timing.way == COUNT:
        return float(size)
    passed = 0.0
    if last >= 0:
        passed = (weight + 1.0) * _between(timing, rate, last, row)
    if seed > row:
        passed += _between(timing, rate, row, seed)
    return passed


@kernel
def _between(timing, rate, earlier, later):
    if timing.way == RECURSION:
        return math.exp(-timing.rates[rate] * (timing.times[later] - timing.times[earlier]))
    return weight_between(timing, earlier, later)


@kernel
def _log_words(rows, row, prior, counts, total, size):
    """How well a row fits a half, from the features that it holds."""
    if prior.family == MULTINOMIAL:
        found = -log_rising(prior.a * prior.n_features + total, float(rows.lengths[row]))
    else:
        found = -rows.lengths[row] * math.log(prior.a + prior.b + size)
    log_a, columns, added = prior.log_a, rows.columns, rows.counts
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        count = counts[columns[at]]
        if added[at] == 1 and count < log_a.shape[0]:
            found += log_a[count]
        else:
            found += log_tokens(log_a, prior.a, count, np.int64(added[at]))
    return found


@kernel
def log_split_ratio(rows, prior, timing, members, n, side, rates, counts):
    """Log joint of the halves apart, beside that of all members together with the rate of the first half.

    Without the normalisers, and without the prior of the second half's rate, which is drawn from it.
    """
    log_new = math.log(prior.concentration)
    together = log_time_prior_of(timing, log_new, members, n, side, BOTH, rates[0])
    if together == -math.inf:
        return math.inf
    apart = log_time_prior_of(timing, log_new, members, n, side, 0, rates[0])
    apart += log_time_prior_of(timing, log_new, members, n, side, 1, rates[1])
    if apart == -math.inf:
        return -math.inf
    for half in range(2):
        apart += log_evidence_of(rows, prior, members, n, side, half, counts)
    return apart - together - log_evidence_of(rows, prior, members, n, side, BOTH, counts)


@kernel
def relink(timing, chains, members, n, side, half, cluster):
    """Make a chain of one half, or of `BOTH`."""
    chains.head[cluster], last = -1, -1
    for k in range(n):
        if half not in (BOTH, side[k]):
            continue
        row = members[k]
        chains.assigned[row], chains.before[row], chains.after[row] = cluster, last, -1
        if last >= 0:
            chains.after[last] = row
        else:
            chains.head[cluster] = row
        pass_by(timing, chains, row)
        last = row


@kernel
def new_rate(timing, members, second, uniforms):
    """Draw the rate of the second half from its prior, by the uniform number of its seed, which has no other use."""
    if timing.rates.shape[0] == 1:
        return 0
    at = 0
    while members[at] != second:
        at += 1
    return draw(timing.log_shares, timing.log_shares.shape[0], uniforms[at])


@kernel
def split_or_merge(
    rows,
    prior,
    timing,
    chains,  # IN, OUT
    n,  # IN  members of the clusters of the two rows
    first,  # IN  two different rows
    second,
    uniforms,  # IN  (at least n,) float64, for the draws of a split
    uniform,  # IN  in (0, 1], for the acceptance
    members,  # IN  (n_rows,) int64: those members
    side,  # work (n_rows,) int64
    counts,  # work (2, n_features) int64 zeros
):
    """Propose to cut the cluster of two rows, or to join their two; returns whether that was accepted."""
    own, other = chains.assigned[first], chains.assigned[second]
    splits = own == other
    for k in range(n):
        side[k] = 0 if chains.assigned[members[k]] == own else 1
    drawn = uniforms if splits else uniforms[:0]
    rates = (chains.rate[own], chains.rate[other])
    if splits:
        rates = (rates[0], new_rate(timing, members, second, uniforms))
    log_q = draw_sides(rows, prior, timing, members, n, first, second, rates, drawn, side, counts)
    log_ratio = log_split_ratio(rows, prior, timing, members, n, side, rates, counts) - log_q
    log_ratio += halve_sums(timing, chains, prior.concentration, members, n, side, rates, not splits, False)
    if math.log(uniform) >= (log_ratio if splits else -log_ratio):
        return False
    halve_sums(timing, chains, prior.concentration, members, n, side, rates, not splits, True)
    if splits:
        chains.n_free[0] -= 1
        new = chains.free[chains.n_free[0]]
        chains.rate[new] = rates[1]
        relink(timing, chains, members, n, side, 0, own)
        relink(timing, chains, members, n, side, 1, new)
    else:
        relink(timing, chains, members, n, side, BOTH, own)
        chains.head[other] = -1
        chains.free[chains.n_free[0]] = other
        chains.n_free[0] += 1
    return True


@kernel
def split_and_merge(
    rows,
    prior,
    timing,
    chains,  # IN, OUT
    pairs,  # IN  (n_moves, 2) int64 rows
    uniforms,  # IN  (n_moves,) float64 in (0, 1]
    draws,  # IN  (at least n_rows,) float64
    members,  # work (n_rows,) int64
    side,  # work (n_rows,) int64
    counts,  # work (2, n_features) int64 zeros
):
    """Propose a move for each pair, until the draws are used up; returns how many were proposed and accepted."""
    n_accepted, used = 0, 0
    for move in range(pairs.shape[0]):
        first, second = pairs[move, 0], pairs[move, 1]
        own, other = chains.assigned[first], chains.assigned[second]
        n = collect(chains, own, -1 if own == other else other, members)
        if used + n > draws.shape[0]:
            return move, n_accepted
        drawn, uniform = draws[used : used + n], uniforms[move]
        if split_or_merge(
            rows, prior, timing, chains, n, first, second, drawn, uniform, members, side, counts
        ):
            n_accepted += 1
        if own == other:
            used += n
    return pairs.shape[0], n_accepted
