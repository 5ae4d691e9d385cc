"""Learn on several processes or machines: progress, and an orderly stop."""

import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsemix.cli.console import note
from sparsemix.cli.epochs import say_what_is_amiss
from sparsemix.cli.inputs import Source
from sparsemix.cli.known_rows import KnownRows
from sparsemix.cli.learning import stop_saved
from sparsemix.cli.options import Kind
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.settling import settle
from sparsemix.cli.starting import check_any_row
from sparsemix.cli.stopping import SAVED_UNLESS_ASKED_AGAIN, stop_between_blocks
from sparsemix.cli.table_options import columns_by_option
from sparsemix.cli.workers import opened_client
from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import counted

MEGABYTE = 1e6


class _StopNowError(Exception):
    """Leave a fit after a join, because the user has asked to."""


def check_for_workers(
    kind: Kind, batch_rows: int | None, checkpoint_every: int | None, filters: Mapping[str, int | None]
) -> None:
    """Raise ParameterError for what workers do not do."""
    if kind not in {Kind.ONLINE, Kind.MULTINOMIAL, Kind.BERNOULLI_EM}:
        raise ParameterError(
            f"--workers and --dask are not for --model {kind}, which needs all rows in one place. Leave them out."
        )
    odd = {"--batch-rows": batch_rows, "--checkpoint-every": checkpoint_every}
    odd |= {f"--{name.replace('_', '-')}": value for name, value in filters.items()}
    for option, value in odd.items():
        if value is not None:
            why = (
                "the model is saved after each join"
                if option == "--checkpoint-every"
                else "each file is a batch"
            )
            raise ParameterError(f"{option} is not for --workers and --dask, where {why}. Leave it out.")


def learn_on_workers(
    model: Any, source: Source, output: Path, cluster: dict[str, Any], *, known: KnownRows, resume: bool
) -> None:
    """Fit a model to files that workers read; it is saved after each join, from where --resume goes on.

    Parameters
    ----------
    model : OnlineBernoulliMixture, MultinomialMixture or BernoulliMixture
        Changed in place.
    source : Source
        Each of its files holds its rows whole.
    output : Path
        The model file.
    cluster : dict
        ``workers`` or ``dask``, as `takes_cluster` gives them.
    known : KnownRows
        Told the labels, if a column has some.
    resume : bool
        Go on with the model in `output`, if it is there.

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    MissingExtraError, ClusterError
        When Dask is not installed, or there are no workers.
    """
    runs_in_epochs = not hasattr(model, "partial_fit")
    settle(source)
    total, unit = (model.n_init * model.max_iter, "epochs") if runs_in_epochs else (None, "rows")
    with (
        opened_client(
            workers=cluster.get("workers"), dask_address=cluster.get("dask"), quiet=source.quiet
        ) as client,
        stop_between_blocks(SAVED_UNLESS_ASKED_AGAIN, quiet=source.quiet) as stop,
        rows_progress("Learning", total, quiet=source.quiet, unit=unit) as advance,
        columns_by_option(source.reading),
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", ".* (has not converged|rows have probability zero) ")

        def follow(join: Any) -> None:
            advance(1 if runs_in_epochs else join.n_rows)
            if stop.wanted:
                raise _StopNowError

        try:
            run = _fit(model, source, output, client, resume=resume, on_join=follow)
        except _StopNowError:
            stop_saved(model, output, after=counted(model.n_rows_seen_, "row"))
        except KeyboardInterrupt:
            if stop.insisted or not stop.wanted or not hasattr(model, "n_rows_seen_"):
                raise
            stop_saved(model, output, after=counted(model.n_rows_seen_, "row"))
    check_any_row(model.n_rows_seen_)
    if runs_in_epochs:
        say_what_is_amiss(model, quiet=source.quiet)
    source.say_losses(run.report)
    if known.is_wanted:
        known.meet(run.label_names or [])
    sent = f"{run.n_bytes / MEGABYTE:,.1f} MB of messages"
    note(f"{counted(len(run.joins), 'join')}, {sent}, {run.seconds:,.1f} s.", quiet=source.quiet)


def _fit(model: Any, source: Source, output: Path, client: Any, *, resume: bool, on_join: Any) -> Any:
    from sparsemix.distributed import fit

    goes_on_alike = getattr(model, "n_init", 1) == 1 and not getattr(model, "accelerate", False)
    return fit(
        model,
        source.path,
        client=client,
        checkpoint=output if goes_on_alike else None,
        resume=resume and goes_on_alike,
        on_join=on_join,
        **source.reading,
    )
