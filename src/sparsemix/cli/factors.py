"""Fit factors to counts, or click rates to events, save them and show them."""

import re
import shlex
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

import sparsemix
from sparsemix.cli.checkpoints import Checkpoint
from sparsemix.cli.console import brief, note, show, show_json
from sparsemix.cli.events import events_of
from sparsemix.cli.inputs import Source
from sparsemix.cli.options import Kind
from sparsemix.cli.outputs import check_model_output
from sparsemix.cli.starting import going_on
from sparsemix.cli.sweeps import Sweeps, learn_in_sweeps, sweep_over
from sparsemix.cli.tables import factors_table
from sparsemix.cli.times import check_times
from sparsemix.foundation.errors import ParameterError
from sparsemix.foundation.wording import counted
from sparsemix.model_io import save_model

FACTOR_KINDS = {Kind.GAMMA_POISSON: "GammaPoissonFactors", Kind.CLICK_RATE: "ClickRateModel"}
_NOT_ENOUGH = r"\d+ sweeps were not enough"  # as the library warns
_SHORT = 12  # factors that a table shows
_N_FEATURES = 6  # of each


def fit_factors(
    kind: Kind,
    parameters: dict[str, Any],
    source: Source,
    output: Path,
    *,
    events: Mapping[str, str],
    resume: bool,
    checkpoint_every: int | None,
    json: bool,
    **filters: int | None,
) -> None:
    """Learn factors of a table of counts, or click rates of a table of events.

    When the user stops it, what it has so far is saved.

    Parameters
    ----------
    kind : Kind
        One of `FACTOR_KINDS`.
    parameters : dict
        What was asked for; the rest is the model's own choice, and the seed 0.
    source : Source
    output : Path
        The model file.
    events : dict of str to str
        Columns of events that were named.
    resume : bool
        Go on with the run in `output`.
    checkpoint_every : int or None
        Every how many sweeps to save the model.
    json : bool
    **filters : int or None
        Arguments for `Dataset.filter`.

    Raises
    ------
    ParameterError
        When an option is not for this kind of model, or differs from the interrupted run's.
    DataError
        When the table cannot be read, or holds what the model does not take, or is not that of the run to go on with.
    StoppedError
        When the user stops it and the model is saved.
    """
    check_model_output(output, source)
    model = going_on(
        _new_model(kind, parameters), kind, parameters, output if resume else None, quiet=source.quiet
    )
    check_times(model, source.reading)
    if kind is Kind.CLICK_RATE:
        _refuse(kind, filters)
        _fit_rates(model, source, events, Checkpoint(output, checkpoint_every), resume=resume)
    else:
        with _telling(model, source):
            learn_in_sweeps(
                model,
                source,
                output,
                resume=resume,
                quiet=source.quiet,
                sweeps=_sweeps_of(model),
                checkpoint_every=checkpoint_every,
                **filters,
            )
    save_model(model, output)
    describe = _rates_learnt if kind is Kind.CLICK_RATE else _factors_learnt
    found = {"model": str(output), **describe(model)}
    if json:
        show_json(found)
    elif kind is Kind.CLICK_RATE:
        _show_rates(found, model)
    else:
        _show_factors(found)


def _new_model(kind: Kind, parameters: dict[str, Any]) -> Any:
    model = getattr(sparsemix, FACTOR_KINDS[kind])()
    for name in parameters:
        if name not in model.get_params() or name == "algorithm":
            raise ParameterError(f"--{name.replace('_', '-')} is not for --model {kind}. Leave it out.")
    wanted = {"random_state": 0} | parameters
    if "n_sweeps" in wanted:
        wanted.setdefault("burn_in", wanted["n_sweeps"] // 2)
    return model.set_params(**wanted)


def _refuse(kind: Kind, given: Mapping[str, Any]) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"--{name.replace('_', '-')} is not for --model {kind}. Leave it out.")


def _fit_rates(
    model: Any, source: Source, named: Mapping[str, str], checkpoint: Checkpoint, *, resume: bool
) -> None:
    events = events_of(source, named)
    n_chosen = model.max_iter if isinstance(model.smoothing, str) else 0
    with _telling(model, source):
        sweep_over(
            model, events, checkpoint, resume=resume, quiet=source.quiet, sweeps=_sweeps_of(model, n_chosen)
        )


def _sweeps_of(model: Any, n_before: int = 0) -> Sweeps:
    """Sweeps of a fit of factors, after as many at most that make something else ready."""
    is_sampled = model.solver == "gibbs"
    most = model.n_sweeps * model.n_chains if is_sampled else model.max_iter * getattr(model, "n_init", 1)
    what = "log likelihood" if is_sampled and not n_before else "objective"
    return Sweeps(n_before + most, lambda progress: f"Learning, {what} {progress.objective:,.0f}")


@contextmanager
def _telling(model: Any, source: Source) -> Iterator[None]:
    """Tell the user in the words of the command line if a fit inside has not converged."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", _NOT_ENOUGH)
        yield
    texts = {str(each.message) for each in caught}
    for text in texts:
        if not re.match(_NOT_ENOUGH, text):
            note(f"warning: {text}", quiet=source.quiet)
    if any(re.match(_NOT_ENOUGH, text) for text in texts):
        done = counted(model.max_iter, "sweep")
        note(f"warning: not converged after {done}. Raise --max-iter.", quiet=source.quiet)


def _factors_learnt(model: Any) -> dict[str, Any]:
    """Each factor's share of the events and its features, the largest factor first."""
    names = getattr(model, "feature_names_in_", np.arange(model.n_features_in_))
    sizes = model.user_factors_.sum(axis=0)
    factors = []
    for factor in np.argsort(-sizes, kind="stable"):
        own = model.feature_factors_[factor]
        best = np.argsort(-own, kind="stable")[:_N_FEATURES]
        features = [{"feature": str(names[j]), "probability": float(own[j])} for j in best]
        share = float(sizes[factor] / max(sizes.sum(), np.finfo(float).tiny))
        factors.append({"factor": int(factor), "share": share, "features": features})
    return {
        "n_rows": len(model.user_factors_),
        "n_features": int(model.n_features_in_),
        "objective": float(model.trace_.ravel()[-1]),
        "factors": factors,
    }


def _rates_learnt(model: Any) -> dict[str, Any]:
    return {
        "n_users": len(model.users_),
        "n_ads": len(model.ads_),
        "smoothing": model.smoothing_,
        "prior_clicks": model.prior_clicks_,
        "prior_impressions": model.prior_impressions_,
        "n_clicks_without_impressions": model.n_clicks_without_impressions_,
    }


def _show_factors(found: Mapping[str, Any]) -> None:
    factors = found["factors"]
    sizes = f"{counted(found['n_rows'], 'row')} with {counted(found['n_features'], 'keyword')}"
    more = len(factors) - _SHORT
    show(
        f"{sizes} in {counted(len(factors), 'factor')}; objective {found['objective']:,.1f} nats.",
        "",
        factors_table(factors[:_SHORT]),
        *([f"... and {counted(more, 'smaller one')}."] if more > 0 else []),
        "",
        f"The model is in {found['model']}.",
    )


def _show_rates(found: Mapping[str, Any], model: Any) -> None:
    example = [
        "sparsemix",
        "ctr",
        found["model"],
        "--user",
        brief(model.users_[0]),
        "--ad",
        brief(model.ads_[0]),
    ]
    show(
        f"{counted(found['n_users'], 'user')} and {counted(found['n_ads'], 'ad')}; an ad's own rate counts for "
        f"{found['smoothing']:,.3g} impressions, and that of an unknown ad is "
        f"{found['prior_clicks'] / found['prior_impressions']:.3g}.",
        f"The model is in {found['model']}. Next:",
        f"  {shlex.join(example)}",
    )
