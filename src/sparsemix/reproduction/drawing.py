"""Draw results by Plotly."""

from collections.abc import Sequence
from typing import Any

from sparsemix.foundation.extras import plotly
from sparsemix.reproduction.results import Cell, Curves, Panels, Result, Table

LINE_HEIGHT = 320  # pixels of a line of panels
TABLE_HEIGHT, ROW_HEIGHT = 300, 22  # of a table without rows, and of a row


def figure_of(result: Result) -> Any:
    """Return the figure of a result."""
    if isinstance(result, Panels):
        return _panels(result)
    return _curves(result) if isinstance(result, Curves) else _table(result)


def _table(result: Table) -> Any:
    draw = plotly("graph_objects")
    cells = [[_shown(row[at]) for row in result.rows] for at in range(len(result.columns))]
    widths = [max(map(len, (head, *column))) + 2 for head, column in zip(result.columns, cells, strict=True)]
    table = draw.Table(header={"values": list(result.columns)}, cells={"values": cells}, columnwidth=widths)
    height = TABLE_HEIGHT + ROW_HEIGHT * len(result.rows)
    return draw.Figure([table], layout={"title": {"text": result.title}, "height": height})


def _curves(result: Curves) -> Any:
    draw = plotly("graph_objects")
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


def _panels(result: Panels) -> Any:
    n_lines = -(-len(result.kinds) // result.n_across)
    figure = plotly("subplots").make_subplots(
        rows=n_lines, cols=result.n_across, subplot_titles=list(result.kinds)
    )
    for number, (name, kind) in enumerate(result.kinds.items()):
        places = [row[1:] for row in result.rows if row[0] == name]
        line, column = divmod(number, result.n_across)
        figure.add_trace(_panel(kind, places), row=line + 1, col=column + 1)
    figure.update_layout(title={"text": result.title}, showlegend=False, height=LINE_HEIGHT * n_lines + 100)
    return figure


def _panel(kind: str, places: Sequence[tuple[float, float, float]]) -> Any:
    draw = plotly("graph_objects")
    x, y, values = ([place[at] for place in places] for at in range(3))
    if kind == "bars":
        return draw.Bar(x=x, y=values)
    if kind == "points":
        return draw.Scatter(x=x, y=y, mode="markers")
    return draw.Heatmap(x=x, y=y, z=values, colorscale="Greys", showscale=False)


def _shown(cell: Cell) -> str:
    return f"{cell:,.3g}" if isinstance(cell, float) else f"{cell:,}" if isinstance(cell, int) else cell
