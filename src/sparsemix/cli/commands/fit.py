"""``sparsemix fit``: learn the clusters of a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix fit ads.csv -o ads.smx\n\n"
    "sparsemix fit ads.parquet -o ads.smx --row ad_id --feature keyword -k 50 --seed 1\n\n"
    "sparsemix fit ads.csv -o ads.smx --min-rows-per-feature 100 --max-features-per-row 500\n\n"
    "sparsemix fit 'logs/*.parquet' -o ads.smx --batch-rows 100000 --checkpoint-every 1000000 --resume"
)

_MODEL, _RUN = "The model", "Long runs"


@takes_table("count", "label")
def fit(
    *,
    input: options.Input,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="MODEL", help="Where to write the model.")
    ],
    n_components: Annotated[
        int | None,
        typer.Option(
            "--n-components",
            "-k",
            metavar="N",
            min=1,
            help="How many clusters at most; 50 by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(
            "--seed",
            min=0,
            max=options.LARGEST_SEED,
            help="Seed of the random start; 0 by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    binarize: Annotated[
        float | None,
        typer.Option(
            "--binarize",
            metavar="X",
            min=0.0,
            help="A count above this means present; 0 by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    clutter: Annotated[
        bool | None,
        typer.Option(
            "--clutter/--no-clutter", help="Keep a cluster for rows that fit nowhere.", rich_help_panel=_MODEL
        ),
    ] = None,
    priming_rows: Annotated[
        int | None,
        typer.Option(
            "--priming-rows",
            metavar="ROWS",
            min=1,
            help="Rows from which the first clusters are found.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    min_rows_per_feature: Annotated[
        int | None,
        typer.Option("--min-rows-per-feature", metavar="N", min=1, help="Drop keywords of fewer rows."),
    ] = None,
    max_features_per_row: Annotated[
        int | None,
        typer.Option("--max-features-per-row", metavar="N", min=1, help="Then drop rows of more keywords."),
    ] = None,
    batch_rows: options.BatchRows = None,
    checkpoint_every: Annotated[
        int | None,
        typer.Option(
            "--checkpoint-every",
            metavar="ROWS",
            min=1,
            help="Save the model in between.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted run in MODEL.", rich_help_panel=_RUN)
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Learn the clusters of a table in one pass and write them to a model file."""
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.learning import learn
    from sparsemix.cli.outputs import check_model_output
    from sparsemix.cli.results import show_fit
    from sparsemix.cli.starting import blocks_to_learn, rows_learnt, start_model
    from sparsemix.model_io import save_model

    source = open_source(input, reading, quiet=quiet)
    check_model_output(output, source)
    parameters = {"n_components": n_components, "random_state": seed, "binarize": binarize}
    parameters |= {"clutter": clutter, "priming_rows": priming_rows}
    model = start_model(parameters, output if resume else None, quiet=quiet)
    cuts = {"min_rows_per_feature": min_rows_per_feature, "max_features_per_row": max_features_per_row}
    table = source.table(batch_rows, rows_learnt(model), **cuts)
    blocks = blocks_to_learn(model, table, checkpoint_every)
    checkpoint, labelled = (output, checkpoint_every), "label" in reading
    learn(model, blocks, total=table.n_rows, checkpoint=checkpoint, labelled=labelled, quiet=quiet)
    save_model(model.prime(), output)
    show_fit(model, input, output, json=json)
