"""``sparsemix report``: a page about the clusters."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix report ads.smx -o report.html\n\n"
    "sparsemix report ads.smx ads.csv -o report.html --title 'Ads of May' --row-noun ads"
)


@takes_table("count", "time")
def report(
    *,
    model: options.Model,
    input: options.OptionalInput = None,
    output: Annotated[
        Path,
        typer.Option(
            "--output", "-o", metavar="FILE", readable=False, help="Where to write the page; by custom .html."
        ),
    ],
    n: Annotated[int, typer.Option("-n", min=1, help="Keywords for each cluster.")] = 8,
    level: options.Level = 0.95,
    title: Annotated[str, typer.Option("--title", metavar="TEXT", help="Title of the page.")] = "Clusters",
    row_noun: Annotated[
        str, typer.Option("--row-noun", metavar="TEXT", help="What the rows are, in the plural.")
    ] = "rows",
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Write a page about the clusters and, with INPUT, about how surely its rows belong to them."""
    from sparsemix.cli.inputs import optional_source
    from sparsemix.cli.loading import load_mixture
    from sparsemix.cli.numbers import source_for
    from sparsemix.cli.outputs import check_page_output
    from sparsemix.cli.results import show_report, summarize
    from sparsemix.reporting import write_report

    source = optional_source(input, reading, quiet=quiet)
    check_page_output(output, source)
    learnt = load_mixture(model)
    batches = None if source is None else source_for(learnt, source).asked(learnt, batch_rows)
    words = {"title": title, "row_noun": row_noun}
    summary = summarize(learnt, batches, quiet=quiet, n_features=n, level=level, **words)
    write_report(output, summary)
    show_report(summary, output, json=json, quiet=quiet)
