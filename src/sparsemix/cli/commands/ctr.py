"""``sparsemix ctr``: how probable it is that a user clicks on an ad."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.factor_options import RankedBy
from sparsemix.cli.gathering import what_was_given
from sparsemix.cli.table_options import takes_form

EXAMPLES = (
    "sparsemix ctr rates.smx --user u17 --ad a3\n\n"
    "sparsemix ctr rates.smx --user u17 -n 5 --by lower\n\n"
    "sparsemix ctr rates.smx pairs.parquet -o rates.parquet --user-column user_id --ad-column ad_id"
)

_TABLE = "A table of pairs"


@takes_form
def ctr(
    *,
    model: options.Model,
    input: Annotated[
        str | None,
        typer.Argument(metavar="INPUT", help="Pairs of a user and an ad: Parquet, CSV, TSV, JSONL."),
    ] = None,
    user: Annotated[str | None, typer.Option("--user", metavar="ID", help="The user.")] = None,
    ad: Annotated[
        list[str] | None,
        typer.Option("--ad", metavar="ID", help="An ad; again for more. By default the best for the user."),
    ] = None,
    n: Annotated[
        int | None, typer.Option("-n", metavar="N", min=1, help="How many ads without --ad; 10 by default.")
    ] = None,
    by: Annotated[
        RankedBy | None,
        typer.Option(
            "--by",
            help="Sort by the rate, or by the lower end of its interval, so that ads of which little is known come "
            "late; of all ads the best by rate are shown by default, and given ones in their order.",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            metavar="FILE",
            readable=False,
            help="Where to write the rates of INPUT; .csv or .parquet.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    user_column: Annotated[
        str | None,
        typer.Option(
            "--user-column",
            metavar="COLUMN",
            help="The user; a column 'user' by default.",
            rich_help_panel=_TABLE,
        ),
    ] = None,
    ad_column: Annotated[
        str | None,
        typer.Option(
            "--ad-column", metavar="COLUMN", help="The ad; a column 'ad' by default.", rich_help_panel=_TABLE
        ),
    ] = None,
    level: options.Level = 0.95,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Show click rates of a user on ads, or write those of all pairs in a table."""
    from sparsemix.cli.click_rates import load_rates, refuse, show_rates, write_rates
    from sparsemix.cli.inputs import optional_source
    from sparsemix.foundation.errors import ParameterError

    source = optional_source(input, reading, quiet=quiet)
    columns = what_was_given({"user": user_column, "ad": ad_column})
    if source is None and output is None and user is not None:
        named = {f"{name}-column": column for name, column in columns.items()}
        refuse(named, "names a column of a table of pairs, but no table was given")
        refuse({"n": n} if ad else {}, "is how many of all ads are shown, but those of --ad are all shown")
        show_rates(load_rates(model), user, ad or [], n=n or 10, by=by, level=level, json=json, quiet=quiet)
    elif source is not None and output is not None and user is None and not ad:
        refuse({"n": n, "by": by}, "is for the ads of a --user, but a table is answered pair by pair")
        write_rates(load_rates(model), source, output, columns, level=level, json=json)
    else:
        raise ParameterError("Ask about a --user and perhaps an --ad, or give a table of pairs and --output.")
