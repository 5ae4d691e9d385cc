"""Compiled statistics and predictives of clusters of real rows with a Gaussian of full covariance.

With the prior's strength `kappa`, mean `m`, degrees of freedom `nu` and scale `P`, a cluster of `n` rows with mean `y`
and scatter `S` has the posterior

    kappa_n = kappa + n        m_n = (kappa m + n y) / kappa_n
    nu_n = nu + n              P_n = P + S + (kappa n / kappa_n) (y - m) (y - m)^T

and its next row is distributed as Student's t in `d` dimensions with ``f = nu_n - d + 1`` degrees of freedom around
`m_n`, with the scale matrix ``P_n (kappa_n + 1) / (kappa_n f)``. The factor of `P_n` changes by one row at a time,

    P_{n+1} = P_n + kappa_n / (kappa_n + 1) (x - m_n) (x - m_n)^T

and is computed anew from the sums after `FACTORISE_AFTER` changes, or when a row that leaves takes most of it along.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.jit import borrowing_kernel, kernel
from sparsemix.probability.cholesky_kernels import downdate, factorise, squared_distance, update
from sparsemix.probability.exact_sums import add_to
from sparsemix.probability.gamma_ratios import log_rising

FloatArray = NDArray[np.float64]
IntVector = NDArray[np.int64]

FACTORISE_AFTER = 64
"""Changes by which a factorisation costs little beside them, and errors are still near rounding."""

LEAST_KEPT = 0.01
"""Share of the determinant that must be left for a factor to follow: a row that leaves costs two digits at most."""


class NormalWishartPrior(NamedTuple):
    """Normal-inverse-Wishart prior of mean and covariance, as `normal_wishart_prior` builds it.

    mean : (n_features,) where the mean is expected.
    strength : pseudo-count of rows that say so.
    degrees : pseudo-count of rows that say how rows spread, above ``n_features - 1``.
    scale : (n_features, n_features) their scatter, ``degrees - n_features - 1`` times the expected covariance.
    factor : (n_features, n_features) lower Cholesky factor of `scale`.
    """

    mean: FloatArray
    strength: float
    degrees: float
    scale: FloatArray
    factor: FloatArray


class FullState(NamedTuple):
    """Clusters of real rows: statistics that rows are added to and removed from, and what predictions need of them.

    shift : (n_features,) point from which sums are taken, so that they do not cancel, such as the mean of the data.
    sizes : (n_clusters,) rows.
    sums, sums_low : (n_clusters, n_features) sums of ``row - shift``, as two numbers, see `exact_sums`.
    products, products_low : (n_clusters, n_features, n_features) sums of the products of its entries, lower triangles.
    means : (n_clusters, n_features) posterior means minus shift, m_n.
    factors : (n_clusters, n_features, n_features) lower Cholesky factors of the posterior scales P_n.
    changes : (n_clusters,) rows that each factor has followed since it was computed.
    constants : (n_clusters,) log predictive of a row at the posterior mean.
    """

    shift: FloatArray
    sizes: FloatArray
    sums: FloatArray
    sums_low: FloatArray
    products: FloatArray
    products_low: FloatArray
    means: FloatArray
    factors: FloatArray
    changes: IntVector
    constants: FloatArray


@kernel
def add_row(
    state: FullState,  # IN/OUT
    prior: NormalWishartPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    cluster: int,
) -> None:
    """Add a row to a cluster. O(n_features**2), now and then O(n_features**3)."""
    step = np.empty(row.shape[0])
    _find_step(state, prior, row, cluster, step)
    _change(state, row, cluster, 1.0)
    _renew_mean(state, prior, cluster)
    if state.changes[cluster] < FACTORISE_AFTER:
        update(state.factors[cluster], step)
        state.changes[cluster] += 1
        _renew_constant(state, prior, cluster)
    else:
        refresh(state, prior, cluster)


@kernel
def remove_row(
    state: FullState,  # IN/OUT
    prior: NormalWishartPrior,  # IN
    row: FloatArray,  # IN  (n_features,), one that the cluster holds
    cluster: int,
) -> None:
    """Remove a row from a cluster; one that is empty then has the prior again, to the last bit.

    O(n_features**2), now and then O(n_features**3).
    """
    _change(state, row, cluster, -1.0)
    if state.sizes[cluster] == 0.0:
        _clear(state, cluster)
        refresh(state, prior, cluster)
        return
    _renew_mean(state, prior, cluster)
    step = np.empty(row.shape[0])
    _find_step(state, prior, row, cluster, step)
    follows = state.changes[cluster] < FACTORISE_AFTER
    if follows and downdate(state.factors[cluster], step, LEAST_KEPT):
        state.changes[cluster] += 1
        _renew_constant(state, prior, cluster)
    else:
        refresh(state, prior, cluster)


@borrowing_kernel
def _find_step(
    state: FullState,
    prior: NormalWishartPrior,
    row: FloatArray,
    cluster: int,
    step_out: FloatArray,  # OUT (n_features,)
) -> None:
    """Find the vector whose product with itself is the change of P_n between the cluster without and with the row."""
    strength = prior.strength + state.sizes[cluster]
    factor = math.sqrt(strength / (strength + 1.0))
    for j in range(row.shape[0]):
        step_out[j] = factor * (row[j] - state.shift[j] - state.means[cluster, j])


@borrowing_kernel
def _clear(state: FullState, cluster: int) -> None:
    """Set the sums to zero; by loops, for assignments to parts of arrays take long to compile."""
    for j in range(state.shift.shape[0]):
        state.sums[cluster, j] = state.sums_low[cluster, j] = 0.0
        for i in range(j + 1):
            state.products[cluster, j, i] = state.products_low[cluster, j, i] = 0.0


@borrowing_kernel
def _change(state: FullState, row: FloatArray, cluster: int, sign: float) -> None:
    """Add the row `sign` times to the statistics."""
    state.sizes[cluster] += sign
    for j in range(row.shape[0]):
        distance = sign * (row[j] - state.shift[j])
        add_to(state.sums[cluster], state.sums_low[cluster], j, distance)
        products, products_low = state.products[cluster, j], state.products_low[cluster, j]
        for i in range(j + 1):
            add_to(products, products_low, i, distance * (row[i] - state.shift[i]))


@borrowing_kernel
def refresh(
    state: FullState,  # IN: statistics, OUT: means, factors, changes, constants
    prior: NormalWishartPrior,  # IN
    cluster: int,
) -> None:
    """Renew what predictions need of a cluster from its statistics. O(n_features**3)."""
    n_rows, factor = state.sizes[cluster], state.factors[cluster]
    _renew_mean(state, prior, cluster)
    if n_rows == 0.0:
        for j in range(factor.shape[0]):
            for i in range(j + 1):
                factor[j, i] = prior.factor[j, i]
    else:
        pull = prior.strength * n_rows / (prior.strength + n_rows)
        for j in range(factor.shape[0]):
            total = state.sums[cluster, j]
            apart = total / n_rows - (prior.mean[j] - state.shift[j])
            for i in range(j + 1):
                own_mean = state.sums[cluster, i] / n_rows
                scatter = state.products[cluster, j, i] - total * own_mean
                pulled = pull * apart * (own_mean - (prior.mean[i] - state.shift[i]))
                factor[j, i] = prior.scale[j, i] + scatter + pulled
        factorise(factor, prior.factor)
    state.changes[cluster] = 0
    _renew_constant(state, prior, cluster)


@borrowing_kernel
def _renew_mean(state: FullState, prior: NormalWishartPrior, cluster: int) -> None:
    n_rows = state.sizes[cluster]
    for j in range(state.shift.shape[0]):
        centre = prior.mean[j] - state.shift[j]
        pulled = state.sums[cluster, j] - n_rows * centre
        state.means[cluster, j] = centre + pulled / (prior.strength + n_rows)


@borrowing_kernel
def _renew_constant(state: FullState, prior: NormalWishartPrior, cluster: int) -> None:
    n_features = state.shift.shape[0]
    strength = prior.strength + state.sizes[cluster]
    freedom = prior.degrees + state.sizes[cluster] - n_features + 1.0
    total = log_rising(0.5 * freedom, 0.5 * n_features)
    total -= 0.5 * n_features * (math.log(math.pi) + math.log1p(1.0 / strength))
    for j in range(n_features):
        total -= math.log(state.factors[cluster, j, j])
    state.constants[cluster] = total


@kernel
def log_predictive(
    state: FullState,  # IN
    prior: NormalWishartPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    log_predictive_out: FloatArray,  # OUT (n_clusters,)
) -> None:
    """Log density of a row under each cluster, given the cluster's rows, in nats. O(n_clusters n_features**2).

    Clusters without rows are alike, and looked at once.
    """
    distance, first_empty = np.empty(row.shape[0]), -1
    for k in range(state.sizes.shape[0]):
        if state.sizes[k] == 0.0 and first_empty >= 0:
            log_predictive_out[k] = log_predictive_out[first_empty]
            continue
        log_predictive_out[k] = log_predictive_in(state, prior, row, k, distance)
        if state.sizes[k] == 0.0:
            first_empty = k


@borrowing_kernel
def log_predictive_in(
    state: FullState,  # IN
    prior: NormalWishartPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    cluster: int,
    distance_out: FloatArray,  # OUT (n_features,) room to work in
) -> float:
    """Log density of a row under one cluster, in nats. O(n_features**2)."""
    for j in range(row.shape[0]):
        distance_out[j] = row[j] - state.shift[j] - state.means[cluster, j]
    strength = prior.strength + state.sizes[cluster]
    squared = strength / (strength + 1.0) * squared_distance(state.factors[cluster], distance_out)
    power = 0.5 * (prior.degrees + state.sizes[cluster] + 1.0)
    return float(state.constants[cluster] - power * math.log1p(squared))
