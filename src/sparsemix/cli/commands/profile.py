"""``sparsemix profile``: what is in a table."""

from sparsemix.cli import options

EXAMPLES = (
    "sparsemix profile ads.csv\n\nsparsemix profile ads.parquet --row ad_id --feature keyword --json\n\n"
    "sparsemix profile baskets.csv --feature keywords --delimiter ';'"
)


def profile(
    *,
    input: options.Input,
    row: options.Row = None,
    feature: options.Feature = None,
    count: options.Count = None,
    group: options.Group = None,
    label: options.Label = None,
    delimiter: options.Delimiter = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show what is in a table: rows, keywords, how many of each, duplicates, separate parts."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.profiles import describe_profile, profile_table

    columns = {"row": row, "feature": feature, "count": count, "group": group, "label": label}
    source = open_source(input, quiet, **columns, delimiter=delimiter)
    found = describe_profile(source.read())
    if json:
        show_json(found)
    else:
        show(profile_table(found))
