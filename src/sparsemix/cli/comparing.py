"""Fit several models to one part of a table and show how they do on the rest."""

from collections.abc import Sequence

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.options import Kind
from sparsemix.cli.progress import waiting
from sparsemix.cli.starting import new_model
from sparsemix.cli.tables import comparison_table
from sparsemix.reporting.comparison import compare_models


def compare_table(
    source: Source,
    kinds: Sequence[Kind],
    n_components: Sequence[int | None],
    *,
    held_out: float,
    seed: int,
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
    json : bool
    """
    dataset = source.read()
    models = {}
    for kind in dict.fromkeys(kinds):
        for number in dict.fromkeys(n_components):
            model = new_model(kind, {"n_components": number, "random_state": seed})
            models[f"{kind}, k={model.n_components}"] = model
    say_if_compiling(quiet=source.quiet)
    with waiting(f"Fitting {len(models)} models", quiet=source.quiet):
        found = compare_models(models, dataset, held_out=held_out, seed=seed)
    if json:
        show_json([each._asdict() for each in found])
        return
    show(comparison_table(found))
    if dataset.labels is None:
        note("Without --label, agreement is with the clusters of the first model.", quiet=source.quiet)
    if Kind.MULTINOMIAL in kinds and len(set(kinds)) > 1:
        note("Scores of counts (multinomial) and of presence cannot be compared.", quiet=source.quiet)
