"""What an experiment finds, as plain values: tables, curves, and panels of pictures."""

from collections.abc import Mapping, Sequence
from typing import NamedTuple

Cell = str | int | float


class Table(NamedTuple):
    """A table.

    name : of its files, without ending. title : what it shows. columns : their heads. rows : as many cells each.
    """

    name: str
    title: str
    columns: Sequence[str]
    rows: Sequence[Sequence[Cell]]


class Curves(NamedTuple):
    """A figure of several curves.

    name, title : as of a table. columns : what tells the curves apart, the horizontal axis and the vertical one.
    rows : a point each, those of a curve in their order. is_log : whether the horizontal axis is logarithmic.
    """

    name: str
    title: str
    columns: tuple[str, str, str]
    rows: Sequence[tuple[str, float, float]]
    is_log: bool = False


class Panels(NamedTuple):
    """A figure of several panels, side by side and one below the other.

    name, title : as of a table. columns : what tells the panels apart, x, y and the value.
    rows : a cell of a picture, a point or a bar each.
    kinds : for each panel, in their order, "picture" (the value as a shade at x and y), "points" (y over x) or "bars"
    (the value over x). n_across : panels in a line.
    """

    name: str
    title: str
    columns: tuple[str, str, str, str]
    rows: Sequence[tuple[str, float, float, float]]
    kinds: Mapping[str, str]
    n_across: int


Result = Table | Curves | Panels
