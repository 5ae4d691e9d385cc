"""Fit a model of any kind to a table, save it and show it."""

from dataclasses import replace
from pathlib import Path
from typing import Any

from sparsemix.cli.epochs import learn_in_epochs
from sparsemix.cli.factors import FACTOR_KINDS, fit_factors
from sparsemix.cli.inputs import Source
from sparsemix.cli.known_rows import KnownRows
from sparsemix.cli.learning import learn_in_one_pass
from sparsemix.cli.numbers import source_for
from sparsemix.cli.options import Kind
from sparsemix.cli.outputs import check_model_output
from sparsemix.cli.results import show_fit
from sparsemix.cli.spreading import check_for_workers, learn_on_workers
from sparsemix.cli.starting import start_model
from sparsemix.cli.sweeps import learn_in_sweeps
from sparsemix.cli.times import check_times, fit_in_time
from sparsemix.foundation.errors import ParameterError
from sparsemix.model_io import save_model


def fit_table(
    kind: Kind,
    parameters: dict[str, Any],
    source: Source,
    output: Path,
    *,
    events: dict[str, str],
    cluster: dict[str, Any],
    labelled: bool,
    batch_rows: int | None,
    checkpoint_every: int | None,
    resume: bool,
    json: bool,
    **run: Any,
) -> None:
    """Learn the clusters of a table.

    Parameters
    ----------
    kind : Kind
    parameters : dict
        What was asked for.
    source : Source
    output : Path
        The model file.
    events : dict
        Columns of events that were named.
    cluster : dict
        Who does the work, as `takes_cluster` gives it; empty for this process.
    labelled : bool
        Whether labels of rows are clusters that they are known to belong to.
    batch_rows : int or None
        Stream the table from disk, so many rows at a time.
    checkpoint_every : int or None
        Every how many rows, epochs or sweeps to save the model.
    resume : bool
        Go on with the model in `output`.
    json : bool
    **run : Any
        Further arguments of `learn_in_one_pass`, `learn_in_epochs` and `learn_in_sweeps`.

    Raises
    ------
    ParameterError
        When an option is not for this kind of model.
    """
    _check_options(kind, labelled, batch_rows)
    if events and kind is not Kind.CLICK_RATE:
        raise ParameterError(f"--{next(iter(events))} is for --model click-rate only. Leave it out.")
    if cluster:
        check_for_workers(kind, batch_rows, checkpoint_every, run)
    run["checkpoint_every"] = checkpoint_every
    source = replace(source, threshold=parameters.get("binarize"))
    if kind is Kind.TIME_SENSITIVE:
        fit_in_time(parameters, source, output, resume=resume, json=json, **run)
        return
    if kind in FACTOR_KINDS:
        fit_factors(kind, parameters, source, output, events=events, resume=resume, json=json, **run)
        return
    check_model_output(output, source)
    model = start_model(kind, parameters, output if resume else None, quiet=source.quiet)
    check_times(model, source.reading)
    source = source_for(model, source)
    known = KnownRows(model, is_wanted=labelled, quiet=source.quiet)
    run |= {"quiet": source.quiet}
    if cluster:
        learn_on_workers(model, source, output, cluster, known=known, resume=resume)
    elif kind is Kind.HASHED_GIBBS:
        learn_in_sweeps(model, source, output, resume=resume, **run)
    elif kind is Kind.ONLINE:
        run |= {"known": known, "batch_rows": batch_rows}
        learn_in_one_pass(model, source, output, **run)
    else:
        run |= {"known": known, "batch_rows": batch_rows}
        learn_in_epochs(model, source, output, resume=resume, **run)
    save_model(model, output)
    show_fit(model, source, output, label_names=known.names, json=json, quiet=source.quiet)


def _check_options(kind: Kind, labelled: bool, batch_rows: int | None) -> None:
    """Raise ParameterError for an option that has no meaning with this kind of model."""
    if kind not in {Kind.HASHED_GIBBS, Kind.TIME_SENSITIVE, *FACTOR_KINDS}:
        return
    if labelled:
        raise ParameterError(
            f"--label is not for --model {kind}, which takes no known clusters. Leave it out."
        )
    if batch_rows is not None:
        raise ParameterError(f"--batch-rows is not for --model {kind}: all rows must fit into memory.")
