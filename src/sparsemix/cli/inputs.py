"""Open the table that a command was given: whole, or in batches from disk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from sparsemix.cli.console import note
from sparsemix.cli.progress import waiting
from sparsemix.foundation.errors import parameter_error

if TYPE_CHECKING:
    from sparsemix.data import Dataset, ReadReport

ROWS_PER_BATCH = 50_000


@dataclass(frozen=True)
class Table:
    """Rows to learn.

    Attributes
    ----------
    batches : iterable of Dataset
    first_row : int
        Where in the table the batches begin.
    n_rows : int or None
        Rows that are not learnt yet, if known.
    """

    batches: "Iterable[Dataset]"
    first_row: int = 0
    n_rows: int | None = None


@dataclass(frozen=True)
class Source:
    """A table and the columns that were named on the command line.

    Attributes
    ----------
    path : str
    columns : dict of str to str
        Arguments for `read_table`.
    quiet : bool
        Do not say what was guessed and dropped.
    """

    path: str
    columns: dict[str, Any]
    quiet: bool = False

    def read(self) -> "Dataset":
        """Return the whole table."""
        from sparsemix.data import read_table

        with waiting(f"Reading {self.path}", quiet=self.quiet):
            dataset = read_table(self.path, **self.columns)
        self._say_guesses(dataset.report)
        self._say_losses(dataset.report)
        return dataset

    def stream(self, rows: int | None = None, first_row: int = 0) -> "Iterator[Dataset]":
        """Return the table in batches; later ones may know more features."""
        from sparsemix.data import iter_batches

        report = None
        size = rows or ROWS_PER_BATCH
        for batch in iter_batches(self.path, rows=size, skip_rows=first_row, **self.columns):
            if report is None:
                self._say_guesses(batch.report)
            report = batch.report if report is None else report + batch.report
            yield batch
        if report is not None:
            self._say_losses(report)

    def table(self, rows: int | None, learnt: int = 0, **filters: int | None) -> Table:
        """Return the table filtered and whole, or streamed from disk in batches of `rows`.

        Parameters
        ----------
        rows : int or None
        learnt : int
            Rows that are not needed; a stream leaves whole batches of them out.
        **filters : int or None
            Arguments for `Dataset.filter`.

        Raises
        ------
        ParameterError
            When a streamed table is to be filtered.
        """
        wanted = {name: value for name, value in filters.items() if value is not None}
        if rows is None:
            dataset = self.read()
            if wanted:
                dataset = dataset.filter(**wanted)
                note(f"{dataset.report.removed}.", quiet=self.quiet)
            return Table([dataset], n_rows=len(dataset) - learnt)
        if wanted:
            remedy = "Filters need the whole table: leave --batch-rows out."
            raise parameter_error("batch_rows", "fit", "absent where rows are filtered", rows, remedy)
        first_row = learnt // rows * rows
        return Table(self.stream(rows, first_row), first_row)

    def _say_guesses(self, report: "ReadReport") -> None:
        named = {role: column for role, column in report.guessed.items() if not column.startswith("(")}
        if named:
            told = ", ".join(f"--{role} {column!r}" for role, column in named.items())
            note(f"Guessed {told} for {self.path}.", quiet=self.quiet)

    def _say_losses(self, report: "ReadReport") -> None:
        for sentence in str(replace(report, guessed={})).splitlines()[1:]:
            note(f"{sentence}.", quiet=self.quiet)


def open_source(path: str, quiet: bool = False, **columns: str | None) -> Source:
    """Return a table with the columns that were named; the others are guessed when it is read.

    Parameters
    ----------
    path : str
    quiet : bool
    **columns : str or None
        ``row``, ``feature``, ``count``, ``group``, ``label``, ``delimiter``.

    Returns
    -------
    Source
    """
    return Source(path, {name: value for name, value in columns.items() if value is not None}, quiet)
