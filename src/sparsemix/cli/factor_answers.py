"""What `score` and `update` do with models of factors and of click rates."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.events import events_of
from sparsemix.cli.inputs import Source, open_source
from sparsemix.cli.loading import check_complete
from sparsemix.cli.outputs import check_model_output
from sparsemix.cli.progress import waiting
from sparsemix.cli.tables import scores_table
from sparsemix.cli.times import check_times
from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.foundation.wording import counted, kind_of
from sparsemix.model_io import save_model

FACTORS, RATES, NMF = "gamma-poisson-factors", "click-rate-model", "bayesian-nmf"
_NO_CLUSTERS = {FACTORS, RATES, NMF}


def scores_factors(
    model: Any, path: Path, source: Source, observed: str | None, columns: Mapping[str, str], *, json: bool
) -> bool:
    """Print how well a model of factors, or of click rates, predicts a table; False if it has clusters instead.

    Parameters
    ----------
    model : estimator
    path : Path
        The file that it was read from.
    source : Source
        Rows of counts; events for click rates.
    observed : str or None
        Table of what else the same rows have done, to find their factors from.
    columns : dict of str to str
        Columns of events that were named.
    json : bool

    Raises
    ------
    ParameterError
        When an option is not for this model, or it is BayesianNMF.
    DataError
        When a table cannot be read, or holds nothing to score.
    """
    kind = model.model_kind if model.model_kind in _NO_CLUSTERS else "clusters"
    _refuse({"observed": observed} if kind != FACTORS else {}, "whose rows are scored as they are", kind)
    _refuse(columns if kind != RATES else {}, "which is for events and click rates", kind)
    if kind == "clusters":
        return False
    check_times(model, source.reading)
    if kind == NMF:
        raise ParameterError(
            f"{str(path)!r} holds {kind_of(model)}, which cannot score rows that it has not learnt."
        )
    found = (
        _score_of_rates(model, source, columns)
        if kind == RATES
        else _score_of_factors(model, source, observed)
    )
    if json:
        show_json(found)
    else:
        show(scores_table({name: value for name, value in found.items() if name != "calibration"}))
    return True


def _refuse(given: Mapping[str, str | None], why: str, kind: str) -> None:
    for name, value in given.items():
        if value is not None:
            raise ParameterError(f"--{name} is not for this model ({kind}), {why}. Leave it out.")


def _score_of_factors(model: Any, source: Source, observed: str | None) -> dict[str, Any]:
    from sparsemix.reporting.factor_comparison import score_factors

    rows, others = source.read(), None
    if observed is None:
        note("Each row is scored by one half of its events, given the other.", quiet=source.quiet)
    else:
        others = open_source(observed, source.reading, quiet=source.quiet).read()
    with waiting("Scoring", quiet=source.quiet):
        found = score_factors(model, rows, others)
    return {
        "rows": found.n_rows,
        "events": found.n_events,
        "log_probability_per_row": found.per_row,
        "log_probability_per_event": found.per_event,
    }


def _score_of_rates(model: Any, source: Source, columns: Mapping[str, str]) -> dict[str, Any]:
    model.set_params(user="user", ad="ad", event="event", count="count")
    found = model.evaluate(events_of(source, columns))
    numbers = {name: value for name, value in found._asdict().items() if name != "bins"}
    named = {name.replace("floor", "ad_alone"): value for name, value in numbers.items()}
    return {**named, "calibration": [each._asdict() for each in found.bins]}


def updates_factors(model: Any, path: Path, source: Source, target: Path, *, json: bool) -> bool:
    """Add the rows of a table to a model of factors as new users, and save it; False if it has clusters instead.

    Parameters
    ----------
    model : estimator
        Changed in place.
    path, target : Path
        The file that it was read from, and where to write.
    source : Source
    json : bool

    Raises
    ------
    ParameterError
        When the model cannot learn more.
    DataError
        When there is no row, or the model knows no keyword of the table.
    """
    if model.model_kind not in _NO_CLUSTERS:
        return False
    check_times(model, source.reading)
    check_model_output(target, source)
    if model.model_kind != FACTORS or model.solver == "gibbs":
        how = " fitted with --solver gibbs" if model.model_kind == FACTORS else ""
        raise ParameterError(
            f"{str(path)!r} holds {kind_of(model)}{how}, which learns from all of its table at once and cannot learn "
            f"more. Fit a new model to the old table and the new one together."
        )
    check_complete(model, path)
    n_before, n_unknown = len(model.user_factors_), _learn(model, source)
    save_model(model, target)
    n_rows = len(model.user_factors_)
    if json:
        sizes = {"n_rows_before": n_before, "n_rows": n_rows, "n_unknown_features": n_unknown}
        show_json({"model": str(target), **sizes})
        return True
    if n_unknown:
        note(f"Left out {counted(n_unknown, 'keyword')} that the model does not know.", quiet=source.quiet)
    show(
        f"Learnt {counted(n_rows - n_before, 'row')} as new users.",
        f"Rows: {n_before:,} before, {n_rows:,} now.",
        f"The model is in {target}.",
    )
    return True


def _learn(model: Any, source: Source) -> int:
    """Add new users to a model; return how many keywords it left out."""
    rows = source.read()
    if not len(rows):
        raise DataError("there is no row to learn. Check the input and its columns.")
    n_unknown = _n_unknown(model, rows)
    model.partial_fit(rows)
    return n_unknown


def _n_unknown(model: Any, rows: Any) -> int:
    """How many keywords of a table the model does not know; DataError if it knows none of them."""
    known, names = getattr(model, "feature_names_in_", None), rows.feature_names
    if known is None or names is None:
        return 0
    unknown = set(names) - set(known)
    if len(unknown) == len(names):
        raise DataError(
            f"the model knows none of {counted(len(names), 'keyword')} of the table. Check that feature= is the column "
            f"that the model has learnt; nothing has been learnt now."
        )
    return len(unknown)
