"""Compiled loops over the rows of clusters."""

from sparsemix.numeric.jit import kernel


@kernel
def add_rows(
    indptr,  # IN  rows as CSR
    columns,
    values,
    bounds,  # IN  (n_clusters + 1,) int64 into `members`
    members,  # IN  (n_members,) int64
    weights,  # IN  (n_members,) float64
    place,  # work (n_features,) int64 of -1
    n_entries_out,  # OUT (n_clusters,) int64
    columns_out,  # OUT (room,) int32
    sums_out,  # OUT (room,) float64
):
    """Add up the rows of each cluster; columns come in the order in which they are met."""
    end = 0
    for k in range(bounds.shape[0] - 1):
        start = end
        for j in range(bounds[k], bounds[k + 1]):
            for e in range(indptr[members[j]], indptr[members[j] + 1]):
                at = place[columns[e]]
                if at < 0:
                    at = end
                    place[columns[e]] = at
                    columns_out[at] = columns[e]
                    sums_out[at] = 0.0
                    end += 1
                sums_out[at] += weights[j] * values[e]
        for at in range(start, end):
            place[columns_out[at]] = -1
        n_entries_out[k] = end - start


@kernel
def add_products(
    indptr,  # IN  rows as CSR
    columns,
    values,
    first,
    last,  # rows `first` to ``last - 1``
    other_indptr,  # IN  the others as CSC
    others,
    other_values,
    products_out,  # IN/OUT (n_rows, n_others) float64
):
    """Inner products of rows with other rows, feature by feature in the order of the former."""
    for i in range(first, last):
        own = products_out[i]
        for e in range(indptr[i], indptr[i + 1]):
            for at in range(other_indptr[columns[e]], other_indptr[columns[e] + 1]):
                own[others[at]] += values[e] * other_values[at]


@kernel
def contrast_scores(
    indptr,  # IN  rows as CSR
    columns,
    values,
    order,  # IN  (n_ordered,) int64: rows sorted by cluster
    bounds,  # IN  (n_clusters + 1,) int64 into `order`
    side,  # IN  (n_rows,) bool: child that a row is in now
    weight_indptr,  # IN  pattern of the natural parameters of the children, CSR (2 n_clusters, n_features)
    weight_columns,
    weights,  # IN  (n_entries,) float64
    defaults,  # IN  (2 n_clusters,) float64: natural parameter of a feature without an entry
    constants,  # IN  (2 n_clusters,) float64
    own_weights,  # IN  the same three without the row that asks
    own_defaults,
    own_constants,
    contrast,  # work (2, n_features) float64 zeros
    score_out,  # OUT (n_rows,) float64: log odds of the second child against the first
):
    """Log odds of each row between the two children of its cluster, without the row's own vote.

    A rare feature of a row would else speak for whichever child the row happens to be in.
    """
    for k in range(bounds.shape[0] - 1):
        if bounds[k] == bounds[k + 1]:
            continue
        for child in range(2):
            c = 2 * k + child
            sign = 1.0 if child == 1 else -1.0
            for e in range(weight_indptr[c], weight_indptr[c + 1]):
                contrast[child, weight_columns[e]] += sign * (own_weights[e] - own_defaults[c])
                contrast[1 - child, weight_columns[e]] += sign * (weights[e] - defaults[c])
        for at in range(bounds[k], bounds[k + 1]):
            i = order[at]
            now = 1 if side[i] else 0
            mine, other = 2 * k + now, 2 * k + 1 - now
            default = own_defaults[mine] - defaults[other]
            total = own_constants[mine] - constants[other]
            if now == 0:
                default, total = -default, -total
            for e in range(indptr[i], indptr[i + 1]):
                total += values[e] * (default + contrast[now, columns[e]])
            score_out[i] = total
        for child in range(2):
            for e in range(weight_indptr[2 * k + child], weight_indptr[2 * k + child + 1]):
                contrast[0, weight_columns[e]] = 0.0
                contrast[1, weight_columns[e]] = 0.0
