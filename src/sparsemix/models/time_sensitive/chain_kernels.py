"""Compiled chains of members: the weight of a cluster's history, and what a row does to the members after it.

An exponential kernel needs no sums: with V the weight of a member's history, that of the next is
``(V + 1) exp(-rate * gap)``, and a row that comes in between changes the later weights by a factor ``1 + d / V`` that
soon is one. A step kernel telescopes to the number of members. Others add up the members within their support.
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.state import COUNT, RECURSION, SUM
from sparsemix.models.time_sensitive.time_kernels import (
    EACH_CLUSTER,
    EXPONENTIAL,
    PERIODIC,
    POWER_LAW,
    STEP,
    WINDOW,
)
from sparsemix.numeric.jit import borrowing_kernel, inner_exact_kernel, inner_kernel, kernel, spliced_kernel


@inner_exact_kernel
def weight_between(timing, earlier, later):
    """Weight of one row for a later one."""
    age = timing.times[later] - timing.times[earlier]
    if age == 0.0:
        return timing.tied
    if age > timing.support:
        return 0.0
    if timing.table.shape[0] > 0:
        return timing.table[timing.first[earlier] + later - earlier - 1]
    if timing.kind in (STEP, WINDOW):
        return 1.0
    if timing.kind == POWER_LAW:
        return math.exp(-timing.exponent * math.log1p(timing.rate * age))
    exponent = -timing.rate * age
    if timing.kind == PERIODIC:
        sine = math.sin(math.pi * age / timing.period) / timing.width
        exponent -= 2.0 * sine * sine
    elif timing.kind not in (EXPONENTIAL, EACH_CLUSTER):
        exponent = math.nan
    return math.exp(exponent)


@inner_kernel
def history(timing, chains, last, row):
    """Sum of the weights of members, from `last` backwards, for a row after them."""
    total = 0.0
    while last >= 0 and timing.times[row] - timing.times[last] <= timing.support:
        total += weight_between(timing, last, row)
        last = chains.before[last]
    return total


@inner_kernel
def next_member(cursor, after, head, cluster):
    """First member after the visited row, -1 for none."""
    last = cursor[cluster]
    return after[last] if last >= 0 else head[cluster]


@inner_kernel
def least_by_recursion(weight, gap, until):
    """Log prior weight of a cluster for a row (eq 7), without what the row does to members after the next one.

    weight : of the history of the last member before the row, -1 for none; gap : rate times the time since then;
    until : rate times the time to the next member, -1 for none.
    """
    if weight < 0.0:
        return -until
    if until < 0.0:
        return math.log1p(weight) - gap
    # The history and the factor of the next member together: w (w + 1) / w, or a kappa / a before the first.
    return math.log1p((weight + 1.0) * math.exp(-gap))


@inner_kernel
def log_factor(timing, chains, cluster, size, row):
    """Log prior weight of a cluster, without the row, for the row (eq 7), where there is no recursion."""
    if timing.way == COUNT:
        return math.log(size)
    last = chains.cursor[cluster]
    following = next_member(chains.cursor, chains.after, chains.head, cluster)
    return _factor_by_sums(timing, chains, last, following, row)


@inner_kernel
def _factor_by_sums(timing, chains, last, following, row):
    if last >= 0:
        passed = history(timing, chains, last, row)
        if passed == 0.0:
            return -math.inf
        total = math.log(passed)
    else:
        added = weight_between(timing, row, following)
        if added == 0.0:
            return -math.inf
        total = math.log(added)
        following = chains.after[following]
    times, weight, after = timing.times, chains.weight, chains.after
    while following >= 0 and times[following] - times[row] <= timing.support:
        total += math.log1p(weight_between(timing, row, following) / weight[following])
        following = after[following]
    return total


@inner_kernel
def note_decay(times, rate, before, decay, row):
    """Set the decay from the member before a row, if it has one."""
    last = before[row]
    if last >= 0:
        decay[row] = math.exp(-rate * (times[row] - times[last]))


@spliced_kernel
def unlink(timing, chains, row):
    """Take a row out of its cluster; returns whether the cluster falls apart without it.

    All clusters' cursors stand at members before the row.
    """
    before, after, weight, times = chains.before, chains.after, chains.weight, timing.times
    cluster, last, following = chains.assigned[row], before[row], after[row]
    if last >= 0:
        after[last] = following
    else:
        chains.head[cluster] = following
    if following >= 0:
        before[following] = last
        if timing.way == RECURSION:
            note_decay(times, timing.rates[chains.rate[cluster]], before, chains.decay, following)
    chains.assigned[row] = -1
    falls_apart = False
    if timing.way == SUM:
        while following >= 0 and times[following] - times[row] <= timing.support:
            taken = weight_between(timing, row, following)
            if taken > 0.5 * weight[following]:  # a difference would lose digits
                weight[following] = history(timing, chains, before[following], following)
            else:
                weight[following] -= taken
            falls_apart |= weight[following] == 0.0 and before[following] >= 0
            following = after[following]
    return falls_apart


@spliced_kernel
def link(timing, chains, row, cluster):
    """Put a row into a cluster, after the cluster's cursor, which then stands at it."""
    before, after, head, cursor, times = chains.before, chains.after, chains.head, chains.cursor, timing.times
    last, following = cursor[cluster], next_member(cursor, after, head, cluster)
    chains.assigned[row], before[row], after[row] = cluster, last, following
    if last >= 0:
        after[last] = row
    else:
        head[cluster] = row
    if following >= 0:
        before[following] = row
        if timing.way == RECURSION:
            note_decay(times, timing.rates[chains.rate[cluster]], before, chains.decay, following)
    cursor[cluster] = row
    pass_by(timing, chains, row)
    if timing.way == SUM:
        while following >= 0 and times[following] - times[row] <= timing.support:
            chains.weight[following] += weight_between(timing, row, following)
            following = after[following]


@inner_kernel
def pass_by(timing, chains, row):
    """Set the weight of the history of a row that the cursor stands at, given that of the member before."""
    last, weight, times = chains.before[row], chains.weight, timing.times
    weight[row] = 0.0
    if timing.way == RECURSION:
        cluster = chains.assigned[row]
        rate = timing.rates[chains.rate[cluster]]
        if last >= 0:
            note_decay(times, rate, chains.before, chains.decay, row)
            weight[row] = (weight[last] + 1.0) * chains.decay[row]
        chains.reach[cluster] = math.log1p(weight[row]) + rate * times[row]
    elif last >= 0:
        weight[row] = weight[last] + 1.0 if timing.way == COUNT else history(timing, chains, last, row)


@inner_kernel
def append(timing, chains, row, cluster):
    """Put a row after all members of a cluster, with the cursor at the last of them, where it then stands."""
    last = chains.cursor[cluster]
    chains.assigned[row], chains.before[row], chains.after[row] = cluster, last, -1
    if last >= 0:
        chains.after[last] = row
    else:
        chains.head[cluster] = row
    chains.cursor[cluster] = row
    pass_by(timing, chains, row)


@borrowing_kernel
def link_all(
    timing,
    chains,  # IN, OUT
    assigned,  # IN  (n_rows,) int64, -1 for none
):
    """Chains of an assignment; returns whether every member has a history that weighs something."""
    for row in range(assigned.shape[0]):
        chains.assigned[row] = chains.head[row] = chains.cursor[row] = -1
    is_feasible = True
    for row in range(assigned.shape[0]):
        cluster = assigned[row]
        if cluster < 0:
            continue
        append(timing, chains, row, cluster)
        is_feasible &= chains.before[row] < 0 or timing.way == RECURSION or chains.weight[row] > 0.0
    for row in range(assigned.shape[0]):
        chains.cursor[row] = -1
    return is_feasible


@borrowing_kernel
def log_time_prior(timing, log_new, chains):
    """Sum over the rows of the log weight with which each was put where it is, without the normaliser."""
    total = 0.0
    for row in range(chains.assigned.shape[0]):
        last = chains.before[row]
        if chains.assigned[row] < 0:
            continue
        if last < 0:
            total += log_new
        elif timing.way == RECURSION:
            rate = timing.rates[chains.rate[chains.assigned[row]]]
            total += math.log1p(chains.weight[last]) - rate * (timing.times[row] - timing.times[last])
        else:
            total += math.log(chains.weight[row])
    return total


@borrowing_kernel
def sums_of_weights(
    timing,
    sums_out,  # OUT (n_rows,) float64
):
    """Sum of the weights of all earlier rows for each row; it does not depend on the partition."""
    weight = 0.0
    for row in range(timing.times.shape[0]):
        if timing.way == RECURSION:
            if row > 0:
                gap = timing.rate * (timing.times[row] - timing.times[row - 1])
                weight = (weight + 1.0) * math.exp(-gap)
        elif timing.way == COUNT:
            weight = float(row)
        else:
            weight = 0.0
            earlier = row - 1
            while earlier >= 0 and timing.times[row] - timing.times[earlier] <= timing.support:
                weight += weight_between(timing, earlier, row)
                earlier -= 1
        sums_out[row] = weight


@kernel
def log_prior_by_rate(
    times,
    chains,
    concentration,
    rate,
    out,  # OUT (3,) float64: log prior, and its derivatives by concentration and rate
):
    """Log prior of a partition under an exponential kernel, and its derivatives (eqs 22 to 25)."""
    n_rows = times.shape[0]
    weights, slopes = np.zeros(n_rows), np.zeros(n_rows)  # of the row's history in its own cluster
    everything, slope = 0.0, 0.0
    out[:] = 0.0
    for row in range(n_rows):
        if row > 0:
            gap = times[row] - times[row - 1]
            decay = math.exp(-rate * gap)
            slope = decay * (slope - gap * (everything + 1.0))
            everything = decay * (everything + 1.0)
        last = chains.before[row]
        if last < 0:
            out[0] += math.log(concentration)
            out[1] += 1.0 / concentration
        else:
            gap = times[row] - times[last]
            log_weight = math.log1p(weights[last]) - rate * gap
            log_slope = slopes[last] / (1.0 + weights[last]) - gap
            weights[row] = math.exp(log_weight)
            slopes[row] = weights[row] * log_slope
            out[0] += log_weight
            out[2] += log_slope
        out[0] -= math.log(everything + concentration)
        out[1] -= 1.0 / (everything + concentration)
        out[2] -= slope / (everything + concentration)
