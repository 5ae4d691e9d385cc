"""Compiled access to the counts of features in clusters: one small table for each feature."""

import numpy as np

from sparsemix.numeric.jit import kernel

_SPREAD = 0x9E3779B1  # odd, near 2**32 over the golden ratio: neighbours land far apart


@kernel
def cell_of(
    mask,  # IN  int64, of the feature; negative for a cell per cluster
    start,  # IN  int64
    keys,  # IN  (n_cells,) int32
    cluster,  # IN  int64
):
    """Place of a cluster's count, or -1 if it has none."""
    if mask < 0:
        return start + cluster
    at = ((cluster * _SPREAD) >> 7) & mask
    while True:
        key = keys[start + at]
        if key == cluster:
            return start + at
        if key < 0:
            return np.int64(-1)
        at = (at + 1) & mask


@kernel
def count_of(mask, start, keys, cell_counts, cluster):
    """Sum of a feature's counts in a cluster."""
    cell = cell_of(mask, start, keys, cluster)
    return np.int64(0) if cell < 0 else np.int64(cell_counts[cell])


@kernel
def change_count(
    mask,  # IN  int64
    start,  # IN  int64
    keys,  # IN, OUT  (n_cells,) int32
    cell_counts,  # IN, OUT  (n_cells,) int32
    gains,  # IN, OUT  (n_cells,) float32, or empty
    cluster,  # IN  int64
    change,  # IN  int64
):
    """Add to a feature's count in a cluster, and return the cell, or -1: a count of zero gives its place up."""
    if mask < 0:
        cell_counts[start + cluster] += change
        return start + cluster
    at = ((cluster * _SPREAD) >> 7) & mask
    while keys[start + at] >= 0 and keys[start + at] != cluster:
        at = (at + 1) & mask
    keys[start + at] = cluster
    cell_counts[start + at] += change
    if cell_counts[start + at] == 0:
        _close_gap(mask, start, keys, cell_counts, gains, at)
        return np.int64(-1)
    return start + at


@kernel
def _close_gap(mask, start, keys, cell_counts, gains, gap):
    """Free a place and move up those behind it that would not be found any more."""
    at = gap
    while True:
        at = (at + 1) & mask
        key = np.int64(keys[start + at])
        if key < 0:
            break
        home = ((key * _SPREAD) >> 7) & mask
        if ((at - home) & mask) >= ((at - gap) & mask):
            keys[start + gap] = key
            cell_counts[start + gap] = cell_counts[start + at]
            if gains.shape[0]:
                gains[start + gap] = gains[start + at]
            gap = at
    keys[start + gap] = -1
    cell_counts[start + gap] = 0
