"""Compiled E and M steps of rows of zeros and ones, eight features to a byte: looked up instead of added up.

For eight features there are 256 rows. An E step first adds up the log odds of each of them, so that a row costs one
addition a byte and component; an M step first adds the responsibilities of rows with the same byte, and only then
gives them to the features. Both are exact: only the order of the additions differs from `kernels`.
"""

import numpy as np

from sparsemix.numeric.jit import kernel


@kernel
def pack(
    indptr,  # IN  rows as CSR; every entry counts as one
    columns,
    codes_out,  # IN/OUT (n_rows, n_bytes) uint8, zeros; feature d is bit d % 8 of byte d // 8
):
    """Set the bits of the features that rows hold."""
    for i in range(indptr.shape[0] - 1):
        for e in range(indptr[i], indptr[i + 1]):
            column = columns[e]
            codes_out[i, column >> 3] |= np.uint8(1 << (column & 7))


@kernel
def fill(
    feature_weights,  # IN  (n_features, n_components) float64
    tables_out,  # IN/OUT (n_bytes, 256, n_components) float64, zeros
):
    """Each sum is that of the byte without its highest bit, plus one weight."""
    for column in range(feature_weights.shape[0]):
        group, half = column >> 3, 1 << (column & 7)
        for code in range(half):
            for k in range(feature_weights.shape[1]):
                tables_out[group, half + code, k] = tables_out[group, code, k] + feature_weights[column, k]


@kernel
def log_joint(
    codes,  # IN  (n_rows, n_bytes) uint8
    constants,  # IN  (n_components,) float64: log weight + log probability of a row without features
    tables,  # IN  (n_bytes, 256, n_components) float64
    log_joint_out,  # OUT (n_rows, n_components) float64
):
    """Twin of `kernels.log_joint`; four bytes at a time, for less traffic of the sums."""
    n_bytes, n_components = codes.shape[1], constants.shape[0]
    for i in range(codes.shape[0]):
        total = log_joint_out[i]
        for k in range(n_components):
            total[k] = constants[k]
        g = 0
        while g + 3 < n_bytes:
            p, q = tables[g, codes[i, g]], tables[g + 1, codes[i, g + 1]]
            r, s = tables[g + 2, codes[i, g + 2]], tables[g + 3, codes[i, g + 3]]
            for k in range(n_components):
                total[k] += (p[k] + q[k]) + (r[k] + s[k])
            g += 4
        while g < n_bytes:
            p = tables[g, codes[i, g]]
            for k in range(n_components):
                total[k] += p[k]
            g += 1


@kernel
def add_expected_counts(
    codes,  # IN  (n_rows, n_bytes) uint8
    responsibilities,  # IN  (n_rows, n_components) float64
    row_weights,  # IN  (n_rows,) float64
    part,  # IN  which share of the features is added to: bytes of them are dealt in turn to so many parts
    n_parts,
    counts_out,  # IN/OUT (n_features, n_components) float64
):
    """Twin of `kernels.add_expected_counts`: add up by byte, then give each bit the half of the sums that has it."""
    n_components, n_own = counts_out.shape[1], (codes.shape[1] - part + n_parts - 1) // n_parts
    tables, share = np.zeros((n_own, 256, n_components)), np.empty(n_components)
    for i in range(codes.shape[0]):
        for k in range(n_components):
            share[k] = row_weights[i] * responsibilities[i, k]
        for g in range(n_own):
            sums = tables[g, codes[i, part + g * n_parts]]
            for k in range(n_components):
                sums[k] += share[k]
    for column in range(counts_out.shape[0] - 1, -1, -1):
        group, half = column >> 3, 1 << (column & 7)
        if group % n_parts != part:
            continue
        own = group // n_parts
        for code in range(half):
            for k in range(n_components):
                counts_out[column, k] += tables[own, half + code, k]
                tables[own, code, k] += tables[own, half + code, k]
