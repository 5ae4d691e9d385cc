"""Several models on one split of the rows, in one table."""

import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sparsemix.foundation.checks import inside
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.foundation.wording import counted
from sparsemix.metrics import adjusted_rand, normalized_mutual_information
from sparsemix.reporting.summary import takes_counts, takes_real_numbers

MEGABYTE = 1e6
ONLINE = "online-bernoulli-mixture"
FEW = 20  # rows of a first fit: the time to compile is no time to learn


class Comparison(NamedTuple):
    """One model, fitted to the training rows.

    per_row, per_token : mean log density of the held-out rows, and of their keywords, nats; higher is better. Models
        of counts and of presence speak of different things: their scores cannot be compared.
    n_clusters : in use among the held-out rows.
    nmi, ari : agreement of the held-out clusters with the labels; without labels with the first model's clusters. NaN
        where no held-out row has a label.
    converged : whether EM has; a model that learns in one pass always has.
    seconds : to fit; kernels are compiled before.
    megabytes : most memory that a fit held besides its rows; NaN if that was not asked for.
    """

    name: str
    per_row: float
    per_token: float
    n_clusters: int
    nmi: float
    ari: float
    converged: bool
    seconds: float
    megabytes: float


def compare_models(
    models: Mapping[str, Any],
    dataset: Any,
    *,
    held_out: float = 0.2,
    seed: int = 0,
    memory: bool = True,
    on_fit: Callable[[str], None] = lambda _: None,
) -> list[Comparison]:
    """Fit models to the same part of a data set and ask them about the rest.

    Parameters
    ----------
    models : dict of str to mixture
        Fitted in place.
    dataset : Dataset
        Its labels, if it has any, are what clusters are compared with; no model sees them.
    held_out : float in (0, 1), default=0.2
        Share of the rows that is set apart.
    seed : int, default=0
        Which rows those are.
    memory : bool, default=True
        Whether to fit every model twice: to trace memory takes time, which must not count as time to fit.
    on_fit : callable, optional
        Told the name of each model before it is fitted.

    Returns
    -------
    list of Comparison
        In the order of `models`.

    Raises
    ------
    ParameterError
        When there is no model, or `held_out` breaks its rule.
    DataError
        When there are fewer than two rows.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import sparsemix as sm
    >>> keywords = [["cat", "dog"], ["oak", "elm"]] * 50
    >>> ads = sm.read_table(pa.table({"ad": range(100), "keyword": keywords}), row="ad", feature="keyword")
    >>> models = {f"k={k}": sm.BernoulliMixture(k, random_state=0) for k in (1, 2)}
    >>> one, two = compare_models(models, ads)
    >>> one.per_row < two.per_row
    True
    """
    if not models:
        raise parameter_error("models", "compare_models", "at least one model", dict(models))
    inside("held_out", "compare_models", held_out, "a number between 0 and 1", 0.0, 1.0, open_low=True)
    train, rest = dataset.split(held_out, seed)
    if not len(train) or not len(rest):
        raise DataError(
            f"a split needs rows on both sides, but of {counted(len(dataset), 'row')} {len(train)} would be learnt "
            f"and {len(rest)} held out."
        )
    reference = rest.labels
    found = []
    for name, model in models.items():
        on_fit(name)
        cost = _fit(model, train, memory=memory)
        clusters = model.predict(rest)
        reference = clusters if reference is None else reference
        found.append(
            Comparison(
                name,
                *_scores(model, rest),
                int(np.unique(clusters).size),
                *_agreement(reference, clusters, is_known=rest.labels is None or rest.labels >= 0),
                bool(getattr(model, "converged_", True)),
                *cost,
            )
        )
    return found


def _scores(model: Any, rows: Any) -> tuple[float, float]:
    scores = model.score_samples(rows)
    return float(scores.mean()), float(scores.sum() / max(n_tokens(model, rows), 1.0))


def _agreement(true: Any, found: Any, *, is_known: Any) -> tuple[float, float]:
    known = np.broadcast_to(is_known, found.shape)
    if not known.any():
        return np.nan, np.nan
    pair = true[known], found[known]
    return normalized_mutual_information(*pair), adjusted_rand(*pair)


def n_tokens(model: Any, dataset: Any) -> float:
    """How many keywords of the rows a model scores.

    Those of a model of counts count as often as they stand there, those of a model of presence once. All but the online
    mixture leave keywords that they have not learnt out of account. Rows of real numbers have a value of every
    feature.
    """
    if takes_real_numbers(model):
        return float(dataset.matrix.size)
    values, columns = dataset.matrix.data, dataset.matrix.indices
    if not takes_counts(model):
        values = values > (model.binarize or 0.0)
    known = getattr(model, "feature_names_in_", None)
    if (
        getattr(model, "model_kind", ONLINE) != ONLINE
        and known is not None
        and dataset.feature_names is not None
    ):
        values = values[np.isin(dataset.feature_names, known)[columns]]
    return float(values.sum())


def _fit(model: Any, rows: Any, *, memory: bool) -> tuple[float, float]:
    """Seconds and megabytes of a fit; memory is traced in another fit, as that takes time."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _compile(clone(model), rows[:FEW])
        megabytes = _traced(lambda: clone(model).fit(rows)) if memory else np.nan
    start = time.perf_counter()
    model.fit(rows)
    return time.perf_counter() - start, megabytes


def _compile(model: Any, rows: Any) -> None:
    model.fit(rows)
    if hasattr(model, "partial_fit"):
        model.partial_fit(rows)


def _traced(work: Callable[[], Any]) -> float:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()
