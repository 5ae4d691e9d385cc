"""Results as tables for the terminal."""

from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from rich.table import Table
from rich.text import Text

from sparsemix.cli.console import brief, plain

_NO_ROW = 0.5  # effective rows that show as none, and whose keywords mean nothing


def clusters_table(clusters: Sequence[Mapping[str, Any]], *, are_real: bool = False) -> Table:
    """Return a table of clusters: id, share, effective rows, keywords.

    Parameters
    ----------
    clusters : sequence of dict
        As in the report's summary.
    are_real : bool
        Whether rows are real numbers, so that features have means.

    Returns
    -------
    rich.table.Table
    """
    table = _table([("id", "right"), ("share", "right"), ("rows", "right"), _head(are_real)])
    for cluster in clusters:
        keywords = ", ".join(_feature(entry, are_real) for entry in cluster["features"])
        is_clutter = cluster["component"] == -1
        name = "clutter" if is_clutter else str(cluster["component"])
        if is_clutter:
            keywords = "(rows that fit no cluster)"
        elif cluster["n_rows"] < _NO_ROW:
            keywords = "(no rows)"
        table.add_row(name, percent(cluster["share"]), f"{cluster['n_rows']:,.0f}", Text(keywords))
    return table


def _head(are_real: bool) -> tuple[str, str]:
    return ("means of features" if are_real else "keywords", "left")


def _feature(entry: Mapping[str, Any], are_real: bool) -> str:
    return f"{brief(entry['feature'])} {quantity(entry['mean'])}" if are_real else brief(entry["feature"])


def factors_table(factors: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of factors: id, share of the events, keywords."""
    table = _table([("id", "right"), ("share", "right"), ("keywords", "left")])
    for factor in factors:
        keywords = ", ".join(brief(entry["feature"]) for entry in factor["features"])
        table.add_row(str(factor["factor"]), percent(factor["share"]), Text(keywords))
    return table


def threads_table(threads: Sequence[Mapping[str, Any]]) -> Table:
    """Return a table of threads of messages: from when to when, how many, about what."""
    table = _table([("from", "left"), ("to", "left"), ("messages", "right"), ("words", "left")])
    for thread in threads:
        words = ", ".join(brief(word) for word in thread["words"])
        table.add_row(thread["first"][:10], thread["last"][:10], f"{thread['n_messages']:,}", Text(words))
    return table


def rates_table(rates: Sequence[Mapping[str, Any]], level: float) -> Table:
    """Return a table of click rates of pairs of a user and an ad, with intervals where there are any."""
    table = _table(
        [
            ("user", "left"),
            ("ad", "left"),
            ("click rate", "right"),
            (f"{100 * level:g}% interval", "right"),
            ("of the ad alone", "right"),
        ]
    )
    for each in rates:
        is_sure = not isnan(each["low"])
        interval = f"{percent(each['low'])} to {percent(each['high'])}" if is_sure else "-"
        names = (Text(brief(each["user"])), Text(brief(each["ad"])))
        table.add_row(*names, percent(each["rate"]), interval, percent(each["ad_rate"]))
    return table


def cluster_title(cluster: Mapping[str, Any]) -> str:
    """Return one line on a cluster.

    Examples
    --------
    >>> cluster_title({"component": 7, "share": 0.25, "n_rows": 1234.5})
    'Cluster 7: 25.0% of rows, about 1,234'
    """
    return (
        f"Cluster {cluster['component']}: {percent(cluster['share'])} of rows, about {cluster['n_rows']:,.0f}"
    )


def keywords_table(cluster: Mapping[str, Any], level: float, *, are_real: bool = False) -> Table:
    """Return a table of one cluster's keywords, or features with means, and what is known about each."""
    names = ("feature", "mean") if are_real else ("keyword", "probability")
    number = quantity if are_real else percent
    heads = [(names[0], "left"), (names[1], "right"), (f"{100 * level:g}% interval", "right")]
    table = _table([*heads, ("evidence", "right"), ("lift", "right")])
    for entry in cluster["features"]:
        interval = f"{number(entry['low'])} to {number(entry['high'])}"
        evidence, lift = f"{entry['evidence']:,.1f}", f"{entry['lift']:,.1f}"
        table.add_row(Text(brief(entry["feature"])), number(entry["mean"]), interval, evidence, lift)
    return table


def suggestions_title(accepted: Sequence[str], rejected: Sequence[str]) -> str:
    """Return one line on what was asked.

    Examples
    --------
    >>> suggestions_title(["red", "blue"], ["green"])
    'For an ad with: red, blue, without: green'
    """
    without = f", without: {', '.join(map(brief, rejected))}" if rejected else ""
    return f"For an ad with: {', '.join(map(brief, accepted))}{without}"


def suggestions_table(suggestions: Sequence[Mapping[str, Any]], level: float = 0.95) -> Table | str:
    """Return a table of suggested keywords (probability, interval, clusters behind each), or why there is none."""
    if not suggestions:
        return "Nothing is left to suggest: the model knows no other keyword."
    heads = [("keyword", "left"), ("probability", "right"), (f"{100 * level:g}% interval", "right")]
    table = _table([*heads, ("clusters behind it", "left")])
    for entry in suggestions:
        interval = f"{percent(entry['low'])} to {percent(entry['high'])}"
        behind = ", ".join(f"{each['component']} ({percent(each['share'])})" for each in entry["clusters"])
        table.add_row(Text(brief(entry["keyword"])), percent(entry["probability"]), interval, behind)
    return table


def comparison_table(found: Sequence[Any], *, are_real: bool = False) -> Table:
    """Return a table of models: held-out score, clusters, agreement, time, memory."""
    heads = ("nats a row", "a value" if are_real else "a keyword", "clusters", "NMI", "ARI", "seconds", "MB")
    table = _table([("model", "left"), *((head, "right") for head in heads)])
    for each in found:
        scores = (f"{each.per_row:,.3f}", f"{each.per_token:,.3f}", f"{each.n_clusters:,}")
        agreement = (_number(each.nmi, ".3f"), _number(each.ari, ".3f"))
        table.add_row(
            each.name, *scores, *agreement, _number(each.seconds, ",.1f"), _number(each.megabytes, ",.1f")
        )
    return table


def factor_comparison_table(found: Sequence[Any]) -> Table:
    """Return a table of factor models: held-out score and time."""
    table = _table([("model", "left"), ("nats an event", "right"), ("seconds", "right")])
    for each in found:
        table.add_row(each.name, f"{each.per_event:,.3f}", f"{each.seconds:,.1f}")
    return table


def results_table(columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> Table:
    """Return a table of results of an experiment."""
    table = _table([(head, "right") for head in columns])
    for row in rows:
        table.add_row(*(f"{cell:,.3g}" if isinstance(cell, float) else str(cell) for cell in row))
    return table


def _number(value: float, form: str) -> str:
    return "-" if isnan(value) else format(value, form)


def facts_table(facts: Mapping[str, Any]) -> Table:
    """Return a table of names and values."""
    table = _table([("", "left"), ("", "right")])
    table.show_header = False
    for name, value in facts.items():
        table.add_row(name, Text(plain(value)))
    return table


def scores_table(scores: Mapping[str, float | None]) -> Table:
    """Return a table of names, as they are in JSON, and numbers; None is not known."""
    return facts_table(
        {name.replace("_", " "): "-" if value is None else f"{value:,.6g}" for name, value in scores.items()}
    )


def percent(share: float) -> str:
    """Return a share in per cent, with more digits where it is small.

    Examples
    --------
    >>> percent(0.5), percent(0.0321), percent(0.00012), percent(1e-9), percent(0)
    ('50.0%', '3.2%', '0.01%', '<0.01%', '0.0%')
    """
    if share >= 0.001 or share == 0:
        return f"{100 * share:.1f}%"
    return f"{100 * share:.2f}%" if share >= 0.0001 else "<0.01%"


def quantity(value: float) -> str:
    """Return a number with four digits that tell something.

    Examples
    --------
    >>> quantity(1234.56), quantity(0.00012345), quantity(-3.0), quantity(2.5e12)
    ('1,235', '0.0001234', '-3', '2.5e+12')
    """
    return f"{value:,.0f}" if 1_000 <= abs(value) < 1e9 else f"{value:.4g}"


def _table(heads: Sequence[tuple[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 3, 0, 0))
    for head, side in heads:
        table.add_column(head, justify=side, no_wrap=side == "right", overflow="fold", header_style="bold")
    return table
