"""Fit several models to one part of a table and show how they do on the rest."""

import warnings
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.numbers import source_for
from sparsemix.cli.options import Compared, Kind
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.starting import new_model
from sparsemix.cli.tables import comparison_table
from sparsemix.foundation.errors import ParameterError
from sparsemix.reporting.comparison import Comparison, compare_models
from sparsemix.reporting.summary import takes_counts, takes_real_numbers

_PRESENCE = "presence"


def compare_table(
    source: Source,
    kinds: Sequence[Kind] | None,
    n_components: Sequence[int | None],
    *,
    families: Sequence[str] | None,
    held_out: float,
    seed: int,
    memory: bool,
    json: bool,
) -> None:
    """Compare every kind of model with every number of clusters, and print one table or JSON.

    Parameters
    ----------
    source : Source
    kinds : sequence of Kind or None
        None is all that take such rows.
    n_components : sequence of int or None
        None is the default.
    families : sequence of str or None
        What rows hold, for hashed-gibbs alone; None is the default.
    held_out : float
        Share of the rows that is set apart.
    seed : int
    memory : bool
        Fit every model twice, to see its memory.
    json : bool

    Raises
    ------
    ParameterError
        When families are given without the model that has them, or some models take real numbers and some do not.
    """
    kinds = _kinds(kinds, families)
    models = _models(kinds, n_components, families or [None], seed)
    _check_same_rows(models)
    dataset = source_for(next(iter(models.values())), source).read()
    say_if_compiling(models.values(), quiet=source.quiet)
    first = next(iter(models))
    with (
        rows_progress("Fitting", len(models), quiet=source.quiet, unit="models") as advance,
        warnings.catch_warnings(),
    ):
        warnings.filterwarnings("ignore", ".* has not converged ")

        def begin(name: str) -> None:
            advance(int(name != first))

        found = compare_models(models, dataset, held_out=held_out, seed=seed, memory=memory, on_fit=begin)
    reference = first if dataset.labels is None else "labels"
    if json:
        show_json({"agreement_with": reference, "models": [each._asdict() for each in found]})
        return
    show(comparison_table(found, are_real=takes_real_numbers(models[first])))
    _say_what_to_mind(found, models, reference, quiet=source.quiet)


def _kinds(kinds: Sequence[Kind] | None, families: Sequence[str] | None) -> Sequence[Kind]:
    """Those that were asked for; all, or of real numbers the one that takes them."""
    if kinds is None:
        new = [new_model(Kind.HASHED_GIBBS, {"family": family}) for family in families or []]
        are_real = bool(new) and all(takes_real_numbers(model) for model in new)
        return [Kind.HASHED_GIBBS] if are_real else [Kind(each) for each in Compared]
    if families is not None and Kind.HASHED_GIBBS not in kinds:
        raise ParameterError("--family is for --model hashed-gibbs only. Leave it out, or add that model.")
    return kinds


def _models(
    kinds: Sequence[Kind], n_components: Sequence[int | None], families: Sequence[str | None], seed: int
) -> dict[str, Any]:
    models = {}
    for kind in dict.fromkeys(kinds):
        for family in dict.fromkeys(families) if kind is Kind.HASHED_GIBBS else [None]:
            for number in dict.fromkeys(n_components):
                given = {"n_components": number, "family": family, "random_state": seed}
                model = new_model(kind, {name: each for name, each in given.items() if each is not None})
                name = str(kind) if family is None else f"{kind} {family}"
                models[f"{name}, k={model.n_components}"] = model
    return models


def _check_same_rows(models: Mapping[str, Any]) -> None:
    """Raise ParameterError unless all models take real numbers, or none does."""
    real = [name for name, model in models.items() if takes_real_numbers(model)]
    others = [name for name in models if name not in real]
    if real and others:
        raise ParameterError(
            f"{real[0]!r} takes real numbers and {others[0]!r} does not, so that no table is for both. Compare "
            f"them one after the other, or leave one out."
        )


def _say_what_to_mind(
    found: Sequence[Comparison], models: Mapping[str, Any], reference: str, *, quiet: bool
) -> None:
    """What the table alone would let one get wrong."""
    if reference != "labels":
        note(f"Without --label, agreement is with the clusters of the first model, {reference}.", quiet=quiet)
    elif isnan(found[0].nmi):
        note("No held-out row has a label, so there is no agreement.", quiet=quiet)
    groups: dict[str, dict[str, None]] = {}
    for name, model in models.items():
        groups.setdefault(_scored(model), {})[name.rpartition(", k=")[0]] = None
    if len(groups) > 1:
        parts = [
            f"of {what}" if what == _PRESENCE else f"of {what} ({' and '.join(groups[what])})"
            for what in sorted(groups)
        ]
        note(f"Scores {' and '.join(parts)} cannot be compared.", quiet=quiet)
    say_unconverged(found, quiet=quiet)


def say_unconverged(found: Sequence[Any], *, quiet: bool) -> None:
    """Warn of each model of a comparison whose fit came to no end."""
    for each in found:
        if not each.converged:
            note(
                f"warning: {each.name} has not converged; 'sparsemix fit --max-iter' allows more.",
                quiet=quiet,
            )


def _scored(model: Any) -> str:
    """What a score of a model is the probability of."""
    if takes_real_numbers(model):
        return "real numbers"
    if takes_counts(model):
        return "counts"
    return "independent counts" if getattr(model, "family", "") == "poisson" else _PRESENCE
