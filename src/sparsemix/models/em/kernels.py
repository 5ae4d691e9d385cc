"""Compiled twins of the E step.

A row costs O(features of the row x components): features that it does not hold are counted once per component, in
`constants`, and corrected where it does. Tables lie feature by feature, so that one feature's numbers for all
components are read in one go. Unsigned indices spare the compiler the question whether they count from the end.
"""

import numpy as np

from sparsemix.numeric.jit import kernel

LOG_NEGLIGIBLE = (
    -46.0
)  # a responsibility below 1e-20 of the largest one cannot change a sum in double precision


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
def normalise(
    log_joint,  # IN/OUT (n_rows, n_components) float64; ends as responsibilities, rows sum to one
    labels,  # IN  (n_rows,) int64: component of a row that is known, else -1
    weights,  # IN  (n_components,) float64: for rows that no component can have made
    is_hard,  # IN  bool: all to the most probable component, the first one of equals
    log_evidence_out,  # OUT (n_rows,) float64: log p(row); of a known or hard row its log joint
):
    """Responsibilities and log evidence of each row (TEXT, section 3.3; hard: section 3.2)."""
    n_components = weights.shape[0]
    for i in range(log_joint.shape[0]):
        top = 0
        for k in range(1, n_components):
            if log_joint[i, k] > log_joint[i, top]:
                top = k
        known = labels[i]
        if known < 0 and is_hard and log_joint[i, top] > -np.inf:
            known = top
        if known >= 0:
            log_evidence_out[i] = log_joint[i, known]
            for k in range(n_components):
                log_joint[i, k] = 0.0
            log_joint[i, known] = 1.0
        elif log_joint[i, top] == -np.inf:
            log_evidence_out[i] = -np.inf
            for k in range(n_components):
                log_joint[i, k] = weights[k]
        else:
            largest = log_joint[i, top]
            total = 0.0
            for k in range(n_components):
                below = log_joint[i, k] - largest
                share = np.exp(below) if below > LOG_NEGLIGIBLE else 0.0
                log_joint[i, k] = share
                total += share
            for k in range(n_components):
                log_joint[i, k] /= total
            log_evidence_out[i] = largest + np.log(total)


@kernel
def add_expected_counts(
    indptr,  # IN  rows as CSR
    columns,
    values,
    responsibilities,  # IN  (n_rows, n_components) float64
    row_weights,  # IN  (n_rows,) float64
    first,  # IN  components from `first` up to `last` are added to
    last,
    sizes_out,  # IN/OUT (n_components,) float64
    counts_out,  # IN/OUT (n_features, n_components) float64
):
    """Expected counts E[c(k)] and E[c(k, w)] (TEXT, section 3.3), in the order of the rows."""
    n_components, n_own = responsibilities.shape[1], last - first
    offset = np.uint64(first)
    share, active = np.empty(n_own), np.empty(n_own, np.uint64)
    for i in range(indptr.shape[0] - 1):
        n_all, n_active = 0, 0
        for k in range(n_components):
            n_all += responsibilities[i, k] > 0.0
        for k in range(n_own):
            share[k] = row_weights[i] * responsibilities[i, first + k]
            sizes_out[first + k] += share[k]
            if share[k] > 0.0:
                active[n_active] = k
                n_active += 1
        if n_active == 0:
            continue
        if 4 * n_all > n_components:
            for e in range(indptr[i], indptr[i + 1]):
                column, value = np.uint32(columns[e]), values[e]
                for k in range(n_own):
                    counts_out[column, offset + np.uint64(k)] += value * share[k]
        else:
            for e in range(indptr[i], indptr[i + 1]):
                column, value = np.uint32(columns[e]), values[e]
                for a in range(n_active):
                    counts_out[column, offset + active[a]] += value * share[active[a]]
