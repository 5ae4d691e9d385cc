"""Compiled twins of `equations`: how well a row fits a cluster, and moving it from one to another.

Score of row x in cluster k, without the row: log predictive, up to what is the same for all k; with the log weight of
the cluster it is the target.
With n_w the cluster's count of feature w, N the sum of those, m its rows, and L the row's length:

    multinomial   sum_w ln G(a + n_w + x_w) - ln G(a + n_w)  -  ln G(a D + N + L) + ln G(a D + N)
    Poisson       the same sum  +  (a D + N) ln((b + m) / (b + m + 1)) - L ln(b + m + 1)
    Bernoulli     sum_{w on} ln (a + n_w) - ln (b + m - n_w)  +  sum_w ln(b + m - n_w)  -  D ln(a + b + m)

Only features that the row holds are looked at.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import change_list, count_of
from sparsemix.models.hashed_gibbs.state import BERNOULLI, ENTER, FINITE, LEAVE, MULTINOMIAL, NONE, POISSON
from sparsemix.numeric.jit import inner_inlined_kernel, inner_kernel, kernel, popcount
from sparsemix.probability.gamma_ratios import log_rising as log_gamma_ratio

FEW = 16  # up to so many tokens of a feature their logarithms are added; beyond, log gamma is asked


@inner_inlined_kernel
def log_plus(table, pseudo_count, count):
    """log(pseudo_count + count)."""
    if count < table.shape[0]:
        return table[count]
    return math.log(pseudo_count + count)


@inner_inlined_kernel
def log_rising(log_a, a, count, added):
    """Log of the rising factorial, ln G(a + count + added) - ln G(a + count)."""
    if added > FEW:
        return math.lgamma(a + count + added) - math.lgamma(a + count)
    total = 0.0
    for j in range(added):
        total += log_plus(log_a, a, count + j)
    return total


@inner_inlined_kernel
def log_weight(prior, size, n_empty, n_clusters):
    """Log of a cluster's prior weight for one more row; `n_empty` clusters have none."""
    if prior.process == FINITE:
        return math.log(size + prior.concentration)
    if size > 0:
        return math.log(size - prior.discount)
    return math.log((prior.concentration + prior.discount * (n_clusters - n_empty)) / n_empty)


@inner_inlined_kernel
def log_of_length(prior, size, total, length):
    """What the predictive owes to the sums of cluster and row, but for Bernoulli's sum over all features."""
    if prior.family == MULTINOMIAL:
        everything = prior.a * prior.n_features + total
        return -log_gamma_ratio(everything, length)
    if prior.family == BERNOULLI:
        return -prior.n_features * math.log(prior.a + prior.b + size)
    if prior.family == POISSON:
        rate = prior.b + size
        return (prior.a * prior.n_features + total) * math.log(rate / (rate + 1.0)) - length * math.log(
            rate + 1.0
        )
    return math.nan  # a family that nobody has written here


@inner_kernel
def off_sum(prior, clusters, cluster, size):
    """Sum over the features with n_w <= size of log(b + size - n_w), Bernoulli rows; O(n_features)."""
    if clusters.sizes[cluster] == 0:
        return prior.n_features * prior.log_b[0]
    total = 0.0
    for w in range(prior.n_features):
        count = count_of(clusters.mask[w], clusters.start[w], clusters.slots, clusters.cell_counts, cluster)
        if count <= size:
            total += log_plus(prior.log_b, prior.b, size - count)
    return total


@inner_inlined_kernel
def log_target(rows, row, prior, clusters, cluster, own):
    """Log full conditional of a row's cluster, up to a constant; the row is in cluster `own`, -1 for none.

    O(its features); where the cluster holds the row, that is left out.
    """
    is_own, length, n_empty = cluster == own, rows.lengths[row], clusters.n_empty[0]
    size = clusters.sizes[cluster] - (1 if is_own else 0)
    total = clusters.totals[cluster] - (length if is_own else 0)
    if own >= 0 and clusters.sizes[own] == 1:
        n_empty += 1
    weight = log_weight(prior, size, n_empty, clusters.sizes.shape[0])
    score = log_of_length(prior, size, total, length)
    if prior.family == BERNOULLI:
        score += clusters.off[cluster, 1 if is_own else 0]
    columns, counts, mask, start = rows.columns, rows.counts, clusters.mask, clusters.start
    slots, cell_counts = clusters.slots, clusters.cell_counts
    log_a, log_b, b = prior.log_a, prior.log_b, prior.b
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = columns[at], np.int64(counts[at])
        count = count_of(mask[w], start[w], slots, cell_counts, cluster) - (added if is_own else 0)
        if prior.family != BERNOULLI:
            score += log_rising(log_a, prior.a, count, added)
            continue
        score += log_plus(log_a, prior.a, count) - log_plus(log_b, b, size - count)
        if is_own:  # off[., 1] has the row's own counts in it
            score += log_plus(log_b, b, size - count)
            if count < size:
                score -= log_plus(log_b, b, size - count - 1)
    return weight + score


@inner_inlined_kernel
def constants(prior, size, total, off, out):
    """Parts of a score that do not depend on the row, but for its length L: ``out[0] + L out[1] + ...``.

    They are for proposals: the ratio of Gamma functions is a series in L / (a D + N), with the factors L (L - 1) / 2
    and L (L - 1) (2 L - 1) / 12.
    """
    if prior.family == MULTINOMIAL:
        everything = prior.a * prior.n_features + total
        out[0] = 0.0
        out[1] = -math.log(everything)
        out[2] = -1.0 / everything
        out[3] = 1.0 / (everything * everything)
    elif prior.family == BERNOULLI:
        out[0] = log_of_length(prior, size, total, NONE) + off
        out[1] = -math.log(prior.b + size)
        out[2] = 0.0
        out[3] = 0.0
    elif prior.family == POISSON:
        out[0] = log_of_length(prior, size, total, NONE)
        out[1] = -math.log(prior.b + size + 1.0)
        out[2] = 0.0
        out[3] = 0.0
    else:
        out[0] = math.nan
    if size > 0 or prior.process == FINITE:
        out[0] += log_weight(prior, size, NONE, NONE)


@inner_kernel
def renew(prior, clusters, cluster):
    """What is kept about a cluster whose rows have changed."""
    size = clusters.sizes[cluster]
    if prior.family == BERNOULLI:
        clusters.off[cluster, 0] = off_sum(prior, clusters, cluster, size)
        clusters.off[cluster, 1] = off_sum(prior, clusters, cluster, size - 1) if size > 0 else 0.0
    constant = clusters.constant[cluster]
    constants(prior, size, clusters.totals[cluster], clusters.off[cluster, 0], constant)
    for j in range(4):
        clusters.columns[j, cluster] = constant[j]


@inner_kernel
def renew_all(prior, clusters):
    """What is kept about all clusters."""
    for k in range(clusters.sizes.shape[0]):
        renew(prior, clusters, k)


@inner_inlined_kernel
def rise(prior, size, count, added):
    """What all tokens of a feature say for a cluster with `count` of it, beside one without."""
    if prior.family == BERNOULLI:
        off = log_plus(prior.log_b, prior.b, size) - log_plus(prior.log_b, prior.b, size - count)
        return log_plus(prior.log_a, prior.a, count) - prior.log_a[0] + off
    return log_rising(prior.log_a, prior.a, count, added) - log_rising(prior.log_a, prior.a, NONE, added)


@inner_inlined_kernel
def gain(prior, size, count, added):
    """The same in single precision."""
    return np.float32(rise(prior, size, count, added))


@inner_kernel
def take_out(clusters, cluster):
    """A cluster has no rows any more."""
    _swap(clusters, cluster, clusters.n_empty[0])
    clusters.n_empty[0] += 1


@inner_kernel
def take_in(clusters, cluster):
    """An empty cluster gets its first row."""
    clusters.n_empty[0] -= 1
    _swap(clusters, cluster, clusters.n_empty[0])


@inner_kernel
def _swap(clusters, cluster, place):
    other, was = clusters.empty[place], clusters.place[cluster]
    clusters.empty[place], clusters.empty[was] = cluster, other
    clusters.place[cluster], clusters.place[other] = place, was


@inner_inlined_kernel
def log_gain(rows, row, prior, clusters, own, new):
    """What a move would add to the log joint."""
    total = 0.0
    for step in range(2):
        target = log_target(rows, row, prior, clusters, own if step == 0 else new, own)
        total += -target if step == 0 else target
    return total


@inner_kernel
def add_row(rows, row, prior, clusters, cluster, sign):
    """Put a row into a cluster (`sign` 1), or take it out of it (-1)."""
    if sign > 0 and clusters.sizes[cluster] == 0:
        take_in(clusters, cluster)
    change_counts(rows, row, clusters, cluster, sign)
    if sign < 0 and clusters.sizes[cluster] == 0:
        take_out(clusters, cluster)
    renew(prior, clusters, cluster)


@inner_kernel
def change_counts(rows, row, clusters, cluster, sign):
    """Add a row to the sums of a cluster, or subtract it."""
    clusters.sizes[cluster] += sign
    clusters.totals[cluster] += sign * rows.lengths[row]
    columns, counts, mask, start = rows.columns, rows.counts, clusters.mask, clusters.start
    n_listed, slots, keys = clusters.n_listed, clusters.slots, clusters.keys
    cell_counts = clusters.cell_counts
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, change = columns[at], sign * np.int64(counts[at])
        if mask[w] < 0:
            cell_counts[start[w] + cluster] += change
        else:
            change_list(mask[w], start[w], n_listed, slots, keys, cell_counts, w, cluster, change)


@kernel
def add_rows(
    rows,
    prior,
    clusters,  # IN, OUT
    assigned,  # IN  (n_rows,) int64, -1 for none
):
    """Put rows into the clusters that they are assigned to, and renew what is kept about all clusters."""
    for row in range(assigned.shape[0]):
        k = assigned[row]
        if k >= 0:
            if clusters.sizes[k] == 0:
                take_in(clusters, k)
            change_counts(rows, row, clusters, k, ENTER)
    renew_all(prior, clusters)


@kernel
def follow(
    rows,
    prior,
    clusters,  # IN, OUT
    moved,  # IN  (n,) int64, rows
    before,  # IN  (n,) int64, the clusters that hold them
    assigned,  # IN  (n_rows,) int64, where they are to be
):
    """Move the rows whose cluster has changed."""
    for i in range(moved.shape[0]):
        row = moved[i]
        if assigned[row] != before[i]:
            add_row(rows, row, prior, clusters, before[i], LEAVE)
            add_row(rows, row, prior, clusters, assigned[row], ENTER)


@inner_kernel
def n_differing(bits, others):
    """How many bits of two signatures differ."""
    differing = 0
    for j in range(bits.shape[0]):
        differing += popcount(bits[j] ^ others[j])
    return differing
