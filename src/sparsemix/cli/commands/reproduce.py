"""``sparsemix reproduce``: the experiments of a published paper, run anew."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix reproduce ads --out ads --table ads.parquet --group advertiser --clusters 50\n\n"
    "sparsemix reproduce fastex --out fastex --quick\n\n"
    "sparsemix reproduce fastex --out fastex --clusters 100 --clusters 1000\n\n"
    "sparsemix reproduce gap --out gap --data-sets 50\n\n"
    "sparsemix reproduce tdpm --out tdpm"
)


@takes_table("group")
def reproduce(
    *,
    paper: Annotated[
        options.Paper, typer.Argument(metavar="PAPER", help="The paper: ads, fastex, gap or tdpm.")
    ],
    out: Annotated[Path, typer.Option("--out", metavar="FOLDER", help="Where to write the files.")],
    quick: Annotated[bool, typer.Option("--quick", help="Small sizes, for a look within a minute.")] = False,
    clusters: Annotated[
        list[int] | None,
        typer.Option(
            "--clusters", metavar="N", min=1, help="How many clusters, or factors; give it again for more."
        ),
    ] = None,
    rows: Annotated[
        int | None, typer.Option("--rows", metavar="N", min=100, help="Rows of the data.")
    ] = None,
    features: Annotated[
        int | None, typer.Option("--features", metavar="N", min=100, help="Keywords of the data.")
    ] = None,
    data_sets: Annotated[
        int | None, typer.Option("--data-sets", metavar="N", min=1, help="Data sets; not with fastex.")
    ] = None,
    table: Annotated[
        str | None,
        typer.Option("--table", metavar="INPUT", help="Real ads, besides the made-up ones; only with ads."),
    ] = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Run the experiments of a published paper on made-up data; write their tables and figures as CSV and as pages."""
    from sparsemix.cli.reproducing import reproduce_paper, with_table
    from sparsemix.reproduction import Wish

    wish = Wish(quick, tuple(dict.fromkeys(clusters)) if clusters else None, rows, features, data_sets)
    wish = with_table(wish, table, reading, quiet=quiet)
    reproduce_paper(str(paper), wish, out, json=json, quiet=quiet)
