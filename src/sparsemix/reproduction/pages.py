"""Results on disk: CSV for programs, and a page for people, drawn by Plotly."""

import csv
from pathlib import Path

from sparsemix.foundation.extras import plotly
from sparsemix.persistence.atomic import replacing
from sparsemix.reproduction.drawing import figure_of
from sparsemix.reproduction.results import Result

SCRIPT = "plotly.min.js"
MARK = "<!-- Written by sparsemix -->"


def check_plotly() -> None:
    """Raise MissingExtraError unless Plotly is there."""
    plotly("graph_objects")


def write_result(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write a result as CSV and as a page, which needs the script `plotly.min.js` that is written beside it.

    Parameters
    ----------
    result : Table, Curves or Panels
    folder : Path
        Must be there.

    Returns
    -------
    csv, page : Path

    Raises
    ------
    MissingExtraError
        When Plotly is not installed.
    """
    table, page = folder / f"{result.name}.csv", folder / f"{result.name}.html"
    figure = figure_of(result)
    with replacing(table) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([result.columns, *result.rows])
    script = folder / SCRIPT
    with replacing(script) as temporary:
        temporary.write_text(plotly("offline").get_plotlyjs(), "utf-8")
    with replacing(page) as temporary:
        text = figure.to_html(include_plotlyjs=SCRIPT, div_id=result.name)
        temporary.write_text(f"{text}\n{MARK}\n", "utf-8")
    return table, page
