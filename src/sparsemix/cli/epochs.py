"""Learn from all rows in epochs: progress, and an orderly stop."""

import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from itertools import chain, repeat
from pathlib import Path
from typing import Any

from sparsemix.cli.checkpoints import Checkpoint
from sparsemix.cli.console import note
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.known_rows import KnownRows
from sparsemix.cli.learning import stop_saved
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.starting import check_any_row, check_same_table
from sparsemix.cli.stopping import SAVED_UNLESS_ASKED_AGAIN, StopRequest, stop_between_blocks
from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import counted

Fit = Callable[[Callable[[Any], None], StopRequest], None]


class _StopNowError(Exception):
    """Leave a fit after an epoch, because the user has asked to."""


def learn_in_epochs(
    model: Any,
    source: Source,
    output: Path,
    *,
    batch_rows: int | None,
    known: KnownRows,
    resume: bool,
    quiet: bool = False,
    checkpoint_every: int | None = None,
    **filters: int | None,
) -> None:
    """Fit a model that reads all rows in every epoch; when the user stops it, the best so far is saved.

    Parameters
    ----------
    model : MultinomialMixture or BernoulliMixture
        Changed in place.
    source : Source
    output : Path
        Where to save the model when the user stops it, and in between.
    batch_rows : int or None
        Read the table from disk in every epoch, so many rows at a time.
    known : KnownRows
        Clusters that rows are known to belong to.
    resume : bool
        Go on from where the model stands, if it is fitted; nothing is left to do for one that has converged.
    quiet : bool
    checkpoint_every : int, optional
        Every how many epochs to save the model.
    **filters : int or None
        Arguments for `Dataset.filter`.

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    ParameterError
        When there are more labels than clusters, or several starts to save in between.
    DataError
        When there are no rows, or not those of the run to go on with.
    """
    if checkpoint_every and model.n_init > 1:
        raise ParameterError(
            "--checkpoint-every is not for several starts, of which the best so far alone can go on. "
            "Leave it or --n-init out."
        )
    goes_on = resume and hasattr(model, "weights_")
    if goes_on:
        note(f"Going on with the run in {output}.", quiet=quiet)
    rows = _Rows(model, _opener(source, batch_rows, filters), known, is_resumed=goes_on)
    if goes_on and model.converged_:
        rows.check()
        note("It has converged; nothing is left to do.", quiet=quiet)
        return
    say_if_compiling([model], quiet=quiet)
    most = model.max_iter
    model.set_params(warm_start=goes_on)
    try:
        fit = partial(rows.fit, streams=batch_rows is not None)
        is_stopped = _run(model, fit, Checkpoint(output, checkpoint_every), quiet=quiet)
    finally:
        model.set_params(warm_start=False, max_iter=most)
    if is_stopped:
        if not hasattr(model, "weights_"):
            raise KeyboardInterrupt
        if model.n_init > 1:
            note(f"Of {model.n_init} starts the best so far is kept; --resume makes no others.")
        stop_saved(model, output, after=counted(model.n_iter_, "epoch"))
    say_what_is_amiss(model, quiet=quiet)


class _Rows:
    """The rows of a table for one model; looked at the first time.

    Parameters
    ----------
    model : MultinomialMixture or BernoulliMixture
    opened : callable
        Gives the batches anew at each call.
    known : KnownRows
    is_resumed : bool
        Whether it must be the table that the model has learnt.
    """

    def __init__(
        self, model: Any, opened: Callable[[], Iterable[Any]], known: KnownRows, *, is_resumed: bool
    ) -> None:
        self._model, self._opened, self._known = model, opened, known
        self._is_resumed, self._is_checked = is_resumed, False

    def check(self) -> None:
        """Raise what `learn_in_epochs` raises about tables and labels."""
        for _ in self._batches():
            pass

    def fit(self, on_epoch: Callable[[Any], None], stop: StopRequest, *, streams: bool) -> None:
        """Fit the model, batch by batch if it `streams`; a wish to stop ends the reading of a batch at once."""
        if streams:
            self._model.fit_batches(lambda: self._batches(stop.reading), on_epoch=on_epoch)
        else:
            [(rows, labels)] = self._batches()
            self._model.fit(rows, labels, on_epoch=on_epoch)

    def _batches(self, reading: Callable[[Iterable[Any]], Iterable[Any]] = iter) -> Iterator[tuple[Any, Any]]:
        n_rows, names = 0, None
        for batch in reading(self._opened()):
            n_rows, names = n_rows + len(batch), batch.feature_names
            yield batch, self._known.of(batch)
        if not self._is_checked:
            check_any_row(n_rows)
            if self._is_resumed:
                check_same_table(self._model, names, n_rows)
            self._is_checked = True


def _opener(
    source: Source, batch_rows: int | None, filters: dict[str, int | None]
) -> Callable[[], Iterable[Any]]:
    """What gives the table anew at each call: as it is in memory, or from disk; what is odd is said once."""
    table = source.table(batch_rows, 0, **filters)
    if batch_rows is None:
        whole = list(table.batches)
        return lambda: whole
    sources = chain([source], repeat(replace(source, quiet=True)))
    return lambda: next(sources).stream(batch_rows, vocabulary="two-pass")


def _run(model: Any, fit: Fit, checkpoint: Checkpoint, *, quiet: bool) -> bool:
    """Fit, saving the model in between, and return whether the user has stopped it."""
    most = model.max_iter
    last = most + (model.n_iter_ - 1 if model.warm_start else 0)
    due, is_known = checkpoint.dues(), False
    with (
        stop_between_blocks(SAVED_UNLESS_ASKED_AGAIN, quiet=quiet) as stop,
        rows_progress("Learning", model.n_init * most, quiet=quiet, unit="epochs") as advance,
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", ".* (has not converged|rows have probability zero) ")

        def follow(_epoch: Any) -> None:
            nonlocal is_known
            if is_known:  # a fit that goes on looks at its last epoch again
                is_known = False
                return
            advance(1)
            is_over = model.converged_ or model.n_iter_ >= last
            if (next(due) and not is_over) or stop.wanted:
                raise _StopNowError

        while True:
            try:
                fit(follow, stop)
                return False
            except _StopNowError:
                if stop.wanted:
                    return True
            except KeyboardInterrupt:
                if stop.insisted or not stop.wanted:
                    raise
                return True
            model.set_params(max_iter=most)
            checkpoint.save(model)
            is_known = True
            model.set_params(max_iter=last - model.n_iter_ + 1)


def say_what_is_amiss(model: Any, *, quiet: bool) -> None:
    """Tell the user what the library warns of, in the words of the command line."""
    if model.n_impossible_:
        note(
            f"warning: no cluster can have made {counted(model.n_impossible_, 'row')}. Give --smoothing above 0.",
            quiet=quiet,
        )
    if not model.converged_:
        note(
            f"warning: not converged after {counted(model.n_iter_, 'epoch')}. The same with --resume goes on.",
            quiet=quiet,
        )
