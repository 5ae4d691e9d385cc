"""Compiled twins of the E step.

A row costs O(features of the row x components): features that it does not hold are counted once per component, in
`constants`, and corrected where it does. Tables lie feature by feature, so that one feature's numbers for all
components are read in one go. Unsigned indices spare the compiler the question whether they count from the end.
"""

import math

import numpy as np

from sparsemix.numeric.jit import kernel

ABOVE = 1.04  # times the exponential of the log of a negligible share: surely more than it


@kernel
def log_joint(
    indptr,  # IN  rows as CSR
    columns,
    values,
    constants,  # IN  (n_components,) float64: log weight + log probability of a row without features
    feature_weights,  # IN  (n_features, n_components) float64
    log_joint_out,  # OUT (n_rows, n_components) float64
):
    """Log p(component) + log p(row | component), TEXT eq 3.2 before the sum over components."""
    n_components = constants.shape[0]
    total = np.empty(n_components)
    for i in range(indptr.shape[0] - 1):
        for k in range(n_components):
            total[k] = constants[k]
        e, end = indptr[i], indptr[i + 1]
        while e + 3 < end:  # four features at a time: a quarter of the traffic of `total`
            p, q = np.uint32(columns[e]), np.uint32(columns[e + 1])
            r, s = np.uint32(columns[e + 2]), np.uint32(columns[e + 3])
            for k in range(n_components):
                first_two = values[e] * feature_weights[p, k] + values[e + 1] * feature_weights[q, k]
                last_two = values[e + 2] * feature_weights[r, k] + values[e + 3] * feature_weights[s, k]
                total[k] += first_two + last_two
            e += 4
        while e < end:
            p = np.uint32(columns[e])
            for k in range(n_components):
                total[k] += values[e] * feature_weights[p, k]
            e += 1
        for k in range(n_components):
            log_joint_out[i, k] = total[k]


@kernel
def fall_short(
    log_joint,  # IN/OUT (n_rows, n_components) float64; ends as log joint less the largest of the row
    labels,  # IN  (n_rows,) int64: component of a row that is known, else -1
    log_weights,  # IN  (n_components,) float64: for rows that no component can have made
    negligible,  # IN  float64: log of the share that counts as nothing
    is_hard,  # IN  bool: all to the most probable component, the first one of equals
    log_evidence_out,  # OUT (n_rows,) float64: the largest; of a known row its log joint
):
    """Log responsibilities up to a constant of the row, `negligible` where they do not matter.

    Their exponentials are NumPy's to take, which does eight at a time.
    """
    n_components = log_weights.shape[0]
    for i in range(log_joint.shape[0]):
        row = log_joint[i]
        top, largest = 0, row[0]
        for k in range(1, n_components):
            if row[k] > largest:
                top, largest = k, row[k]
        known = top if is_hard and largest > -np.inf else -1
        if labels[i] >= 0:
            known = labels[i]
        log_evidence_out[i] = row[known] if known >= 0 else largest
        if known >= 0:
            for k in range(n_components):
                row[k] = negligible
            row[known] = 0.0
        elif largest == -np.inf:
            for k in range(n_components):
                row[k] = max(log_weights[k], negligible)
        else:
            for k in range(n_components):
                row[k] = max(row[k] - largest, negligible)


@kernel
def share_out(
    negligible,  # IN  float64: log of the share that counts as nothing
    shares,  # IN/OUT (n_rows, n_components) float64: exponentials; end as responsibilities, rows sum to one
    totals_out,  # OUT (n_rows,) float64: sums of the exponentials; one for a known row
):
    """Responsibilities of each row (TEXT, section 3.3; hard: section 3.2)."""
    n_components, least = shares.shape[1], ABOVE * math.exp(negligible)
    for i in range(shares.shape[0]):
        row = shares[i]
        total = 0.0
        for k in range(n_components):
            row[k] = row[k] if row[k] > least else 0.0
        for k in range(n_components):
            total += row[k]
        scale = 1.0 / total
        for k in range(n_components):
            row[k] *= scale
        totals_out[i] = total


@kernel
def add_expected_sizes(
    responsibilities,  # IN  (n_rows, n_components) float64
    row_weights,  # IN  (n_rows,) float64
    sizes_out,  # IN/OUT (n_components,) float64
):
    """Expected sizes E[c(k)] (TEXT, section 3.3), in the order of the rows."""
    for i in range(responsibilities.shape[0]):
        for k in range(sizes_out.shape[0]):
            sizes_out[k] += row_weights[i] * responsibilities[i, k]


@kernel
def add_expected_counts(
    indptr,  # IN  rows as CSR
    columns,
    values,
    responsibilities,  # IN  (n_rows, n_components) float64
    row_weights,  # IN  (n_rows,) float64
    part,  # IN  which share of the features is added to: eights of them are dealt in turn to so many parts
    n_parts,
    counts_out,  # IN/OUT (n_features, n_components) float64
):
    """Expected counts E[c(k, w)] (TEXT, section 3.3), in the order of the rows."""
    n_components = responsibilities.shape[1]
    share, active = np.empty(n_components), np.empty(n_components, np.uint64)
    for i in range(indptr.shape[0] - 1):
        n_active = 0
        for k in range(n_components):
            share[k] = row_weights[i] * responsibilities[i, k]
            if share[k] > 0.0:
                active[n_active] = k
                n_active += 1
        if 4 * n_active > n_components:
            for e in range(indptr[i], indptr[i + 1]):
                column, value = np.uint32(columns[e]), values[e]
                if n_parts > 1 and (column >> 3) % n_parts != part:
                    continue
                for k in range(n_components):
                    counts_out[column, k] += value * share[k]
        else:
            for e in range(indptr[i], indptr[i + 1]):
                column, value = np.uint32(columns[e]), values[e]
                if n_parts > 1 and (column >> 3) % n_parts != part:
                    continue
                for a in range(n_active):
                    counts_out[column, active[a]] += value * share[active[a]]
