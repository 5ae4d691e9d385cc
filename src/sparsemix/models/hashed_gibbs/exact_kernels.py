"""Compiled sweep of plain collapsed Gibbs sampling: every cluster is looked at for every row.

The clusters that hold a feature are added up feature by feature, in single precision; Metropolis-Hastings in double
precision makes the draw exact. Cost of a row: O(K + cells of its features).
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import ask_for, ask_for_cells, count_of
from sparsemix.models.hashed_gibbs.kernels import (
    add_row,
    add_tokens,
    constants,
    draw,
    gain,
    has_tokens,
    log_of_length,
    log_plus,
    log_target,
    log_weight,
)
from sparsemix.models.hashed_gibbs.state import BERNOULLI, MULTINOMIAL, PROCESS
from sparsemix.numeric.jit import inlined_kernel, kernel

FLOOR = (
    -40.0
)  # nats below the best cluster where proposals stop to fall, so that a row can leave the worst place, too
_SHORT = 0.2  # rows shorter than this part of a D have a series for the ratio of Gamma functions


@kernel
def sweep_exact(
    rows,
    prior,
    clusters,  # IN, OUT
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows
):
    """One draw for each row."""
    n_clusters = clusters.sizes.shape[0]
    held, scores = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    weights, above, scratch = np.empty(n_clusters), np.empty(n_clusters, np.int64), np.empty(4)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        ask_for(rows, clusters, order, i, assigned, 1 << 30)
        score_all(rows, row, prior, clusters, own, held, scores, scratch)
        new, top = draw(scores, FLOOR, uniforms[i, 0], weights, above)
        tally_out[2] += 1
        if new == own:
            continue
        tally_out[0] += 1
        ask_for_cells(rows, row, clusters, own)
        ask_for_cells(rows, row, clusters, new)
        log_ratio = max(scores[own] - top, FLOOR) - max(scores[new] - top, FLOOR)
        log_ratio += log_target(rows, row, prior, clusters, new, own)
        log_ratio -= log_target(rows, row, prior, clusters, own, own)
        if math.log(1.0 - uniforms[i, 1]) < log_ratio:
            tally_out[1] += 1
            add_row(rows, row, prior, clusters, own, -1)
            add_row(rows, row, prior, clusters, new, 1)
            assigned[row] = new


@kernel
def score_all(
    rows,
    row,
    prior,
    clusters,
    own,
    held_out,  # OUT  (K,) float32
    scores_out,  # OUT  (K,) float64
    scratch,  # OUT  (4,) float64
):
    """Scores of a row in all clusters, without the row; a function of the others alone."""
    held_out[:] = np.float32(0.0)
    columns, added_counts, mask, starts = rows.columns, rows.counts, clusters.mask, clusters.start
    n_listed, all_keys, all_gains, all_counts = (
        clusters.n_listed,
        clusters.keys,
        clusters.gains,
        clusters.cell_counts,
    )
    is_tabled = prior.is_tabled
    logs, sizes, held_by_own = prior.log_single, clusters.sizes, np.float32(0.0)
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = columns[at], np.int64(added_counts[at])
        first, is_list, is_by_token = np.uint64(starts[w]), mask[w] >= 0, has_tokens(prior, added)
        n_cells = np.int64(n_listed[w]) if is_list else held_out.shape[0]
        of_own = count_in(is_list, all_keys, all_counts, first, n_cells, own)
        if not is_by_token:
            _add_at_once(prior, sizes, all_keys, all_counts, first, n_cells, added, held_out)
        elif is_list:
            _add_list(all_keys, all_gains, first, n_cells, held_out)
            add_list_further(logs, prior.a, all_keys, all_counts, first, n_cells, added, held_out)
        else:
            for k in range(held_out.shape[0]):
                held_out[k] += all_gains[first + np.uint64(k)]
            for token in range(1, added):
                if is_tabled:
                    of_none = logs[token]
                    for k in range(held_out.shape[0]):
                        held_out[k] += logs[np.uint32(all_counts[first + np.uint64(k)] + token)] - of_none
                else:
                    add_far(logs, prior.a, all_counts, first, token, held_out)
        held_by_own = add_own(prior, sizes, own, of_own, added, held_by_own)
    score_lengths(prior, clusters, rows.lengths[row], held_out, scores_out)
    if own >= 0:
        constants_without(rows, row, prior, clusters, own, scratch)
        size, length = clusters.sizes[own] - 1, rows.lengths[row]
        total = clusters.totals[own] - length
        scores_out[own] = held_by_own + score_of_length(prior, scratch, size, total, length)
    if prior.process == PROCESS:
        weigh_empty(prior, clusters, own, scores_out)


@kernel
def score_lengths(prior, clusters, length, held, scores_out):
    """Add to what the features say what a score owes to the cluster and the row's length."""
    if has_series(prior, length):
        ones, pairs, squares = factors_of_length(length)
        constant = clusters.constant
        for k in range(held.shape[0]):
            scores_out[k] = held[k] + (
                constant[k, 0] + ones * constant[k, 1] + pairs * constant[k, 2] + squares * constant[k, 3]
            )
        return
    for k in range(held.shape[0]):
        scores_out[k] = held[k] + score_of_length(
            prior, clusters.constant[k], clusters.sizes[k], clusters.totals[k], length
        )


@kernel
def weigh_empty(prior, clusters, own, scores_out):
    """Give the clusters without rows their weight, which they share; the own one is without its row."""
    n_clusters, n_empty = clusters.sizes.shape[0], clusters.n_empty[0]
    is_alone = own >= 0 and clusters.sizes[own] == 1
    if n_empty == 0 and not is_alone:
        return
    weight = log_weight(prior, 0, n_empty + (1 if is_alone else 0), n_clusters)
    for j in range(n_empty):
        scores_out[clusters.empty[j]] += weight
    if is_alone:
        scores_out[own] += weight


@inlined_kernel
def add_own(prior, sizes, own, count, added, held):
    """Add to `held` what a feature says for the row's own cluster, whose count of it holds the row's."""
    if count > added and has_tokens(prior, added):
        return add_tokens(prior.log_single, prior.a, count - added, added, held)
    if count > added:
        return held + gain(prior, sizes[own] - 1, count - added, added)
    return held


@inlined_kernel
def count_in(is_list, keys, counts, first, n_cells, cluster):
    """Count of a cluster in so many cells from `first`, a list or one for each; zero if there is none."""
    if not is_list:
        return np.int64(counts[first + np.uint64(cluster)]) if cluster >= 0 else np.int64(0)
    count = np.int64(0)
    for j in range(n_cells):
        at = first + np.uint64(j)
        count += counts[at] * np.int32(keys[at] == cluster)
    return count


@inlined_kernel
def _add_list(keys, gains, first, n_cells, held_out):
    for j in range(n_cells):
        at = first + np.uint64(j)
        held_out[np.uint32(keys[at])] += gains[at]


@inlined_kernel
def add_list_further(logs, a, keys, counts, first, n_cells, added, held_out):
    """Add what the tokens of a feature after the first say for the clusters of its list."""
    for token in range(1, added):
        for j in range(n_cells):
            at = first + np.uint64(j)
            held_out[np.uint32(keys[at])] += further(logs, a, np.int64(counts[at]), token)


@inlined_kernel
def add_far(logs, a, counts, first, token, held_out):
    """Add what a further token of a feature says, where there is a cell for every cluster."""
    for k in range(held_out.shape[0]):
        held_out[k] += further(logs, a, np.int64(counts[first + np.uint64(k)]), token)


@inlined_kernel
def further(logs, a, count, token):
    """What a further token of a feature adds, as in `add_tokens`."""
    if count + token < logs.shape[0]:
        return logs[count + token] - logs[token]
    return np.float32(math.log(a + count + token)) - logs[token]


@kernel
def _add_at_once(prior, sizes, keys, counts, first, n_cells, added, held_out):
    for j in range(n_cells):
        at = first + np.uint64(j)
        if counts[at] > 0:
            k = np.int64(keys[at]) if keys[at] >= 0 else j
            held_out[k] += gain(prior, sizes[k], np.int64(counts[at]), added)


@kernel
def has_series(prior, length):
    """Whether a row is so short that the ratio of Gamma functions is a short series."""
    return prior.family != MULTINOMIAL or length <= _SHORT * prior.a * prior.n_features


@inlined_kernel
def factors_of_length(length):
    """Factors of the last three of a cluster's constants."""
    pairs = 0.5 * length * (length - 1.0)
    return np.float64(length), pairs, pairs * (2.0 * length - 1.0) / 6.0


@inlined_kernel
def score_of_length(prior, constant, size, total, length):
    """What a score owes to the cluster and the row's length."""
    if has_series(prior, length):
        ones, pairs, squares = factors_of_length(length)
        return constant[0] + ones * constant[1] + pairs * constant[2] + squares * constant[3]
    return constant[0] + log_of_length(prior, size, total, length)


@inlined_kernel
def constants_without(rows, row, prior, clusters, own, out):
    """Constants of a row's own cluster without the row."""
    size, total = clusters.sizes[own] - 1, clusters.totals[own] - rows.lengths[row]
    off = clusters.off[own, 1]
    if prior.family == BERNOULLI:
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            w = rows.columns[at]
            count = count_of(
                clusters.mask[w], clusters.start[w], clusters.slots, clusters.cell_counts, own
            ) - np.int64(rows.counts[at])
            off += log_plus(prior.log_b, prior.b, size - count)
            if count < size:
                off -= log_plus(prior.log_b, prior.b, size - count - 1)
    constants(prior, size, total, off, out)
