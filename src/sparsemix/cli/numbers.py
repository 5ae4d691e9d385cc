"""Tables of real numbers, as a command was given them, for models that take such rows."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from sparsemix.cli.console import note
from sparsemix.cli.inputs import ROWS_PER_BATCH, Source, Table
from sparsemix.cli.progress import waiting
from sparsemix.cli.table_options import names_in
from sparsemix.foundation.errors import DataError, ParameterError, listed

_NOT_OF_NUMBERS = ("count", "group", "time", "delimiter")


@dataclass(frozen=True)
class NumberSource(Source):
    """A table of real numbers, a row a line; it is read whole, also where it is handed out in batches.

    Attributes
    ----------
    known : tuple of str or None
        Features of the model that is asked; other columns are left alone.
    """

    known: tuple[str, ...] | None = None

    def read(self) -> Any:
        """Return the whole table.

        Raises
        ------
        ParameterError
            When an option is not for tables of numbers, or a column does not exist.
        DataError
            When the table cannot be read, lacks features of the model, or a value is no finite number.
        """
        from sparsemix.data.number_tables import read_numbers

        arguments = dict(self.reading)
        for name in _NOT_OF_NUMBERS:
            if name in arguments:
                raise ParameterError(
                    f"--{name} is not for tables of real numbers. Leave it out; --feature names the columns to take."
                )
        named = arguments.pop("feature", None)
        features = self._known_columns(arguments) if named is None else names_in(named)
        with waiting(f"Reading {self.path}", quiet=self.quiet):
            found = read_numbers(self.path, features=features, **arguments)
        self.say_guesses(found.report)
        if all(map(_is_number, found.feature_names)):
            note(
                "All names of columns are numbers. If the first line is no header, name the columns: --columns "
                "size,price.",
                quiet=self.quiet,
            )
        return found

    def stream(
        self,
        rows: int | None = None,
        first_row: int = 0,
        vocabulary: str = "growing",  # noqa: ARG002  (a table of numbers has all columns in every batch)
    ) -> Iterator[Any]:
        """Return the table in batches."""
        found, size = self.read(), rows or ROWS_PER_BATCH
        for first in range(first_row, len(found), size):
            yield found[first : first + size]

    def table(self, rows: int | None, learnt: int = 0, **filters: int | None) -> Table:
        """Return the table, whole; raises as `read`, and when it is to be filtered."""
        for name, value in filters.items():
            if value is not None:
                raise ParameterError(
                    f"--{name.replace('_', '-')} is not for tables of real numbers, whose rows have all features. "
                    f"Leave it out."
                )
        return super().table(rows, learnt)

    def _known_columns(self, arguments: Mapping[str, Any]) -> list[str] | None:
        from sparsemix.data.event_tables import column_names

        if self.known is None:
            return None
        form = {name: value for name, value in arguments.items() if name not in {"row", "label"}}
        available = column_names(self.path, self.known, **form)
        missing = [name for name in self.known if name not in available] if available else []
        if missing:
            raise DataError(
                f"the table lacks columns that the model has learnt: {listed(missing, 3)}; it has "
                f"{listed(available, 10)}. Give a table with the same columns."
            )
        return list(self.known)


def _is_number(name: str) -> bool:
    try:
        float(name)
    except ValueError:
        return False
    return True


def source_for(model: Any, source: Source) -> Source:
    """Return the table as a model takes it; with real numbers, a fitted model's features are the columns to read."""
    if not getattr(model, "takes_real_numbers", False):
        return source
    known = getattr(model, "feature_names_in_", None)
    names = None if known is None else tuple(map(str, known))
    return NumberSource(source.path, source.reading, source.quiet, known=names)
