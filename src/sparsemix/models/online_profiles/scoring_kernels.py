"""Compiled twins of `equations`: scoring on the sparse form of the posterior (ADS, section 4.1).

A row starts from "every feature off or default" and is corrected for the features that it holds and that a
component keeps explicitly:

    s_k = base_k + |S| w0_k + sum_{d in S, explicit in k} (w_kd - w0_k),     w = log alpha - log beta

An index from feature to its (component, slot, correction) triples makes that O(K + matches) a row. Two kinds of
features have a single triple that names no component: a *common* feature, one Beta for all components, carries its
log odds; a *dense* feature, explicit in many components, points to a row of a table with a column per component.

The index is fixed while a block of rows is scored. Most rows are certain: all components but one are negligible, and
responsibilities need not be worked out.
"""

import numpy as np

from sparsemix.models.online_profiles.kernels import DENSE
from sparsemix.numeric.jit import kernel

NEGLIGIBLE = 36.0  # nats: exp(-36) is below the rounding of the leading responsibility
SURELY = 1e-6  # nats by which the background must explain a row better: beyond rounding


@kernel
def row_log_joint(
    columns,  # IN  (nnz_row,) int32: features of the row
    index,  # IN  ScoreIndex
    log_joint_out,  # OUT (n_components,) float64
):
    """Log of weight times likelihood of one row, for every component.

    A feature that came after the index counts only where it is on: it has the default's probability.
    """
    known = index.indptr.shape[0] - 1
    n_components = log_joint_out.shape[0]
    n_on = columns.shape[0]
    n_unknown = 0
    common = 0.0
    log_joint_out[:] = 0.0
    for column in columns:
        if column >= known:
            n_unknown += 1
            continue
        first = index.indptr[column]
        if first == index.indptr[column + 1]:
            continue
        if index.component[first] >= 0:
            for e in range(first, index.indptr[column + 1]):
                log_joint_out[index.component[e]] += index.correction[e]
        elif index.component[first] == DENSE:
            corrections = index.table[index.slot[first]]
            for k in range(n_components):
                log_joint_out[k] += corrections[k]
        else:
            common += index.correction[first]
            n_on -= 1
    for k in range(n_components):
        log_joint_out[k] += index.base[k] + n_on * index.default_log_odds[k] + common
    if n_unknown > 0:
        for k in range(n_components):
            log_joint_out[k] -= n_unknown * np.log1p(np.exp(index.default_log_odds[k]))


@kernel
def highest(
    values,  # IN  (n_components,) float64
):
    """The largest value, of four interleaved ones at a time; -inf of none."""
    a, b, c, d = -np.inf, -np.inf, -np.inf, -np.inf
    whole = values.shape[0] // 4 * 4
    for k in range(0, whole, 4):
        a = values[k] if values[k] > a else a
        b = values[k + 1] if values[k + 1] > b else b
        c = values[k + 2] if values[k + 2] > c else c
        d = values[k + 3] if values[k + 3] > d else d
    for k in range(whole, values.shape[0]):
        a = values[k] if values[k] > a else a
    return max(a, b, c, d)


@kernel
def normalise(
    log_joint,  # IN/OUT (n_components,) float64: becomes the responsibilities
    top,  # the `highest` of them
):
    """Turn log weights into probabilities; return the log of their sum."""
    total = 0.0
    for k in range(log_joint.shape[0]):
        gap = log_joint[k] - top
        log_joint[k] = 0.0
        if gap > -NEGLIGIBLE:
            log_joint[k] = np.exp(gap)
            total += log_joint[k]
    scale = 1.0 / total
    for k in range(log_joint.shape[0]):
        log_joint[k] *= scale
    return top + np.log(total)


@kernel
def score_rows(
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    first,
    last,  # rows `first` to ``last - 1``
    index,  # IN  ScoreIndex
    responsibilities_out,  # OUT (n_rows, n_components) float64
):
    """Responsibilities of rows under a fixed posterior."""
    for i in range(first, last):
        own = responsibilities_out[i]
        row_log_joint(columns[indptr[i] : indptr[i + 1]], index, own)
        normalise(own, highest(own))


@kernel
def answer_rows(
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    first,
    last,  # rows `first` to ``last - 1``
    index,  # IN  ScoreIndex
    log_joint,  # work (n_components,) float64
    best_out,  # OUT (n_rows,) int64: component of the largest responsibility, the first of equal ones
    density_out,  # OUT (n_rows,) float64: log density of each row, nats
):
    """The most probable component and the log density of rows under a fixed posterior."""
    for i in range(first, last):
        row_log_joint(columns[indptr[i] : indptr[i + 1]], index, log_joint)
        top = highest(log_joint)
        best, total = -1, 0.0
        for k in range(log_joint.shape[0]):
            gap = log_joint[k] - top
            if gap > -NEGLIGIBLE:
                share = np.exp(gap)
                total += share
                if best < 0 and share == 1.0:
                    best = k
        best_out[i] = best
        density_out[i] = top + np.log(total) - index.log_total[0]


@kernel
def find_rivals(
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    background,  # IN  Background
    rival_out,  # OUT (n_rows,) float64, nats
):
    """Log density below which a row fits no component: a single profile explains it better."""
    log_odds, known = background.log_odds, background.log_odds.shape[0]
    for i in range(rival_out.shape[0]):
        total = background.constants[0]
        for e in range(indptr[i], indptr[i + 1]):
            total += log_odds[columns[e]] if columns[e] < known else background.constants[1]
        rival_out[i] = total - SURELY


@kernel
def find_learners(
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    labels,  # IN  (n_rows,) int64: component that a row is known to be of, or -1
    first,
    index,  # IN  ScoreIndex
    least,  # responsibility below which a component does not learn
    responsibilities,  # work (n_components,) float64
    rival,  # IN  (n_rows - first,) float64: a row without a label whose log density is below it fits no component
    log_evidence_out,  # OUT (n_rows,) float64: log density of a row before it is learnt
    row_out,  # OUT (capacity,) int64
    component_out,  # OUT (capacity,) int32
    responsibility_out,  # OUT (capacity,) float64
    waiting_out,  # OUT (room,) int64: rows that fit no component, which nobody learns
):
    """List who learns from which row, from row `first` until a list is full.

    Responsibilities below `least` are dropped and the others share the row; where all are, the foremost takes it.
    Returns the row after the last, how many learners there are and how many rows that fit no component.
    """
    n_components = responsibilities.shape[0]
    count, n_waiting = 0, 0
    for i in range(first, labels.shape[0]):
        if count + n_components > row_out.shape[0]:
            return i, count, n_waiting
        row_log_joint(columns[indptr[i] : indptr[i + 1]], index, responsibilities)
        top = highest(responsibilities)
        n_near = 0
        for k in range(n_components):
            n_near += responsibilities[k] - top > -NEGLIGIBLE
        log_sum = top if n_near == 1 else normalise(responsibilities, top)
        log_evidence_out[i] = log_sum - index.log_total[0]
        if labels[i] < 0 and log_evidence_out[i] < rival[i - first]:
            waiting_out[n_waiting] = i
            n_waiting += 1
            if n_waiting == waiting_out.shape[0]:
                return i + 1, count, n_waiting
            continue
        if labels[i] >= 0:
            responsibilities[:] = 0.0
            responsibilities[labels[i]] = 1.0
        elif n_near == 1:
            k = 0
            while responsibilities[k] != top:
                k += 1
            row_out[count], component_out[count], responsibility_out[count] = i, k, 1.0
            count += 1
            continue
        start = count
        total = 0.0
        for k in range(n_components):
            r = responsibilities[k]
            if r >= least and r > 0.0:
                row_out[count] = i
                component_out[count] = k
                responsibility_out[count] = r
                total += r
                count += 1
        if count == start:
            row_out[count] = i
            component_out[count] = np.argmax(responsibilities)
            count += 1
        for e in range(start, count):
            responsibility_out[e] = 1.0 if count == start + 1 else responsibility_out[e] / total
    return labels.shape[0], count, n_waiting
