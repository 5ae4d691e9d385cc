"""Ask a model and put its answers into plain values, for tables and JSON alike."""

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from sparsemix.cli.console import brief, note, show, show_json
from sparsemix.cli.inputs import Source
from sparsemix.cli.progress import with_progress
from sparsemix.cli.table_options import typed
from sparsemix.cli.tables import clusters_table, percent
from sparsemix.cli.watching import Seen, WatchedBatches
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.foundation.wording import counted
from sparsemix.reporting import summarize_model
from sparsemix.reporting.summary import CLUTTER, describe_component, takes_real_numbers

_FOR_KEYWORDS = (
    "Rows with few keywords, and keywords of few rows, carry little evidence ('sparsemix profile' shows how many). "
    "What may help: --min-rows-per-feature, which drops rare keywords and the rows that have no others, "
    "--max-features-per-row, which drops rows of very many, or a larger -k."
)
_FOR_NUMBERS = (
    "What may help: a smaller --smoothing, which expects narrower clusters, or a --feature list without columns that "
    "tell nothing."
)
_SHORT = 12  # clusters that a short table shows
_NEARLY_ALL = 0.9  # share of the rows in one cluster from which on it says little about them


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


def summed_scores(model: Any, answers: Any) -> dict[str, float | None]:
    """Return the number of rows and keywords, and the mean log density of each in nats; None without keywords.

    A keyword counts as often as it stands in a row for a model of counts, else once, and not at all where the model
    leaves it out of account. Rows of real numbers have values in the place of keywords.

    Parameters
    ----------
    model : fitted mixture
    answers : Answers or SpreadAnswers
        Of the question `scores`.

    Raises
    ------
    DataError
        When there is no row.
    """
    total = sum(float(densities.sum()) for _, (densities,) in answers)
    noun = "value" if takes_real_numbers(model) else "keyword"
    if answers.n_rows == 0:
        raise DataError("there is no row to score. Check the input and its columns.")
    return {
        "rows": answers.n_rows,
        f"{noun}s": int(answers.total),
        "log_density_per_row": total / answers.n_rows,
        f"log_density_per_{noun}": total / answers.total if answers.total else None,
    }


def keyword_names(model: Any) -> list[str]:
    """Return the keywords that a model knows; their numbers when it has no names for them."""
    names = getattr(model, "feature_names_in_", None)
    return [str(name) for name in (range(model.n_features_in_) if names is None else names)]


def show_fit(
    model: Any, source: Source, path: Path, *, label_names: Sequence[str] | None, json: bool, quiet: bool
) -> None:
    """Print what was learnt: as JSON, or as a short table with what to run next; warn if one cluster has it all."""
    summary = summarize_model(model, n_features=6)
    _show_summary(model, summary, source, path, label_names=label_names, json=json)
    if getattr(model, "n_components", 2) != 1 and not label_names:
        say_if_one_has_nearly_all(summary["clusters"], are_real=summary["takes_real_numbers"], quiet=quiet)


def _show_summary(
    model: Any,
    summary: dict[str, Any],
    source: Source,
    path: Path,
    *,
    label_names: Sequence[str] | None,
    json: bool,
) -> None:
    if json:
        names = ("converged", "n_iter", "n_impossible", "acceptance_rate")
        run = {name: getattr(model, f"{name}_", None) for name in names}
        run["log_joint"] = _last_log_joints(model) or None
        show_json({"model": str(path), **summary, **run, "label_names": label_names})
        return
    clusters, are_real = summary["clusters"], summary["takes_real_numbers"]
    noun = "feature" if are_real else "keyword"
    sizes = (
        f"{counted(summary['n_rows'], 'row')} with {counted(summary['n_features'], noun)} "
        f"in {counted(summary['n_clusters'], 'cluster')}"
    )
    more = len(clusters) - _SHORT
    show(
        f"{sizes}{_score(model, summary)}.",
        "",
        clusters_table(clusters[:_SHORT], are_real=are_real),
        *([f"... and {counted(more, 'smaller one')}."] if more > 0 else []),
        "",
        f"The model is in {path}. Next:",
        f"  {shlex.join(['sparsemix', 'clusters', str(path)])}",
        *(
            []
            if are_real
            else [f"  {shlex.join(['sparsemix', 'suggest', str(path), '--keyword', _example(clusters)])}"]
        ),
        f"  {shlex.join(['sparsemix', 'assign', str(path), source.path, *_as_typed(source), '-o', 'assignments.csv'])}",
    )


def _score(model: Any, summary: Mapping[str, Any]) -> str:
    """How good the model says that it is."""
    for name in ("log evidence", "log likelihood"):
        score = summary[f"{name.replace(' ', '_')}_per_row"]
        if score is not None:
            return f"; {name} per row {score:.3f} nats"
    log_joints = _last_log_joints(model)
    if not log_joints:
        return ""
    rate = getattr(model, "acceptance_rate_", None)
    accepted = "" if rate is None else f", {percent(rate)} of the proposals accepted"
    return f"; log joint {max(log_joints):,.0f} nats{accepted}"


def _last_log_joints(model: Any) -> list[float]:
    """Log joint at the end of each chain, for models by sampling that have just been fitted."""
    return [float(chain[-1]) for chain in getattr(model, "log_joint_", [])]


def _as_typed(source: Source) -> list[str]:
    """The options that `assign` needs to read the table as it was read."""
    return typed({name: value for name, value in source.reading.items() if name not in {"group", "label"}})


def say_if_one_has_nearly_all(
    clusters: Sequence[Mapping[str, Any]], *, are_real: bool = False, quiet: bool = False
) -> None:
    """Warn when the largest of the clusters, which comes first, leaves hardly a row to the others."""
    largest = clusters[0]
    if largest["share"] <= _NEARLY_ALL:
        return
    name = "the clutter" if largest["component"] == CLUTTER else f"cluster {largest['component']}"
    found = f"{percent(largest['share'])} of the rows are in {name}, so the clusters tell few rows apart."
    note(f"warning: {found} {_FOR_NUMBERS if are_real else _FOR_KEYWORDS}", quiet=quiet)


def say_unknown(batches: Seen, *, quiet: bool = False) -> None:
    """Tell the user of rows that a model can say nothing about."""
    if batches.n_unknown_rows:
        share = f"{batches.n_unknown_rows:,} of {batches.n_rows:,}"
        note(f"Rows with only keywords that the model does not know: {share}.", quiet=quiet)


def show_assigned(batches: Seen, path: Path, *, json: bool, quiet: bool) -> None:
    """Say where assignments are: as JSON on stdout, or as a note."""
    note(f"Wrote {counted(batches.n_rows, 'row')} to {path}.", quiet=quiet or json)
    if json:
        sizes = {"n_rows": batches.n_rows, "n_unknown_rows": batches.n_unknown_rows}
        show_json({"output": str(path), **sizes})


def summarize(
    model: Any, batches: WatchedBatches | None, *, quiet: bool = False, **options: Any
) -> dict[str, Any]:
    """Return the summary of a model and, where there are batches, of their assignments."""
    if batches is None:
        return summarize_model(model, **options)
    summary = summarize_model(model, with_progress("Assigning", batches, quiet=quiet), **options)
    say_unknown(batches, quiet=quiet)
    return summary


def show_report(summary: dict[str, Any], path: Path, *, json: bool, quiet: bool) -> None:
    """Say where the page is: what it shows as JSON on stdout, or as a note."""
    note(f"Wrote the page to {path}. Open it in a browser.", quiet=quiet or json)
    if json:
        show_json({"output": str(path), **summary})


def _example(clusters: Sequence[dict[str, Any]]) -> str:
    """A keyword to try that can be typed."""
    names = (str(entry["feature"]) for cluster in clusters for entry in cluster["features"])
    return next((name for name in names if name == brief(name)), "KEYWORD")
