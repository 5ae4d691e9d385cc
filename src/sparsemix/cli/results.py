"""Ask a model and put its answers into plain values, for tables and JSON alike."""

import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from sparsemix.cli.console import plain, show, show_json
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.tables import clusters_table
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.reporting import summarize_model
from sparsemix.reporting.summary import describe_component

_SHORT = 12  # clusters that a short table shows


def describe_clusters(
    model: Any,
    n: int,
    *,
    by: str = "evidence",
    level: float = 0.95,
) -> list[dict[str, Any]]:
    """Return the clusters, the largest first, with `n` keywords each."""
    found = [describe_component(each) for each in model.top_features(n, by=by, level=level)]
    return sorted(found, key=lambda cluster: -cluster["share"])


def pick_component(clusters: Sequence[dict[str, Any]], component: int) -> dict[str, Any]:
    """Return the cluster with an id, or raise ParameterError that lists the ids."""
    for cluster in clusters:
        if cluster["component"] == component:
            return cluster
    ids = ", ".join(str(each) for each in sorted(cluster["component"] for cluster in clusters))
    raise parameter_error("component", "clusters", f"one of {ids}", component)


def score_batches(model: Any, batches: Iterable[Any], *, quiet: bool = False) -> dict[str, float]:
    """Return the number of rows and keywords, and the mean log density of each in nats.

    Raises
    ------
    DataError
        When there is no row.
    """
    n_rows = n_keywords = 0
    total = 0.0
    with rows_progress("Scoring", None, quiet=quiet) as advance:
        for batch in batches:
            total += float(model.score_samples(batch).sum())
            n_rows += len(batch)
            n_keywords += int(batch.matrix.nnz)
            advance(len(batch))
    if n_rows == 0:
        raise DataError("there is no row to score. Check the input and its columns.")
    return {
        "rows": n_rows,
        "keywords": n_keywords,
        "log_density_per_row": total / n_rows,
        "log_density_per_keyword": total / max(n_keywords, 1),
    }


def keyword_names(model: Any) -> list[str]:
    """Return the keywords that a model knows; their numbers when it has no names for them."""
    names = getattr(model, "feature_names_in_", None)
    return [str(name) for name in (range(model.n_features_in_) if names is None else names)]


def show_fit(model: Any, source: str, path: Path, *, json: bool) -> None:
    """Print what was learnt: as JSON, or as a short table with what to run next."""
    summary = summarize_model(model, n_features=6)
    if json:
        show_json({"model": str(path), **summary})
        return
    clusters = summary["clusters"]
    evidence = summary["log_evidence_per_row"]
    rows, keywords = f"{summary['n_rows']:,} rows", f"{summary['n_features']:,} keywords"
    show(
        f"{rows} with {keywords} in {summary['n_clusters']} clusters; log evidence per row {evidence:.3f} nats.",
        "",
        clusters_table(clusters[:_SHORT]),
        *([f"... and {len(clusters) - _SHORT} smaller ones."] if len(clusters) > _SHORT else []),
        "",
        f"The model is in {path}. Next:",
        f"  {shlex.join(['sparsemix', 'clusters', str(path)])}",
        f"  {shlex.join(['sparsemix', 'suggest', str(path), '--keyword', _example(clusters)])}",
        f"  {shlex.join(['sparsemix', 'assign', str(path), source, '-o', 'assignments.csv'])}",
    )


def show_update(model: Any, rows_before: int, path: Path, *, json: bool) -> None:
    """Print how many rows a model has learnt in addition."""
    learnt = int(model.n_rows_seen_)
    if json:
        show_json({"model": str(path), "n_rows_before": rows_before, "n_rows": learnt})
    else:
        show(f"Learnt {learnt - rows_before:,} more rows, {learnt:,} in all. The model is in {path}.")


def _example(clusters: Sequence[dict[str, Any]]) -> str:
    names = (plain(entry["feature"]) for cluster in clusters for entry in cluster["features"])
    return next(names, "KEYWORD")
