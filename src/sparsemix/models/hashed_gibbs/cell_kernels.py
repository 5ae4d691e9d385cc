"""Compiled access to the counts of features in clusters: for each feature a list, and a hash table to find in it."""

import numpy as np

from sparsemix.numeric.jit import inner_inlined_kernel
from sparsemix.numeric.prefetch import prefetch

_SPREAD = 0x9E3779B1  # odd, near 2**32 over the golden ratio: neighbours land far apart
_PLACE = (1 << 32) - 1
_LINE = 16  # numbers of four bytes in a line of the processor's cache


@inner_inlined_kernel
def slot_of(cluster, place):
    """What the hash table says about a cluster of a list: which, and its place there; never negative."""
    return (np.int64(cluster) << 32) | np.int64(place)


@inner_inlined_kernel
def cell_of(
    mask,  # IN  int64, of the feature; negative for a cell per cluster
    start,  # IN  int64
    slots,  # IN  (n_cells,) int64
    cluster,  # IN  int64
):
    """Place of a cluster's count, or -1 if it has none."""
    if mask < 0:
        return start + cluster
    at = ((cluster * _SPREAD) >> 7) & mask
    while True:
        slot = slots[start + at]
        if slot < 0:
            return np.int64(-1)
        if slot >> 32 == cluster:
            return start + (slot & _PLACE)
        at = (at + 1) & mask


@inner_inlined_kernel
def count_of(mask, start, slots, cell_counts, cluster):
    """Sum of a feature's counts in a cluster."""
    cell = cell_of(mask, start, slots, cluster)
    return np.int64(0) if cell < 0 else np.int64(cell_counts[cell])


@inner_inlined_kernel
def change_list(
    mask,  # IN  int64, of a feature with a list
    start,  # IN  int64
    n_listed,  # IN, OUT  (n_features,) int32
    slots,  # IN, OUT  (n_cells,) int64
    keys,  # IN, OUT  (n_cells,) int32
    cell_counts,  # IN, OUT  (n_cells,) int32
    feature,  # IN  int64
    cluster,  # IN  int64
    change,  # IN  int64
):
    """Add to a feature's count in a cluster, and return the cell, or -1: a count of zero leaves the list."""
    at = ((cluster * _SPREAD) >> 7) & mask
    slot = slots[start + at]
    while slot >= 0 and slot >> 32 != cluster:
        at = (at + 1) & mask
        slot = slots[start + at]
    if slot < 0:
        slot = slot_of(cluster, np.int64(n_listed[feature]))
        n_listed[feature] += 1
        slots[start + at] = slot
        keys[start + (slot & _PLACE)] = cluster
    cell = start + (slot & _PLACE)
    cell_counts[cell] += change
    if cell_counts[cell] == 0:
        n_listed[feature] -= 1
        _take_off_list(slots, keys, cell_counts, mask, start, cell, start + np.int64(n_listed[feature]))
        _close_gap(slots, mask, start, at)
        return np.int64(-1)
    return cell


@inner_inlined_kernel
def _take_off_list(slots, keys, counts, mask, start, cell, last):
    """The last cell of the list takes the place that becomes free."""
    if cell != last:
        cluster = np.int64(keys[last])
        at = ((cluster * _SPREAD) >> 7) & mask
        while slots[start + at] >> 32 != cluster:
            at = (at + 1) & mask
        slots[start + at] = slot_of(cluster, cell - start)
        keys[cell] = keys[last]
        counts[cell] = counts[last]
    keys[last] = -1
    counts[last] = 0


@inner_inlined_kernel
def _close_gap(slots, mask, start, gap):
    """Free a place of the hash table and move up those behind it that would not be found any more."""
    at = gap
    while True:
        at = (at + 1) & mask
        slot = slots[start + at]
        if slot < 0:
            break
        home = (((slot >> 32) * _SPREAD) >> 7) & mask
        if ((at - home) & mask) >= ((at - gap) & mask):
            slots[start + gap] = slot
            gap = at
    slots[start + gap] = -1


@inner_inlined_kernel
def ask_for(rows, clusters, order, i, budget):
    """Ask for what the next rows of the order will look at: the cells of one, the entries of the one after it.

    Of a row's first features, as many as have so many cells in all as the budget says.
    """
    _ask_for_entries(rows, order, i + 2)
    if i + 1 >= order.shape[0]:
        return
    row, n_seen = order[i + 1], np.int64(0)
    columns, mask, start = rows.columns, clusters.mask, clusters.start
    keys, counts, n_listed = clusters.keys, clusters.cell_counts, clusters.n_listed
    at, end = rows.indptr[row], rows.indptr[row + 1]
    while at < end and n_seen < budget:
        w = columns[at]
        n_cells = np.int64(n_listed[w]) if mask[w] >= 0 else clusters.sizes.shape[0]
        _ask_for_list(keys, counts, start[w], n_cells, mask[w] >= 0)
        n_seen += n_cells
        at += 1


@inner_inlined_kernel
def _ask_for_list(keys, counts, first, n_cells, is_list):
    """Ask for a feature's cells; they may begin and end within a line."""
    last = first + max(n_cells - 1, 0)
    for cell in range(first, last, _LINE):
        prefetch(counts, cell)
        if is_list:
            prefetch(keys, cell)
    prefetch(counts, last)
    if is_list:
        prefetch(keys, last)


@inner_inlined_kernel
def _ask_for_entries(rows, order, i):
    if i < order.shape[0]:
        row = order[i]
        for at in range(rows.indptr[row], rows.indptr[row + 1], _LINE):
            prefetch(rows.columns, at)
            prefetch(rows.counts, at)


@inner_inlined_kernel
def ask_for_cells(rows, row, clusters, cluster):
    """Ask for what the counts of a row's features in a cluster are found by, then for the counts."""
    columns, mask, start, n_listed = rows.columns, clusters.mask, clusters.start, clusters.n_listed
    slots, keys, counts = clusters.slots, clusters.keys, clusters.cell_counts
    begin, end = rows.indptr[row], rows.indptr[row + 1]
    spread = (cluster * _SPREAD) >> 7
    for at in range(begin, end):
        w = columns[at]
        if mask[w] < 0:
            prefetch(counts, start[w] + cluster)
        else:
            prefetch(slots, start[w] + (spread & mask[w]))
            last = start[w] + np.int64(n_listed[w])
            prefetch(keys, last)
            prefetch(counts, last)
    for at in range(begin, end):
        w = columns[at]
        if mask[w] >= 0:
            slot = slots[start[w] + (spread & mask[w])]
            cell = start[w] + (slot & _PLACE if slot >= 0 else np.int64(0))
            prefetch(counts, cell)
