"""The chapter in NumPy, dense and obvious: the twin that the kernels and the engine are tested against.

Numbers of equations are those of the chapter on text clustering (TEXT). Rows are dense, (n_rows, n_features);
logarithms keep products of many small numbers apart from zero. Probabilities of zero are legal: ``0 log 0`` is 0,
what is impossible has the logarithm minus infinity, and a row that no component can have made keeps the weights.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp, xlog1py, xlogy

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


def multinomial_log_likelihoods(rows: FloatArray, profiles: FloatArray) -> FloatArray:
    """``sum_w x_iw log p(w|k)`` (TEXT, inside eq 3.2), for the words in their order; (n_rows, n_components)."""
    return np.asarray(xlogy(rows[:, None, :], profiles).sum(axis=2))


def bernoulli_log_likelihoods(rows: FloatArray, profiles: FloatArray) -> FloatArray:
    """``sum_d x_id log mu_kd + (1 - x_id) log(1 - mu_kd)`` of rows of zeros and ones; (n_rows, n_components)."""
    terms = xlogy(rows[:, None, :], profiles) + xlog1py(1.0 - rows[:, None, :], -profiles)
    return np.asarray(terms.sum(axis=2))


def log_joint(weights: FloatArray, log_likelihoods: FloatArray) -> FloatArray:
    """``log P(k, d_i)``, the logarithm of the summands of eq 3.2; (n_rows, n_components)."""
    return np.asarray(xlogy(1.0, weights) + log_likelihoods)


def log_evidence(joint: FloatArray) -> FloatArray:
    """``log P(d_i)`` (TEXT, inside eq 3.4), minus infinity for a row that no component can have made; (n_rows,)."""
    return np.asarray(logsumexp(joint, axis=1))


def log_likelihood(joint: FloatArray, row_weights: FloatArray) -> float:
    """``log L`` (TEXT, eq 3.2 and 3.4) where row i counts ``row_weights[i]`` times."""
    counted = row_weights > 0.0
    return float(row_weights[counted] @ log_evidence(joint)[counted])


def hard_responsibilities(joint: FloatArray, weights: FloatArray) -> FloatArray:
    """All of a row to ``argmax_k P(k | d_i)``, the first of equals (TEXT, section 3.2)."""
    chosen = np.eye(weights.size)[joint.argmax(axis=1)]
    return np.where(_possible(joint), chosen, weights)


def soft_responsibilities(joint: FloatArray, weights: FloatArray) -> FloatArray:
    """``P(k | d_i) = P(k, d_i) / sum_k' P(k', d_i)``, the E step (TEXT, section 3.3; eq 3.11)."""
    possible = _possible(joint)
    evidence = np.where(possible, log_evidence(joint)[:, None], 0.0)
    return np.where(possible, np.exp(joint - evidence), weights)


def _possible(joint: FloatArray) -> NDArray[np.bool_]:
    return np.asarray(joint.max(axis=1, keepdims=True) > -np.inf)


def clamp(responsibilities: FloatArray, labels: IntArray) -> FloatArray:
    """Responsibilities with those of known rows, labels from 0 on, as if they had been observed."""
    known = np.eye(responsibilities.shape[1])[labels]
    return np.where(labels[:, None] >= 0, known, responsibilities)


def expected_sizes(responsibilities: FloatArray, row_weights: FloatArray) -> FloatArray:
    """``E[c(k)]`` (TEXT, section 3.3); (n_components,)."""
    return np.asarray(row_weights @ responsibilities)


def expected_counts(rows: FloatArray, responsibilities: FloatArray, row_weights: FloatArray) -> FloatArray:
    """``E[c(k, w)]`` (TEXT, section 3.3); (n_components, n_features)."""
    return np.asarray((row_weights[:, None] * responsibilities).T @ rows)


def maximize_weights(sizes: FloatArray, class_weight: float = 0.0) -> FloatArray:
    """``p(k) = E[c(k)] / n`` (TEXT, section 3.3), with pseudo-counts of rows."""
    return np.asarray((sizes + class_weight) / (sizes + class_weight).sum())


def maximize_multinomial(counts: FloatArray, smoothing: FloatArray | float = 0.0) -> FloatArray:
    """``p(w|k) = E[c(k, w)] / sum_w' E[c(k, w')]``, the M step (TEXT, section 3.3), add-delta smoothed (3.4).

    The chapter's box divides by ``E[c(k)]``, which does not sum to one where rows have several words; its worked
    numbers are those of this formula. `smoothing` may differ by component and feature. A component without words
    has a uniform profile.
    """
    smoothed = counts + smoothing
    totals = smoothed.sum(axis=1, keepdims=True)
    uniform = np.full_like(smoothed, 1.0 / smoothed.shape[1])
    return np.asarray(np.divide(smoothed, totals, out=uniform, where=totals > 0.0))


def maximize_bernoulli(
    sizes: FloatArray, counts: FloatArray, smoothing: float = 0.0, seeds: FloatArray | float = 0.0
) -> FloatArray:
    """``mu_kd = E[c(k, d)] / E[c(k)]`` with `smoothing` for on and for off, and `seeds` more for on.

    What has neither been on nor off has the probability one half.
    """
    on = counts + smoothing + seeds
    total = sizes[:, None] + 2.0 * smoothing + seeds
    return np.asarray(np.divide(on, total, out=np.full_like(on, 0.5), where=total > 0.0))


def lower_bound(joint: FloatArray, responsibilities: FloatArray, row_weights: FloatArray) -> float:
    """``F = sum_i sum_k Q_i(k) log [P(k, d_i) / Q_i(k)]`` (TEXT, eq 3.7) where rows have weights.

    It is ``log L`` where Q is soft and unclamped; what hard EM and known rows add to the objective; and minus
    infinity where Q holds something impossible.
    """
    q = responsibilities
    terms = q * np.where(q > 0.0, joint, 0.0) - xlogy(q, q)
    counted = row_weights > 0.0
    return float(row_weights[counted] @ terms.sum(axis=1)[counted])


def log_prior(weights: FloatArray, class_weight: float) -> float:
    """Dirichlet(1 + class_weight) of the weights, up to a constant: what the M step adds to the objective (3.4)."""
    return float(xlogy(class_weight, weights).sum())


def multinomial_log_prior(profiles: FloatArray, smoothing: FloatArray | float) -> float:
    """Dirichlet(1 + smoothing) of each profile, up to a constant."""
    return float(xlogy(smoothing, profiles).sum())


def bernoulli_log_prior(profiles: FloatArray, smoothing: float, seeds: FloatArray | float = 0.0) -> float:
    """Beta(1 + smoothing + seeds, 1 + smoothing) of each probability, up to a constant."""
    return float((xlogy(smoothing + seeds, profiles) + xlog1py(smoothing, -profiles)).sum())


def distinctiveness(profiles: FloatArray, totals: FloatArray, offset: float = 10.0) -> FloatArray:
    """``p(w|k) / (c(w) + 10)``, by which words of a component are ranked (TEXT, section 3.5).

    `totals` are the counts c(w) over all rows, (n_features,).
    """
    return profiles / (totals + offset)
