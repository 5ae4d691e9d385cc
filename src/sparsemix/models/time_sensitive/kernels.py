"""Compiled sweep, the twin of `equations.sweep`: rows in the order of time, and a window that moves along with them.

A cluster enters the window some time before its first member and leaves it when nothing of it is to come and its
history weighs next to nothing. Candidates stand in the order of their first members, a new cluster last, so that the
same uniforms choose the same clusters as the equations do. Arrays are taken out of their tuples first, here and in the
other files: a tuple of arrays is slow to hand over, and to compile wherever one is taken out of it.
"""

from sparsemix.models.time_sensitive.chain_kernels import link, unlink
from sparsemix.models.time_sensitive.rate_kernels import change_sums
from sparsemix.models.time_sensitive.row_kernels import ENTERS, LEAVES, change_row, draw, log_predictive
from sparsemix.models.time_sensitive.score_kernels import FAR, score_near
from sparsemix.models.time_sensitive.state import COUNT, RECURSION
from sparsemix.numeric.jit import borrowing_kernel, inner_kernel, spliced_kernel


@inner_kernel
def place_in_order(
    active,  # IN, OUT
    n_active,  # IN, OUT
    head,
    cluster,
):
    """Put a cluster into the window, or where it belongs there after its first member has changed."""
    at, n, first = 0, n_active[0], head[cluster]
    while at < n and active[at] != cluster:
        at += 1
    if at == n:
        n_active[0] = n + 1
    while at > 0 and head[active[at - 1]] > first:
        active[at] = active[at - 1]
        at -= 1
    while at + 1 < n and head[active[at + 1]] < first:
        active[at] = active[at + 1]
        at += 1
    active[at] = cluster


@inner_kernel
def leave(
    active,  # IN, OUT
    n_active,  # IN, OUT
    cluster,
):
    """Take a cluster out of the window."""
    at = 0
    while active[at] != cluster:
        at += 1
    n_active[0] -= 1
    while at < n_active[0]:
        active[at] = active[at + 1]
        at += 1


@spliced_kernel
def look_ahead(rows, prior, timing, chains, window, row):
    """Clusters whose first members are near enough come in."""
    times, assigned, head, after = timing.times, chains.assigned, chains.head, chains.after
    at, sizes = window.ahead[0], window.sizes
    while at < times.shape[0] and times[at] - times[row] <= timing.ahead:
        cluster = assigned[at]
        if cluster >= 0 and head[cluster] == at and sizes[cluster] == 0:
            member = at
            while member >= 0:
                change_row(rows, member, prior, window, cluster, ENTERS)
                member = after[member]
            chains.cursor[cluster] = -1
            place_in_order(window.active, window.n_active, head, cluster)
        at += 1
    window.ahead[0] = at


@spliced_kernel
def drop_past(rows, prior, timing, chains, window, row):
    """Clusters of the past leave; returns the sum of their log evidence."""
    if timing.way == COUNT:
        return 0.0
    log_evidence, n_kept, is_recursion = 0.0, 0, timing.way == RECURSION
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


@spliced_kernel
def empty_window(rows, prior, chains, window):
    """Take all clusters out of the window; returns the sum of their log evidence."""
    total = 0.0
    for at in range(window.n_active[0]):
        total += empty_cluster(rows, prior, chains, window, window.active[at])
    window.n_active[0] = 0
    window.ahead[0] = 0
    return total


@spliced_kernel
def take_out(rows, row, prior, timing, chains, window):
    """Take a row out of its cluster; returns (cluster, whether that falls apart without it)."""
    cluster, head, n_free = chains.assigned[row], chains.head, chains.n_free
    was_first = head[cluster] == row
    falls_apart = unlink(timing, chains, row)
    if timing.rates.shape[0] > 1:
        change_sums(timing, chains, row, chains.rate[cluster], -1.0)
    change_row(rows, row, prior, window, cluster, LEAVES)
    if head[cluster] < 0:
        leave(window.active, window.n_active, cluster)
        chains.free[n_free[0]] = cluster
        n_free[0] += 1
    elif was_first:
        place_in_order(window.active, window.n_active, head, cluster)
    return cluster, falls_apart


@spliced_kernel
def put_in(rows, row, prior, timing, chains, window, cluster, rate):
    """Put a row into a cluster; a new one with a rate is made for -1."""
    head, cursor, n_free = chains.head, chains.cursor, chains.n_free
    if cluster < 0:
        n_free[0] -= 1
        cluster = chains.free[n_free[0]]
        head[cluster], cursor[cluster], chains.rate[cluster] = -1, -1, rate
    is_first = cursor[cluster] < 0
    link(timing, chains, row, cluster)
    if timing.rates.shape[0] > 1:
        change_sums(timing, chains, row, chains.rate[cluster], 1.0)
    change_row(rows, row, prior, window, cluster, ENTERS)
    if is_first:
        place_in_order(window.active, window.n_active, head, cluster)


@borrowing_kernel
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
    tally[0] = tally[1] = tally[3] = 0.0
    for row in range(uniforms.shape[0]):
        look_ahead(rows, prior, timing, chains, window, row)
        own, falls_apart = -1, False
        if chains.assigned[row] >= 0:
            own, falls_apart = take_out(rows, row, prior, timing, chains, window)
        tally[0] += drop_past(rows, prior, timing, chains, window, row)
        cluster, rate = own, -1
        if not falls_apart:
            n = score_near(rows, row, prior, timing, chains, window, FAR)
            chosen = draw(window.scores, n, uniforms[row])
            rate = chosen - (n - timing.rates.shape[0])
            cluster = window.active[chosen] if rate < 0 else -1
            was_alone = own >= 0 and chains.head[own] < 0
            stays = cluster == own or (cluster < 0 and was_alone)
            tally[1] += 0.0 if stays else 1.0
            tally[3] = max(tally[3], float(n))
        put_in(rows, row, prior, timing, chains, window, cluster, rate)
    tally[0] += empty_window(rows, prior, chains, window)
    tally[2] = float(chains.head.shape[0] - chains.n_free[0])
