"""Compiled access to the counts of features in clusters: for each feature a list, and a hash table to find in it."""

import numpy as np

from sparsemix.numeric.jit import kernel

_SPREAD = 0x9E3779B1  # odd, near 2**32 over the golden ratio: neighbours land far apart


@kernel
def cell_of(
    mask,  # IN  int64, of the feature; negative for a cell per cluster
    start,  # IN  int64
    slots,  # IN  (n_cells,) int32
    keys,  # IN  (n_cells,) int32
    cluster,  # IN  int64
):
    """Place of a cluster's count, or -1 if it has none."""
    if mask < 0:
        return start + cluster
    at = ((cluster * _SPREAD) >> 7) & mask
    while True:
        place = np.int64(slots[start + at])
        if place < 0:
            return np.int64(-1)
        if keys[start + place] == cluster:
            return start + place
        at = (at + 1) & mask


@kernel
def count_of(mask, start, slots, keys, cell_counts, cluster):
    """Sum of a feature's counts in a cluster."""
    cell = cell_of(mask, start, slots, keys, cluster)
    return np.int64(0) if cell < 0 else np.int64(cell_counts[cell])


@kernel
def change_count(
    mask,  # IN  int64
    start,  # IN  int64
    n_listed,  # IN, OUT  (n_features,) int32
    slots,  # IN, OUT  (n_cells,) int32
    keys,  # IN, OUT  (n_cells,) int32
    cell_counts,  # IN, OUT  (n_cells,) int32
    gains,  # IN, OUT  (n_cells,) float32
    feature,  # IN  int64
    cluster,  # IN  int64
    change,  # IN  int64
):
    """Add to a feature's count in a cluster, and return the cell, or -1: a count of zero leaves the list."""
    if mask < 0:
        cell_counts[start + cluster] += change
        return start + cluster
    at = ((cluster * _SPREAD) >> 7) & mask
    place = np.int64(slots[start + at])
    while place >= 0 and keys[start + place] != cluster:
        at = (at + 1) & mask
        place = np.int64(slots[start + at])
    if place < 0:
        place = np.int64(n_listed[feature])
        n_listed[feature] += 1
        slots[start + at] = place
        keys[start + place] = cluster
    cell_counts[start + place] += change
    if cell_counts[start + place] == 0:
        n_listed[feature] -= 1
        _take_off_list(slots, keys, cell_counts, gains, mask, start, place, np.int64(n_listed[feature]))
        _close_gap(slots, keys, mask, start, at)
        return np.int64(-1)
    return start + place


@kernel
def _take_off_list(slots, keys, counts, gains, mask, start, place, last):
    """The last of the list takes the place that becomes free."""
    if place != last:
        at = ((np.int64(keys[start + last]) * _SPREAD) >> 7) & mask
        while slots[start + at] != last:
            at = (at + 1) & mask
        slots[start + at] = place
        keys[start + place] = keys[start + last]
        counts[start + place] = counts[start + last]
        gains[start + place] = gains[start + last]
    keys[start + last] = -1
    counts[start + last] = 0


@kernel
def _close_gap(slots, keys, mask, start, gap):
    """Free a place of the hash table and move up those behind it that would not be found any more."""
    at = gap
    while True:
        at = (at + 1) & mask
        place = np.int64(slots[start + at])
        if place < 0:
            break
        home = ((np.int64(keys[start + place]) * _SPREAD) >> 7) & mask
        if ((at - home) & mask) >= ((at - gap) & mask):
            slots[start + gap] = place
            gap = at
    slots[start + gap] = -1
