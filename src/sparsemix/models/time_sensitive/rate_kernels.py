"""Compiled parts of a mixture in which each cluster has a decay rate of its own.

What all earlier rows weigh for a row then depends on the partition, and stands in ``Chains.sums``: a row that joins a
cluster of rate r adds exp(-r age) to the sums of all later rows, and divides the prior by the change of sum plus
concentration. Rows without a cluster are no part of the process yet.
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.chain_kernels import pass_by
from sparsemix.models.time_sensitive.row_kernels import draw
from sparsemix.numeric.jit import inner_kernel, kernel

LARGE = 1e200  # of a product whose logarithm is taken
PROPOSED, MADE = (
    np.bool_(False),
    np.bool_(True),
)  # NumPy's, not literals, for each of which a kernel is compiled anew


@kernel
def weigh_rows(timing, chains):
    """Set the sums; O(rows x rates)."""
    times, rates = timing.times, timing.rates
    parts = np.zeros(rates.shape[0])
    for row in range(times.shape[0]):
        if row > 0:
            parts *= np.exp(-rates * (times[row] - times[row - 1]))
        chains.sums[row] = parts.sum()
        if chains.assigned[row] >= 0:
            parts[chains.rate[chains.assigned[row]]] += 1.0


@inner_kernel
def _sum_of(timing, chains, row):
    """The sum of one row, from all rows before it that still weigh something."""
    total, earlier = 0.0, row - 1
    while earlier >= 0:
        age = timing.times[row] - timing.times[earlier]
        if -timing.rates[0] * age < timing.log_least:
            break
        if chains.assigned[earlier] >= 0:
            total += math.exp(-timing.rates[chains.rate[chains.assigned[earlier]]] * age)
        earlier -= 1
    return total


@inner_kernel
def change_sums(timing, chains, row, rate, sign):
    """Add what a row weighs for all later rows with a rate (`sign` 1), or take it away (-1) after it has left."""
    times, own, sums = timing.times, timing.rates[rate], chains.sums
    for later in range(row + 1, times.shape[0]):
        exponent = -own * (times[later] - times[row])
        if exponent < timing.log_least:
            break
        before = sums[later]
        sums[later] = before + sign * math.exp(exponent)
        if sums[later] < 1e-3 * before:  # a difference that has lost digits
            sums[later] = _sum_of(timing, chains, later)


@inner_kernel
def log_crowding(timing, chains, concentration, row, rate):
    """Log of what a row with a rate does to the normalisers of all later rows; it is in no cluster."""
    times, own, assigned, sums = timing.times, timing.rates[rate], chains.assigned, chains.sums
    total, product = 0.0, 1.0
    for later in range(row + 1, times.shape[0]):
        exponent = -own * (times[later] - times[row])
        if exponent < timing.log_least:
            break
        if assigned[later] >= 0:
            product *= 1.0 + math.exp(exponent) / (concentration + sums[later])
            if product > LARGE:
                total, product = total - math.log(product), 1.0
    return total - math.log(product)


@kernel
def score_rates(
    timing,
    chains,
    concentration,
    cluster,
    logs,  # scratch (n_rates,) float64
    scores_out,  # OUT (n_rates,) float64
):
    """Log probability of each rate of a cluster given all else, up to a constant; O(rows of its life x rates)."""
    times, rates, own = timing.times, timing.rates, chains.rate[cluster]
    scores_out[:] = timing.log_shares
    logs[:] = 0.0  # of the weights of its members so far
    row = chains.head[cluster] + 1
    member = chains.after[row - 1]
    while row < times.shape[0] and (member >= 0 or logs.max() > timing.log_least):
        logs -= rates * (times[row] - times[row - 1])
        if chains.assigned[row] >= 0:
            others = max(chains.sums[row] - math.exp(logs[own]), 0.0) + concentration
            for rate in range(rates.shape[0]):
                scores_out[rate] -= math.log(others + math.exp(logs[rate]))
        if row == member:
            scores_out += logs
            logs[:] = np.maximum(logs, 0.0) + np.log1p(np.exp(-np.abs(logs)))
            member = chains.after[member]
        row += 1


@inner_kernel
def change_rate(timing, chains, cluster, rate):
    """Give a cluster another rate."""
    times = timing.times
    old, new = timing.rates[chains.rate[cluster]], timing.rates[rate]
    was, now = 1.0, 1.0  # weight of its members so far
    row = chains.head[cluster] + 1
    member = chains.after[row - 1]
    chains.rate[cluster] = rate
    least = math.exp(timing.log_least)
    while row < times.shape[0] and (member >= 0 or max(was, now) > least):
        gap = times[row] - times[row - 1]
        was, now = was * math.exp(-old * gap), now * math.exp(-new * gap)
        before = chains.sums[row]
        chains.sums[row] = before + (now - was)
        if chains.sums[row] < 1e-3 * before:
            chains.sums[row] = _sum_of(timing, chains, row)
        if row == member:
            pass_by(timing, chains, row)
            was, now = was + 1.0, now + 1.0
            member = chains.after[member]
        row += 1


@kernel
def draw_rates(
    timing,
    chains,  # IN, OUT
    concentration,
    uniforms,  # IN  (n_slots,) float64
):
    """Draw the rate of each cluster given all else."""
    logs, scores = np.empty(timing.rates.shape[0]), np.empty(timing.rates.shape[0])
    for cluster in range(chains.head.shape[0]):
        if chains.head[cluster] >= 0:
            score_rates(timing, chains, concentration, cluster, logs, scores)
            rate = draw(scores, scores.shape[0], uniforms[cluster])
            if rate != chains.rate[cluster]:
                change_rate(timing, chains, cluster, rate)


@kernel
def climb_rates(
    timing,
    chains,  # IN, OUT
    concentration,
    most,
):
    """Give each cluster its most probable rate given all else, again and again until none changes."""
    logs, scores = np.empty(timing.rates.shape[0]), np.empty(timing.rates.shape[0])
    for _ in range(most):
        n_changed = 0
        for cluster in range(chains.head.shape[0]):
            if chains.head[cluster] >= 0:
                score_rates(timing, chains, concentration, cluster, logs, scores)
                rate = scores.argmax()
                if scores[rate] > scores[chains.rate[cluster]]:
                    change_rate(timing, chains, cluster, rate)
                    n_changed += 1
        if n_changed == 0:
            break


@inner_kernel
def halve_sums(
    timing,
    chains,  # IN, OUT: the sums, if they are to change
    concentration,
    halves,  # IN  members of both, and their sides
    n,
    rates,  # IN  of the first half, which is that of all members together, and of the second
    is_cut,  # IN  whether the halves are apart now
    changes,  # IN  whether they are to be the other way: `MADE`, or only `PROPOSED`
):
    """Log of the normalisers of all rows with the halves together, beside those with them apart."""
    members, side, sums, times, total = halves.members, halves.side, chains.sums, timing.times, 0.0
    if rates[0] == rates[1]:
        return total
    one, other = timing.rates[rates[0]], timing.rates[rates[1]]
    least, k = math.exp(timing.log_least), 0
    while side[k] == 0:
        k += 1
    row, n_left, joint, alone = members[k] + 1, n - k - 1, 1.0, 1.0
    while row < times.shape[0] and (n_left > 0 or max(joint, alone) > least):
        gap = times[row] - times[row - 1]
        joint, alone = joint * math.exp(-one * gap), alone * math.exp(-other * gap)
        change = joint - alone if is_cut else alone - joint
        now = sums[row] + concentration
        then = max(now + change, concentration)
        if chains.assigned[row] >= 0:
            total += math.log(then / now) if is_cut else math.log(now / then)
        if changes:
            sums[row] = max(sums[row] + change, 0.0)
        if n_left > 0 and members[n - n_left] == row:
            if side[n - n_left] == 1:
                joint, alone = joint + 1.0, alone + 1.0
            n_left -= 1
        row += 1
    return total
