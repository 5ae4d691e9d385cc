"""Compiled E and M steps of rows of zeros and ones, eight features to a byte: looked up instead of added up.

For eight features there are 256 rows. An E step first adds up the log odds of each of them, so that a row costs one
addition a byte and component; an M step first adds the responsibilities of rows with the same byte, and only then
gives them to the features. Both are exact: only the order of the additions differs from `kernels`.
"""

import numpy as np

from sparsemix.numeric.jit import kernel
from sparsemix.numeric.lanes import add_looked_up, add_to_looked_up


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
    tables_out,  # IN/OUT (n_bytes, 256, width) float64, zeros; width >= n_components
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
    tables,  # IN  (n_bytes, 256, width) float64; width a multiple of `LANES`
    log_joint_out,  # OUT (n_rows, n_components) float64
):
    """Twin of `kernels.log_joint`."""
    n_components, width = constants.shape[0], tables.shape[2]
    start, total = np.zeros(width), np.empty(width)
    start[:n_components] = constants
    for i in range(codes.shape[0]):
        for k in range(width):
            total[k] = start[k]
        add_looked_up(tables, codes, i, total)
        for k in range(n_components):
            log_joint_out[i, k] = total[k]


@kernel
def add_expected_counts(
    codes,  # IN  (n_rows, n_bytes) uint8
    responsibilities,  # IN  (n_rows, n_components) float64
    row_weights,  # IN  (n_rows,) float64
    part,  # IN  which share of the features is added to: bytes of them are dealt in turn to so many parts
    n_parts,
    tables,  # IN/OUT (n_bytes of the part, 256, width) float64, zeros; width a multiple of `LANES`
    counts_out,  # IN/OUT (n_features, n_components) float64
):
    """Twin of `kernels.add_expected_counts`: add up by byte, then give each bit the half of the sums that has it."""
    n_components, share = counts_out.shape[1], np.zeros(tables.shape[2])
    own_codes = codes[:, part::n_parts]
    for i in range(codes.shape[0]):
        for k in range(n_components):
            share[k] = row_weights[i] * responsibilities[i, k]
        add_to_looked_up(tables, own_codes, i, share)
    for column in range(counts_out.shape[0] - 1, -1, -1):
        group, half = column >> 3, 1 << (column & 7)
        if group % n_parts != part:
            continue
        own = group // n_parts
        for code in range(half):
            for k in range(n_components):
                counts_out[column, k] += tables[own, half + code, k]
                tables[own, code, k] += tables[own, half + code, k]
