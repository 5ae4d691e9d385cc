"""Results on disk: CSV that can be read back, pages that hold the same, and an installation without Plotly."""

import csv
import json
import re
import sys

import pytest

from sparsemix import MissingExtraError
from sparsemix.reproduction import Curves, Panels, Table, check_plotly, write_result
from sparsemix.reproduction.drawing import ROW_HEIGHT, figure_of

TABLE = Table("table_1", "Times & <more>", ("sampler", "µs a text"), [("hash, 8 bits", 1.25), ('"index"', 3)])
CURVES = Curves(
    "convergence_9",
    "VI",
    ("sampler", "seconds", "VI"),
    [("a", 0.1, 2.0), ("b", 0.2, 3.0), ("a", 1.0, 0.5)],
    is_log=True,
)
PANELS = Panels(
    "figure_1",
    "Panels",
    ("panel", "x", "y", "value"),
    [("cells", 0, 1, 2.5), ("dots", 3.0, 1, 0.0), ("bars", 7, 0, 0.5), ("cells", 1, 1, 0.5)],
    {"cells": "picture", "dots": "points", "bars": "bars"},
    n_across=2,
)


def traces_of(page):
    """The first argument of the call that draws."""
    found = re.search(r'Plotly\.newPlot\(\s*"[^"]+",\s*(\[.*?\]),\s*\{"', page, re.DOTALL)
    return json.loads(found[1])


@pytest.mark.parametrize("result", [TABLE, CURVES, PANELS], ids=lambda each: each.name)
def test_csv_holds_the_rows(result, tmp_path):
    table, page = write_result(result, tmp_path)
    assert (table, page) == (tmp_path / f"{result.name}.csv", tmp_path / f"{result.name}.html")
    with table.open(encoding="utf-8", newline="") as file:
        heads, *rows = csv.reader(file)
    assert heads == list(result.columns)
    assert rows == [[str(cell) for cell in row] for row in result.rows]


def test_a_table_has_room_for_its_rows_and_its_longest_cells():
    short, long = figure_of(TABLE), figure_of(TABLE._replace(rows=[*TABLE.rows] * 20))
    assert long.layout.height - short.layout.height == 38 * ROW_HEIGHT
    first, second = short.data[0].columnwidth
    assert first - second == len("hash, 8 bits") - len("µs a text")


def test_a_page_of_curves_has_a_line_each_and_a_log_axis(tmp_path):
    page = write_result(CURVES, tmp_path)[1].read_text("utf-8")
    first, second = traces_of(page)
    assert (first["name"], first["x"], first["y"]) == ("a", [0.1, 1.0], [2.0, 0.5])
    assert (second["name"], second["x"], second["y"]) == ("b", [0.2], [3.0])
    assert '"type":"log"' in page
    assert "Written by sparsemix" in page


def test_a_page_of_panels_has_each_in_its_place(tmp_path):
    page = write_result(PANELS, tmp_path)[1].read_text("utf-8")
    cells, dots, bars = traces_of(page)
    assert (cells["type"], cells["x"], cells["y"], cells["z"]) == ("heatmap", [0, 1], [1, 1], [2.5, 0.5])
    assert (dots["type"], dots["mode"], dots["x"], dots["y"]) == ("scatter", "markers", [3.0], [1])
    assert (bars["type"], bars["x"], bars["y"]) == ("bar", [7], [0.5])
    assert [each["yaxis"] for each in (cells, dots, bars)] == ["y", "y2", "y3"]


def test_pages_take_the_script_beside_them_and_nothing_from_elsewhere(tmp_path):
    page = write_result(TABLE, tmp_path)[1].read_text("utf-8")
    assert re.findall(r'<script[^>]* src="([^"]+)"', page) == ["plotly.min.js"]
    assert (tmp_path / "plotly.min.js").stat().st_size > 1_000_000
    assert traces_of(page)[0]["cells"]["values"] == [["hash, 8 bits", '"index"'], ["1.25", "3"]]
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "plotly.min.js",
        "table_1.csv",
        "table_1.html",
    ]


def test_without_plotly_the_error_names_the_extra(monkeypatch, tmp_path):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    for call in (check_plotly, lambda: write_result(TABLE, tmp_path)):
        with pytest.raises(MissingExtraError, match=r"pip install 'sparsemix\[report\]'"):
            call()
    assert not list(tmp_path.iterdir())
