"""Fit several models to one part of a table and show how they do on the rest."""

import warnings
from collections.abc import Sequence
from math import isnan
from typing import Any

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.options import Kind
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.starting import new_model
from sparsemix.cli.tables import comparison_table
from sparsemix.reporting.comparison import Comparison, compare_models

_OF_COUNTS = {Kind.MULTINOMIAL, Kind.HASHED_GIBBS}


def compare_table(
    source: Source,
    kinds: Sequence[Kind],
    n_components: Sequence[int | None],
    *,
    held_out: float,
    seed: int,
    memory: bool,
    json: bool,
) -> None:
    """Compare every kind of model with every number of clusters, and print one table or JSON.

    Parameters
    ----------
    source : Source
    kinds : sequence of Kind
    n_components : sequence of int or None
        None is the default.
    held_out : float
        Share of the rows that is set apart.
    seed : int
    memory : bool
        Fit every model twice, to see its memory.
    json : bool
    """
    dataset = source.read()
    models = _models(kinds, n_components, seed)
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
    show(comparison_table(found))
    _say_what_to_mind(found, kinds, reference, quiet=source.quiet)


def _models(kinds: Sequence[Kind], n_components: Sequence[int | None], seed: int) -> dict[str, Any]:
    models = {}
    for kind in dict.fromkeys(kinds):
        for number in dict.fromkeys(n_components):
            size = {} if number is None else {"n_components": number}
            model = new_model(kind, {**size, "random_state": seed})
            models[f"{kind}, k={model.n_components}"] = model
    return models


def _say_what_to_mind(
    found: Sequence[Comparison], kinds: Sequence[Kind], reference: str, *, quiet: bool
) -> None:
    """What the table alone would let one get wrong."""
    if reference != "labels":
        note(f"Without --label, agreement is with the clusters of the first model, {reference}.", quiet=quiet)
    elif isnan(found[0].nmi):
        note("No held-out row has a label, so there is no agreement.", quiet=quiet)
    if 0 < len(_OF_COUNTS.intersection(kinds)) < len(set(kinds)):
        of_counts = " and ".join(kind for kind in Kind if kind in _OF_COUNTS.intersection(kinds))
        note(f"Scores of counts ({of_counts}) and of presence cannot be compared.", quiet=quiet)
    for each in found:
        if not each.converged:
            note(
                f"warning: {each.name} has not converged; 'sparsemix fit --max-iter' allows more.",
                quiet=quiet,
            )
