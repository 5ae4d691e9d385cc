"""How far long work is: rows done, rows per second and time left, on a terminal only."""

import sys
from collections.abc import Iterable, Iterator, Sized
from contextlib import contextmanager
from typing import Protocol, TypeVar

Batch = TypeVar("Batch", bound=Sized)


class Advance(Protocol):
    """Told how many rows were done since the call before, and how the bar is called from now on."""

    def __call__(self, n_rows: int, title: str | None = None) -> None:
        """Move the bar."""
        ...


@contextmanager
def rows_progress(
    title: str, total: int | None, *, quiet: bool = False, unit: str = "rows"
) -> Iterator[Advance]:
    """Show a bar on stderr while the block runs.

    Parameters
    ----------
    title : str
    total : int or None
        Rows in all, if known.
    quiet : bool
        Show nothing. Nothing is shown either when stderr is not a terminal.
    unit : str
        What is counted, in the plural.

    Yields
    ------
    Advance
    """
    if quiet or not sys.stderr.isatty():
        yield lambda n_rows, title=None: None  # noqa: ARG005
        return
    from rich import progress
    from rich.console import Console

    columns = (
        progress.SpinnerColumn(),
        progress.TextColumn("{task.description}"),
        progress.BarColumn(),
        progress.TextColumn(f"{{task.completed:,.0f}} {unit}"),
        progress.TextColumn("{task.fields[speed]}"),
        progress.TimeRemainingColumn(),
    )
    with progress.Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(title, total=total, speed="")

        def advance(n_rows: int, title: str | None = None) -> None:
            bar.update(task, advance=n_rows, description=title)
            speed = bar.tasks[0].finished_speed or bar.tasks[0].speed
            bar.update(task, speed=f"{speed:,.{0 if speed >= 10 else 1}f} {unit}/s" if speed else "")

        yield advance


def with_progress(title: str, batches: Iterable[Batch], *, quiet: bool = False) -> Iterator[Batch]:
    """Yield batches, and show how many rows of them are done."""
    with rows_progress(title, None, quiet=quiet) as advance:
        for batch in batches:
            yield batch
            advance(len(batch))


@contextmanager
def waiting(title: str, *, quiet: bool = False) -> Iterator[None]:
    """Show that something is going on whose end is not known."""
    if quiet or not sys.stderr.isatty():
        yield
        return
    from rich.console import Console

    with Console(stderr=True).status(title):
        yield
