"""``sparsemix fit``: learn the clusters of a table."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.cluster_options import takes_cluster
from sparsemix.cli.factor_options import takes_events
from sparsemix.cli.model_options import takes_parameters
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix fit ads.csv -o ads.smx\n\n"
    "sparsemix fit ads.parquet -o ads.smx --row ad_id --feature keyword -k 50 --seed 1\n\n"
    "sparsemix fit ads.csv -o ads.smx --min-rows-per-feature 100 --max-features-per-row 500\n\n"
    "sparsemix fit mails.csv -o mails.smx --model multinomial -k 2 --count n --label folder\n\n"
    "sparsemix fit tickets.csv -o tickets.smx --model hashed-gibbs -k 2000 --process dp --init random\n\n"
    "sparsemix fit mails.csv -o threads.smx --model time-sensitive --time sent --half-life 3d\n\n"
    "sparsemix fit clicks.csv -o factors.smx --model gamma-poisson -k 20 --row user --feature ad --count clicks\n\n"
    "sparsemix fit events.csv -o rates.smx --model click-rate --user user_id --ad ad_id --solver gibbs\n\n"
    "sparsemix fit 'logs/*.parquet' -o ads.smx --batch-rows 100000 --checkpoint-every 1000000 --resume\n\n"
    "sparsemix fit 'logs/*.parquet' -o ads.smx --workers 4"
)

_RUN = "Long runs"


@takes_table("count", "label", "time")
@takes_parameters
@takes_events
@takes_cluster
def fit(
    *,
    input: options.Input,
    output: Annotated[
        Path,
        typer.Option("--output", "-o", metavar="MODEL", readable=False, help="Where to write the model."),
    ],
    kind: Annotated[
        options.Kind,
        typer.Option(
            "--model",
            help="One pass over ads; or, in many passes, texts of counted words, or presence of keywords; or "
            "very many clusters, or clusters in time, by sampling; or factors of counts; or click rates of "
            "users on ads.",
            rich_help_panel="The model",
        ),
    ] = options.Kind.ONLINE,
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
            metavar="N",
            min=1,
            help="Save the model in between, after this many rows; epochs or sweeps of models that read all rows "
            "again and again.",
            rich_help_panel=_RUN,
        ),
    ] = None,
    resume: Annotated[
        bool, typer.Option("--resume", help="Go on with the interrupted run in MODEL.", rich_help_panel=_RUN)
    ] = False,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
    parameters: dict[str, Any],
    events: dict[str, str],
    cluster: dict[str, Any],
) -> None:
    """Learn the clusters of a table and write them to a model file; in one pass unless --model says otherwise."""
    from sparsemix.cli.fitting import fit_table
    from sparsemix.cli.inputs import open_source

    fit_table(
        kind,
        parameters,
        open_source(input, reading, quiet=quiet),
        output,
        events=events,
        cluster=cluster,
        labelled="label" in reading,
        batch_rows=batch_rows,
        checkpoint_every=checkpoint_every,
        resume=resume,
        json=json,
        min_rows_per_feature=min_rows_per_feature,
        max_features_per_row=max_features_per_row,
    )
