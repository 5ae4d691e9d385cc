"""``sparsemix score``: how well a model predicts rows."""

from sparsemix.cli import options

EXAMPLES = "sparsemix score ads.smx new_ads.csv\n\nsparsemix score ads.smx new_ads.parquet --json"


def score(
    *,
    model: options.Model,
    input: options.Input,
    row: options.Row = None,
    feature: options.Feature = None,
    count: options.Count = None,
    delimiter: options.Delimiter = None,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Show the mean log density of rows under a model; higher is better, and rows it never saw count most."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.results import score_batches
    from sparsemix.cli.tables import facts_table
    from sparsemix.model_io import load_model

    source = open_source(input, quiet, row=row, feature=feature, count=count, delimiter=delimiter)
    found = score_batches(load_model(model), source.stream(batch_rows), quiet=quiet)
    if json:
        show_json(found)
    else:
        show(facts_table({name.replace("_", " "): f"{value:,.6g}" for name, value in found.items()}))
