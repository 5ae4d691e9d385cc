"""Compiled loops over draws of partitions.

Draws lie row by row, `draws` (n_rows, n_draws) int32; labels of a draw are 0, 1, ... without gaps. Every model of
partitions asks for one that stands for all draws: what is compiled for that has plain loops, and is handed its scratch,
for making arrays and running over them takes long to compile.
"""

import numpy as np

from sparsemix.numeric.jit import borrowing_kernel, kernel


@kernel
def count_shared(
    row,
    draws,  # IN
    bounds,  # IN  (n_draws, most_clusters + 1) int64: where each cluster begins in `members`
    members,  # IN  (n_draws, n_rows) int32: rows by cluster, ascending within one
    shared,  # OUT (n_rows,) int32, zeros on entry: in how many draws a later row is with `row`
    met_out,  # OUT (n_rows,) int32: the later rows that ever are
):
    """Find the rows after `row` that share a cluster with it; returns their number."""
    n_met = 0
    for d in range(draws.shape[1]):
        first, at = bounds[d, draws[row, d]], bounds[d, draws[row, d] + 1] - 1
        while at >= first and members[d, at] > row:
            other = members[d, at]
            if shared[other] == 0:
                met_out[n_met] = other
                n_met += 1
            shared[other] += 1
            at -= 1
    return n_met


@kernel
def count_pairs(
    draws,  # IN
    bounds,  # IN  as in `count_shared`
    members,  # IN
    fewest,  # IN  int: pairs that share a cluster in fewer draws do not count
    most_pairs,  # IN  int: stop above
    row_sizes_out,  # OUT (n_rows,) int64, zeros on entry: partners of each row
):
    """Count the pairs that share a cluster in at least `fewest` draws, up to the first above `most_pairs`."""
    n_rows = draws.shape[0]
    shared, met = np.zeros(n_rows, np.int32), np.empty(n_rows, np.int32)
    n_pairs = 0
    for row in range(n_rows):
        for other in met[: count_shared(row, draws, bounds, members, shared, met)]:
            if shared[other] >= fewest:
                row_sizes_out[row] += 1
                row_sizes_out[other] += 1
                n_pairs += 1
            shared[other] = 0
        if n_pairs > most_pairs:
            break
    return n_pairs


@kernel
def fill_pairs(
    draws,  # IN
    bounds,  # IN  as in `count_shared`
    members,  # IN
    fewest,  # IN  int
    cursors,  # IN/OUT (n_rows,) int64: where each row begins on entry, where it ends on return
    columns_out,  # OUT (n_entries,) int32: the rows that share a cluster with each row, itself too, ascending
    shared_out,  # OUT (n_entries,) float64: in how many draws
):
    """Write the numbers of draws as CSR: each row gets the earlier rows from them, then itself and the later ones."""
    n_rows, n_draws = draws.shape
    shared, met = np.zeros(n_rows, np.int32), np.empty(n_rows, np.int32)
    for row in range(n_rows):
        columns_out[cursors[row]], shared_out[cursors[row]] = row, n_draws
        cursors[row] += 1
        for other in np.sort(met[: count_shared(row, draws, bounds, members, shared, met)]):
            if shared[other] >= fewest:
                columns_out[cursors[row]], shared_out[cursors[row]] = other, shared[other]
                columns_out[cursors[other]], shared_out[cursors[other]] = row, shared[other]
                cursors[row] += 1
                cursors[other] += 1
            shared[other] = 0


@borrowing_kernel
def joint_terms(
    members,  # IN  (n_rows,) int64: rows sorted by their cluster
    bounds,  # IN  (n_clusters + 1,) int64: where each cluster begins in `members`
    codes,  # IN  (n_draws, n_rows) int32: `draws`, draw by draw, for each is read out of order
    weights,  # IN  (n_rows,) int64: how many rows each stands for
    x_log_x,  # IN  (total weight + 1,) float64: x log x
    counts,  # scratch (n_rows,) int64, zeros before and after
    cells,  # scratch (n_rows,) int32
):
    """Sum of n log n over the cells of the contingency tables of one partition with all draws."""
    n_draws, n_rows = codes.shape
    total = 0.0
    for d in range(n_draws):
        for at in range(n_rows):
            cells[at] = codes[d, members[at]]
        for k in range(bounds.shape[0] - 1):
            for at in range(bounds[k], bounds[k + 1]):
                counts[cells[at]] += weights[members[at]]
            for at in range(bounds[k], bounds[k + 1]):
                total += x_log_x[counts[cells[at]]]
                counts[cells[at]] = 0
    return total


@borrowing_kernel
def fill_cells(
    order,  # IN  (n_rows,) int64: rows sorted by their cluster
    clusters,  # IN  (n_rows,) int32: cluster of each row
    draws,  # IN
    weights,  # IN  (n_rows,) int64
    starts,  # IN  (n_draws, most_clusters + 1) int64: where the cells of each cluster of a draw begin
    n_cells_out,  # OUT (n_draws, most_clusters) int32, zeros on entry: how many cells each has
    cell_clusters_out,  # OUT (n_draws * n_rows,) int32: the cluster of each cell
    cell_counts_out,  # OUT (n_draws * n_rows,) int32: rows in it
):
    """Write the contingency tables of a partition with all draws: for each cluster of a draw, what meets it."""
    for i in range(order.shape[0]):
        row = order[i]
        for d in range(draws.shape[1]):
            own = draws[row, d]
            last = starts[d, own] + n_cells_out[d, own] - 1
            if n_cells_out[d, own] == 0 or cell_clusters_out[last] != clusters[row]:
                last += 1
                n_cells_out[d, own] += 1
                cell_clusters_out[last] = clusters[row]
                cell_counts_out[last] = 0
            cell_counts_out[last] += weights[row]


@borrowing_kernel
def move_row(
    row,
    source,
    target,
    draws,  # IN
    weight,
    starts,  # IN  as in `fill_cells`
    n_cells,  # IN/OUT
    cell_clusters,  # IN/OUT
    cell_counts,  # IN/OUT
):
    """Take a row out of one cluster into another in all contingency tables; cells of nothing go."""
    for d in range(draws.shape[1]):
        own = draws[row, d]
        first, last = starts[d, own], starts[d, own] + n_cells[d, own] - 1
        at = first
        while cell_clusters[at] != source:
            at += 1
        cell_counts[at] -= weight
        if cell_counts[at] == 0:
            cell_clusters[at], cell_counts[at] = cell_clusters[last], cell_counts[last]
            last -= 1
        at = first
        while at <= last and cell_clusters[at] != target:
            at += 1
        if at > last:
            last += 1
            cell_clusters[last], cell_counts[last] = target, 0
        cell_counts[at] += weight
        n_cells[d, own] = last - first + 1


@borrowing_kernel
def sweep(
    order,  # IN  (n_rows,) int64: in which order rows are asked
    draws,  # IN
    weights,  # IN  (n_rows,) int64
    x_log_x,  # IN  (total weight + 1,) float64
    tolerance,  # IN  float: smaller gains are rounding
    starts,  # IN  as in `fill_cells`
    n_cells,  # IN/OUT
    cell_clusters,  # IN/OUT
    cell_counts,  # IN/OUT
    sizes,  # IN/OUT (n_rows,) int64: rows in each cluster, 0 where a label is free
    clusters,  # IN/OUT (n_rows,) int32
    joint,  # scratch (n_rows,) float64, zeros before and after
    met,  # scratch (n_rows,) int32
    is_met,  # scratch (n_rows,) bool, false before and after
    free,  # scratch (n_rows,) int32
):
    """Move each row to where the expected variation of information falls most; returns how many have moved.

    Gains are measured as n_draws * total weight / 2 times that fall. A row that joins nothing gains 0.
    """
    n_rows, n_draws = draws.shape
    n_free, n_moves = 0, 0
    for k in range(n_rows):
        if sizes[k] == 0:
            free[n_free] = k
            n_free += 1
    for i in range(order.shape[0]):
        row = order[i]
        source, weight, n_met = clusters[row], weights[row], 0
        for d in range(n_draws):
            start = starts[d, draws[row, d]]
            for at in range(start, start + n_cells[d, draws[row, d]]):
                k = cell_clusters[at]
                if not is_met[k]:
                    is_met[k] = True
                    met[n_met] = k
                    n_met += 1
                others = cell_counts[at] - weight if k == source else cell_counts[at]
                joint[k] += x_log_x[others + weight] - x_log_x[others] - x_log_x[weight]
        others = sizes[source] - weight
        staying = joint[source] - 0.5 * n_draws * (
            x_log_x[others + weight] - x_log_x[others] - x_log_x[weight]
        )
        best, target = 0.0, -1
        for at in range(n_met):
            k = met[at]
            if k != source:
                gain = joint[k] - 0.5 * n_draws * (
                    x_log_x[sizes[k] + weight] - x_log_x[sizes[k]] - x_log_x[weight]
                )
                if gain > best:
                    best, target = gain, k
            joint[k] = 0.0
            is_met[k] = False
        if best <= staying + tolerance:
            continue
        if target < 0:
            n_free -= 1
            target = free[n_free]
        move_row(row, source, target, draws, weight, starts, n_cells, cell_clusters, cell_counts)
        sizes[source] -= weight
        sizes[target] += weight
        clusters[row] = target
        n_moves += 1
        if sizes[source] == 0:
            free[n_free] = source
            n_free += 1
    return n_moves
