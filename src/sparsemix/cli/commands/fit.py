"""``sparsemix fit``: learn the clusters of a table."""

from pathlib import Path
from typing import Annotated

import typer

from sparsemix.cli import options

EXAMPLES = (
    "sparsemix fit ads.csv -o ads.smx\n\n"
    "sparsemix fit ads.parquet -o ads.smx --row ad_id --feature keyword -k 50 --seed 1\n\n"
    "sparsemix fit ads.csv -o ads.smx --min-rows-per-feature 100 --max-features-per-row 500\n\n"
    "sparsemix fit 'logs/*.parquet' -o ads.smx --batch-rows 100000 --checkpoint-every 1000000 --resume"
)

_MODEL, _RUN = "The model", "Long runs"


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
            help="How many clusters at most; 50 by default.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option("--seed", help="Seed of the random start; 0 by default.", rich_help_panel=_MODEL),
    ] = None,
    binarize: Annotated[
        float | None,
        typer.Option(
            "--binarize",
            metavar="X",
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
            help="Rows from which the first clusters are found.",
            rich_help_panel=_MODEL,
        ),
    ] = None,
    min_rows_per_feature: Annotated[
        int | None, typer.Option("--min-rows-per-feature", metavar="N", help="Drop keywords of fewer rows.")
    ] = None,
    max_features_per_row: Annotated[
        int | None,
        typer.Option("--max-features-per-row", metavar="N", help="Then drop rows of more keywords."),
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
    row: options.Row = None,
    feature: options.Feature = None,
    count: options.Count = None,
    label: options.Label = None,
    delimiter: options.Delimiter = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn the clusters of a table in one pass and write them to a model file."""
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.learning import check_can_write, learn
    from sparsemix.cli.results import show_fit
    from sparsemix.cli.starting import blocks_to_learn, rows_learnt, start_model
    from sparsemix.model_io import save_model

    check_can_write(output)
    columns = {"row": row, "feature": feature, "count": count, "label": label, "delimiter": delimiter}
    source = open_source(input, quiet, **columns)
    parameters = {"n_components": n_components, "random_state": seed, "binarize": binarize}
    parameters |= {"clutter": clutter, "priming_rows": priming_rows}
    model = start_model(parameters, output if resume else None, quiet=quiet)
    cuts = {"min_rows_per_feature": min_rows_per_feature, "max_features_per_row": max_features_per_row}
    table = source.table(batch_rows, rows_learnt(model), **cuts)
    blocks = blocks_to_learn(model, table, checkpoint_every)
    checkpoint = (output, checkpoint_every)
    learn(model, blocks, total=table.n_rows, checkpoint=checkpoint, labelled=label is not None, quiet=quiet)
    save_model(model.prime(), output)
    show_fit(model, input, output, json=json)
