"""``sparsemix assign``: the cluster of each row."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix assign ads.smx ads.csv -o clusters.csv\n\n"
    "sparsemix assign ads.smx 'new/*.parquet' -o clusters.parquet --batch-rows 100000"
)


@takes_table("count", "time")
def assign(
    *,
    model: options.Model,
    input: options.Input,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", readable=False, help="Where to write; .csv or .parquet."
        ),
    ],
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Write the cluster of each row, its probability, and the entropy of all its probabilities (nats)."""
    from sparsemix.cli.assigning import assign_batches, write_assignments
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.loading import load_mixture
    from sparsemix.cli.numbers import source_for
    from sparsemix.cli.outputs import check_assignments_output
    from sparsemix.cli.results import say_unknown, show_assigned

    source = open_source(input, reading, quiet=quiet)
    check_assignments_output(output, source)
    learnt = load_mixture(model)
    batches = source_for(learnt, source).asked(learnt, batch_rows)
    write_assignments(output, assign_batches(learnt, batches, quiet=quiet))
    say_unknown(batches, quiet=quiet)
    show_assigned(batches, output, json=json, quiet=quiet)
