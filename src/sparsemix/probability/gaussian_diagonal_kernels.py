"""Compiled statistics and predictives of clusters of real rows whose features are independent Gaussians.

With `kappa`, `a` the prior's strength and shape, `m`, `b` its mean and rate of a feature, a cluster of `n` rows
in which the feature has mean `y` and scatter `S` has the posterior

    kappa_n = kappa + n        m_n = (kappa m + n y) / kappa_n
    a_n = a + n / 2            b_n = b + S / 2 + kappa n (y - m)^2 / (2 kappa_n)

and its next row is distributed as Student's t with ``2 a_n`` degrees of freedom around `m_n`, with the squared scale
``b_n (kappa_n + 1) / (a_n kappa_n)``.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.jit import kernel
from sparsemix.probability.exact_sums import add_to
from sparsemix.probability.gamma_ratios import log_rising

FloatArray = NDArray[np.float64]

_MOST_PRODUCT = 1e100


class NormalGammaPrior(NamedTuple):
    """Normal-inverse-gamma prior of the mean and variance of each feature, independent of each other.

    mean : (n_features,) where the means are expected.
    strength : pseudo-count of rows that say so.
    shape : half the pseudo-count of rows that say how wide features spread.
    rate : (n_features,) half the sum of squares of those rows; the variance is expected at ``rate / (shape - 1)``.
    """

    mean: FloatArray
    strength: float
    shape: float
    rate: FloatArray


class DiagonalState(NamedTuple):
    """Clusters of real rows: statistics that rows are added to and removed from, and what predictions need of them.

    shift : (n_features,) point from which sums are taken, so that they do not cancel, such as the mean of the data.
    sizes : (n_clusters,) rows.
    sums, sums_low, squares, squares_low : (n_clusters, n_features) sums of ``row - shift`` and of its squares, each as
    two numbers, see `exact_sums`.
    means : (n_clusters, n_features) posterior means minus shift, m_n.
    rates : (n_clusters, n_features) posterior rates, b_n.
    constants : (n_clusters,) log predictive of a row at the posterior means.
    """

    shift: FloatArray
    sizes: FloatArray
    sums: FloatArray
    sums_low: FloatArray
    squares: FloatArray
    squares_low: FloatArray
    means: FloatArray
    rates: FloatArray
    constants: FloatArray


@kernel
def add_row(
    state: DiagonalState,  # IN/OUT
    prior: NormalGammaPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    cluster: int,
) -> None:
    """Add a row to a cluster. O(n_features)."""
    _change(state, row, cluster, 1.0)
    refresh(state, prior, cluster)


@kernel
def remove_row(
    state: DiagonalState,  # IN/OUT
    prior: NormalGammaPrior,  # IN
    row: FloatArray,  # IN  (n_features,), one that the cluster holds
    cluster: int,
) -> None:
    """Remove a row from a cluster; one that is empty then has the prior again, to the last bit. O(n_features)."""
    _change(state, row, cluster, -1.0)
    if state.sizes[cluster] == 0.0:
        for sums in (state.sums, state.sums_low, state.squares, state.squares_low):
            sums[cluster, :] = 0.0
    refresh(state, prior, cluster)


@kernel
def _change(state: DiagonalState, row: FloatArray, cluster: int, sign: float) -> None:
    """Add the row `sign` times to the statistics."""
    state.sizes[cluster] += sign
    for j in range(row.shape[0]):
        distance = row[j] - state.shift[j]
        add_to(state.sums[cluster], state.sums_low[cluster], j, sign * distance)
        add_to(state.squares[cluster], state.squares_low[cluster], j, sign * (distance * distance))


@kernel
def refresh(
    state: DiagonalState,  # IN: statistics, OUT: means, rates, constants
    prior: NormalGammaPrior,  # IN
    cluster: int,
) -> None:
    """Renew what predictions need of a cluster after its statistics have changed. O(n_features)."""
    n_rows, n_features = state.sizes[cluster], state.shift.shape[0]
    strength, shape = prior.strength + n_rows, prior.shape + 0.5 * n_rows
    log_rates = 0.0
    for j in range(n_features):
        centre, total = prior.mean[j] - state.shift[j], state.sums[cluster, j]
        rate, mean = prior.rate[j], centre
        if n_rows > 0.0:
            own_mean = total / n_rows
            mean += n_rows / strength * (own_mean - centre)
            scatter = state.squares[cluster, j] - total * own_mean
            rate += (
                0.5 * max(scatter, 0.0) + 0.5 * prior.strength * n_rows / strength * (own_mean - centre) ** 2
            )
        state.means[cluster, j] = mean
        state.rates[cluster, j] = rate
        log_rates += math.log(rate)
    each = log_rising(shape, 0.5) - 0.5 * math.log(2.0 * math.pi) - 0.5 * math.log1p(1.0 / strength)
    state.constants[cluster] = n_features * each - 0.5 * log_rates


@kernel
def log_predictive(
    state: DiagonalState,  # IN
    prior: NormalGammaPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    log_predictive_out: FloatArray,  # OUT (n_clusters,)
) -> None:
    """Log density of a row under each cluster, given the cluster's rows, in nats. O(n_clusters n_features).

    Clusters without rows are alike, and looked at once.
    """
    first_empty = -1
    for k in range(state.sizes.shape[0]):
        if state.sizes[k] == 0.0 and first_empty >= 0:
            log_predictive_out[k] = log_predictive_out[first_empty]
            continue
        log_predictive_out[k] = log_predictive_in(state, prior, row, k)
        if state.sizes[k] == 0.0:
            first_empty = k


@kernel
def log_predictive_in(
    state: DiagonalState,  # IN
    prior: NormalGammaPrior,  # IN
    row: FloatArray,  # IN  (n_features,)
    cluster: int,
) -> float:
    """Log density of a row under one cluster, in nats. O(n_features)."""
    strength, power = prior.strength + state.sizes[cluster], prior.shape + 0.5 * state.sizes[cluster] + 0.5
    factor = 0.5 * strength / (strength + 1.0)
    total, product = 0.0, 1.0  # one logarithm for many features
    for j in range(row.shape[0]):
        distance = row[j] - state.shift[j] - state.means[cluster, j]
        product *= 1.0 + factor * distance * distance / state.rates[cluster, j]
        if product > _MOST_PRODUCT:
            total += math.log(product)
            product = 1.0
    return float(state.constants[cluster] - power * (total + math.log(product)))
