"""Compiled leader clustering: each row joins the best of the clusters that hold its rare features, or leads a new one.

A cluster is a Dirichlet-multinomial whose prior has the popularity of the features as its mean, so that what all rows
hold brings no rows together. Cost of a row: O(its features * LONG_LIST) at most, whatever the number of clusters.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.state import FINITE
from sparsemix.numeric.jit import inner_inlined_kernel, kernel
from sparsemix.numeric.prefetch import prefetch

LONG_LIST = 256  # clusters that hold a feature, from which on it tells too little

AHEAD = 2  # rows


@kernel
def lead(
    rows,  # Rows, with few features each
    prior,
    base,  # IN  (n_features,) float64, pseudo-counts of the features
    n_places,  # IN  int64, clusters at most
    order,  # IN  (n,) int64, the rows as they come
    leaders,  # IN, OUT  Leaders, of no rows
    assigned_out,  # OUT  (n_rows,) int64; what finds no place stays as it is
):
    """Returns how many clusters there are."""
    columns, counts = rows.columns, rows.counts
    starts, n_listed, keys, cells, gains = leaders
    held, found = np.zeros(n_places), np.empty(n_places, np.int64)
    sizes, totals, log_totals = np.zeros(n_places, np.int64), np.zeros(n_places, np.int64), np.zeros(n_places)
    strength, n_live = base.sum(), 0
    of_size = prior.concentration if prior.process == FINITE else -prior.discount
    for i in range(order.shape[0]):
        row, n_found, tokens = order[i], 0, 0
        _ask_for(rows, leaders, order, i)
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            w = columns[at]
            if n_listed[w] >= LONG_LIST:
                continue
            tokens += counts[at]
            for j in range(starts[w], starts[w] + n_listed[w]):
                k = keys[j]
                if held[k] == 0.0:
                    found[n_found] = k
                    n_found += 1
                held[k] += counts[at] * gains[j]
        if tokens == 0:
            continue
        best, top = -1, -np.inf
        if n_live < n_places:
            left = n_places - n_live
            of_new = of_size * left if prior.process == FINITE else prior.concentration - of_size * n_live
            best, top = n_live, math.log(of_new)
        for j in range(n_found):
            k = found[j]
            score = held[k] - tokens * log_totals[k] + math.log(sizes[k] + of_size)
            held[k] = 0.0
            if score > top or (score == top and k < best):
                best, top = k, score
        if best < 0:
            continue
        n_live = max(n_live, best + 1)
        assigned_out[row] = best
        sizes[best] += 1
        totals[best] += tokens
        log_totals[best] = math.log1p(totals[best] / strength)
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            w = columns[at]
            if n_listed[w] >= LONG_LIST:
                continue
            j, end = starts[w], starts[w] + n_listed[w]
            while j < end and keys[j] != best:
                j += 1
            if j == end:
                keys[j], cells[j] = best, 0
                n_listed[w] += 1
            cells[j] += counts[at]
            gains[j] = math.log1p(cells[j] / base[w])  # above 0: counts are whole, their means below 2**31
    return n_live


@inner_inlined_kernel
def _ask_for(rows, leaders, order, i):
    """Ask for what the rows after place `i` in the order need: first where it is, then what is there."""
    last = order.shape[0] - 1
    row = order[min(i + 2 * AHEAD, last)]
    prefetch(rows.columns, rows.indptr[row])
    prefetch(rows.counts, rows.indptr[row])
    row = order[min(i + AHEAD, last)]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        first = leaders.start[rows.columns[at]]
        prefetch(leaders.keys, first)
        prefetch(leaders.gains, first)
