"""Learn block by block: progress, checkpoints, and an orderly stop."""

import shlex
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NoReturn

from sparsemix.cli.console import note
from sparsemix.cli.errors import StoppedError
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source, Table
from sparsemix.cli.known_rows import KnownRows
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.starting import blocks_to_learn, rows_learnt
from sparsemix.cli.stopping import SAVED_UNLESS_ASKED_AGAIN, stop_between_blocks
from sparsemix.foundation.wording import counted
from sparsemix.model_io import save_model


def learn_in_one_pass(
    model: Any,
    source: Source,
    output: Path,
    *,
    batch_rows: int | None,
    checkpoint_every: int | None,
    known: KnownRows,
    quiet: bool = False,
    **filters: int | None,
) -> None:
    """Let an online model learn the rows of a table that it has not learnt yet.

    Parameters
    ----------
    model : OnlineBernoulliMixture
        Changed in place; primed at the end.
    source : Source
    output : Path
        Where to save the model in between.
    batch_rows : int or None
        Stream the table from disk, so many rows at a time.
    checkpoint_every : int or None
        Every how many rows to save the model.
    known, quiet :
        As in `learn`.
    **filters : int or None
        Arguments for `Dataset.filter`.
    """
    table = source.table(batch_rows, rows_learnt(model), **filters)
    blocks = blocks_to_learn(model, table, checkpoint_every)
    checkpoint = (output, checkpoint_every)
    learn(model, blocks, total=table.n_rows, checkpoint=checkpoint, known=known, quiet=quiet)
    model.prime()
    silent = replace(source, quiet=True)
    while model.n_passes_ < model.n_passes:
        again = table if batch_rows is None else silent.table(batch_rows)
        _learn_again(model, again, output, known=known, quiet=quiet)


def _learn_again(model: Any, table: Table, output: Path, *, known: KnownRows, quiet: bool) -> None:
    """Learn all rows once more; where the user stops it, the last whole pass is in the file."""
    save_model(model, output)
    done = f"pass {model.n_passes_} of {model.n_passes}"
    words = f"Learning, pass {model.n_passes_ + 1} of {model.n_passes}"

    def pairs() -> Iterator[tuple[Any, Any]]:
        for batch in table.batches:
            yield batch, known.of(batch)
            advance(len(batch))

    with rows_progress(words, model.n_rows_seen_, quiet=quiet) as advance:
        try:
            model.learn_again(pairs())
            return
        except KeyboardInterrupt:
            pass
    leave(output, after=done)


def learn(
    model: Any,
    blocks: Iterable[Any],
    *,
    total: int | None,
    checkpoint: tuple[Path, int | None] | None = None,
    known: KnownRows | None = None,
    quiet: bool = False,
) -> None:
    """Feed blocks to `partial_fit`.

    Parameters
    ----------
    model : online model
        Changed in place.
    blocks : iterable of Dataset
    total : int or None
        Rows in all blocks, for the time left.
    checkpoint : (path, rows) or None
        Where to save the model when the user stops it, and every how many rows besides.
    known : KnownRows or None
        Clusters that rows are known to belong to.
    quiet : bool

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    ParameterError
        When there are more labels than clusters.
    """
    say_if_compiling([model], quiet=quiet)
    answer = SAVED_UNLESS_ASKED_AGAIN if checkpoint else "Stopping."
    with (
        stop_between_blocks(answer, quiet=quiet) as stop,
        rows_progress("Learning", total, quiet=quiet) as advance,
    ):
        try:
            for block in stop.reading(blocks):
                model.partial_fit(block, None if known is None else known.of(block))
                advance(len(block))
                if checkpoint and checkpoint[1] and model.n_rows_seen_ % checkpoint[1] == 0:
                    save_model(model, checkpoint[0])
        except KeyboardInterrupt:
            if stop.insisted or not stop.wanted:
                raise
    if stop.wanted:
        _stop(model, checkpoint)


def _stop(model: Any, checkpoint: tuple[Path, int | None] | None) -> None:
    if checkpoint is None or not rows_learnt(model):
        raise KeyboardInterrupt
    stop_saved(model, checkpoint[0], after=counted(model.n_rows_seen_, "row"))


def stop_saved(model: Any, path: Path, *, after: str) -> NoReturn:
    """Save what is learnt, say how to go on, and leave."""
    save_model(model, path)
    leave(path, after=after)


def leave(path: Path, *, after: str) -> NoReturn:
    """Say how to go on with what is saved, and leave."""
    again = [word for word in sys.argv[1:] if word != "--resume"]
    note(f"Stopped after {after}; what is learnt is saved in {path}. Go on with:")
    note(f"  {shlex.join(['sparsemix', *again, '--resume'])}")
    raise StoppedError
