"""Compiled re-sampling of the last rows of a stream, each from its conditional given all other rows of live clusters.

Rows that came before the window stay; of them a cluster keeps the weight that they have together. With V the weight of
a cluster just after a member at time r, a row at time t that comes between that one and the next multiplies the weight
of the next one's history by ``1 + exp(rate (t - r)) / V``, which is found in logarithms however long the gaps are.
"""

import math

from sparsemix.models.time_sensitive.row_kernels import draw
from sparsemix.models.time_sensitive.stream_kernels import change_row, end_cluster, open_cluster, score_words
from sparsemix.models.time_sensitive.stream_state import EMPTIED
from sparsemix.numeric.jit import borrowing_kernel, inner_kernel

NOTHING = -40.0  # log of a change that double precision does not show


@inner_kernel
def log_one_plus(exponent):
    """log(1 + exp(exponent)) that never overflows."""
    if exponent < NOTHING:
        return 0.0
    return max(exponent, 0.0) + math.log1p(math.exp(-abs(exponent)))


@inner_kernel
def _add_member(rules, slot, time, log_weight, stamp):
    log_weight[slot] = log_one_plus(log_weight[slot] - rules.rate * (time - stamp[slot]))
    stamp[slot] = time


@inner_kernel
def time_factors(
    rows,
    row,
    rules,
    clusters,
    slots,  # IN  (n_rows,) int64
    log_weight,  # scratch (n_slots,) float64
    stamp,  # scratch (n_slots,) float64
    factor_out,  # OUT (n_slots,) float64, of the live clusters
):
    """Log prior weight of each live cluster for a row of the window: its history, and what that does to later rows.

    See `equations.log_time_factor`; O(live clusters + rows of the window).
    """
    n_active, time = clusters.numbers[0], rows.times[row]
    for at in range(n_active):
        slot = clusters.active[at]
        log_weight[slot] = math.log(clusters.base[slot]) if clusters.base[slot] > 0.0 else -math.inf
        stamp[slot] = clusters.base_time[slot]
    for earlier in range(row):
        _add_member(rules, slots[earlier], rows.times[earlier], log_weight, stamp)
    for at in range(n_active):
        slot = clusters.active[at]
        factor_out[slot] = log_weight[slot] - rules.rate * (time - stamp[slot])
    for later in range(row + 1, rows.times.shape[0]):
        slot, then = slots[later], rows.times[later]
        if math.isinf(log_weight[slot]):  # the later one opens the cluster, and would do so no longer
            factor_out[slot] = -rules.rate * (then - time)
        else:
            factor_out[slot] += log_one_plus(rules.rate * (time - stamp[slot]) - log_weight[slot])
        _add_member(rules, slot, then, log_weight, stamp)


@inner_kernel
def take_off(clusters, slot):
    """Take a cluster off the active ones."""
    n_kept = 0
    for at in range(clusters.numbers[0]):
        if clusters.active[at] != slot:
            clusters.active[n_kept] = clusters.active[at]
            n_kept += 1
    clusters.numbers[0] = n_kept


@inner_kernel
def bring_back(clusters, slot):
    """Put a cluster among the active ones, in the order of the ids."""
    at = clusters.numbers[0]
    clusters.numbers[0] += 1
    while at > 0 and clusters.ids[clusters.active[at - 1]] > clusters.ids[slot]:
        clusters.active[at] = clusters.active[at - 1]
        at -= 1
    clusters.active[at] = slot


@borrowing_kernel
def score_again(rows, row, rules, clusters, cells, slots, log_weight, stamp, factor):
    """Scores of the candidates of a row that has been taken out, those of the live clusters by id; how many."""
    time_factors(rows, row, rules, clusters, slots, log_weight, stamp, factor)
    n = score_words(rows, row, rules, clusters, cells)
    for at in range(n - 1):
        clusters.scores[at] += factor[clusters.active[at]]
    clusters.scores[n - 1] += math.log(rules.concentration)
    return n


@borrowing_kernel
def take_out(rows, row, rules, clusters, cells, slot):
    """Take a row out of its cluster; returns whether that is empty now, and no candidate."""
    change_row(rows, row, rules, clusters, cells, slot, -1.0)
    clusters.in_window[slot] -= 1
    is_empty = clusters.in_window[slot] == 0 and clusters.base[slot] == 0.0
    if is_empty:
        take_off(clusters, slot)
    return is_empty


@borrowing_kernel
def resample(
    rows,  # of the window
    rules,
    clusters,  # IN, OUT
    cells,  # IN, OUT
    slots,  # IN, OUT (n_rows,) int64
    uniforms,  # IN  (n_rows,) float64
    log_weight,  # scratch (n_slots,) float64, as are the next two
    stamp,
    factor,
    ended,  # OUT
):
    """Visit the rows of the window once in the order of time; returns how many have moved."""
    n_moved = 0
    for row in range(slots.shape[0]):
        own = slots[row]
        was_alone = take_out(rows, row, rules, clusters, cells, own)
        n = score_again(rows, row, rules, clusters, cells, slots, log_weight, stamp, factor)
        chosen = draw(clusters.scores, n, uniforms[row])
        if chosen == n - 1 and was_alone:
            bring_back(clusters, own)
            slot = own
        elif chosen == n - 1:
            slot = open_cluster(clusters, rows.times[row])
        else:
            slot = clusters.active[chosen]
        if was_alone and slot != own:
            end_cluster(clusters, cells, own, EMPTIED, ended)
        change_row(rows, row, rules, clusters, cells, slot, 1.0)
        clusters.in_window[slot] += 1
        slots[row] = slot
        n_moved += slot != own
    settle(rows, rules, clusters, slots)
    return n_moved


@inner_kernel
def settle(rows, rules, clusters, slots):
    """Weights and times of the live clusters from their base and the rows of the window."""
    for at in range(clusters.numbers[0]):
        slot = clusters.active[at]
        clusters.weight[slot], clusters.last[slot] = clusters.base[slot], clusters.base_time[slot]
    for row in range(slots.shape[0]):
        slot, time = slots[row], rows.times[row]
        if clusters.weight[slot] == 0.0:
            clusters.born[slot], clusters.weight[slot] = time, 1.0
        else:
            clusters.weight[slot] *= math.exp(-rules.rate * (time - clusters.last[slot]))
            clusters.weight[slot] += 1.0
        clusters.last[slot] = time
    for at in range(clusters.numbers[0]):
        slot = clusters.active[at]
        clusters.log_weight[slot] = math.log(clusters.weight[slot])


@borrowing_kernel
def retire(rows, n, rules, clusters, slots):
    """The first `n` rows of the window stay where they are from now on."""
    for row in range(n):
        slot, time = slots[row], rows.times[row]
        decay = math.exp(-rules.rate * max(time - clusters.base_time[slot], 0.0))
        clusters.base[slot] = clusters.base[slot] * decay + 1.0
        clusters.base_time[slot] = time
        clusters.in_window[slot] -= 1
