"""Open the table that a command was given: whole, or in batches from disk."""

import shlex
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparsemix.cli.console import brief, note
from sparsemix.cli.own_files import is_model_file
from sparsemix.cli.progress import waiting
from sparsemix.cli.table_options import columns_by_option
from sparsemix.cli.watching import WatchedBatches
from sparsemix.foundation.errors import ParameterError, parameter_error
from sparsemix.foundation.wording import counted

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
    """A table and what was said about it on the command line.

    Attributes
    ----------
    path : str
    reading : dict
        Arguments for `read_table`.
    quiet : bool
        Do not say what was guessed and dropped.
    threshold : float or None
        Values above it are present to the model that reads the table; None where any are.
    """

    path: str
    reading: Mapping[str, Any]
    quiet: bool = False
    threshold: float | None = None

    def files(self) -> tuple[Path, ...]:
        """Return the files that are read."""
        from sparsemix.data.formats import find_files

        return find_files(self.path, self.reading.get("format")).files

    def read(self) -> "Dataset":
        """Return the whole table."""
        from sparsemix.data import read_table

        with waiting(f"Reading {self.path}", quiet=self.quiet), columns_by_option(self.reading):
            dataset = read_table(self.path, **self.reading)
        self.say_guesses(dataset.report)
        self.say_losses(dataset.report)
        self._say_if_all_are_absent(_largest(dataset))
        return dataset

    def stream(
        self, rows: int | None = None, first_row: int = 0, vocabulary: str = "growing"
    ) -> "Iterator[Dataset]":
        """Return the table in batches, for learning; with the vocabulary "two-pass" all have the same columns."""
        from sparsemix.data import iter_batches

        report, largest = None, 0.0
        size = rows or ROWS_PER_BATCH
        batches = iter_batches(
            self.path, rows=size, skip_rows=first_row, vocabulary=vocabulary, **self.reading
        )
        with columns_by_option(self.reading):
            for batch in batches:
                if report is None:
                    self.say_guesses(batch.report)
                report = batch.report if report is None else report + batch.report
                largest = max(largest, _largest(batch))
                yield batch
        if report is not None:
            self.say_losses(report)
            self._say_if_all_are_absent(largest)

    def asked(self, model: Any, rows: int | None = None) -> WatchedBatches:
        """Return the table in batches for questions to a model; what it does not know is counted.

        Raises ParameterError when the model needs times and no column of them was named.
        """
        from sparsemix.cli.times import check_times

        check_times(model, self.reading)
        return WatchedBatches(self.stream(rows, vocabulary="two-pass"), model)

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
            When a streamed table is to be filtered, or the filters leave nothing.
        """
        wanted = {name: value for name, value in filters.items() if value is not None}
        if rows is None:
            dataset = self.read()
            if wanted:
                dataset = self._filtered(dataset, **wanted)
            return Table([dataset], n_rows=len(dataset) - learnt)
        if wanted:
            remedy = "Filters need the whole table: leave --batch-rows out."
            raise parameter_error("batch_rows", "fit", "absent where rows are filtered", rows, remedy)
        first_row = learnt // rows * rows
        return Table(self.stream(rows, first_row), first_row)

    def _filtered(self, dataset: "Dataset", **filters: int) -> "Dataset":
        kept = dataset.filter(**filters)
        if len(dataset) and not len(kept):
            most = int(dataset.matrix.astype(bool).sum(axis=0).max(initial=0))
            raise ParameterError(
                f"the filters leave no row: {kept.report.removed}. The most frequent keyword is in "
                f"{counted(most, 'row')}; lower --min-rows-per-feature or raise --max-features-per-row."
            )
        note(f"{kept.report.removed}.", quiet=self.quiet)
        return kept

    def say_guesses(self, report: "ReadReport") -> None:
        """Tell the user which columns were guessed."""
        named = {role: column for role, column in report.guessed.items() if not column.startswith("(")}
        if named:
            told = ", ".join(f"--{role} {brief(column)!r}" for role, column in named.items())
            note(f"Guessed {told} for {self.path}.", quiet=self.quiet)
        if any(column.isdigit() for column in named.values()):
            note("If its first line is no header, name the columns: --columns row,feature.", quiet=self.quiet)
        if "count" in named:
            note(
                "Multinomial models take counts; models of presence ask only whether one is above 0, or above "
                "--binarize.",
                quiet=self.quiet,
            )
        for column in report.unused_counts:
            option = shlex.join(["--count", column])
            note(
                f"Column {brief(column)!r} may hold counts and is not used; {option} takes it.",
                quiet=self.quiet,
            )

    def say_losses(self, report: "ReadReport") -> None:
        """Tell the user what reading dropped and merged."""
        for sentence in str(replace(report, guessed={}, unused_counts=())).splitlines()[1:]:
            note(f"{sentence}.", quiet=self.quiet)

    def _say_if_all_are_absent(self, largest: float) -> None:
        if self.threshold is not None and largest <= self.threshold:
            note(
                f"warning: no value of the table is above {self.threshold:g} (--binarize), so that no row holds any "
                f"keyword; the largest is {largest:g}.",
                quiet=self.quiet,
            )


def _largest(dataset: "Dataset") -> float:
    return float(dataset.matrix.data.max(initial=0.0))


def open_source(path: str, reading: Mapping[str, Any], *, quiet: bool = False) -> Source:
    """Return a table; columns that were not named are guessed when it is read.

    Parameters
    ----------
    path : str
    reading : dict
        Arguments for `read_table`.
    quiet : bool

    Returns
    -------
    Source

    Raises
    ------
    ParameterError
        When a model was given in the place of a table.
    """
    if not path:
        raise ParameterError("the name of the table is empty. Give a file, a folder or a glob.")
    if is_model_file(Path(path)):
        shown = shlex.join(["sparsemix", "clusters", path])
        raise ParameterError(
            f"{path!r} is a model, not a table. A command that takes both wants MODEL first, then INPUT; "
            f"'{shown}' shows what the model holds."
        )
    return Source(path, reading, quiet)


def optional_source(path: str | None, reading: Mapping[str, Any], *, quiet: bool = False) -> Source | None:
    """Return a table, or None where none was given.

    Raises
    ------
    ParameterError
        When options say how to read a table and there is none; else as `open_source`.
    """
    if path is not None:
        return open_source(path, reading, quiet=quiet)
    if reading:
        raise ParameterError(f"--{next(iter(reading))} says how to read a table, but no table was given.")
    return None
