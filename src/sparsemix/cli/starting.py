"""Begin a model, or go on with one that was interrupted."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import sparsemix
from sparsemix.cli.blocks import BLOCK_ROWS, cut
from sparsemix.cli.conditions import check_effects
from sparsemix.cli.console import note
from sparsemix.cli.inputs import Table
from sparsemix.cli.loading import check_complete, check_mixture
from sparsemix.cli.options import Kind
from sparsemix.foundation.errors import DataError, ParameterError, parameter_error
from sparsemix.foundation.wording import counted, kind_of
from sparsemix.model_io import load_model

DEFAULTS = {"n_components": 50, "random_state": 0, "binarize": 0.0}
"""What a new model gets unless it is asked for: the same result each time, and counts as mere presence."""

_MAY_CHANGE = {"max_iter", "n_jobs", "n_passes"}  # when a run is resumed

_CLASSES = {
    Kind.ONLINE: "OnlineBernoulliMixture",
    Kind.MULTINOMIAL: "MultinomialMixture",
    Kind.BERNOULLI_EM: "BernoulliMixture",
    Kind.HASHED_GIBBS: "HashedGibbsMixture",
    Kind.TIME_SENSITIVE: "TimeSensitiveMixture",
    Kind.GAMMA_POISSON: "GammaPoissonFactors",
}
_STREAMED = "StreamingTimeSensitiveMixture"

if TYPE_CHECKING:
    from sparsemix.data import Dataset


def new_model(kind: Kind, parameters: dict[str, Any]) -> Any:
    """Return a new model of a kind.

    Parameters
    ----------
    kind : Kind
    parameters : dict
        What was asked for; the rest is as in `DEFAULTS`, or the model's own choice.

    Raises
    ------
    ParameterError
        When a parameter is not for this kind, or has no effect beside the others.
    """
    model = _built(kind, parameters)
    check_effects(kind, parameters, model)
    return model


def _built(kind: Kind, parameters: dict[str, Any]) -> Any:
    streams = kind is Kind.TIME_SENSITIVE and parameters.get("stream", False)
    if kind is Kind.TIME_SENSITIVE:
        parameters = {name: value for name, value in parameters.items() if name != "stream"}
    model = getattr(sparsemix, _STREAMED if streams else _CLASSES[kind])()
    known = model.get_params()
    for name in parameters:
        if name not in known:
            raise _not_for(name, f"{kind} --stream" if streams else str(kind))
    if kind is not Kind.ONLINE and parameters.get("n_components") == "auto":
        raise ParameterError("--n-components auto is for --model online only. Give a number.")
    wanted = DEFAULTS | parameters
    if "n_sweeps" in wanted:
        wanted.setdefault("burn_in", wanted["n_sweeps"] // 2)
    return model.set_params(**{name: value for name, value in wanted.items() if name in known})


def _not_for(name: str, chosen: str) -> ParameterError:
    remedy = "Leave it out."
    if name == "window" and chosen == Kind.TIME_SENSITIVE:
        chosen, remedy = f"{chosen} without --stream", "Add --stream, or leave it out."
    return ParameterError(f"--{name.replace('_', '-')} is not for --model {chosen}. {remedy}")


def start_model(kind: Kind, parameters: dict[str, Any], resume: Path | None, *, quiet: bool = False) -> Any:
    """Return a new model, or the one in file `resume`.

    Parameters
    ----------
    kind : Kind
    parameters : dict
        What was asked for; the rest is as in `DEFAULTS`, or the model's own choice.
    resume : Path or None
        File of an interrupted run. When there is none yet, the run starts at the first row.
    quiet : bool

    Raises
    ------
    ParameterError
        When a parameter is not for this kind, has no effect beside the others, or differs from the interrupted run's.
    """
    return going_on(_built(kind, parameters), kind, parameters, resume, quiet=quiet)


def going_on(
    new: Any, kind: Kind, parameters: dict[str, Any], resume: Path | None, *, quiet: bool = False
) -> Any:
    """Return a new model, or the one in file `resume`; parameters and errors as those of `start_model`."""
    if resume is None or not resume.exists():
        check_effects(kind, parameters, new)
        if resume is not None:
            note(f"There is no {resume} to go on with; starting at the first row.", quiet=quiet)
        return new
    model = load_model(resume)
    if type(model) is not type(new):
        was = {name: str(each) for each, name in _CLASSES.items()}.get(type(model).__name__)
        if was is None:
            raise ParameterError(
                f"{str(resume)!r} holds {kind_of(model)}, which this command cannot go on with. Give another "
                f"--output, or start anew without --resume."
            )
        rule = f"{was} as in the interrupted run in {resume}"
        remedy = f"Give --model {was}, or start anew without --resume."
        raise parameter_error("model", "fit --resume", rule, str(kind), remedy)
    _check_same_parameters(model.get_params(), parameters, resume)
    check_effects(kind, parameters, model)
    if kind is Kind.ONLINE:
        note(f"Going on after {counted(model.n_rows_seen_, 'row')} of {resume}.", quiet=quiet)
    return model.set_params(**{name: value for name, value in parameters.items() if name in _MAY_CHANGE})


def check_learner(model: Any, path: Path) -> None:
    """Raise ParameterError for a model, from a file, that has no clusters or cannot learn row after row."""
    check_mixture(model, path)
    if not hasattr(model, "partial_fit"):
        raise ParameterError(
            f"{str(path)!r} holds {kind_of(model)}, which learns from all rows at once and cannot learn "
            f"more. Fit a new model to the old rows and the new ones together."
        )
    check_complete(model, path)


def rows_learnt(model: Any) -> int:
    """Return how many rows a model has learnt, 0 for a new one."""
    return int(getattr(model, "n_rows_seen_", 0))


def blocks_to_learn(model: Any, table: Table, checkpoint_every: int | None) -> "Iterator[Dataset]":
    """Yield the rows that the model has not learnt yet, in blocks.

    Blocks end at the same rows whether the run was interrupted or not, and at every checkpoint.

    Parameters
    ----------
    model : online model
    table : Table
    checkpoint_every : int or None

    Yields
    ------
    Dataset

    Raises
    ------
    DataError
        When the table is not the one that the model was learning.
    """
    learnt = rows_learnt(model)
    ends = [BLOCK_ROWS, *([checkpoint_every] if checkpoint_every else [])]
    for number, block in enumerate(cut(table.batches, ends, start=learnt, first=table.first_row)):
        if number == 0 and learnt:
            _check_same_names(getattr(model, "feature_names_in_", None), block.feature_names)
        yield block
    check_any_row(rows_learnt(model))


def check_any_row(n_rows: int) -> None:
    """Raise DataError if there is no row to learn."""
    if n_rows == 0:
        raise DataError("there is no row to learn. Check the input, its columns and the filters.")


def check_same_table(model: Any, names: Any, n_rows: int) -> None:
    """Raise DataError unless a table has the keywords and the rows of the run that a model goes on with.

    Parameters
    ----------
    model : MultinomialMixture, BernoulliMixture, HashedGibbsMixture or TimeSensitiveMixture
        Fitted.
    names : (n_features,) array of str or None
    n_rows : int
    """
    known = getattr(model, "feature_names_in_", None)
    is_same = (known is None) == (names is None) and (known is None or list(known) == list(names))
    if not is_same or n_rows != model.n_rows_seen_:
        raise DataError(
            f"the input has other keywords or rows than the run in the file, which had "
            f"{counted(model.n_rows_seen_, 'row')}. Give the same table with the same columns and filters, or leave "
            f"--resume out to start anew."
        )


def _check_same_names(known: Any, found: Any) -> None:
    if known is not None and found is not None and list(known) != list(found[: len(known)]):
        raise DataError(
            "the input has other keywords than the run that was interrupted. Give the same table with the "
            "same columns and filters, or learn new rows with 'sparsemix update'."
        )


def _check_same_parameters(found: dict[str, Any], asked: dict[str, Any], path: Path) -> None:
    for name, value in asked.items():
        if name in _MAY_CHANGE:
            continue
        if found[name] != value:
            was = "left out" if found[name] is None else repr(found[name])
            rule = f"{was} as in the interrupted run in {path}"
            remedy = "Leave it out, or start anew without --resume."
            raise parameter_error(name, "fit --resume", rule, value, remedy)
