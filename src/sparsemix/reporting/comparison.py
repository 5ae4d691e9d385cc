"""Several models on one split of the rows, in one table."""

import time
import tracemalloc
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.metrics import adjusted_rand, normalized_mutual_information

MEGABYTE = 1e6
FEW = 20  # rows of a first fit: the time to compile is no time to learn


class Comparison(NamedTuple):
    """One model, fitted to the training rows.

    per_row, per_token : mean log density of the held-out rows, and of their keywords, nats; higher is better. Models
        of counts and of presence speak of different things: their scores cannot be compared.
    n_clusters : in use among the held-out rows.
    nmi, ari : agreement of the held-out clusters with the labels; without labels with the first model's clusters.
    seconds : to fit; megabytes : most memory that the fit held besides its rows, in arrays.
    """

    name: str
    per_row: float
    per_token: float
    n_clusters: int
    nmi: float
    ari: float
    seconds: float
    megabytes: float


def compare_models(
    models: Mapping[str, Any],
    dataset: Any,
    *,
    held_out: float = 0.2,
    seed: int = 0,
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
    train, rest = dataset.split(held_out, seed)
    if not len(train) or not len(rest):
        raise DataError(
            f"a split needs rows on both sides, but {len(dataset)} give {len(train)} and {len(rest)}."
        )
    reference = rest.labels
    found = []
    for name, model in models.items():
        on_fit(name)
        clone(model).fit(train[:FEW])
        seconds, megabytes = _fit(model, train)
        clusters = model.predict(rest)
        reference = clusters if reference is None else reference
        scores = model.score_samples(rest)
        known = np.asarray(reference) >= 0 if rest.labels is not None else np.ones(clusters.size, bool)
        found.append(
            Comparison(
                name,
                float(scores.mean()),
                float(scores.sum() / max(n_tokens(model, rest), 1.0)),
                int(np.unique(clusters).size),
                normalized_mutual_information(reference[known], clusters[known]),
                adjusted_rand(reference[known], clusters[known]),
                seconds,
                megabytes,
            )
        )
    return found


def n_tokens(model: Any, dataset: Any) -> float:
    """Sum of the counts for a model of counts, number of keywords for one of presence."""
    if model.model_kind == "multinomial-mixture":
        return float(dataset.matrix.sum())
    return float(dataset.matrix.nnz)


def _fit(model: Any, rows: Any) -> tuple[float, float]:
    tracemalloc.start()
    try:
        start = time.perf_counter()
        model.fit(rows)
        return time.perf_counter() - start, tracemalloc.get_traced_memory()[1] / MEGABYTE
    finally:
        tracemalloc.stop()
