"""``sparsemix assign``: the cluster of each row."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.cluster_options import takes_cluster
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix assign ads.smx ads.csv -o clusters.csv\n\n"
    "sparsemix assign ads.smx 'new/*.parquet' -o clusters.parquet --batch-rows 100000\n\n"
    "sparsemix assign ads.smx 'new/*.parquet' -o clusters.parquet --workers 4"
)


@takes_table("count", "time")
@takes_cluster
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
    cluster: dict[str, Any],
) -> None:
    """Write the cluster of each row, its probability, and the entropy of all its probabilities (nats)."""
    from sparsemix.cli.asking import asked, check_for_workers
    from sparsemix.cli.assigning import write_assignments
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.loading import load_mixture
    from sparsemix.cli.outputs import check_assignments_output
    from sparsemix.cli.questions import assignments
    from sparsemix.cli.results import say_unknown, show_assigned

    source = open_source(input, reading, quiet=quiet)
    check_assignments_output(output, source)
    learnt = load_mixture(model)
    check_for_workers(learnt, batch_rows, cluster)
    answers = asked(learnt, source, assignments, "Assigning", batch_rows=batch_rows, cluster=cluster)
    write_assignments(output, answers)
    say_unknown(answers, quiet=quiet)
    show_assigned(answers, output, json=json, quiet=quiet)
