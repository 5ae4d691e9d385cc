"""Compiled scores of rows, and draws from them: for each feature a list of the clusters near by that hold it.

Predictive of a row x of length L in a cluster with feature counts n_w, N their sum, and m rows (eq 12):

    multinomial   sum_w ln G(a + n_w + x_w) - ln G(a + n_w)  -  ln G(a D + N + L) + ln G(a D + N)
    Bernoulli     sum_{w on} ln(a + n_w) - ln(b + m - n_w)  +  sum_w ln(b + m - n_w)  -  D ln(a + b + m)

The second sum of Bernoulli rows follows from how many features a cluster holds once, twice, and so on.
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.state import MULTINOMIAL
from sparsemix.numeric.jit import inner_kernel
from sparsemix.probability.gamma_ratios import log_rising

# Numbers of NumPy, not literals: kernels that are handed these are compiled anew for each.
ENTERS, LEAVES, ZERO = np.int64(1), np.int64(-1), np.int64(0)
NOTHING = -740.0  # nats of which the exponential is zero, but for numbers that are not normal
FEW = 16  # up to so many tokens of a feature their logarithms are added; beyond, log gamma is asked


@inner_kernel
def log_plus(table, pseudo_count, count):
    """log(pseudo_count + count)."""
    return table[count] if count < table.shape[0] else math.log(pseudo_count + count)


@inner_kernel
def log_tokens(log_a, a, count, added):
    """Log of the rising factorial of a + count, with `added` factors."""
    if added > FEW:
        return log_rising(a + count, float(added))
    total = 0.0
    for token in range(added):
        total += log_plus(log_a, a, count + token)
    return total


@inner_kernel
def change_cells(
    start,
    n_listed,  # IN, OUT
    keys,  # IN, OUT
    cells,  # IN, OUT
    lists,  # IN  (n,) int32
    changes,  # IN  (n,) int32
    first,
    end,
    cluster,
    sign,
    before_out,  # OUT (end - first,) int32
):
    """Add to a cluster's counts in lists; those before come back. Cells come and go with their counts."""
    for i in range(first, end):
        listed, change = lists[i], sign * changes[i]
        at, past = start[listed], start[listed] + n_listed[listed]
        while at < past and keys[at] != cluster:
            at += 1
        before = np.int64(cells[at]) if at < past else 0
        before_out[i - first] = before
        keys[at], cells[at] = cluster, before + change
        if at == past:
            n_listed[listed] += 1
        elif before + change == 0:
            keys[at], cells[at] = keys[past - 1], cells[past - 1]
            n_listed[listed] -= 1


@inner_kernel
def cell_of(start, n_listed, keys, cells, listed, cluster):
    """A cluster's count in a list."""
    for at in range(start[listed], start[listed] + n_listed[listed]):
        if keys[at] == cluster:
            return np.int64(cells[at])
    return 0


@inner_kernel
def change_row(rows, row, prior, window, cluster, sign):
    """Add a row to what a cluster holds (`sign` is `ENTERS`), or take it away (`LEAVES`)."""
    sizes, totals, n_held, before = window.sizes, window.totals, window.n_held, window.before
    levels, changes = window.levels, window.changes
    start, n_listed, keys, cells = window.start, window.n_listed, window.keys, window.cells
    sizes[cluster] += sign
    window.log_size[cluster] = math.log1p(sizes[cluster])
    totals[cluster] += sign * rows.lengths[row]
    first, end = rows.indptr[row], rows.indptr[row + 1]
    change_cells(start, n_listed, keys, cells, rows.columns, rows.counts, first, end, cluster, sign, before)
    if prior.family == MULTINOMIAL:
        window.bulk[cluster] = math.log(prior.a * prior.n_features + totals[cluster])
        return
    n_moved, n_new = _list_levels(before, rows.n_met, end - first, sign, levels, changes)
    n_held[cluster] += n_new
    change_cells(start, n_listed, keys, cells, levels, changes, ZERO, n_moved, cluster, ENTERS, before)
    size, left = sizes[cluster], n_held[cluster]
    window.off[cluster] = _off_sum(prior, start, n_listed, keys, cells, rows.n_met, cluster, size, left)


@inner_kernel
def _list_levels(
    before,  # IN  (n,) int32: counts before a row came, or went
    n_met,
    n,
    sign,
    levels_out,  # OUT (2 n,) int32: lists of how often a cluster holds features
    changes_out,  # OUT (2 n,) int32: how many features more are in each
):
    """Which lists change with a cluster's counts; returns how many changes, and how many features it holds more."""
    n_moved, n_new = 0, 0
    for i in range(n):
        count = np.int64(before[i])
        now = count + sign
        if count > 0:
            levels_out[n_moved], changes_out[n_moved] = n_met + count - 1, -1
            n_moved += 1
        if now > 0:
            levels_out[n_moved], changes_out[n_moved] = n_met + now - 1, 1
            n_moved += 1
        n_new += (1 if now > 0 else 0) - (1 if count > 0 else 0)
    return n_moved, n_new


@inner_kernel
def _off_sum(prior, start, n_listed, keys, cells, n_met, cluster, size, left):
    """Sum over all features of log(b + size - n_w), of which `left` are held; O(entries of the lists of how often)."""
    total = (prior.n_features - left) * log_plus(prior.log_b, prior.b, size)
    times_held = 1
    while left > 0:
        n = cell_of(start, n_listed, keys, cells, n_met + times_held - 1, cluster)
        total += n * log_plus(prior.log_b, prior.b, size - times_held)
        left -= n
        times_held += 1
    return total


@inner_kernel
def gather(rows, row, prior, window):
    """Add to `gain` what the row's features say for each cluster near by, beside one without them; returns the rest.

    The rest is what they say for a cluster without them: of Bernoulli rows, up to a function of its size.
    """
    rest, log_a, a, n_tabled = 0.0, prior.log_a, prior.a, prior.log_a.shape[0]
    is_multinomial = prior.family == MULTINOMIAL
    start, n_listed, keys, cells, gain = window.start, window.n_listed, window.keys, window.cells, window.gain
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = rows.columns[at], np.int64(rows.counts[at])
        without = log_tokens(log_a, a, ZERO, added)
        rest += without
        for cell in range(start[w], start[w] + n_listed[w]):
            cluster, count = keys[cell], np.int64(cells[cell])
            if added > 1:
                gained = log_tokens(log_a, a, count, added) - without
            else:
                gained = (log_a[count] if count < n_tabled else math.log(a + count)) - without
            if not is_multinomial:
                size = window.sizes[cluster]
                gained += log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
            gain[cluster] += gained
    return rest


@inner_kernel
def log_of_sums(prior, size, total, off, length):
    """What the predictive owes to the sums of cluster and row."""
    if prior.family == MULTINOMIAL:
        return -log_rising(prior.a * prior.n_features + total, float(length))
    without = log_plus(prior.log_b, prior.b, size)
    return off - length * without - prior.n_features * math.log(prior.a + prior.b + size)


@inner_kernel
def log_of_new(prior, length):
    """The same for a cluster without rows."""
    return log_of_sums(prior, ZERO, ZERO, prior.n_features * prior.log_b[0], length)


@inner_kernel
def log_predictive(rows, row, prior, window, cluster):
    """Log probability of a row, given what a cluster holds; O(entries of its features' lists)."""
    size = window.sizes[cluster]
    total = log_of_sums(prior, size, window.totals[cluster], window.off[cluster], rows.lengths[row])
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        listed = np.int64(rows.columns[at])
        count = cell_of(window.start, window.n_listed, window.keys, window.cells, listed, cluster)
        total += log_tokens(prior.log_a, prior.a, count, np.int64(rows.counts[at]))
        if prior.family != MULTINOMIAL:
            total += log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
    return total


@inner_kernel
def draw(scores, n, uniform):
    """Index below n with probability proportional to exp(score)."""
    top = -math.inf
    for at in range(n):
        top = max(top, scores[at])
    total = 0.0
    for at in range(n):
        if scores[at] - top > NOTHING:
            total += math.exp(scores[at] - top)
    left, last = uniform * total, n - 1
    for at in range(n):
        if scores[at] - top > NOTHING:
            left -= math.exp(scores[at] - top)
            last = at
            if left < 0.0:
                return at
    return last  # rounding; never one that is impossible
