"""Results on disk: CSV for programs, and a page for people, drawn by Plotly."""

import csv
from importlib import import_module
from pathlib import Path
from typing import Any

from sparsemix.foundation.errors import MissingExtraError
from sparsemix.persistence.atomic import replacing
from sparsemix.reproduction.results import Cell, Curves, Result

SCRIPT = "plotly.min.js"
MARK = "<!-- Written by sparsemix -->"


def check_plotly() -> None:
    """Raise MissingExtraError unless Plotly is there."""
    _plotly("graph_objects")


def write_result(result: Result, folder: Path) -> tuple[Path, Path]:
    """Write a result as CSV and as a page, which needs the script `plotly.min.js` that is written beside it.

    Parameters
    ----------
    result : Table or Curves
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
    figure = _figure(result)
    with replacing(table) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file, lineterminator="\n").writerows([result.columns, *result.rows])
    script = folder / SCRIPT
    with replacing(script) as temporary:
        temporary.write_text(_plotly("offline").get_plotlyjs(), "utf-8")
    with replacing(page) as temporary:
        text = figure.to_html(include_plotlyjs=SCRIPT, div_id=result.name)
        temporary.write_text(f"{text}\n{MARK}\n", "utf-8")
    return table, page


def _plotly(module: str) -> Any:
    try:
        return import_module(f"plotly.{module}")
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            "pages with figures need Plotly, which is not installed: pip install 'sparsemix[report]'."
        ) from error


def _figure(result: Result) -> Any:
    draw = _plotly("graph_objects")
    if not isinstance(result, Curves):
        cells = [[_shown(row[at]) for row in result.rows] for at in range(len(result.columns))]
        table = draw.Table(header={"values": list(result.columns)}, cells={"values": cells})
        return draw.Figure([table], layout={"title": {"text": result.title}})
    curves: dict[str, list[tuple[float, float]]] = {}
    for name, x, y in result.rows:
        curves.setdefault(name, []).append((x, y))
    lines = [
        draw.Scatter(x=[x for x, _ in points], y=[y for _, y in points], name=name, mode="lines+markers")
        for name, points in curves.items()
    ]
    legend, across, up = result.columns
    layout = {
        "title": {"text": result.title},
        "legend": {"title": {"text": legend}},
        "xaxis": {"title": {"text": across}, "type": "log" if result.is_log else "linear"},
        "yaxis": {"title": {"text": up}},
    }
    return draw.Figure(lines, layout=layout)


def _shown(cell: Cell) -> str:
    return f"{cell:,.3g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell
