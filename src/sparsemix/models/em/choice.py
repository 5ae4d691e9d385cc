"""How many components: the same mixture with several numbers of them, in one table."""

import time
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike
from scipy import sparse
from sklearn.base import clone

from sparsemix.data.input_forms import as_given
from sparsemix.data.labels import known_labels
from sparsemix.foundation.checks import at_least, inside
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.em import answers
from sparsemix.models.em.mixture import Mixture
from sparsemix.numeric.seeds import generator

Model = TypeVar("Model", bound=Mixture)


class Candidate(NamedTuple):
    """One number of components, fitted to the training rows.

    per_row, per_token : mean log likelihood of the held-out rows, and of their tokens, nats; higher is better.
    bic, aic, icl : criteria on the training rows; lower is better.
    objective : of the training rows, nats; n_iter : epochs; seconds : to fit.
    """

    n_components: int
    per_row: float
    per_token: float
    bic: float
    aic: float
    icl: float
    objective: float
    n_iter: int
    converged: bool
    seconds: float


class _Part(NamedTuple):
    """Some rows, in a form that models take."""

    matrix: Any
    feature_names: Any


def compare_n_components(
    model: Model,
    X: Any,
    n_components: Iterable[int],
    *,
    y: ArrayLike | None = None,
    held_out: float = 0.2,
    random_state: int | np.random.Generator | None = None,
) -> list[Candidate]:
    """Fit a mixture with several numbers of components to the same part of the rows.

    Parameters
    ----------
    model : MultinomialMixture or BernoulliMixture
        Its other parameters are used; it is not changed.
    X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
    n_components : iterable of int
    y : (n_rows,) array of int, optional
        Known components, -1 for unknown.
    held_out : float in (0, 1), default=0.2
        Share of the rows that is set apart.
    random_state : int, Generator or None
        Which rows those are.

    Returns
    -------
    list of Candidate
        In the order given; ``pandas.DataFrame(table)`` shows it, ``max(table, key=lambda c: c.per_row)`` chooses.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    DataError
        If there are fewer than two rows.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> rng = np.random.default_rng(0)
    >>> ads = np.vstack([rng.random((50, 8)) < [0.9] * 4 + [0.1] * 4, rng.random((50, 8)) < [0.1] * 4 + [0.9] * 4])
    >>> table = sm.compare_n_components(sm.BernoulliMixture(random_state=0), ads, [1, 2, 5], random_state=0)
    >>> min(table, key=lambda candidate: candidate.bic).n_components
    2
    """
    owner = "compare_n_components"
    if not isinstance(model, Mixture):
        raise parameter_error("model", owner, "a MultinomialMixture or BernoulliMixture", model)
    numbers = _numbers(n_components, owner)
    inside("held_out", owner, held_out, "a number in (0, 1)", 0.0, 1.0, open_low=True)
    matrix, names, _ = as_given(X, owner)
    rows = sparse.csr_array(matrix)
    if rows.shape[0] < 2:
        raise DataError(f"'X' of {owner} must have at least two rows, but it has {rows.shape[0]}.")
    labels = known_labels(y, rows.shape[0], max(numbers))
    order = generator(random_state, owner).permutation(rows.shape[0])
    n_held_out = int(np.clip(round(held_out * rows.shape[0]), 1, rows.shape[0] - 1))
    held, kept = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
    parts = (_Part(rows[kept], names), _Part(rows[held], names))
    return [_candidate(model, number, *parts, labels[kept]) for number in numbers]


def _numbers(given: Any, owner: str) -> list[int]:
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise parameter_error("n_components", owner, "a list of integers", given)
    numbers = list(given)
    for number in numbers or [None]:
        at_least("n_components", owner, number, 1, "a list of integers >= 1")
    return [int(number) for number in numbers]


def _candidate(model: Mixture, n_components: int, train: _Part, held_out: _Part, labels: Any) -> Candidate:
    fitted = clone(model).set_params(n_components=n_components)
    start = time.perf_counter()
    fitted.fit(train, labels if (labels >= 0).any() else None)
    seconds = time.perf_counter() - start
    solution = fitted._solution()
    learnt = answers.total(fitted._ask(train, answers.totals_with_entropy), "icl")
    unseen = answers.total(fitted._ask(held_out, answers.totals), "score")
    return Candidate(
        n_components,
        unseen.log_likelihood / unseen.n_rows,
        answers.per_token(unseen),
        answers.bic(solution, learnt),
        answers.aic(solution, learnt),
        answers.icl(solution, learnt),
        float(fitted.trace_[-1]),
        fitted.n_iter_,
        fitted.converged_,
        seconds,
    )
