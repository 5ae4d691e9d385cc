"""Compiled moves that cut a cluster in two, or join two, at once; accepted by Metropolis-Hastings.

Two rows are chosen whatever the partition is. If they are together, each becomes the seed of one half, and the other
members are drawn into the halves one after another in the order of time, by their words and by the time since the last
member; if they are apart, the move joins their clusters, and the same draws tell how probable the way back is. The
ratio of the joints is exact, so that the draws only decide how often a move is accepted. Most joins are refused by that
ratio alone: of multinomial rows it asks for features that both hold, and for nothing else but sums and times. Cost
O(nnz of the members).
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.chain_kernels import append, weight_between
from sparsemix.models.time_sensitive.rate_kernels import LARGE, MADE, PROPOSED, halve_sums
from sparsemix.models.time_sensitive.row_kernels import ZERO, draw, log_tokens
from sparsemix.models.time_sensitive.state import COUNT, MULTINOMIAL, RECURSION
from sparsemix.numeric.jit import borrowing_kernel, inner_kernel, spliced_kernel
from sparsemix.probability.gamma_ratios import log_rising

LEAST = 1e-3  # weight of a half that the time speaks against, while members are drawn
BOTH = -1
GIVEN = np.int64(-1)  # sides, instead of draws for them


@inner_kernel
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


@inner_kernel
def log_time_prior_of(timing, log_new, halves, n, half, rate):
    """Log prior of the members of one half, or `BOTH` together, with a rate; minus infinity if that is impossible.

    Without the normalisers.
    """
    times, way, own_rate = timing.times, timing.way, timing.rates[rate]
    members, side = halves.members, halves.side
    total, product, weight, last, size = log_new, 1.0, 0.0, -1, 0
    for k in range(n):
        row = members[k]
        if half not in (BOTH, side[k]):
            continue
        if last >= 0:
            if way == RECURSION:
                gap = own_rate * (times[row] - times[last])
                total -= gap
                product *= 1.0 + weight
                weight = (weight + 1.0) * math.exp(-gap)
            elif way == COUNT:
                product *= size
            else:
                weight = _history_in(timing, members, k, side, half)
                if weight == 0.0:
                    return -math.inf
                total += math.log(weight)
            if product > LARGE:
                total, product = total + math.log(product), 1.0
        last = row
        size += 1
    return total + math.log(product)


@inner_kernel
def _history_in(timing, members, k, side, half):
    row, weight, earlier = members[k], 0.0, k - 1
    while earlier >= 0 and timing.times[row] - timing.times[members[earlier]] <= timing.support:
        if half in (BOTH, side[earlier]):
            weight += weight_between(timing, members[earlier], row)
        earlier -= 1
    return weight


@inner_kernel
def log_evidence_ratio(
    rows,
    prior,
    halves,  # IN, work
    n,
):
    """Log evidence of the rows of the halves apart, beside that of all together."""
    indptr, columns, added, lengths = rows.indptr, rows.columns, rows.counts, rows.lengths
    members, side, counts, sums = halves.members, halves.side, halves.counts, halves.sums
    for half in range(2):
        sums[half, 0] = sums[half, 1] = 0
    for k in range(n):
        _add(indptr, columns, added, lengths, members[k], side[k], counts, sums)
    sizes = (sums[0, 0], sums[1, 0])
    found = _evidence_of_sums(prior, sizes[0], sums[0, 1]) + _evidence_of_sums(prior, sizes[1], sums[1, 1])
    found -= _evidence_of_sums(prior, sizes[0] + sizes[1], sums[0, 1] + sums[1, 1])
    a, log_a, is_multinomial = prior.a, prior.log_a, prior.family == MULTINOMIAL
    for k in range(n):
        for at in range(indptr[members[k]], indptr[members[k] + 1]):
            w = columns[at]
            fewer, more = min(counts[w, 0], counts[w, 1]), max(counts[w, 0], counts[w, 1])
            if fewer > 0:
                found += log_tokens(log_a, a, ZERO, fewer) - log_tokens(log_a, a, more, fewer)
            if more > 0 and not is_multinomial:
                found += _evidence_of_off(prior.b, sizes[0], counts[w, 0])
                found += _evidence_of_off(prior.b, sizes[1], counts[w, 1])
                found -= _evidence_of_off(prior.b, sizes[0] + sizes[1], fewer + more)
            counts[w, 0] = counts[w, 1] = 0
    return found


@inner_kernel
def _evidence_of_sums(prior, size, total):
    """What the log evidence of a cluster owes to its sums: of Bernoulli rows, as if no feature were in any."""
    if prior.family == MULTINOMIAL:
        return -log_rising(prior.a * prior.n_features, float(total))
    return prior.n_features * (log_rising(prior.b, float(size)) - log_rising(prior.a + prior.b, float(size)))


@inner_kernel
def _evidence_of_off(b, size, count):
    """Log evidence of the rows of a cluster without a feature that others of it hold, beside all being without it."""
    return log_rising(b, float(size - count)) - log_rising(b, float(size))


@inner_kernel
def draw_sides(
    rows,
    prior,
    timing,
    halves,  # IN, OUT: sides
    n,
    first,  # IN  seeds: rows
    second,
    rates,  # IN  of the two halves
    draws,  # IN  float64
    used,  # IN  draws that are used up, or `GIVEN`
):
    """Draw each member into one of two halves; returns the log probability of the sides."""
    # Arrays by themselves: a tuple of arrays is slow to hand over for each member.
    indptr, columns, added, lengths = rows.indptr, rows.columns, rows.counts, rows.lengths
    a, log_a, times, is_recursion = prior.a, prior.log_a, timing.times, timing.way == RECURSION
    rate, seeds = (timing.rates[rates[0]], timing.rates[rates[1]]), (first, second)
    members, side, counts = halves.members, halves.side, halves.counts
    sums, weights, last, log_q = halves.sums, halves.weights, halves.last, 0.0
    for half in range(2):
        sums[half, 0], sums[half, 1], weights[half], last[half] = 0, 0, 0.0, -1
        _add(indptr, columns, added, lengths, seeds[half], half, counts, sums)
    for k in range(n):
        row = members[k]
        if row in seeds:
            side[k] = 0 if row == first else 1
        else:
            if is_recursion:
                one = _recent(times, rate[0], weights[0], last[0], first, row)
                other = _recent(times, rate[1], weights[1], last[1], second, row)
            else:
                one = _weight_in_half(timing, last[0], sums[0, 0], first, row)
                other = _weight_in_half(timing, last[1], sums[1, 0], second, row)
            odds = math.log((other + LEAST) / (one + LEAST)) + _odds_of_sums(prior, sums, lengths[row])
            for at in range(indptr[row], indptr[row + 1]):
                held, held_by_other = counts[columns[at], 0], counts[columns[at], 1]
                if held != held_by_other:
                    tokens = np.int64(added[at])
                    odds += log_tokens(log_a, a, held_by_other, tokens) - log_tokens(log_a, a, held, tokens)
            if used >= 0:
                side[k] = 1 if draws[used + k] < 1.0 / (1.0 + math.exp(min(-odds, 700.0))) else 0
            # Written so that a share next to one loses no digits.
            log_q -= np.logaddexp(0.0, -odds if side[k] == 1 else odds)
            _add(indptr, columns, added, lengths, row, side[k], counts, sums)
        half = side[k]
        if is_recursion and last[half] >= 0:
            weights[half] = (weights[half] + 1.0) * math.exp(-rate[half] * (times[row] - times[last[half]]))
        last[half] = row
    _clear(indptr, columns, members, n, counts)
    return log_q


@inner_kernel
def _add(indptr, columns, added, lengths, row, half, counts, sums):
    """Add a row to what a half holds; `sums` are rows and tokens of the halves."""
    sums[half, 0] += 1
    sums[half, 1] += lengths[row]
    for at in range(indptr[row], indptr[row + 1]):
        counts[columns[at], half] += added[at]


@inner_kernel
def _clear(indptr, columns, members, n, counts):
    for k in range(n):
        for at in range(indptr[members[k]], indptr[members[k] + 1]):
            counts[columns[at], 0] = counts[columns[at], 1] = 0


@inner_kernel
def _recent(times, rate, weight, last, seed, row):
    """Weight of a half for a row: that of its members so far, and of the seed if that is to come."""
    passed = 0.0
    if last >= 0:
        passed = (weight + 1.0) * math.exp(-rate * (times[row] - times[last]))
    if seed > row:
        passed += math.exp(-rate * (times[seed] - times[row]))
    return passed


@inner_kernel
def _weight_in_half(timing, last, size, seed, row):
    """The same without a recursion; of the members so far, the last alone."""
    if timing.way == COUNT:
        return float(size)
    passed = 0.0
    if last >= 0:
        passed = weight_between(timing, last, row)
    if seed > row:
        passed += weight_between(timing, row, seed)
    return passed


@inner_kernel
def _odds_of_sums(prior, sums, length):
    """What the sums of the halves say for the second; the rising factorial as a power of its middle."""
    if prior.family == MULTINOMIAL:
        start = prior.a * prior.n_features + 0.5 * max(length - 1, 0)
        return -length * math.log((start + sums[1, 1]) / (start + sums[0, 1]))
    return -length * math.log((prior.a + prior.b + sums[1, 0]) / (prior.a + prior.b + sums[0, 0]))


@inner_kernel
def log_split_ratio(rows, prior, timing, halves, n, rates):
    """Log joint of the halves apart, beside that of all members together with the rate of the first half.

    Without the normalisers, and without the prior of the second half's rate, which is drawn from it.
    """
    log_new = math.log(prior.concentration)
    log_ratio = log_evidence_ratio(rows, prior, halves, n)
    for half in range(BOTH, 2):
        in_time = log_time_prior_of(timing, log_new, halves, n, half, rates[max(half, 0)])
        log_ratio += -in_time if half == BOTH else in_time
        if in_time == -math.inf:
            return log_ratio
    return log_ratio


@spliced_kernel
def relink(timing, chains, members, n, side, clusters):
    """Make chains of the halves, or one of both where the two clusters are the same."""
    for cluster in clusters:
        chains.head[cluster], chains.cursor[cluster] = -1, -1
    for k in range(n):
        append(timing, chains, members[k], clusters[side[k]])


@inner_kernel
def new_rate(timing, members, second, draws, used):
    """Draw the rate of the second half from its prior, by the draw of its seed, which has no other use."""
    if timing.rates.shape[0] == 1:
        return 0
    at = 0
    while members[at] != second:
        at += 1
    return draw(timing.log_shares, timing.log_shares.shape[0], draws[used + at])


@spliced_kernel
def split_or_merge(
    rows,
    prior,
    timing,
    chains,  # IN, OUT
    n,  # IN  members of the clusters of the two rows
    first,  # IN  two different rows
    second,
    draws,  # IN  (at least used + n,) float64
    used,  # IN  draws that are used up
    uniform,  # IN  in (0, 1], for the acceptance
    halves,  # IN: those members; work
):
    """Propose to cut the cluster of two rows, or to join their two; returns whether that was accepted."""
    assigned, rate, free, n_free = chains.assigned, chains.rate, chains.free, chains.n_free
    own, other, members, side = assigned[first], assigned[second], halves.members, halves.side
    splits = own == other
    for k in range(n):
        side[k] = 0 if assigned[members[k]] == own else 1
    rates = (rate[own], rate[other])
    if splits:
        rates = (rates[0], new_rate(timing, members, second, draws, used))
    log_q, log_uniform = 0.0, math.log(uniform)
    if splits:
        log_q = draw_sides(rows, prior, timing, halves, n, first, second, rates, draws, used)
    log_ratio = log_split_ratio(rows, prior, timing, halves, n, rates)
    log_ratio += halve_sums(timing, chains, prior.concentration, halves, n, rates, not splits, PROPOSED)
    if (
        not splits and log_uniform < -log_ratio
    ):  # else the way back, which can only speak against it, is not asked
        log_q = draw_sides(rows, prior, timing, halves, n, first, second, rates, draws, GIVEN)
    if log_uniform >= (log_ratio - log_q if splits else log_q - log_ratio):
        return False
    halve_sums(timing, chains, prior.concentration, halves, n, rates, not splits, MADE)
    if splits:
        n_free[0] -= 1
        new = free[n_free[0]]
        rate[new] = rates[1]
    else:
        new = own
        chains.head[other] = -1
        free[n_free[0]] = other
        n_free[0] += 1
    relink(timing, chains, members, n, side, (own, new))
    return True


@borrowing_kernel
def split_and_merge(
    rows,
    prior,
    timing,
    chains,  # IN, OUT
    pairs,  # IN  (n_moves, 2) int64 rows
    uniforms,  # IN  (n_moves,) float64 in (0, 1]
    draws,  # IN  (at least n_rows,) float64
    halves,  # work
):
    """Propose a move for each pair, until the draws are used up; returns how many were proposed and accepted."""
    n_accepted, used = 0, ZERO
    for move in range(pairs.shape[0]):
        first, second = pairs[move, 0], pairs[move, 1]
        own, other = chains.assigned[first], chains.assigned[second]
        n = collect(chains, own, -1 if own == other else other, halves.members)
        if used + n > draws.shape[0]:
            return move, n_accepted
        uniform = uniforms[move]
        if split_or_merge(rows, prior, timing, chains, n, first, second, draws, used, uniform, halves):
            n_accepted += 1
        if own == other:
            used += n
    return pairs.shape[0], n_accepted
