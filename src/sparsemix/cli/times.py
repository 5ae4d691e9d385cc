"""Fit clusters in time to a table: by sampling from all rows, or in one pass over them."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.options import Kind
from sparsemix.cli.outputs import check_model_output
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.results import show_fit
from sparsemix.cli.starting import check_any_row, new_model, start_model
from sparsemix.cli.sweeps import Sweeps, learn_in_sweeps
from sparsemix.foundation.errors import ParameterError
from sparsemix.model_io import save_model


def fit_in_time(
    parameters: dict[str, Any],
    source: Source,
    output: Path,
    *,
    resume: bool,
    checkpoint_every: int | None,
    json: bool,
    **filters: int | None,
) -> None:
    """Learn the clusters of a table whose rows have times, save them and show them.

    When the user stops the sampling, what it has so far is saved.

    Parameters
    ----------
    parameters : dict
        What was asked for; ``stream`` says that it is to be done in one pass.
    source : Source
    output : Path
        The model file.
    resume : bool
        Go on with the sampling in `output`.
    checkpoint_every : int or None
        Every how many sweeps to save the model.
    json : bool
    **filters : int or None
        Arguments for `Dataset.filter`.

    Raises
    ------
    StoppedError
        When the user stops it and the model is saved.
    ParameterError
        When no column of times was named, or a parameter is not for this way of learning.
    DataError
        When there are no rows, or a time is missing.
    """
    if "time" not in source.reading:
        raise ParameterError(
            "--model time-sensitive needs the time of each row. Name its column: --time COLUMN."
        )
    check_model_output(output, source)
    quiet, wanted = source.quiet, {name: value for name, value in parameters.items() if name != "stream"}
    if parameters.get("stream", False):
        _check_not_in_between(resume=resume, checkpoint_every=checkpoint_every)
        model = new_model(Kind.TIME_SENSITIVE, parameters)
        check_parameters(model)
        [rows] = source.table(None, 0, **filters).batches
        check_any_row(len(rows))
        say_if_compiling([model], quiet=quiet)
        model.fit(rows)
    else:
        model = start_model(Kind.TIME_SENSITIVE, wanted, output if resume else None, quiet=quiet)
        check_parameters(model)
        run = {"checkpoint_every": checkpoint_every, **filters}
        learn_in_sweeps(model, source, output, resume=resume, quiet=quiet, sweeps=_sweeps_of(model), **run)
    save_model(model, output)
    show_fit(model, source, output, label_names=None, json=json, quiet=quiet)


def _check_not_in_between(*, resume: bool, checkpoint_every: int | None) -> None:
    """Raise ParameterError for what only sampling can do."""
    for option, is_given in (("--resume", resume), ("--checkpoint-every", checkpoint_every is not None)):
        if is_given:
            raise ParameterError(
                f"{option} is not for --model {Kind.TIME_SENSITIVE} --stream, which reads its rows once and saves the "
                f"model at the end. Leave it out."
            )


def check_times(model: Any, reading: Mapping[str, Any], *, learns: bool = False) -> None:
    """Raise ParameterError when a model needs the times of rows and no column of them was named, or knows no time.

    Sampled clusters need them for every question, streams only to learn, and step kernels never. What becomes of them
    in tables of real numbers is for their reader to say.
    """
    if "time" in reading and not (
        hasattr(model, "time_kernel") or getattr(model, "takes_real_numbers", False)
    ):
        raise ParameterError("--time is for models of clusters in time only. Leave it out.")
    kernel = getattr(model, "time_kernel", "step")
    knows_time = getattr(kernel, "kind", kernel) != "step" and (learns or hasattr(model, "n_sweeps"))
    if knows_time and "time" not in reading:
        raise ParameterError("the model needs the time of each row. Name its column: --time COLUMN.")


def check_parameters(model: Any) -> None:
    """Raise ParameterError for a parameter of clusters in time that breaks its rule, before any row is read."""
    from sparsemix.models.time_sensitive import checks, stream_checks

    if hasattr(model, "n_sweeps"):
        checks.without_rows(model)
    else:
        stream_checks.rules_of(model, 1)


def set_late(model: Any, late: str | None) -> None:
    """Say what a stream does with late rows from here on; ParameterError for a model that is none."""
    if late is None:
        return
    if not hasattr(model, "late"):
        raise ParameterError("--late is for streams of clusters in time only. Leave it out.")
    model.late = late


def sample(model: Any, rows: Any, *, quiet: bool) -> None:
    """Fit a model by sampling, with a progress bar."""
    most, says = _sweeps_of(model)
    with rows_progress("Sampling", most, quiet=quiet, unit="sweeps") as advance:
        model.fit(rows, on_sweep=lambda progress: advance(1, says(progress)))


def _sweeps_of(model: Any) -> Sweeps:
    def says(progress: Any) -> str:
        done, what = progress.result, "Learning" if progress.chain < 0 else "Sampling"
        return f"{what}, log joint {done.log_joint:,.0f}, {done.n_clusters:,} clusters"

    return Sweeps(model.n_sweeps_in_all, says)
