"""The paper in NumPy, one row at a time, dense and obvious: the twin that the kernels are tested against.

Numbers of equations are those of the paper on online Bayesian clustering of advertisements (ADS).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlogy

FloatArray = NDArray[np.float64]


class DenseState(NamedTuple):
    """Posterior with a Beta for every component and feature.

    alpha, beta : (n_components, n_features) pseudo-counts of "on" and "off".
    weight_concentration : (n_components,) Dirichlet pseudo-counts of the mixing weights.
    """

    alpha: FloatArray
    beta: FloatArray
    weight_concentration: FloatArray


def log_joint(state: DenseState, row: FloatArray) -> FloatArray:
    """Log of weight times likelihood of `row`, per component (ADS, numerator of eq 3).

    `row` is (n_features,) in [0, 1]; a fractional entry stands for that share of an "on".
    """
    total = state.alpha + state.beta
    log_on, log_off = np.log(state.alpha / total), np.log(state.beta / total)
    return np.asarray(np.log(state.weight_concentration) + (row * log_on + (1 - row) * log_off).sum(axis=1))


def responsibilities(state: DenseState, row: FloatArray) -> FloatArray:
    """Posterior probability of each component given `row` (ADS, eq 3)."""
    joint = log_joint(state, row)
    return np.exp(joint - logsumexp(joint))


def log_predictive(state: DenseState, row: FloatArray) -> float:
    """Log probability of `row` before it is learnt, in nats."""
    return float(logsumexp(log_joint(state, row)) - np.log(state.weight_concentration.sum()))


def project_beta(
    alpha: FloatArray, beta: FloatArray, x: FloatArray | float, responsibility: float
) -> tuple[FloatArray, FloatArray]:
    """Beta closest to the mixture posterior of one feature, as the paper prints it (ADS, section 3.2).

    A fractional `x` mixes the updates for "on" and "off" with weights `x` and ``1 - x``.
    """
    r, total = responsibility, alpha + beta
    kept = 1.0 - r
    first = kept * alpha / total + r * (x * (alpha + 1) + (1 - x) * alpha) / (total + 1)
    squares = x * (alpha + 1) * (alpha + 2) + (1 - x) * alpha * (alpha + 1)
    second = kept * alpha * (alpha + 1) / (total * (total + 1)) + r * squares / ((total + 1) * (total + 2))
    pseudo_count = (first - second) / (second - first**2)
    return first * pseudo_count, (1 - first) * pseudo_count


def project_beta_stably(
    alpha: FloatArray, beta: FloatArray, x: FloatArray | float, responsibility: float
) -> tuple[FloatArray, FloatArray]:
    """Beta of `project_beta` without its cancellation, exact to rounding for any pseudo-count.

    With ``n`` the pseudo-count, ``m`` the mean, ``d1 = (1 - m)/(n + 1)`` and ``d0 = -m/(n + 1)`` the shifts of the
    mean after "on" and "off", and ``v``, ``v1``, ``v0`` the variances of the three Betas, the mixture has

        E[t (1 - t)] = (1 - r) n v + r (n + 1) [x v1 + (1 - x) v0]
        V = (1 - r) v + r [x v1 + (1 - x) v0] + spread of the three means

    and their ratio is the new pseudo-count; every term is a sum of positive numbers.
    """
    r, n = responsibility, alpha + beta
    m, off = alpha / n, beta / n
    d1, d0 = off / (n + 1), -m / (n + 1)
    before = (1 - r) * m * off / (n + 1)
    after = r * (x * (alpha + 1) * beta + (1 - x) * alpha * (beta + 1)) / ((n + 1) ** 2 * (n + 2))
    shift = r * (x * d1 + (1 - x) * d0)
    spread = (1 - r) * shift**2 + r * x * (d1 - shift) ** 2 + r * (1 - x) * (d0 - shift) ** 2
    pseudo_count = (n * before + (n + 1) * after) / (before + after + spread)
    mean = m * (n + (1 - r * (1 - x))) / (n + 1) + r * x * d1
    mean_off = off * (n + (1 - r * x)) / (n + 1) - r * (1 - x) * d0
    return mean * pseudo_count, mean_off * pseudo_count


def step(state: DenseState, row: FloatArray, min_responsibility: float = 0.0) -> DenseState:
    """Learn one row by assumed density filtering (ADS, sections 3.1 and 3.2).

    Components below `min_responsibility` learn nothing; the others, at least the foremost, share the row.
    """
    share = responsibilities(state, row)
    share = np.where(share >= min(min_responsibility, share.max()), share, 0.0)
    share /= share.sum()
    alpha, beta = state.alpha.copy(), state.beta.copy()
    for k in np.flatnonzero(share):
        alpha[k], beta[k] = project_beta(alpha[k], beta[k], row, float(share[k]))
    return DenseState(alpha, beta, state.weight_concentration + share)


def joined(
    before: DenseState, children: list[DenseState], prior: tuple[float, float], least: float
) -> tuple[DenseState, int]:
    """Add what children have learnt who all began with `before` (ADS, section 4.2).

    Every alpha, beta and gamma becomes ``theta_0 + sum_c (theta_c - theta_0)``; an alpha or beta of several children
    that would fall below the share `least` of what it was, or of the prior ``(a, b)`` if that is less, stays there.
    Returns how many did.
    """
    alpha, beta, weights = (
        theta + sum(after - theta for after in afters)
        for theta, *afters in zip(before, *children, strict=True)
    )
    if len(children) == 1:
        return children[0], 0
    floors = (least * np.minimum(before.alpha, prior[0]), least * np.minimum(before.beta, prior[1]))
    n_damped = int((alpha < floors[0]).sum() + (beta < floors[1]).sum())
    return DenseState(np.maximum(alpha, floors[0]), np.maximum(beta, floors[1]), weights), n_damped


def forget(
    state: DenseState, prior: tuple[float, float, float], n_rows: int, half_life_rows: float
) -> DenseState:
    """Let all evidence decay towards the prior while `n_rows` rows go by.

    With ``rho = 2 ** (-n_rows / half_life_rows)`` and the prior ``(a, b, gamma)``, in natural parameters:

        alpha' = a + rho (alpha - a)      beta' = b + rho (beta - b)      gamma_k' = gamma + rho (gamma_k - gamma)

    In a stationary stream the evidence ends at ``half_life_rows / ln 2`` rows.
    """
    kept = 2.0 ** (-n_rows / half_life_rows)
    a, b, gamma = prior
    return DenseState(
        a + kept * (state.alpha - a),
        b + kept * (state.beta - b),
        gamma + kept * (state.weight_concentration - gamma),
    )


def suggestion_probabilities(state: DenseState, accepted: list[int], rejected: list[int]) -> FloatArray:
    """Probability of every feature given the accepted and rejected ones, all else unobserved (ADS, eq 6)."""
    mean = state.alpha / (state.alpha + state.beta)
    joint = np.log(state.weight_concentration)
    joint = joint + np.log(mean[:, accepted]).sum(axis=1) + np.log1p(-mean[:, rejected]).sum(axis=1)
    share = np.exp(joint - logsumexp(joint))
    return np.asarray(share @ mean)


def bernoulli_divergence(mean: FloatArray, other: FloatArray) -> FloatArray:
    """Kullback-Leibler divergence of Bernoulli(`other`) from Bernoulli(`mean`), nats: what culling bounds.

    Examples
    --------
    >>> bernoulli_divergence(np.array([0.5, 1.0]), np.array([0.5, 0.5])) / np.log(2)
    array([0., 1.])
    """
    return np.asarray(xlogy(mean, mean / other) + xlogy(1.0 - mean, (1.0 - mean) / (1.0 - other)))
