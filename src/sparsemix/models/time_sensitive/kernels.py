"""Compiled sweep, the twin of `equations.sweep`: rows in the order of time, and a window that moves along with them.

A cluster enters the window some time before its first member and leaves it when nothing of it is to come and its
history weighs next to nothing. Candidates stand in the order of their first members, a new cluster last, so that the
same uniforms choose the same clusters as the equations do.
"""

from sparsemix.models.time_sensitive.chain_kernels import link, unlink
from sparsemix.models.time_sensitive.rate_kernels import change_sums
from sparsemix.models.time_sensitive.row_kernels import ENTERS, LEAVES, change_row, draw, log_predictive
from sparsemix.models.time_sensitive.score_kernels import FAR, score_near
from sparsemix.models.time_sensitive.state import COUNT, RECURSION
from sparsemix.numeric.jit import inner_kernel, kernel


@inner_kernel
def place_in_order(window, chains, cluster):
    """Put a cluster into the window, or where it belongs there after its first member has changed."""
    active, n, first = window.active, window.n_active[0], chains.head[cluster]
    at = 0
    while at < n and active[at] != cluster:
        at += 1
    if at == n:
        window.n_active[0] = n + 1
    while at > 0 and chains.head[active[at - 1]] > first:
        active[at] = active[at - 1]
        at -= 1
    while at + 1 < n and chains.head[active[at + 1]] < first:
        active[at] = active[at + 1]
        at += 1
    active[at] = cluster


@inner_kernel
def leave(window, cluster):
    """Take a cluster out of the window."""
    n, at = window.n_active[0], 0
    while window.active[at] != cluster:
        at += 1
    for later in range(at + 1, n):
        window.active[later - 1] = window.active[later]
    window.n_active[0] = n - 1


@kernel
def look_ahead(rows, prior, timing, chains, window, row):
    """Clusters whose first members are near enough come in."""
    times, n_rows = timing.times, timing.times.shape[0]
    at = window.ahead[0]
    while at < n_rows and times[at] - times[row] <= timing.ahead:
        cluster = chains.assigned[at]
        if cluster >= 0 and chains.head[cluster] == at and window.sizes[cluster] == 0:
            member = at
            while member >= 0:
                change_row(rows, member, prior, window, cluster, ENTERS)
                member = chains.after[member]
            chains.cursor[cluster] = -1
            place_in_order(window, chains, cluster)
        at += 1
    window.ahead[0] = at


@kernel
def drop_past(rows, prior, timing, chains, window, row):
    """Clusters of the past leave; returns the sum of their log evidence."""
    if timing.way == COUNT:
        return 0.0
    log_evidence, n_kept, is_recursion = 0.0, 0, timing.way == RECURSION
    # Arrays by themselves: a tuple of arrays is slow to hand over for each cluster.
    active, cursor, after, reach = window.active, chains.cursor, chains.after, chains.reach
    times, rates, which = timing.times, timing.rates, chains.rate
    for at in range(window.n_active[0]):
        cluster = active[at]
        last = cursor[cluster]
        if last < 0:
            is_past = False
        elif is_recursion:
            is_past = reach[cluster] - rates[which[cluster]] * times[row] < timing.log_least
        else:
            is_past = times[row] - times[last] > timing.support
        if is_past and after[last] < 0:
            log_evidence += empty_cluster(rows, prior, chains, window, cluster)
        else:
            active[n_kept] = cluster
            n_kept += 1
    window.n_active[0] = n_kept
    return log_evidence


@inner_kernel
def empty_cluster(rows, prior, chains, window, cluster):
    """Take all rows of a cluster out of the lists; returns its log evidence, the sum of predictives on the way."""
    total = 0.0
    member = chains.head[cluster]
    while member >= 0:
        change_row(rows, member, prior, window, cluster, LEAVES)
        total += log_predictive(rows, member, prior, window, cluster)
        member = chains.after[member]
    return total


@inner_kernel
def empty_window(rows, prior, chains, window):
    """Take all clusters out of the window; returns the sum of their log evidence."""
    total = 0.0
    for at in range(window.n_active[0]):
        total += empty_cluster(rows, prior, chains, window, window.active[at])
    window.n_active[0] = 0
    window.ahead[0] = 0
    return total


@kernel
def take_out(rows, row, prior, timing, chains, window):
    """Take a row out of its cluster; returns (cluster, whether that falls apart without it)."""
    cluster = chains.assigned[row]
    was_first = chains.head[cluster] == row
    falls_apart = unlink(timing, chains, row)
    if timing.rates.shape[0] > 1:
        change_sums(timing, chains, row, chains.rate[cluster], -1.0)
    change_row(rows, row, prior, window, cluster, LEAVES)
    if chains.head[cluster] < 0:
        leave(window, cluster)
        chains.free[chains.n_free[0]] = cluster
        chains.n_free[0] += 1
    elif was_first:
        place_in_order(window, chains, cluster)
    return cluster, falls_apart


@inner_kernel
def put_in(rows, row, prior, timing, chains, window, cluster, rate):
    """Put a row into a cluster; a new one with a rate is made for -1."""
    if cluster < 0:
        chains.n_free[0] -= 1
        cluster = chains.free[chains.n_free[0]]
        chains.head[cluster], chains.cursor[cluster], chains.rate[cluster] = -1, -1, rate
    is_first = chains.cursor[cluster] < 0
    link(timing, chains, row, cluster)
    if timing.rates.shape[0] > 1:
        change_sums(timing, chains, row, chains.rate[cluster], 1.0)
    change_row(rows, row, prior, window, cluster, ENTERS)
    if is_first:
        place_in_order(window, chains, cluster)


@kernel
def sweep(
    rows,
    prior,
    timing,
    chains,  # IN, OUT
    window,  # IN, OUT: empty before and after
    uniforms,  # IN  (n_rows,) float64
    tally,  # OUT (4,) float64: log evidence of all clusters, rows moved, clusters, most clusters looked at
):
    """Visit all rows once; rows without a cluster enter one."""
    tally[:] = 0.0
    for row in range(uniforms.shape[0]):
        look_ahead(rows, prior, timing, chains, window, row)
        own, falls_apart = -1, False
        if chains.assigned[row] >= 0:
            own, falls_apart = take_out(rows, row, prior, timing, chains, window)
        tally[0] += drop_past(rows, prior, timing, chains, window, row)
        if falls_apart:
            put_in(rows, row, prior, timing, chains, window, own, chains.rate[own])
            continue
        n = score_near(rows, row, prior, timing, chains, window, FAR)
        chosen = draw(window.scores, n, uniforms[row])
        rate = chosen - (n - timing.rates.shape[0])
        cluster = window.active[chosen] if rate < 0 else -1
        was_alone = own >= 0 and chains.head[own] < 0
        put_in(rows, row, prior, timing, chains, window, cluster, rate)
        stays = cluster == own or (cluster < 0 and was_alone)
        tally[1] += 0.0 if stays else 1.0
        tally[3] = max(tally[3], float(n))
    tally[0] += empty_window(rows, prior, chains, window)
    tally[2] = float(chains.head.shape[0] - chains.n_free[0])
