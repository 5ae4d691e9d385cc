"""Fit several factor models to one part of a table's events and show how they predict the rest."""

from collections.abc import Mapping, Sequence
from typing import Any

from sparsemix.cli.comparing import say_unconverged
from sparsemix.cli.console import show, show_json
from sparsemix.cli.factor_options import Solver
from sparsemix.cli.first_run import say_if_compiling
from sparsemix.cli.inputs import Source
from sparsemix.cli.progress import rows_progress
from sparsemix.cli.tables import factor_comparison_table
from sparsemix.foundation.errors import ParameterError
from sparsemix.reporting.factor_comparison import compare_factors


def compare_solvers(
    source: Source,
    solvers: Sequence[Solver],
    n_components: Sequence[int | None],
    held_out: float,
    seed: int,
    others: Mapping[str, Any],
    *,
    json: bool,
) -> None:
    """Compare factor models by every solver with every number of factors, and print one table or JSON.

    Parameters
    ----------
    source : Source
        Rows of counts.
    solvers : sequence of Solver
    n_components : sequence of int or None
        None is the default.
    held_out : float
        Share of the events that is set apart.
    seed : int
    others : dict
        Options of clusters, which must be None.
    json : bool

    Raises
    ------
    ParameterError
        When an option of clusters was given.
    """
    for name, value in others.items():
        if value is not None:
            raise ParameterError(f"--{name} is of clusters, and --solver of factors. Leave one of them out.")
    if "label" in source.reading:
        raise ParameterError(
            "--label is not for --solver: factors have no clusters to agree with. Leave it out."
        )
    models = _models(solvers, n_components, seed)
    rows, first = source.read(), next(iter(models))
    say_if_compiling(models.values(), quiet=source.quiet)
    with rows_progress("Fitting", len(models), quiet=source.quiet, unit="models") as advance:
        found = compare_factors(
            models, rows, held_out=held_out, seed=seed, on_fit=lambda name: advance(int(name != first))
        )
    if json:
        show_json({"models": [each._asdict() for each in found]})
        return
    show(factor_comparison_table(found))
    say_unconverged(found, quiet=source.quiet)


def _models(solvers: Sequence[Solver], n_components: Sequence[int | None], seed: int) -> Mapping[str, Any]:
    from sparsemix import GammaPoissonFactors

    models = {}
    for solver in dict.fromkeys(solvers):
        for number in dict.fromkeys(n_components):
            model = GammaPoissonFactors(solver=str(solver), random_state=seed)
            if number is not None:
                model.set_params(n_components=number)
            models[f"{solver}, k={model.n_components}"] = model
    return models
