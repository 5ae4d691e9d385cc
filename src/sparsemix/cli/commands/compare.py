"""``sparsemix compare``: several models on one split of a table."""

from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.factor_options import Solver
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix compare ads.csv -k 20 -k 50 -k 100\n\n"
    "sparsemix compare mails.csv --count n --model multinomial --model bernoulli-em -k 10 --label folder\n\n"
    "sparsemix compare flats.csv --family gaussian --family gaussian_full -k 20\n\n"
    "sparsemix compare plays.csv --count plays --solver map --solver gibbs -k 5 -k 20"
)


@takes_table("count", "label")
def compare(
    *,
    input: options.Input,
    kinds: Annotated[
        list[options.Compared] | None,
        typer.Option("--model", help="A model to fit; give it again for more. By default all."),
    ] = None,
    n_components: Annotated[
        list[int] | None,
        typer.Option(
            "--n-components",
            "-k",
            metavar="N",
            min=1,
            help="How many clusters; give it again for more. 50 by default.",
        ),
    ] = None,
    family: Annotated[
        list[options.Family] | None,
        typer.Option(
            "--family",
            help="What rows hold, with --model hashed-gibbs; give it again for more. multinomial by default.",
        ),
    ] = None,
    solver: Annotated[
        list[Solver] | None,
        typer.Option(
            "--solver",
            help="Compare factors of counts (gamma-poisson) in the place of clusters, by these solvers; give it "
            "again for more. Events are set apart then, not rows.",
        ),
    ] = None,
    held_out: Annotated[
        float,
        typer.Option(
            "--held-out",
            metavar="P",
            callback=options.share_inside,
            help="Share of the rows that is set apart, above 0 and below 1.",
        ),
    ] = 0.2,
    seed: Annotated[
        int, typer.Option("--seed", min=0, max=options.LARGEST_SEED, help="Seed of the split and the models.")
    ] = 0,
    memory: Annotated[
        bool,
        typer.Option("--memory/--no-memory", help="Fit every model twice, to see how much memory it takes."),
    ] = True,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Fit several models to one part of a table and compare them on the rest: score, agreement, time, memory."""
    from sparsemix.cli.comparing import compare_table
    from sparsemix.cli.factor_comparing import compare_solvers
    from sparsemix.cli.inputs import open_source

    source = open_source(input, reading, quiet=quiet)
    if solver is not None:
        of_clusters = {"model": kinds, "family": family}
        compare_solvers(source, solver, n_components or [None], held_out, seed, of_clusters, json=json)
        return
    compare_table(
        source,
        None if kinds is None else [options.Kind(each) for each in kinds],
        n_components or [None],
        families=None if family is None else [str(each) for each in family],
        held_out=held_out,
        seed=seed,
        memory=memory,
        json=json,
    )
