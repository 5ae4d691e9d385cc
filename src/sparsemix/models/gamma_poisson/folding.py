"""New users given the features, and new features given the users; the model stays as it is.

Each row is a concave problem of its own, solved by EM from even weights until it stands still. With sampling the answer
is an approximate posterior mean: EM with the geometric mean of a Gamma for each factor (variational Bayes).
"""

from collections.abc import Callable

import numpy as np
from scipy.special import digamma

from sparsemix.models.gamma_poisson import kernels
from sparsemix.models.gamma_poisson.engine import users_of
from sparsemix.models.gamma_poisson.state import FloatMatrix, Prior, Rows

MOST_STEPS, STILL = 1000, 1e-6  # a row ends when its factors move by less than that part of its events


def fold_in_users(rows: Rows, features: FloatMatrix, prior: Prior, *, is_sampled: bool) -> FloatMatrix:
    """Factors of new users, (n_rows, n_components), by mode, or by posterior mean where the model is sampled.

    O(nnz x n_components) a step. A row's factors do not depend on the other rows.
    """

    def weights_of(counts: FloatMatrix) -> FloatMatrix:
        return np.asarray(np.exp(digamma(prior.shape + counts)) if is_sampled else users_of(counts, prior))

    counts = _settle(rows, features, weights_of)
    return (prior.shape + counts) / (1.0 + prior.rate) if is_sampled else users_of(counts, prior)


def fold_in_features(
    columns: Rows, users: FloatMatrix, concentration: float = 0.0, n_features: int = 0
) -> FloatMatrix:
    """Factors of new features, (n_new, n_components); `columns` has a row for each, over the users.

    They are on the scale of the known ones, whose factors sum to one: a rate is again user factor times feature factor.
    `concentration` is the pseudo-count of each feature, new or one of the `n_features` known ones; 0 is maximum
    likelihood.
    """
    totals = users.sum(axis=0) + concentration * n_features

    def weights_of(counts: FloatMatrix) -> FloatMatrix:
        raised = counts + concentration
        return np.asarray(np.divide(raised, totals, out=np.zeros_like(counts), where=totals > 0.0))

    return weights_of(_settle(columns, users, weights_of))


def _settle(
    rows: Rows, factors: FloatMatrix, weights_of: Callable[[FloatMatrix], FloatMatrix]
) -> FloatMatrix:
    """Splits of the rows' counts that make the weights which make them, (n_rows, n_components)."""
    n_rows, n_components = rows.indptr.size - 1, factors.shape[1]
    row_numbers = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    totals = np.bincount(row_numbers, rows.values, minlength=n_rows)
    counts = np.repeat(totals[:, None] / n_components, n_components, axis=1)
    is_active, weights = totals > 0.0, np.repeat(totals[:, None], n_components, axis=1)
    for _ in range(MOST_STEPS):
        before = counts[is_active]
        kernels.add_user_counts(*rows, is_active, weights, factors, counts)
        moved = np.abs(counts[is_active] - before).sum(axis=1)
        is_active[is_active] = moved > STILL * totals[is_active]
        if not is_active.any():
            break
        weights[is_active] = weights_of(counts[is_active])
    return counts
