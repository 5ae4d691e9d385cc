"""Learn from all rows in sweeps, by sampling or climbing: progress, and an orderly stop."""

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

from sparsemix.cli.checkpoints import Checkpoint
from sparsemix.cli.console import note
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.learning import stop_saved
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.starting import check_any_row, check_same_table
from sparsemix.cli.stopping import SAVED_UNLESS_ASKED_AGAIN, stop_between_blocks
from sparsemix.foundation.errors import DataError
from sparsemix.foundation.wording import counted

_OTHER_INPUT = "of the fit that was interrupted"  # as the library refuses it


class _StopNowError(Exception):
    """Leave a fit after a sweep, because the user has asked to."""


class Sweeps(NamedTuple):
    """How many sweeps there may be, and what the progress bar says of each."""

    most: int
    says: Callable[[Any], str]


def learn_in_sweeps(
    model: Any,
    source: Source,
    output: Path,
    *,
    resume: bool,
    quiet: bool = False,
    sweeps: Sweeps | None = None,
    checkpoint_every: int | None = None,
    **filters: int | None,
) -> None:
    """Fit a model in sweeps over all rows; when the user stops it, what it has so far is saved.

    Parameters
    ----------
    model : HashedGibbsMixture, TimeSensitiveMixture or GammaPoissonFactors
        Changed in place.
    source : Source
    output : Path
        Where to save the model when the user stops it, and in between.
    sweeps : Sweeps, optional
        Those of chains that move rows between clusters by default.
    checkpoint_every : int, optional
        Every how many sweeps to save the model.
    resume : bool
        Go on from where the chains stand, if the model is fitted; nothing is left to do for one that is complete.
    quiet : bool
    **filters : int or None
        Arguments for `Dataset.filter`.

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    DataError
        When there are no rows, or not those of the run to go on with.
    """
    [rows] = source.table(None, 0, **filters).batches
    check_any_row(len(rows))
    if resume and hasattr(model, "is_complete_"):
        check_same_table(model, rows.feature_names, len(rows))
    checkpoint = Checkpoint(output, checkpoint_every)
    sweep_over(model, rows, checkpoint, resume=resume, quiet=quiet, sweeps=sweeps or _of_chains(model))


def sweep_over(
    model: Any, rows: Any, checkpoint: Checkpoint, *, resume: bool, quiet: bool, sweeps: Sweeps
) -> None:
    """`learn_in_sweeps` from what has been read, which must be that of the run to go on with."""
    goes_on = resume and hasattr(model, "is_complete_")
    if goes_on and model.is_complete_:
        note(f"All sweeps of the run in {checkpoint.path} are made; nothing is left to do.", quiet=quiet)
        return
    if goes_on:
        note(
            f"Going on with the run in {checkpoint.path}, after {counted(_n_done(model), 'sweep')}.",
            quiet=quiet,
        )
    say_if_compiling([model], quiet=quiet)
    model.set_params(warm_start=goes_on)
    try:
        is_stopped = _run(model, rows, sweeps, checkpoint, quiet=quiet)
    except DataError as error:
        if goes_on and _OTHER_INPUT in str(error):
            raise DataError(
                "the input has other rows or numbers than the run in the file. Give the same table with the same "
                "columns and filters, or leave --resume out to start anew."
            ) from error
        raise
    finally:
        model.set_params(warm_start=False)
    if is_stopped:
        stop_saved(model, checkpoint.path, after=counted(_n_done(model), "sweep"))


def _n_done(model: Any) -> int:
    """Sweeps of all chains together, also of one that learns parameters."""
    if not hasattr(model, "moves_"):
        return int(model.n_sweeps_done_)
    return int((model.moves_ >= 0).sum()) + len(getattr(model, "learning_", ()))


def _of_chains(model: Any) -> Sweeps:
    def says(progress: Any) -> str:
        done = progress.result
        accepted = f"{done.n_moved / max(done.n_proposed, 1):.0%} accepted"
        return f"Sampling, log joint {done.log_joint:,.0f}, {accepted}"

    return Sweeps(model.n_sweeps * model.n_chains, says)


def _run(model: Any, rows: Any, sweeps: Sweeps, checkpoint: Checkpoint, *, quiet: bool) -> bool:
    """Fit, saving the model in between, and return whether the user has stopped it."""
    due = checkpoint.dues()
    n_before = _n_done(model) if model.warm_start else 0
    with (
        stop_between_blocks(SAVED_UNLESS_ASKED_AGAIN, quiet=quiet) as stop,
        rows_progress("Learning", sweeps.most, quiet=quiet, unit="sweeps") as advance,
    ):
        advance(n_before)

        def follow(progress: Any) -> None:
            advance(1, sweeps.says(progress))
            if next(due) or stop.wanted:
                raise _StopNowError

        while True:
            try:
                model.fit(rows, on_sweep=follow)
            except _StopNowError:
                if stop.wanted:
                    return True
                checkpoint.save(model)
            if model.is_complete_:
                return False
