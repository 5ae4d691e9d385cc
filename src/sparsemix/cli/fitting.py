"""Fit a model of any kind to a table, save it and show it."""

from pathlib import Path
from typing import Any

from sparsemix.cli.epochs import learn_in_epochs
from sparsemix.cli.inputs import Source
from sparsemix.cli.known_rows import KnownRows
from sparsemix.cli.learning import learn_in_one_pass
from sparsemix.cli.options import Kind
from sparsemix.cli.outputs import check_model_output
from sparsemix.cli.results import show_fit
from sparsemix.cli.starting import start_model
from sparsemix.foundation.errors import ParameterError
from sparsemix.model_io import save_model


def fit_table(
    kind: Kind,
    parameters: dict[str, Any],
    source: Source,
    output: Path,
    *,
    labelled: bool,
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
    labelled : bool
        Whether labels of rows are clusters that they are known to belong to.
    checkpoint_every : int or None
        Every how many rows to save an online model.
    resume : bool
        Go on with the model in `output`.
    json : bool
    **run : Any
        Further arguments of `learn_in_one_pass` and `learn_in_epochs`.

    Raises
    ------
    ParameterError
        When an option is not for this kind of model.
    """
    check_model_output(output, source)
    model = start_model(kind, parameters, output if resume else None, quiet=source.quiet)
    known = KnownRows(model, is_wanted=labelled, quiet=source.quiet)
    run |= {"known": known, "quiet": source.quiet}
    if kind is Kind.ONLINE:
        learn_in_one_pass(model, source, output, checkpoint_every=checkpoint_every, **run)
    elif checkpoint_every is not None:
        raise ParameterError(f"--checkpoint-every is not for --model {kind}: Ctrl-C saves, --resume goes on.")
    else:
        learn_in_epochs(model, source, output, resume=resume, **run)
    save_model(model, output)
    show_fit(model, source, output, label_names=known.names, json=json, quiet=source.quiet)
