"""Open the table that a command was given: whole, or in batches from disk."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from sparsemix.cli.console import note
from sparsemix.cli.progress import waiting
from sparsemix.foundation.errors import parameter_error

if TYPE_CHECKING:
    from sparsemix.data import Dataset, ReadReport

ROWS_PER_BATCH = 50_000


@dataclass(frozen=True)
class Table:
    """Rows to learn: batches of them, and how many there are if that is known."""

    batches: "Iterable[Dataset]"
    n_rows: int | None


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
    columns: dict[str, str]
    quiet: bool = False

    def read(self) -> "Dataset":
        """Return the whole table."""
        from sparsemix.data import read_table

        with waiting(f"Reading {self.path}", quiet=self.quiet):
            dataset = read_table(self.path, **self.columns)
        self._say_guesses(dataset.report)
        self._say_losses(dataset.report)
        return dataset

    def stream(self, rows: int | None = None) -> "Iterator[Dataset]":
        """Return the table in batches; later ones may know more features."""
        from sparsemix.data import iter_batches

        report = None
        for batch in iter_batches(self.path, rows=rows or ROWS_PER_BATCH, **self.columns):
            if report is None:
                self._say_guesses(batch.report)
            report = batch.report if report is None else report + batch.report
            yield batch
        if report is not None:
            self._say_losses(report)

    def batches(self, rows: int | None, **filters: int | None) -> Table:
        """Return the table filtered and whole, or streamed from disk in batches of `rows`.

        Parameters
        ----------
        rows : int or None
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
            return Table([dataset], len(dataset))
        if wanted:
            remedy = "Filters need the whole table: leave --batch-rows out."
            raise parameter_error("batch_rows", "fit", "absent where rows are filtered", rows, remedy)
        return Table(self.stream(rows), None)

    def _say_guesses(self, report: "ReadReport") -> None:
        if report.guessed:
            told = ", ".join(f"--{role} {column!r}" for role, column in report.guessed.items())
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
