"""Compiled scores of rows, and draws from them: for each feature a list of the clusters near by that hold it.

Predictive of a row x of length L in a cluster with feature counts n_w, N their sum, and m rows (eq 12):

    multinomial   sum_w ln G(a + n_w + x_w) - ln G(a + n_w)  -  ln G(a D + N + L) + ln G(a D + N)
    Bernoulli     sum_{w on} ln(a + n_w) - ln(b + m - n_w)  +  sum_w ln(b + m - n_w)  -  D ln(a + b + m)

The second sum of Bernoulli rows follows from how many features a cluster holds once, twice, and so on.
"""

import math

import numpy as np

from sparsemix.models.time_sensitive.state import MULTINOMIAL
from sparsemix.numeric.jit import kernel
from sparsemix.probability.gamma_ratios import log_rising

FEW = 16  # up to so many tokens of a feature their logarithms are added; beyond, log gamma is asked


@kernel
def log_plus(table, pseudo_count, count):
    """log(pseudo_count + count)."""
    return table[count] if count < table.shape[0] else math.log(pseudo_count + count)


@kernel
def log_tokens(prior, count, added):
    """Log of the rising factorial of a + count, with `added` factors."""
    if added > FEW:
        return log_rising(prior.a + count, float(added))
    total = 0.0
    for token in range(added):
        total += log_plus(prior.log_a, prior.a, count + token)
    return total


@kernel
def change_cell(window, listed, cluster, change):
    """Add to a cluster's count in a list; returns the count before. Cells come and go with their counts."""
    first, n = window.start[listed], window.n_listed[listed]
    keys, cells = window.keys, window.cells
    at = first
    while at < first + n and keys[at] != cluster:
        at += 1
    if at == first + n:
        keys[at], cells[at] = cluster, change
        window.n_listed[listed] = n + 1
        return 0
    before = np.int64(cells[at])
    cells[at] = before + change
    if before + change == 0:
        keys[at], cells[at] = keys[first + n - 1], cells[first + n - 1]
        window.n_listed[listed] = n - 1
    return before


@kernel
def cell_of(window, listed, cluster):
    """A cluster's count in a list."""
    for at in range(window.start[listed], window.start[listed] + window.n_listed[listed]):
        if window.keys[at] == cluster:
            return np.int64(window.cells[at])
    return 0


@kernel
def change_row(rows, row, prior, window, cluster, sign):
    """Add a row to what a cluster holds (`sign` 1), or take it away (-1)."""
    window.sizes[cluster] += sign
    window.totals[cluster] += sign * rows.lengths[row]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        before = change_cell(window, rows.columns[at], cluster, sign * rows.counts[at])
        if prior.family == MULTINOMIAL:
            continue
        now = before + sign
        if before > 0:
            change_cell(window, prior.n_features + before - 1, cluster, -1)
        if now > 0:
            change_cell(window, prior.n_features + now - 1, cluster, 1)
        window.n_held[cluster] += (1 if now > 0 else 0) - (1 if before > 0 else 0)
    if prior.family != MULTINOMIAL:
        window.off[cluster] = _off_sum(prior, window, cluster)


@kernel
def _off_sum(prior, window, cluster):
    """Sum over all features of log(b + size - n_w); O(entries of the lists of how often)."""
    size, left = window.sizes[cluster], window.n_held[cluster]
    total = (prior.n_features - left) * log_plus(prior.log_b, prior.b, size)
    times_held = 1
    while left > 0:
        n = cell_of(window, prior.n_features + times_held - 1, cluster)
        total += n * log_plus(prior.log_b, prior.b, size - times_held)
        left -= n
        times_held += 1
    return total


@kernel
def gather(rows, row, prior, window):
    """Add to `gain` what the row's features say for each cluster near by, beside one without them; returns the rest.

    The rest is what they say for a cluster without them: of Bernoulli rows, up to a function of its size.
    """
    rest = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = rows.columns[at], np.int64(rows.counts[at])
        without = log_tokens(prior, 0, added)
        rest += without
        first = window.start[w]
        for cell in range(first, first + window.n_listed[w]):
            cluster, count = window.keys[cell], np.int64(window.cells[cell])
            gained = log_tokens(prior, count, added) - without
            if prior.family != MULTINOMIAL:
                size = window.sizes[cluster]
                gained += log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
            window.gain[cluster] += gained
    return rest


@kernel
def log_of_sums(prior, size, total, off, length):
    """What the predictive owes to the sums of cluster and row."""
    if prior.family == MULTINOMIAL:
        return -log_rising(prior.a * prior.n_features + total, float(length))
    without = log_plus(prior.log_b, prior.b, size)
    return off - length * without - prior.n_features * math.log(prior.a + prior.b + size)


@kernel
def log_of_new(prior, length):
    """The same for a cluster without rows."""
    return log_of_sums(prior, 0, 0, prior.n_features * prior.log_b[0], length)


@kernel
def log_predictive(rows, row, prior, window, cluster):
    """Log probability of a row, given what a cluster holds; O(entries of its features' lists)."""
    size = window.sizes[cluster]
    total = log_of_sums(prior, size, window.totals[cluster], window.off[cluster], rows.lengths[row])
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        count = cell_of(window, rows.columns[at], cluster)
        total += log_tokens(prior, count, np.int64(rows.counts[at]))
        if prior.family != MULTINOMIAL:
            total += log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
    return total


@kernel
def draw(scores, n, uniform):
    """Index below n with probability proportional to exp(score)."""
    top = -math.inf
    for at in range(n):
        top = max(top, scores[at])
    total = 0.0
    for at in range(n):
        total += math.exp(scores[at] - top)
    left, last = uniform * total, n - 1
    for at in range(n):
        share = math.exp(scores[at] - top)
        left -= share
        if share > 0.0:
            last = at
        if left < 0.0:
            return at
    return last  # rounding; never one that is impossible
