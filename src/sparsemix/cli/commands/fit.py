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
    "sparsemix fit mails.csv -o mails.smx --model multinomial -k 2 --count n --label folder\n\n"
    "sparsemix fit 'logs/*.parquet' -o ads.smx --batch-rows 100000 --checkpoint-every 1000000 --resume"
)

_MODEL, _EM, _RUN = "The model", "Only with --model multinomial or bernoulli-em", "Long runs"


@takes_table("count", "label")
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
            help="One pass over ads; or, in many passes, texts of counted words, or presence of keywords.",
            rich_help_panel=_MODEL,
        ),
    ] = options.Kind.ONLINE,
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
    algorithm: Annotated[
        options.Algorithm | None,
        typer.Option(
            "--algorithm", help="Whether a row may be of several clusters; soft.", rich_help_panel=_EM
        ),
    ] = None,
    smoothing: Annotated[
        float | None,
        typer.Option(
            "--smoothing", metavar="X", min=0.0, help="Pseudo-count of each keyword.", rich_help_panel=_EM
        ),
    ] = None,
    unlabeled_weight: Annotated[
        float | None,
        typer.Option(
            "--unlabeled-weight",
            metavar="X",
            min=0.0,
            max=1.0,
            help="How much a row without a label counts beside one with a label; 1.",
            rich_help_panel=_EM,
        ),
    ] = None,
    n_init: Annotated[
        int | None,
        typer.Option(
            "--n-init", metavar="N", min=1, help="Starts, of which the best stays; 1.", rich_help_panel=_EM
        ),
    ] = None,
    max_iter: Annotated[
        int | None,
        typer.Option("--max-iter", metavar="N", min=1, help="Most epochs of a start.", rich_help_panel=_EM),
    ] = None,
    n_jobs: Annotated[
        int | None,
        typer.Option("--n-jobs", metavar="N", help="Threads; -1 for all cores.", rich_help_panel=_EM),
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
    """Learn the clusters of a table and write them to a model file; in one pass unless --model says otherwise."""
    from sparsemix.cli.fitting import fit_table
    from sparsemix.cli.inputs import open_source

    parameters: dict[str, Any] = {"n_components": n_components, "random_state": seed, "binarize": binarize}
    parameters |= {
        "clutter": clutter,
        "priming_rows": priming_rows,
        "algorithm": algorithm and str(algorithm),
    }
    parameters |= {"smoothing": smoothing, "unlabeled_weight": unlabeled_weight, "n_init": n_init}
    parameters |= {"max_iter": max_iter, "n_jobs": n_jobs}
    run: dict[str, Any] = {"batch_rows": batch_rows, "labelled": "label" in reading, "quiet": quiet}
    run |= {"min_rows_per_feature": min_rows_per_feature, "max_features_per_row": max_features_per_row}
    run |= {"checkpoint_every": checkpoint_every, "resume": resume, "json": json}
    fit_table(kind, parameters, open_source(input, reading, quiet=quiet), output, **run)
