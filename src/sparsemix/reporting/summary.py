"""A fitted mixture as one plain dict that JSON can hold: what the report shows."""

from collections.abc import Iterator
from typing import Any

import numpy as np

from sparsemix import __version__
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.reporting.assignments import assign

SUMMARY_VERSION = 1
CLUTTER = -1  # id of the cluster for rows that fit nowhere
_ROWS_PER_BLOCK = 10_000
_EDGES = [round(0.1 * step, 1) for step in range(11)]


def summarize_model(
    model: Any,
    rows: Any = None,
    *,
    title: str = "Clusters",
    row_noun: str = "rows",
    n_features: int = 8,
    level: float = 0.95,
) -> dict[str, Any]:
    """Summarise a fitted mixture.

    Parameters
    ----------
    model : fitted mixture
    rows : Dataset, sparse or dense matrix, or iterator of those, optional
        Rows to assign, to tell how sure the assignments are.
    title : str
    row_noun : str
        What the rows are, in the plural, such as ``"ads"``.
    n_features : int
        How many of its most telling features each cluster shows.
    level : float
        Mass of the credible intervals.

    Returns
    -------
    dict
        ``summary_version``, ``library_version``, ``model_kind``, ``takes_counts`` (whether keywords share one
        probability, and count as often as they stand in a row), ``takes_real_numbers`` (whether features have means and
        no probabilities), ``title``, ``row_noun``, ``n_rows``, ``n_features``,
        ``log_evidence`` (nats) and ``log_evidence_per_row`` (None for models that do not learn row after row),
        ``log_likelihood`` and ``log_likelihood_per_row`` (None for those that do),
        ``level``, ``n_clusters`` (without the clutter),
        ``clusters`` (heaviest first; each with ``component``, ``share``, ``n_rows`` and ``features``) and
        ``certainty`` (None without `rows`).

    Raises
    ------
    ParameterError
        When `n_features` is below 1.

    Examples
    --------
    >>> from sparsemix import OnlineBernoulliMixture
    >>> rows = np.repeat(np.eye(2), 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> summary = summarize_model(model, rows, title="Two clusters")
    >>> summary["n_rows"], len(summary["clusters"]), sum(summary["certainty"]["histogram"]["counts"])
    (100, 2, 100)
    """
    if n_features < 1:
        raise parameter_error("n_features", "summarize_model", "an integer >= 1", n_features)
    log_evidence = getattr(model, "log_evidence_", None)
    log_likelihood = getattr(model, "log_likelihood_", None)
    components = sorted(model.top_features(n_features, level=level), key=lambda each: -each.weight)
    n_rows = int(getattr(model, "n_rows_seen_", round(sum(each.n_rows for each in components))))
    return {
        "summary_version": SUMMARY_VERSION,
        "library_version": __version__,
        "model_kind": model.model_kind,
        "takes_counts": takes_counts(model),
        "takes_real_numbers": takes_real_numbers(model),
        "title": title,
        "row_noun": row_noun,
        "n_rows": n_rows,
        "n_features": int(model.n_features_in_),
        **_score("log_evidence", log_evidence, n_rows),
        **_score("log_likelihood", log_likelihood, sum(each.n_rows for each in components)),
        "level": level,
        "n_clusters": sum(each.component != CLUTTER for each in components),
        "clusters": [describe_component(each) for each in components],
        "certainty": None if rows is None else _certainty(model, rows),
    }


def takes_counts(model: Any) -> bool:
    """Whether a model counts how often a keyword stands in a row, rather than whether it does."""
    return bool(getattr(model, "takes_counts", False))


def takes_real_numbers(model: Any) -> bool:
    """Whether rows of a model are real numbers, so that features have means and no probabilities."""
    return bool(getattr(model, "takes_real_numbers", False))


def _score(name: str, value: float | None, n_rows: float) -> dict[str, float | None]:
    if value is None:
        return {name: None, f"{name}_per_row": None}
    return {name: float(value), f"{name}_per_row": float(value) / (n_rows or 1.0)}


def describe_component(component: Any) -> dict[str, Any]:
    """Return one component's summary as plain values."""
    return {
        "component": int(component.component),
        "share": float(component.weight),
        "n_rows": float(component.n_rows),
        "features": [describe_feature(each) for each in component.features],
    }


def describe_feature(feature: Any) -> dict[str, Any]:
    """Return what one component believes about one feature as plain values."""
    name = feature.feature
    return {
        "feature": name if isinstance(name, str) else int(name),
        "mean": float(feature.mean),
        "low": float(feature.low),
        "high": float(feature.high),
        "evidence": float(feature.evidence),
        "lift": float(feature.lift),
    }


def _blocks(rows: Any) -> Iterator[Any]:
    for part in rows if isinstance(rows, Iterator) else [rows]:
        n_rows = part.shape[0] if hasattr(part, "shape") else len(part)
        for first in range(0, n_rows, _ROWS_PER_BLOCK):
            yield part[first : first + _ROWS_PER_BLOCK]


def _certainty(model: Any, rows: Any) -> dict[str, Any]:
    counts = np.zeros(len(_EDGES) - 1, dtype=np.int64)
    members: dict[int, int] = {}
    n_rows, probability, entropy = 0, 0.0, 0.0
    for block in _blocks(rows):
        found = assign(model, block)
        n_rows += found.clusters.size
        counts += np.histogram(found.probabilities.clip(0, 1), bins=_EDGES)[0]
        probability += float(found.probabilities.sum())
        entropy += float(found.entropies.sum())
        for cluster, size in zip(*np.unique(found.clusters, return_counts=True), strict=True):
            members[int(cluster)] = members.get(int(cluster), 0) + int(size)
    if not n_rows:
        raise DataError("there is no row to report on. Check the input and its columns.")
    return {
        "n_rows": n_rows,
        "mean_probability": probability / n_rows,
        "mean_entropy": entropy / n_rows,
        "histogram": {"edges": _EDGES, "counts": counts.tolist()},
        "members": [{"component": cluster, "n_rows": members[cluster]} for cluster in sorted(members)],
    }
