"""Compiled scores of the candidates for a row: the clusters in the window, and a new one.

With a recursion most candidates are so far from the best that some multiplications show it, and what a row does to the
later members of a cluster, which takes longest, is found for few. Arrays are taken out of their tuples before loops:
a tuple of arrays is slow to hand over for each cluster.
"""

import math

from sparsemix.models.time_sensitive.chain_kernels import least_by_recursion, log_factor
from sparsemix.models.time_sensitive.rate_kernels import log_crowding
from sparsemix.models.time_sensitive.row_kernels import gather, log_of_new, log_of_sums
from sparsemix.models.time_sensitive.state import MULTINOMIAL, RECURSION
from sparsemix.numeric.jit import inner_kernel, spliced_kernel
from sparsemix.probability.gamma_ratios import log_rising

FAR = 50.0  # nats below the best; of such a candidate nothing is seen in a sum of double precision


@inner_kernel
def score_near(rows, row, prior, timing, chains, window, margin):
    """Log weight times predictive of each cluster in the window, without the row, and of a new one; how many.

    The new one counts once for each rate that it may have. With a recursion scores are not in full for candidates that
    cannot come as near as `margin` to the best.
    """
    n, n_rates, length = window.n_active[0], timing.rates.shape[0], rows.lengths[row]
    factors, scores, crowding = window.factors, window.scores, window.crowding
    if n_rates > 1:
        for rate in range(n_rates):
            crowding[rate] = log_crowding(timing, chains, prior.concentration, row, rate)
    rest, log_new = gather(rows, row, prior, window), math.log(prior.concentration)
    of_new, best = rest + log_of_new(prior, length), -math.inf
    for rate in range(n_rates):
        factors[n + rate] = log_new + timing.log_shares[rate] + crowding[rate]
        scores[n + rate] = factors[n + rate] + of_new
        best = max(best, scores[n + rate])
    if timing.way == RECURSION:
        best = _score_by_recursion(row, length, prior, timing, chains, window, rest, best, margin)
        _raise_by_recursion(row, timing, chains, window, best - margin)
        return n + n_rates
    active, sizes, gain = window.active, window.sizes, window.gain
    for at in range(n):
        cluster = active[at]
        gained = gain[cluster] + rest
        gain[cluster] = 0.0
        gained += log_of_sums(prior, sizes[cluster], window.totals[cluster], window.off[cluster], length)
        factors[at] = log_factor(timing, chains, cluster, sizes[cluster], row)
        scores[at] = factors[at] + gained
    return n + n_rates


@spliced_kernel
def _score_by_recursion(row, length, prior, timing, chains, window, rest, best, margin):
    """Scores without what the row does to members after the next one; returns the best.

    Multinomial rows have a bound: the predictive is at most what the features say less L log(a D + N), and with m
    members history weighs at most m + 1, and what is to come raises a factor at most m times. A candidate that is too
    far by it scores minus infinity.
    """
    active, sizes, totals, off, gain = window.active, window.sizes, window.totals, window.off, window.gain
    factors, scores, crowding = window.factors, window.scores, window.crowding
    log_size, bulk, reach, weight = window.log_size, window.bulk, chains.reach, chains.weight
    cursor, head, after, which = chains.cursor, chains.head, chains.after, chains.rate
    times, rates, now = timing.times, timing.rates, timing.times[row]
    is_multinomial, of_all = prior.family == MULTINOMIAL, prior.a * prior.n_features
    for at in range(window.n_active[0]):
        cluster = active[at]
        gained, last, rate = gain[cluster] + rest, cursor[cluster], rates[which[cluster]]
        gain[cluster] = 0.0
        following = after[last] if last >= 0 else head[cluster]
        until = rate * (times[following] - now) if following >= 0 else -1.0
        if is_multinomial:
            if last < 0:
                most = log_size[cluster] - until
            else:
                most = reach[cluster] - rate * now if following < 0 else 2.0 * log_size[cluster]
            if gained - length * bulk[cluster] + crowding[which[cluster]] + most < best - margin:
                factors[at] = scores[at] = -math.inf
                continue
            gained -= log_rising(of_all + totals[cluster], float(length))
        else:
            gained += log_of_sums(prior, sizes[cluster], totals[cluster], off[cluster], length)
        if last >= 0:
            least = least_by_recursion(weight[last], rate * (now - times[last]), until)
        else:
            least = least_by_recursion(-1.0, 0.0, until)
        factors[at] = least + crowding[which[cluster]]
        scores[at] = factors[at] + gained
        best = max(best, scores[at])
    return best


@spliced_kernel
def _raise_by_recursion(row, timing, chains, window, least):
    """Add what the row does to the members after the next one, in logs, to scores that may come to `least` by it.

    With members at t_1, t_2, ... after the row the k-th factor is 1 + 1 / (passed + sum over m < k of exp(r (t_m - t)))
    and at most 1 + 1 / (k - 1), so that the product of these is at most their number.
    """
    active, log_size, factors, scores = window.active, window.log_size, window.factors, window.scores
    cursor, head, after, which, weights = chains.cursor, chains.head, chains.after, chains.rate, chains.weight
    times, rates, negligible, now = timing.times, timing.rates, timing.negligible, timing.times[row]
    decay = chains.decay
    for at in range(window.n_active[0]):
        cluster = active[at]
        if scores[at] + log_size[cluster] < least:
            continue
        last, rate, passed = cursor[cluster], rates[which[cluster]], 0.0
        following = after[last] if last >= 0 else head[cluster]
        if following < 0:
            continue
        if last >= 0:
            passed = (weights[last] + 1.0) * math.exp(-rate * (now - times[last]))
        change = math.exp(-rate * (times[following] - now))
        weight, product = passed * change + 1.0, 1.0
        following = after[following]
        while following >= 0 and change > negligible * weight:
            product *= 1.0 + change / weight
            weight, change = weight * decay[following] + 1.0, change * decay[following]
            following = after[following]
        factors[at] += math.log(product)
        scores[at] += math.log(product)
