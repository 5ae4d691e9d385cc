"""``sparsemix assign``: the cluster of each row."""

from pathlib import Path
from typing import Annotated

import typer

from sparsemix.cli import options

EXAMPLES = (
    "sparsemix assign ads.smx ads.csv -o clusters.csv\n\n"
    "sparsemix assign ads.smx 'new/*.parquet' -o clusters.parquet --batch-rows 100000"
)


def assign(
    *,
    model: options.Model,
    input: options.Input,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="Where to write; .csv or .parquet.")
    ],
    row: options.Row = None,
    feature: options.Feature = None,
    count: options.Count = None,
    delimiter: options.Delimiter = None,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Write the cluster of each row, its probability, and the entropy of all its probabilities (nats)."""
    from sparsemix.cli.assigning import assign_batches, check_suffix, write_assignments
    from sparsemix.cli.console import note, show_json
    from sparsemix.cli.inputs import open_source
    from sparsemix.model_io import load_model

    check_suffix(output)
    source = open_source(input, quiet, row=row, feature=feature, count=count, delimiter=delimiter)
    parts = assign_batches(load_model(model), source.stream(batch_rows), quiet=quiet)
    n_rows = write_assignments(output, parts)
    note(f"Wrote {n_rows:,} rows to {output}.", quiet=quiet or json)
    if json:
        show_json({"output": str(output), "n_rows": n_rows})
