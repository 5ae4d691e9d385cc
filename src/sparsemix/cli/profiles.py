"""What is in a table, as plain values and for the terminal."""

from typing import TYPE_CHECKING, Any

from rich.console import Group
from rich.table import Table

from sparsemix.cli.tables import facts_table, percent

if TYPE_CHECKING:
    from sparsemix.data import Dataset

_QUANTILE_NAMES = {"0": "least", "0.5": "median", "1": "most"}


def describe_profile(dataset: "Dataset") -> dict[str, Any]:
    """Return the profile of a data set and the report of its reading as one dict."""
    return {**dataset.profile().to_dict(), "report": dataset.report.to_dict()}


def profile_table(profile: dict[str, Any]) -> Group:
    """Return tables of the numbers of `describe_profile`."""
    single, parts = profile["n_single_row_components"], profile["n_connected_components"]
    facts = {
        "rows": f"{profile['n_rows']:,}",
        "keywords": f"{profile['n_features']:,}",
        "pairs of row and keyword": f"{profile['n_nonzero']:,}",
        "rows that repeat an earlier one": f"{profile['n_duplicate_rows']:,}",
        "rows without a keyword": f"{profile['n_empty_rows']:,}",
        "parts that share no keyword": f"{parts:,} ({single:,} of a single row)",
        "rows in the largest part": percent(profile["largest_component_share"]),
    }
    return Group(facts_table(facts), "", _quantiles(profile))


def _quantiles(profile: dict[str, Any]) -> Table:
    quantiles = profile["features_per_row"]
    table = Table(box=None, padding=(0, 3, 0, 0))
    table.add_column("", no_wrap=True)
    for quantile in quantiles:
        table.add_column(_QUANTILE_NAMES.get(quantile, f"{float(quantile):.0%}"), justify="right")
    for name, key in (("keywords per row", "features_per_row"), ("rows per keyword", "rows_per_feature")):
        table.add_row(name, *(f"{value:,.0f}" for value in profile[key].values()))
    return table
