"""How many components: the same mixture with several numbers of them, in one table."""

import time
from collections.abc import Iterable
from typing import Any, NamedTuple, TypeVar, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse
from sklearn.base import clone

from sparsemix.data.input_forms import as_given
from sparsemix.data.labels import known_labels
from sparsemix.foundation.checks import at_least, inside
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.em import answers
from sparsemix.models.em.checks import INITS
from sparsemix.models.em.mixture import Mixture
from sparsemix.numeric.seeds import generator

Model = TypeVar("Model", bound=Mixture)


class Candidate(NamedTuple):
    """One number of components, fitted to the training rows.

    per_row, per_token : mean log likelihood of the held-out rows, and of their tokens, nats; higher is better. NaN if
    they have no tokens.
    bic, aic, icl : criteria on the rows that were learnt; lower is better.
    objective : of those rows, nats; n_iter : epochs; converged : whether it has; seconds : to fit.
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

    BIC, AIC and ICL are computed on the rows that were learnt, the log likelihoods on those set apart (see the guide
    for how to read them). One fit for each number, one after the other.

    Parameters
    ----------
    model : MultinomialMixture or BernoulliMixture
        Its other parameters are used; it is not changed.
    X : Dataset, sparse matrix, array or data frame, (n_rows, n_features)
    n_components : iterable of int
    y : (n_rows,) array of int, optional
        Known components, -1 for unknown; they must be below every number of components.
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
        If there are fewer than two rows, a value is none that the model knows, or `y` does not fit.

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
    if not isinstance(model.init, str):
        remedy = "Responsibilities are of all rows and one number of components."
        raise parameter_error("init", owner, f"one of {', '.join(map(repr, INITS))}", model.init, remedy)
    numbers = _numbers(n_components, owner)
    inside("held_out", owner, held_out, "a number in (0, 1)", 0.0, 1.0, open_low=True)
    parts = _split(model, X, held_out, generator(random_state, owner))
    labels = known_labels(y, parts.n_rows, min(numbers))[parts.kept]
    return [_candidate(model, number, parts.train, parts.test, labels) for number in numbers]


class _Split(NamedTuple):
    """Rows to learn from and rows set apart; kept : positions of the former among all `n_rows`."""

    train: _Part
    test: _Part
    kept: NDArray[np.int64]
    n_rows: int


def _split(model: Mixture, X: Any, held_out: float, rng: np.random.Generator) -> _Split:
    """Check all rows, so that messages name them by their place in `X`, and divide them; their order is kept."""
    n_rows = model._table(X).n_rows
    if n_rows < 2:
        raise DataError(f"'X' of compare_n_components must have at least two rows, but it has {n_rows}.")
    matrix, names, _ = as_given(X, type(model).__name__)
    if sparse.issparse(matrix):
        matrix = cast("Any", matrix).tocsr()
    order = rng.permutation(n_rows)
    n_held_out = int(np.clip(round(held_out * n_rows), 1, n_rows - 1))
    held, kept = np.sort(order[:n_held_out]), np.sort(order[n_held_out:])
    return _Split(_Part(matrix[kept], names), _Part(matrix[held], names), kept, n_rows)


def _numbers(given: Any, owner: str) -> list[int]:
    if not isinstance(given, Iterable) or isinstance(given, str):
        raise parameter_error("n_components", owner, "a list of integers", given)
    numbers = list(given)
    if not numbers:
        raise parameter_error("n_components", owner, "a list of integers >= 1, at least one", given)
    for number in numbers:
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
        unseen.log_likelihood / unseen.n_tokens if unseen.n_tokens else float("nan"),
        answers.bic(solution, learnt),
        answers.aic(solution, learnt),
        answers.icl(solution, learnt),
        float(fitted.trace_[-1]),
        fitted.n_iter_,
        fitted.converged_,
        seconds,
    )
