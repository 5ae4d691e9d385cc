"""How well factors predict events that were set aside, of one model or of several on one split."""

import time
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from sparsemix.foundation.checks import inside
from sparsemix.foundation.errors import DataError, parameter_error

MOST_COUNT = 2**31 - 1  # that is divided at random


class FactorScore(NamedTuple):
    """Log probability of events that were not learnt, nats: a row's, and an event's; minus infinity if impossible."""

    n_rows: int
    n_events: float
    per_row: float
    per_event: float


class FactorComparison(NamedTuple):
    """One model, fitted to the learnt events.

    per_event : mean log probability of an event that was set aside, nats; higher is better.
    converged : always true by sampling. seconds : to fit; kernels are compiled before.
    """

    name: str
    per_event: float
    converged: bool
    seconds: float


def halves(dataset: Any, share: float, seed: int) -> tuple[Any, Any]:
    """Give each event of a data set to the second of two with that probability; both have all rows and features.

    Raises
    ------
    DataError
        If counts are not whole, which cannot be divided at random.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemix import Dataset
    >>> first, second = halves(Dataset.from_matrix(np.array([[4, 0], [9, 2]])), 0.5, seed=0)
    >>> (first.matrix + second.matrix).toarray().tolist()
    [[4.0, 0.0], [9.0, 2.0]]
    """
    counts = dataset.matrix
    if np.any(counts.data != np.floor(counts.data)) or np.any(counts.data > MOST_COUNT):
        raise DataError(
            f"events are divided at random, so that counts must be whole numbers up to {MOST_COUNT:,}."
        )
    drawn = np.random.default_rng(seed).binomial(counts.data.astype(np.int64), share).astype(counts.dtype)
    parts = []
    for values in (counts.data - drawn, drawn):
        part = sparse.csr_array((values, counts.indices.copy(), counts.indptr.copy()), shape=counts.shape)
        part.eliminate_zeros()
        parts.append(replace(dataset, matrix=part))
    return parts[0], parts[1]


def score_factors(
    model: Any, dataset: Any, observed: Any = None, exposure: float = 1.0, seed: int = 0
) -> FactorScore:
    """Score rows of counts by factors that are found from other events of the same rows.

    Parameters
    ----------
    model : GammaPoissonFactors
    dataset : Dataset
    observed : Dataset, optional
        What the factors of the same rows are found from. Without it each event of `dataset` is thrown to one of two
        halves: one to find factors from, one to score.
    exposure : float, default=1.0
        How long `dataset` was watched, in units of the time of `observed`; for halves it is 1.
    seed : int, default=0
        Of the halves.

    Raises
    ------
    DataError
        If there is no event to score, or the rows of the two differ.
    """
    if observed is None:
        observed, dataset = halves(dataset, 0.5, seed)
    elif not np.array_equal(observed.row_ids, dataset.row_ids):
        raise DataError("the table of observed events must have the same rows in the same order.")
    n_events = _known_events(model, dataset)
    if not n_events:
        raise DataError("there is no event to score that the model knows. Check the input and its columns.")
    total = float(model.score_samples(dataset, observed=observed, exposure=exposure).sum())
    return FactorScore(len(dataset), n_events, total / len(dataset), total / n_events)


def compare_factors(
    models: Mapping[str, Any],
    dataset: Any,
    *,
    held_out: float = 0.2,
    seed: int = 0,
    on_fit: Callable[[str], None] = lambda _: None,
) -> list[FactorComparison]:
    """Fit factor models to the same part of the events of a data set and ask them about the rest.

    Parameters
    ----------
    models : dict of str to GammaPoissonFactors
        Fitted in place.
    dataset : Dataset
        Whole counts.
    held_out : float in (0, 1), default=0.2
        Share of the events that is set aside; all rows stay on both sides.
    seed : int, default=0
        Which events those are.
    on_fit : callable, optional
        Told the name of each model before it is fitted.

    Raises
    ------
    ParameterError
        If there is no model, or `held_out` breaks its rule.
    DataError
        If nothing is left on a side, or counts are not whole.

    Examples
    --------
    >>> import numpy as np
    >>> import sparsemix as sm
    >>> counts = np.kron(np.eye(2, dtype=int), np.full((30, 4), 3))
    >>> models = {f"k={k}": sm.GammaPoissonFactors(k, random_state=0) for k in (1, 2)}
    >>> one, two = compare_factors(models, sm.Dataset.from_matrix(counts))
    >>> one.per_event < two.per_event
    True
    """
    if not models:
        raise parameter_error("models", "compare_factors", "at least one model", dict(models))
    inside("held_out", "compare_factors", held_out, "a number between 0 and 1", 0.0, 1.0, open_low=True)
    learnt, aside = halves(dataset, held_out, seed)
    if not learnt.matrix.nnz:
        raise DataError("no event is left to learn. Take a smaller 'held_out', or more events.")
    found = []
    for name, model in models.items():
        on_fit(name)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            type(model)(1, max_iter=1, n_sweeps=1, burn_in=0, solver=model.solver).fit(np.eye(2))  # compiles
            start = time.perf_counter()
            model.fit(learnt)
        seconds = time.perf_counter() - start
        score = score_factors(model, aside, learnt, exposure=held_out / (1.0 - held_out))
        found.append(FactorComparison(name, score.per_event, model.converged_, seconds))
    return found


def _known_events(model: Any, dataset: Any) -> float:
    """Events of the features that a model knows."""
    known, names = getattr(model, "feature_names_in_", None), dataset.feature_names
    values, columns = dataset.matrix.data, dataset.matrix.indices
    if known is not None and names is not None:
        values = values[np.isin(names, known)[columns]]
    return float(values.sum())
