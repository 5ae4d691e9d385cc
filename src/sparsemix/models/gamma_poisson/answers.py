"""Questions to factors: rates of single pairs, log probabilities of rows, and what to recommend."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln, xlogy

from sparsemix.answers.suggestions import listed_values
from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.gamma_poisson import kernels
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Draws, Factors, FloatMatrix, FloatVector, IntVector, Rows

CELLS_PER_BLOCK = 1 << 21


def pair_rates(factors: Factors, users: IntVector, features: IntVector) -> FloatVector:
    """Expected counts of pairs, (n_pairs,)."""
    rates = np.zeros(users.size)
    kernels.rates_of_pairs(users, features, *factors, rates)
    return rates


def rate_draws(draws: Draws, users: IntVector, features: IntVector) -> FloatMatrix:
    """Expected counts of pairs in each draw, (n_draws, n_pairs)."""
    pairs = zip(draws.users, draws.features, strict=True)
    return np.array([pair_rates(Factors(*factors), users, features) for factors in pairs])


def learnt_rates(solution: Solution, users: IntVector, features: IntVector) -> FloatVector:
    """Expected counts of users that were learnt; with sampling the mean over all draws."""
    if solution.draws is None:
        return pair_rates(solution.factors, users, features)
    rates = np.zeros(users.size)
    for factors in zip(solution.draws.users, solution.draws.features, strict=True):
        kernels.rates_of_pairs(users, features, *factors, rates)
    return rates / len(solution.draws.users)


def log_probabilities(rows: Rows, factors: Factors, exposure: float) -> FloatVector:
    """Log Poisson probability of each row, nats, (n_rows,); minus infinity where a rate is zero."""
    n_rows = rows.indptr.size - 1
    row = np.repeat(np.arange(n_rows), np.diff(rows.indptr))
    rates = exposure * pair_rates(factors, row, rows.columns.astype(np.int64))
    terms = xlogy(rows.values, rates) - gammaln(rows.values + 1.0)
    expected = factors.users @ factors.features.sum(axis=0)
    return np.asarray(np.bincount(row, terms, minlength=n_rows) - exposure * expected)


def top_features(
    rows: Rows, factors: Factors, n: int, among: IntVector, exclude_seen: bool
) -> Iterator[tuple[IntVector, FloatVector]]:
    """For each row the features with the highest rates, best first, equals in their order, with the rates.

    O(n_rows x features) in blocks; memory does not grow with the rows.
    """
    place = np.full(len(factors.features), -1)
    place[among] = np.arange(among.size)
    candidates = factors.features[among].T
    n_rows, step = rows.indptr.size - 1, max(1, CELLS_PER_BLOCK // max(1, among.size))
    for first in range(0, n_rows, step):
        rates = factors.users[first : first + step] @ candidates
        for i, own in enumerate(rates):
            if exclude_seen:
                seen = place[rows.columns[rows.indptr[first + i] : rows.indptr[first + i + 1]]]
                own[seen[seen >= 0]] = -1.0
            best = _largest(own, n)
            best = best[own[best] >= 0.0]
            yield among[best], own[best]


def _largest(values: FloatVector, n: int) -> IntVector:
    if n < values.size:
        least = np.partition(values, values.size - n)[values.size - n]
        chosen = np.flatnonzero(values >= least)
    else:
        chosen = np.arange(values.size)
    return chosen[np.argsort(-values[chosen], kind="stable")][:n]


def known_features(solution: Solution, wanted: Any) -> IntVector:
    """Numbers of features, in order, each once; all without any given. ParameterError if one is not known."""
    if wanted is None:
        return np.arange(solution.features.n_features)
    position = solution.features.positions()
    found = []
    for feature in listed_values(wanted, "among", "recommend", "a sequence of features"):
        if not isinstance(feature, str | int) or feature not in position:
            raise parameter_error("among", "recommend", "features that the model knows", feature)
        found.append(position[feature])
    return np.unique(np.array(found, np.int64))


def user_factors(X: Any, n_components: int) -> FloatMatrix:
    """Given factors of users, (n_users, n_components); DataError unless they can be."""
    wrong = DataError(
        f"'X' of inverse_transform must have {n_components} columns of factors >= 0, as transform returns."
    )
    try:
        users = np.asarray(X, float)
    except (TypeError, ValueError, OverflowError) as error:
        raise wrong from error
    is_fit = users.ndim == 2 and users.shape[1] == n_components
    if not is_fit or not np.all((users >= 0.0) & (users <= LARGEST)):
        raise wrong
    return users


def numbers_below(values: Any, name: str, most: int, owner: str) -> IntVector:
    """Whole numbers from 0 to ``most - 1`` as a vector; DataError for anything else."""
    numbers = np.atleast_1d(np.asarray(values))
    if numbers.ndim != 1 or (numbers.size and numbers.dtype.kind not in "iu"):
        raise DataError(f"'{name}' of {owner} must be a vector of numbers of rows or features.")
    if numbers.size and (numbers.min() < 0 or numbers.max() >= most):
        wrong: NDArray[Any] = numbers[(numbers < 0) | (numbers >= most)]
        raise DataError(f"'{name}' of {owner} must be from 0 to {most - 1}, but there is {wrong[0]}.")
    return numbers.astype(np.int64)
