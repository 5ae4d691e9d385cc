"""What every reader of tables yields: blocks of records, column by column."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True)
class Block:
    """Consecutive records of a table.

    Attributes
    ----------
    columns : dict of str to pyarrow array
        Role (``"row"``, ``"feature"``, ``"count"``, ``"group"``, ``"time"``, ``"label"``) to one value a
        record. Without a ``"row"`` the records themselves are the rows.
    n_records : int
    place : callable
        Number of a record in this block to words such as ``"ads.csv, line 17"``.
    text_roles : set of str
        Roles whose digits are text because the source says so (quoted in JSON, say).
    untyped : bool
        Whether the format knows only text, so that digits may be integers.
    """

    columns: dict[str, Any]
    n_records: int
    place: Callable[[int], str]
    text_roles: Collection[str] = field(default_factory=frozenset)
    untyped: bool = False


class TableReader(Protocol):
    """A source of records with named columns."""

    @property
    def description(self) -> str:
        """Where the records come from."""
        ...

    def column_names(self, wanted: Collection[str] = ()) -> list[str]:
        """Names of the columns; formats without a header look until they have found those `wanted`."""
        ...

    def list_columns(self) -> set[str]:
        """Names of the columns that hold lists, as far as the beginning of the source tells."""
        ...

    def blocks(self, columns: dict[str, str]) -> Iterator[Block]:
        """Yield the records in order; `columns` maps roles to names of columns."""
        ...
