"""``sparsemix profile``: what is in a table."""

from typing import Any

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix profile ads.csv\n\nsparsemix profile ads.parquet --row ad_id --feature keyword --json\n\n"
    "sparsemix profile baskets.csv --feature keywords --delimiter ';'\n\n"
    "sparsemix profile export.txt --format csv --separator '|' --columns ad,keyword"
)


@takes_table("count", "group", "label")
def profile(
    *,
    input: options.Input,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Show what is in a table: rows, keywords, how many of each, duplicates, separate parts."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.profiles import describe_profile, profile_table

    found = describe_profile(open_source(input, reading, quiet=quiet).read())
    if json:
        show_json(found)
    else:
        show(profile_table(found))
