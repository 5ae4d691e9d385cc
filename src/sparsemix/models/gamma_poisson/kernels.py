"""Compiled sums over the non-zero counts: expected and drawn splits over the components, and single rates.

Only non-zeros are touched; the rest of the likelihood is the sum of all user factors, since feature factors sum to one.
Tables lie row by row and feature by feature, so that one entry's numbers for all components are read in one go.
"""

import numpy as np

from sparsemix.numeric.jit import kernel, reordering_kernel
from sparsemix.numeric.lanes import LANES
from sparsemix.numeric.shares import WIDEST, share_row

LEAST_RATE = 1e-300  # below, a count is as good as impossible and is split over no component


@reordering_kernel
def add_expected_counts(
    indptr,  # IN  rows as CSR
    columns,
    values,
    weights,  # IN  (n_rows, n_components) float64: user factors
    factors,  # IN  (n_features, width) float64; width >= n_components, the rest zeros
    rates_out,  # OUT (nnz,) float64: Poisson means of the non-zeros, `LEAST_RATE` where they are less
    user_counts_out,  # OUT (n_rows, n_components) float64: sum over features of the expected split
    feature_ratios,  # IN/OUT (n_features, width) float64: added is the same over rows, by feature factor
):
    """E step: each count is split in proportion to user factor times feature factor; O(nnz x n_components)."""
    n_components, width = weights.shape[1], factors.shape[1]
    own, total = np.zeros(width), np.zeros(width)
    has_lines = width % LANES == 0 and width <= WIDEST
    for i in range(indptr.shape[0] - 1):
        for k in range(n_components):
            own[k] = weights[i, k]
            total[k] = 0.0
        if has_lines:
            span = (indptr[i], indptr[i + 1])
            share_row(columns, values, span, LEAST_RATE, own, factors, rates_out, total, feature_ratios)
        else:
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint32(columns[e])
                rate = 0.0
                for k in range(width):
                    rate += own[k] * factors[j, k]
                rates_out[e] = max(rate, LEAST_RATE)
                ratio = values[e] / rate if rate > LEAST_RATE else 0.0
                for k in range(width):
                    total[k] += ratio * factors[j, k]
                    feature_ratios[j, k] += ratio * own[k]
        for k in range(n_components):
            user_counts_out[i, k] = own[k] * total[k]


@reordering_kernel
def add_user_counts(
    indptr,  # IN  rows as CSR
    columns,
    values,
    is_active,  # IN  (n_rows,) bool: the others are passed over
    weights,  # IN  (n_rows, n_components) float64
    factors,  # IN  (n_features, n_components) float64
    user_counts_out,  # OUT (n_rows, n_components) float64: sum over features of the expected split
):
    """The part of `add_expected_counts` that new users need, whose features stay as they are."""
    n_components = weights.shape[1]
    total = np.empty(n_components)
    for i in range(indptr.shape[0] - 1):
        if is_active[i]:
            for k in range(n_components):
                total[k] = 0.0
            for e in range(indptr[i], indptr[i + 1]):
                j = np.uint32(columns[e])
                rate = 0.0
                for k in range(n_components):
                    rate += weights[i, k] * factors[j, k]
                ratio = values[e] / rate if rate > LEAST_RATE else 0.0
                for k in range(n_components):
                    total[k] += ratio * factors[j, k]
            for k in range(n_components):
                user_counts_out[i, k] = weights[i, k] * total[k]


@kernel
def add_drawn_counts(
    indptr,  # IN  rows as CSR of whole numbers
    columns,
    values,
    weights,  # IN  (n_rows, n_components) float64: user factors
    factors,  # IN  (n_features, n_components) float64
    most,  # IN  int: larger counts are left to the caller
    uniforms,  # IN  (sum of the counts up to `most`,) float64 in [0, 1), used up in order
    rates_out,  # OUT (nnz,) float64: Poisson means of the non-zeros
    user_counts,  # IN/OUT (n_rows, n_components) float64
    feature_counts,  # IN/OUT (n_features, n_components) float64
):
    """Gibbs: each count is split at random, an event at a time; O(nnz x n_components + counts log n_components)."""
    n_components = weights.shape[1]
    running = np.empty(n_components)
    used = 0
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            j = columns[e]
            rate = 0.0
            for k in range(n_components):
                rate += weights[i, k] * factors[j, k]
                running[k] = rate
            rates_out[e] = rate
            if values[e] <= most:
                for _ in range(int(values[e])):
                    threshold = uniforms[used] * rate
                    used += 1
                    low, high = 0, n_components - 1
                    while low < high:  # the first component whose running sum is above the threshold
                        middle = (low + high) // 2
                        if running[middle] > threshold:
                            high = middle
                        else:
                            low = middle + 1
                    user_counts[i, low] += 1.0
                    feature_counts[j, low] += 1.0


@kernel
def rates_of_pairs(
    users,  # IN  (n_pairs,) int64
    features,  # IN  (n_pairs,) int64
    weights,  # IN  (n_rows, n_components) float64
    factors,  # IN  (n_features, n_components) float64
    rates,  # IN/OUT (n_pairs,) float64: the Poisson means are added
):
    """Poisson means of single entries; O(n_pairs x n_components)."""
    for p in range(users.shape[0]):
        for k in range(weights.shape[1]):
            rates[p] += weights[users[p], k] * factors[features[p], k]
