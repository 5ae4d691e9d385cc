"""Compiled stream: rows come, one after another, and clusters end when their history weighs next to nothing.

A row is scored by the lists of its features, as in `row_kernels`; here counts may be fractions, and cells are linked,
so that a cluster that ends takes its cells with it and lists hold live clusters only.
"""

import math

from sparsemix.models.time_sensitive.state import MULTINOMIAL
from sparsemix.models.time_sensitive.stream_state import EXPIRED, SOFT
from sparsemix.numeric.jit import borrowing_kernel, inner_kernel
from sparsemix.probability.gamma_ratios import log_rising

FEW = 16  # up to so many tokens of a feature their logarithms are added; beyond, log gamma is asked
SLACK = 1e-9  # relative, for the rounding of bounds
LEAST_SHARE = 1e-3  # of a row; clusters with less learn nothing from it


@inner_kernel
def log_tokens(a, count, added):
    """Log of the rising factorial of a + count, with `added` factors."""
    if added > FEW:
        return log_rising(a + count, added)
    total = 0.0
    for token in range(int(added)):
        total += math.log(a + count + token)
    return total


@inner_kernel
def log_of_sums(rules, size, total, off, n_held, length):
    """What the predictive owes to the sums of cluster and row."""
    if rules.family == MULTINOMIAL:
        return -log_rising(rules.a * rules.n_features + total, length)
    of_others = (rules.n_features - n_held - length) * math.log(rules.b + size)
    return off + of_others - rules.n_features * math.log(rules.a + rules.b + size)


@inner_kernel
def gather(rows, row, rules, clusters, cells):
    """Add to `gain` what the row's features say for each cluster, beside one without them; returns the rest."""
    rest = 0.0
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        added = rows.counts[at]
        without = log_tokens(rules.a, 0.0, added)
        rest += without
        cell = cells.first[rows.columns[at]] - 1
        while cell >= 0:
            slot, count = cells.slot[cell], cells.counts[cell]
            gained = (cells.log_counts[cell] if added == 1.0 else log_tokens(rules.a, count, added)) - without
            if rules.family != MULTINOMIAL:
                size = clusters.sizes[slot]
                gained += math.log(rules.b + size) - math.log(rules.b + max(size - count, 0.0))
            clusters.gain[slot] += gained
            cell = cells.after[cell]
    return rest


@inner_kernel
def sums_of(rules, clusters, slot, length):
    """The same for a live cluster."""
    size, total, off = clusters.sizes[slot], clusters.totals[slot], clusters.off[slot]
    return log_of_sums(rules, size, total, off, clusters.n_held[slot], length)


@inner_kernel
def score_words(rows, row, rules, clusters, cells):
    """Log predictive of each live cluster, in the order of the ids, and of a new one, into `scores`; how many."""
    n, length = clusters.numbers[0], rows.lengths[row]
    rest = gather(rows, row, rules, clusters, cells)
    for at in range(n):
        slot = clusters.active[at]
        clusters.scores[at] = rest + clusters.gain[slot] + sums_of(rules, clusters, slot, length)
        clusters.gain[slot] = 0.0
    clusters.scores[n] = rest + log_of_sums(rules, 0.0, 0.0, 0.0, 0, length)
    return n + 1


@inner_kernel
def score_at(rows, row, rules, clusters, cells, time):
    """Log prior weights at a time into `factors`, and with the predictives into `scores`; how many candidates."""
    n = score_words(rows, row, rules, clusters, cells)
    for at in range(n - 1):
        slot = clusters.active[at]
        clusters.factors[at] = clusters.log_weight[slot] - rules.rate * (time - clusters.last[slot])
        clusters.scores[at] += clusters.factors[at]
    clusters.factors[n - 1] = math.log(rules.concentration)
    clusters.scores[n - 1] += clusters.factors[n - 1]
    return n


@inner_kernel
def best_of(scores, n):
    """First of the highest."""
    best = 0
    for at in range(1, n):
        if scores[at] > scores[best]:
            best = at
    return best


@inner_kernel
def most_probable(rows, row, rules, clusters, cells, time):
    """First of the candidates with the highest score.

    A rising factorial of S with L factors is at least S ** L, which bounds the scores of multinomial rows from above;
    only clusters whose bound reaches the highest score so far are looked at closely.
    """
    n, length = clusters.numbers[0], rows.lengths[row]
    rest, bounds = gather(rows, row, rules, clusters, cells), clusters.scores
    for at in range(n):
        slot = clusters.active[at]
        factor = clusters.log_weight[slot] - rules.rate * (time - clusters.last[slot])
        clusters.factors[at] = factor + rest + clusters.gain[slot]
        bounds[at] = clusters.factors[at] - length * clusters.log_total[slot]
        clusters.gain[slot] = 0.0
    nearest = best_of(bounds, n)
    best, top = n, math.log(rules.concentration) + rest + log_of_sums(rules, 0.0, 0.0, 0.0, 0, length)
    for number in range(-1, n):
        at = nearest if number < 0 else number
        if at == n or (rules.family == MULTINOMIAL and bounds[at] + SLACK * (1.0 + abs(bounds[at])) < top):
            continue
        score = clusters.factors[at] + sums_of(rules, clusters, clusters.active[at], length)
        if score > top or (score == top and at < best):
            best, top = at, score
    return best


@inner_kernel
def new_cell(clusters, cells, feature, slot):
    """Link an unused cell into both its lists, in front."""
    cell = cells.numbers[0]
    cells.numbers[0] = cells.after[cell]
    cells.numbers[1] -= 1
    cells.slot[cell], cells.feature[cell], cells.counts[cell] = slot, feature, 0.0
    follower, own_follower = cells.first[feature] - 1, clusters.own[slot]
    cells.before[cell], cells.after[cell] = -1, follower
    cells.own_before[cell], cells.own_after[cell] = -1, own_follower
    if follower >= 0:
        cells.before[follower] = cell
    if own_follower >= 0:
        cells.own_before[own_follower] = cell
    cells.first[feature], clusters.own[slot] = cell + 1, cell
    clusters.n_held[slot] += 1
    return cell


@inner_kernel
def drop_cell(clusters, cells, cell):
    """Take a cell out of both its lists."""
    before, after = cells.before[cell], cells.after[cell]
    own_before, own_after = cells.own_before[cell], cells.own_after[cell]
    if before >= 0:
        cells.after[before] = after
    else:
        cells.first[cells.feature[cell]] = after + 1
    if after >= 0:
        cells.before[after] = before
    if own_before >= 0:
        cells.own_after[own_before] = own_after
    else:
        clusters.own[cells.slot[cell]] = own_after
    if own_after >= 0:
        cells.own_before[own_after] = own_before
    clusters.n_held[cells.slot[cell]] -= 1
    cells.after[cell] = cells.numbers[0]
    cells.numbers[0] = cell
    cells.numbers[1] += 1


@inner_kernel
def change_row(rows, row, rules, clusters, cells, slot, share):
    """Add a share of a row to what a cluster holds; -1 takes a whole row away."""
    clusters.sizes[slot] += share
    clusters.totals[slot] += share * rows.lengths[row]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        cell = cells.first[rows.columns[at]] - 1
        while cell >= 0 and cells.slot[cell] != slot:
            cell = cells.after[cell]
        if cell < 0:
            cell = new_cell(clusters, cells, rows.columns[at], slot)
        cells.counts[cell] += share * rows.counts[at]
        if cells.counts[cell] <= 0.0:
            drop_cell(clusters, cells, cell)
        else:
            cells.log_counts[cell] = math.log(rules.a + cells.counts[cell])
    renew_total(rules, clusters, slot)
    if rules.family != MULTINOMIAL:
        sum_off(rules, clusters, cells, slot)


@inner_kernel
def renew_total(rules, clusters, slot):
    """Log of the sum of a cluster's smoothed counts."""
    clusters.log_total[slot] = math.log(rules.a * rules.n_features + clusters.totals[slot])


@borrowing_kernel
def sum_off(rules, clusters, cells, slot):
    """Sum of log(b + size - n_w) over the features that a cluster holds; O(those)."""
    total, cell = 0.0, clusters.own[slot]
    while cell >= 0:
        total += math.log(rules.b + max(clusters.sizes[slot] - cells.counts[cell], 0.0))
        cell = cells.own_after[cell]
    clusters.off[slot] = total


@borrowing_kernel
def open_cluster(clusters, time):
    """Begin a cluster, with the next id and without rows; returns its slot."""
    n_active, n_free = clusters.numbers[0], clusters.numbers[1] - 1
    slot = clusters.free[n_free]
    clusters.ids[slot] = clusters.numbers[2]
    clusters.born[slot], clusters.last[slot], clusters.base_time[slot] = time, time, time
    clusters.sizes[slot], clusters.totals[slot], clusters.off[slot] = 0.0, 0.0, 0.0
    clusters.weight[slot], clusters.base[slot], clusters.log_weight[slot] = 0.0, 0.0, -math.inf
    clusters.n_held[slot], clusters.in_window[slot], clusters.own[slot] = 0, 0, -1
    clusters.active[n_active] = slot
    clusters.numbers[0] = n_active + 1
    clusters.numbers[1] = n_free
    clusters.numbers[2] += 1
    return slot


@inner_kernel
def end_cluster(clusters, cells, slot, reason, ended):
    """Give back slot and cells of a cluster, and note its end; it is still to be taken off `active`."""
    while clusters.own[slot] >= 0:
        drop_cell(clusters, cells, clusters.own[slot])
    line = ended.table[ended.n[0]]
    line[0], line[1], line[2] = clusters.ids[slot], clusters.born[slot], clusters.last[slot]
    line[3], line[4] = clusters.sizes[slot], reason
    ended.n[0] += 1
    clusters.free[clusters.numbers[1]] = slot
    clusters.numbers[1] += 1


@inner_kernel
def expire(rules, clusters, cells, time, ended):
    """End the clusters whose history weighs next to nothing at a time."""
    n_kept = 0
    for at in range(clusters.numbers[0]):
        slot = clusters.active[at]
        log_weight = clusters.log_weight[slot] - rules.rate * (time - clusters.last[slot])
        if log_weight < rules.log_least and clusters.in_window[slot] == 0:
            end_cluster(clusters, cells, slot, EXPIRED, ended)
        else:
            clusters.active[n_kept] = slot
            n_kept += 1
    clusters.numbers[0] = n_kept


@borrowing_kernel
def learn(rows, row, rules, clusters, cells, slot, share):
    """A share of a row joins a cluster as its last."""
    time = rows.times[row]
    decay = math.exp(-rules.rate * (time - clusters.last[slot]))
    clusters.weight[slot] = clusters.weight[slot] * decay + share
    clusters.log_weight[slot] = math.log(clusters.weight[slot])
    clusters.last[slot] = time
    change_row(rows, row, rules, clusters, cells, slot, share)


@inner_kernel
def shares_of(scores, n, best):
    """Turn scores into shares of a row, and drop those that are next to nothing, and a new cluster unless best."""
    top, total = scores[best], 0.0
    for at in range(n):
        scores[at] = math.exp(scores[at] - top)
        total += scores[at]
    kept = 0.0
    for at in range(n):
        if at != best and (scores[at] < LEAST_SHARE * total or at == n - 1):
            scores[at] = 0.0
        kept += scores[at]
    for at in range(n):
        scores[at] /= kept


@inner_kernel
def learn_in_shares(rows, row, rules, clusters, cells):
    """A row joins several clusters in parts; returns the place of the most probable."""
    n = score_at(rows, row, rules, clusters, cells, rows.times[row])
    best = best_of(clusters.scores, n)
    shares_of(clusters.scores, n, best)
    if best == n - 1:
        open_cluster(clusters, rows.times[row])
    for at in range(clusters.numbers[0]):
        if clusters.scores[at] > 0.0:
            learn(rows, row, rules, clusters, cells, clusters.active[at], clusters.scores[at])
    return best


@inner_kernel
def has_room(rows, row, clusters, cells, ended, is_soft):
    """Whether there are slots, cells and lines enough for whatever the row does."""
    n_active = clusters.numbers[0]
    n_learners = min(n_active, int(1.0 / LEAST_SHARE)) + 1 if is_soft else 1
    needed = n_learners * (rows.indptr[row + 1] - rows.indptr[row])
    has_lines = ended.n[0] + n_active <= ended.table.shape[0]
    return clusters.numbers[1] > 0 and cells.numbers[1] >= needed and has_lines


@borrowing_kernel
def learn_rows(
    rows,
    row,  # the first to learn
    end,
    rules,
    clusters,  # IN, OUT
    cells,  # IN, OUT
    slots_out,  # OUT (n_rows,) int64
    ids_out,  # OUT (n_rows,) int64
    ended,  # OUT
):
    """Learn rows one after another; returns the first for which there is no room, or `end`.

    A row costs O(live clusters + cells in the lists of its features).
    """
    while row < end and has_room(rows, row, clusters, cells, ended, rules.assignment == SOFT):
        time = rows.times[row]
        expire(rules, clusters, cells, time, ended)
        if rules.assignment == SOFT:
            best = learn_in_shares(rows, row, rules, clusters, cells)
        else:
            best = most_probable(rows, row, rules, clusters, cells, time)
            if best == clusters.numbers[0]:
                open_cluster(clusters, time)
            learn(rows, row, rules, clusters, cells, clusters.active[best], 1.0)
        slot = clusters.active[best]
        clusters.in_window[slot] += rules.is_held
        slots_out[row], ids_out[row] = slot, clusters.ids[slot]
        row += 1
    return row


@borrowing_kernel
def ask_rows(
    rows,
    rules,
    clusters,  # IN; its scratch is written
    cells,
    scores_out,  # OUT (n_rows, n_live + 1) float64; the last is a new cluster
    log_weight_out,  # OUT (n_rows,) float64: log of the sum of the prior weights
):
    """Log prior weight plus log predictive of the live clusters at the times of rows that are not learnt."""
    for row in range(log_weight_out.shape[0]):
        n = score_at(rows, row, rules, clusters, cells, rows.times[row])
        top = clusters.factors[best_of(clusters.factors, n)]
        total = 0.0
        for at in range(n):
            scores_out[row, at] = clusters.scores[at]
            total += math.exp(clusters.factors[at] - top)
        log_weight_out[row] = top + math.log(total)


@borrowing_kernel
def list_cells(
    clusters,
    cells,
    indptr_out,  # OUT (n_live + 1,) int64
    columns_out,  # OUT (n_cells,) int64, those of a cluster as they are linked
    counts_out,  # OUT (n_cells,) float64
):
    """What the live clusters hold, in the order of their ids."""
    n, indptr_out[0] = 0, 0
    for at in range(clusters.numbers[0]):
        cell = clusters.own[clusters.active[at]]
        while cell >= 0:
            columns_out[n], counts_out[n] = cells.feature[cell], cells.counts[cell]
            n += 1
            cell = cells.own_after[cell]
        indptr_out[at + 1] = n


@borrowing_kernel
def fill_cells(
    rules,
    clusters,  # IN, OUT
    cells,  # IN, OUT
    indptr,  # IN  as `list_cells` tells them
    columns,
    counts,
):
    """Give live clusters what they hold, linked in the same order."""
    for at in range(clusters.numbers[0]):
        for entry in range(indptr[at + 1] - 1, indptr[at] - 1, -1):
            cell = new_cell(clusters, cells, columns[entry], clusters.active[at])
            cells.counts[cell] = counts[entry]
            cells.log_counts[cell] = math.log(rules.a + counts[entry])
    renew_totals(rules, clusters)


@borrowing_kernel
def renew_totals(rules, clusters):
    """The logs of all sums, when the number of features has changed."""
    for at in range(clusters.numbers[0]):
        renew_total(rules, clusters, clusters.active[at])
