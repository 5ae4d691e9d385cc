"""``sparsemix suggest``: more keywords for an ad."""

from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix suggest ads.smx --keyword 'window cleaner' --keyword 'cleaning company'\n\n"
    "sparsemix suggest ads.smx --keyword 'window cleaner' --reject 'window tinting' -n 20\n\n"
    "sparsemix suggest ads.smx --ad 4711 --input ads.csv --row ad_id --feature keyword"
)


@takes_table("count")
def suggest(
    *,
    model: options.Model,
    keyword: Annotated[
        list[str] | None,
        typer.Option("--keyword", metavar="TEXT", help="A keyword that the ad has; may be repeated."),
    ] = None,
    reject: Annotated[
        list[str] | None,
        typer.Option("--reject", metavar="TEXT", help="A keyword that does not fit; may be repeated."),
    ] = None,
    ad: Annotated[
        str | None, typer.Option("--ad", metavar="ID", help="Take the keywords of this row.")
    ] = None,
    input: Annotated[
        str | None, typer.Option("--input", metavar="FILE", help="The table that has the row of --ad.")
    ] = None,
    n: Annotated[int, typer.Option("-n", min=1, help="How many suggestions.")] = 10,
    level: options.Level = 0.95,
    completeness: Annotated[
        float,
        typer.Option(
            "--completeness",
            min=0.0,
            max=1.0,
            help="Share of the ad's keywords that are given: near 1, what is missing tells as well.",
        ),
    ] = 0.0,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Suggest keywords for an ad, with their probability and the clusters that speak for them."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.loading import load_suggester
    from sparsemix.cli.results import keyword_names
    from sparsemix.cli.suggesting import ad_keywords, answer, known_keywords
    from sparsemix.cli.tables import suggestions_table, suggestions_title

    learnt = load_suggester(model)
    known = keyword_names(learnt)
    accepted, rejected = known_keywords(known, keyword or []), known_keywords(known, reject or [])
    of_ad = ad_keywords(known, ad, input, reading, quiet=quiet)
    accepted += [each for each in of_ad if each not in accepted]
    given = {"completeness": completeness} if completeness else {}
    found = answer(learnt, accepted, rejected, n=n, level=level, **given)
    if json:
        show_json({"accepted": accepted, "rejected": rejected, "level": level, "suggestions": found})
    else:
        show(suggestions_title(accepted, rejected), suggestions_table(found, level))
