"""Compiled sweep of collapsed Gibbs sampling of real rows: every cluster is looked at for every row.

A visit takes the row out of its cluster, so that all scores are those without the row, and puts it back or elsewhere.
Sums are kept in twice double precision, and each sweep adds them up anew from the assignment.

Whether Gaussians have covariances tells the length of the tuple with their statistics. So it is known when a kernel is
compiled, and nothing of the other kind is compiled along with it.
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw, draw_softmax
from sparsemix.models.hashed_gibbs.exact_kernels import FLOOR
from sparsemix.models.hashed_gibbs.kernels import log_weight
from sparsemix.numeric.jit import inner_kernel, kernel
from sparsemix.probability import gaussian_diagonal_kernels as diagonal
from sparsemix.probability import gaussian_full_kernels as full

FULL = len(full.FullState._fields)


@inner_kernel
def add_row(statistics, n_empty, prior, row, cluster):
    """Put a row into a cluster; O(n_features), of full covariances O(n_features**2)."""
    if statistics.sizes[cluster] == 0.0:
        n_empty[0] -= 1
    if len(statistics) == FULL:
        full.add_row(statistics, prior, row, cluster)
    else:
        diagonal.add_row(statistics, prior, row, cluster)


@inner_kernel
def remove_row(statistics, n_empty, prior, row, cluster):
    """Take a row out of a cluster."""
    if len(statistics) == FULL:
        full.remove_row(statistics, prior, row, cluster)
    else:
        diagonal.remove_row(statistics, prior, row, cluster)
    if statistics.sizes[cluster] == 0.0:
        n_empty[0] += 1


@inner_kernel
def refresh(statistics, prior, cluster):
    """Renew what predictions need of a cluster from its sums."""
    if len(statistics) == FULL:
        full.refresh(statistics, prior, cluster)
    else:
        diagonal.refresh(statistics, prior, cluster)


@inner_kernel
def log_predictive(statistics, prior, row, scores_out):
    """Log density of a row in each cluster."""
    if len(statistics) == FULL:
        full.log_predictive(statistics, prior, row, scores_out)
    else:
        diagonal.log_predictive(statistics, prior, row, scores_out)


@inner_kernel
def log_predictive_in(statistics, prior, row, cluster, work_out):
    """Log density of a row in one cluster."""
    if len(statistics) == FULL:
        return full.log_predictive_in(statistics, prior, row, cluster, work_out)
    return diagonal.log_predictive_in(statistics, prior, row, cluster)


@kernel
def add_rows(
    rows,
    prior,
    clusters,  # IN, OUT
    assigned,  # IN  (n_rows,) int64, -1 for none
):
    """Put rows into the clusters that they are assigned to, and renew what predictions need of all clusters."""
    statistics = clusters.statistics
    for row in range(assigned.shape[0]):
        if assigned[row] >= 0:
            add_row(statistics, clusters.n_empty, prior.gaussian, rows[row], assigned[row])
    for k in range(clusters.sizes.shape[0]):
        refresh(statistics, prior.gaussian, k)


@inner_kernel
def log_target(
    rows,
    row,
    prior,
    clusters,
    cluster,
    work_out,  # OUT  (n_features,) float64
):
    """Log full conditional of a row's cluster, up to a constant; the row is in none."""
    weight = log_weight(
        prior.partition, clusters.sizes[cluster], clusters.n_empty[0], clusters.sizes.shape[0]
    )
    return weight + log_predictive_in(clusters.statistics, prior.gaussian, rows[row], cluster, work_out)


@inner_kernel
def score_all(
    rows,
    row,
    prior,
    clusters,
    scores_out,  # OUT  (K,) float64
):
    """Log full conditional of all clusters; the row is in none."""
    log_predictive(clusters.statistics, prior.gaussian, rows[row], scores_out)
    add_log_weights(prior.partition, clusters.sizes, clusters.n_empty[0], scores_out)


@inner_kernel
def add_log_weights(
    partition,
    sizes,  # IN  (K,) float64
    n_empty,  # IN  int64
    scores_out,  # IN, OUT  (K,) float64
):
    """Add the log weights of the clusters for one more row."""
    n_clusters = sizes.shape[0]
    for k in range(n_clusters):
        scores_out[k] += log_weight(partition, sizes[k], n_empty, n_clusters)


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
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    scores = np.empty(n_clusters)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        remove_row(clusters.statistics, clusters.n_empty, prior.gaussian, rows[row], own)
        score_all(rows, row, prior, clusters, scores)
        new = draw(scores, FLOOR, uniforms[i, 0], weights, sums)
        log_ratio = math.log(weights[own] / weights[new])
        log_ratio += scores[new] - scores[own]
        assigned[row] = settle(own, new, log_ratio, uniforms[i, 1], tally_out)
        add_row(clusters.statistics, clusters.n_empty, prior.gaussian, rows[row], assigned[row])


@inner_kernel
def settle(own, new, log_ratio, uniform, tally_out):
    """The cluster in which a row ends that has been in `own`, when `new` is proposed."""
    tally_out[2] += 1
    if new == own:
        return own
    tally_out[0] += 1
    if math.log(1.0 - uniform) < log_ratio:
        tally_out[1] += 1
        return new
    return own


@kernel
def enter_rows(
    rows,
    prior,
    clusters,  # IN, OUT
    order,  # IN  (n,) int64, rows that enter
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n,) float64
):
    """Let rows enter one after another, each drawn from its full conditional given all before it.

    A new cluster is the first without rows.
    """
    scores = np.empty(clusters.sizes.shape[0])
    for i in range(order.shape[0]):
        row = order[i]
        score_all(rows, row, prior, clusters, scores)
        k = draw_softmax(scores, uniforms[i])
        if clusters.sizes[k] == 0.0:
            k = _first_empty(clusters.sizes)
        assigned[row] = k
        add_row(clusters.statistics, clusters.n_empty, prior.gaussian, rows[row], k)


@inner_kernel
def _first_empty(sizes):
    for k in range(sizes.shape[0]):
        if sizes[k] == 0.0:
            return k
    return -1


@kernel
def score_new_rows(
    rows,
    first,  # IN  int64
    last,  # IN  int64
    prior,
    clusters,
    scores_out,  # OUT  (last - first, K) float64
):
    """Log weight and log predictive of every cluster, for rows that are not among those learnt."""
    for row in range(first, last):
        score_all(rows, row, prior, clusters, scores_out[row - first])
