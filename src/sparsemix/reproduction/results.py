"""What an experiment finds, as plain values: tables, and curves."""

from collections.abc import Sequence
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


Result = Table | Curves
