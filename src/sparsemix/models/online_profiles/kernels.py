"""Compiled twins of `equations`: learning on the sparse form of the posterior (ADS, section 4.1).

The rows of a block have been scored (`scoring_kernels`); each component learns from its own, in their order. A row of
which the component is certain changes the Betas that it lacks in the simplest way, by one "off" more: such rows are
counted, and added when the Betas are next read (`index_kernels.settle`). When that happens depends on the rows alone,
not on how they are cut into blocks, and so do all bits.
"""

import numpy as np

from sparsemix.numeric.jit import kernel

COMMON, DENSE = -1, -2  # stand in the index for "every component" and "a row of the table"
NOT_EXPLICIT = -3
CLUTTER_ID = -1  # id of the clutter component


@kernel
def project_beta(alpha, beta, x, r):
    """Moment-matched Beta after an "on" of share `x` seen with responsibility `r`."""
    n = alpha + beta
    m = alpha / n
    off = beta / n
    one = 1.0 / (n + 1.0)
    y = 1.0 - x
    before = (1.0 - r) * m * off * one
    after = r * (x * (alpha + 1.0) * beta + y * alpha * (beta + 1.0)) * one * one / (n + 2.0)
    d1 = off * one
    d0 = -m * one
    shift = r * (x * d1 + y * d0)
    spread = (1.0 - r) * shift**2 + r * x * (d1 - shift) ** 2 + r * y * (d0 - shift) ** 2
    pseudo_count = (n * before + (n + 1.0) * after) / (before + after + spread)
    mean = m * (n + (1.0 - r * y)) * one + r * x * d1
    mean_off = off * (n + (1.0 - r * x)) * one - r * y * d0
    return mean * pseudo_count, mean_off * pseudo_count


@kernel
def deal(
    indptr,  # IN  (n_rows + 1,) int64
    rows,  # IN  (n_learners,) int64
    components,  # IN  (n_learners,) int32
    responsibilities,  # IN  (n_learners,) float64
    hands,  # OUT scoring.Hands
):
    """Sort learners by component, equal ones in their order; O(n_learners + n_components)."""
    hands.bounds[:] = 0
    hands.n_held[:] = 0
    hands.n_unsure[:] = 0
    for k in components:
        hands.bounds[k + 1] += 1
    for k in range(hands.bounds.shape[0] - 1):
        hands.bounds[k + 1] += hands.bounds[k]
    for j in range(rows.shape[0]):
        k = components[j]
        at = hands.bounds[k]
        hands.bounds[k] += 1
        hands.rows[at], hands.shares[at] = rows[j], responsibilities[j]
        hands.n_held[k] += indptr[rows[j] + 1] - indptr[rows[j]]
        hands.n_unsure[k] += responsibilities[j] < 1.0
    for k in range(hands.bounds.shape[0] - 1, 0, -1):
        hands.bounds[k] = hands.bounds[k - 1]
    hands.bounds[0] = 0


@kernel
def project_absent(
    r,  # responsibility, in (0, 1)
    certain,  # rows to be added to every beta first
    alpha,  # IN/OUT (size,) float64
    beta,  # IN/OUT (size,) float64
):
    """Moment matching for features of a component that a row does not hold.

    `project_beta` for x = 0, every fraction brought to one denominator: a single division, in vector registers.
    """
    kept = 1.0 - r
    for e in range(alpha.shape[0]):
        a, b = alpha[e], beta[e] + certain
        n = a + b
        n1, n2 = n + 1.0, n + 2.0
        before = kept * b * n1 * n2
        after = r * (b + 1.0) * n * n
        spread = r * kept * a * n2
        scale = (n * before + n1 * after) / ((before + after + spread) * n * n1)
        alpha[e] = scale * a * (n + kept)
        beta[e] = scale * (b * n1 + r * a)


@kernel
def learn_component(
    k,
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    rows,  # IN  (n_learnt,) int64: rows that the component learns from, in order
    responsibilities,  # IN  (n_learnt,) float64, in (0, 1]
    n_features,  # without the common ones
    explicit_from,  # responsibility from which an unknown feature becomes explicit
    low,
    high,  # Betas in slots `low` to ``high - 1`` learn; everything else where `low` is 0
    before,  # IN  Posterior with room for every feature of the rows
    posterior,  # IN/OUT the same one; its vectors of (n_components,) may be those of `before`, or copies
    slot_of,  # work (n_features,) int32: `COMMON` for common features, else `NOT_EXPLICIT`; restored
    held,  # work int64, at least the longest row: slots of the features that a row holds
    held_betas,  # work (2, as long) float64: their Betas
):
    """Learn rows one after the other (ADS, eqs 4 and 5).

    A Beta learns from responsibilities that are known already, and from no other Beta: several threads may share
    the slots of a component, each of which goes through all rows.
    """
    start = before.start[k]
    size = before.size[k]
    feature = posterior.feature[start : start + before.capacity[k]]
    alpha = posterior.alpha[start : start + before.capacity[k]]
    beta = posterior.beta[start : start + before.capacity[k]]
    default_alpha, default_beta = before.default_alpha[k], before.default_beta[k]
    for e in range(size):
        slot_of[feature[e]] = e
    certain, weight = before.certain[k], before.weight_concentration[k]
    for j in range(rows.shape[0]):
        r = responsibilities[j]
        n_default_on, n_held = 0, 0
        for at in range(indptr[rows[j]], indptr[rows[j] + 1]):
            slot = slot_of[columns[at]]
            if slot == COMMON:
                continue
            if slot == NOT_EXPLICIT:
                if r < explicit_from:
                    n_default_on += 1
                    continue
                slot = size
                slot_of[columns[at]] = slot
                feature[slot] = columns[at]
                size += 1
                if low <= slot < high:
                    alpha[slot] = default_alpha
                    beta[slot] = default_beta - certain
            if slot < low or slot >= high:
                continue
            if r == 1.0:
                alpha[slot] += 1.0
                beta[slot] -= 1.0
            else:
                held[n_held] = slot
                held_betas[0, n_held], held_betas[1, n_held] = project_beta(
                    alpha[slot], beta[slot] + certain, 1.0, r
                )
                n_held += 1
        if r == 1.0:
            certain += 1.0
        else:
            project_absent(r, certain, alpha[low : min(size, high)], beta[low : min(size, high)])
            certain = 0.0
            for at in range(n_held):
                alpha[held[at]], beta[held[at]] = held_betas[0, at], held_betas[1, at]
        if r == 1.0 and n_default_on == 0:
            default_beta += 1.0
        else:
            # Without tied features the default is the belief about features that have yet to appear: they are off.
            x = n_default_on / (n_features - size) if n_features > size else 0.0
            default_alpha, default_beta = project_beta(default_alpha, default_beta, x, r)
        weight += r
    for e in range(size):
        slot_of[feature[e]] = NOT_EXPLICIT
    if low == 0:
        posterior.size[k], posterior.certain[k], posterior.weight_concentration[k] = size, certain, weight
        posterior.default_alpha[k], posterior.default_beta[k] = default_alpha, default_beta


@kernel
def learn_mean_row(
    alpha,  # IN/OUT (size,) float64
    beta,  # IN/OUT (size,) float64
    on,  # IN  (size,) float64: share of "on" of each feature
    r,  # responsibility
    mass,  # how often the row was seen; a last fraction counts by its share
    part,  # Betas from ``part[0]`` to ``part[1] - 1``
):
    """Learn a fractional row again and again."""
    for e in range(part[0], part[1]):
        left = mass
        while left > 0.0:
            alpha[e], beta[e] = project_beta(alpha[e], beta[e], on[e], min(left, 1.0) * r)
            left -= 1.0


@kernel
def learn_clutter(
    k,
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    rows,  # IN  (n_learnt,) int64
    responsibilities,  # IN  (n_learnt,) float64
    n_features,  # without the common ones
    posterior,  # IN/OUT Posterior
    slot_of,  # IN  (n_features,) int32: `COMMON` for common features
):
    """Update the clutter component: one Beta tied across all features that are not common, in per-feature scale."""
    for j in range(rows.shape[0]):
        r = responsibilities[j]
        n_on = 0
        for at in range(indptr[rows[j]], indptr[rows[j] + 1]):
            n_on += slot_of[columns[at]] != COMMON
        share = n_on / n_features if n_features > 0 else 0.0
        posterior.default_alpha[k] += r * share
        posterior.default_beta[k] += r * (1.0 - share)
        posterior.weight_concentration[k] += r


@kernel
def learn_common(
    columns,  # IN  (nnz,) int32: all features of a block of rows
    n_rows,
    sign,  # 1.0, or -1.0 for rows that were counted and are yet to be learnt
    place,  # IN  (n_features,) int32: which of the common features each is, below 0 if none
    posterior,  # IN/OUT Posterior
):
    """Count the rows of a block that hold each common feature: they belong to every component."""
    if posterior.common_feature.shape[0] > 0:
        for column in columns:
            if place[column] >= 0:
                posterior.common_on[place[column]] += sign
    posterior.common_rows[0] += sign * n_rows


@kernel
def learn_block(
    indptr,  # IN  (n_rows + 1,) int64
    columns,  # IN  (nnz,) int32
    learners,  # IN  (n_learners,) int64: components that learn
    low,
    high,  # Betas in slots `low` to ``high - 1`` of theirs do, as in `learn_component`
    bounds,  # IN  (n_components + 1,) int64: component k learns rows[bounds[k]:bounds[k + 1]]
    rows,  # IN  (n_learnt,) int64, in order within a component
    responsibilities,  # IN  (n_learnt,) float64
    n_features,
    clutter,  # component that is the clutter, or -1
    explicit_from,
    before,  # IN  Posterior
    posterior,  # IN/OUT Posterior, as in `learn_component`
    slot_of,  # work (n_features,) int32, likewise
    done_out,  # OUT (1,) bool
):
    """Let components learn their rows; O(n_learners + explicit features + nnz) while rows are certain."""
    n_own = n_features - posterior.common_feature.shape[0]
    longest = 0
    for i in range(indptr.shape[0] - 1):
        longest = max(longest, indptr[i + 1] - indptr[i])
    held, held_betas = np.empty(longest, np.int64), np.empty((2, longest))
    for k in learners:
        mine = rows[bounds[k] : bounds[k + 1]]
        shares = responsibilities[bounds[k] : bounds[k + 1]]
        if k == clutter:
            learn_clutter(k, indptr, columns, mine, shares, n_own, posterior, slot_of)
        elif mine.shape[0] > 0:
            learn_component(
                k, indptr, columns, mine, shares, n_own, explicit_from, low, high, before, posterior,
                slot_of, held, held_betas,
            )  # fmt: skip
    done_out[0] = True
