"""``sparsemix score``: how well a model predicts rows."""

from typing import Any

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table

EXAMPLES = "sparsemix score ads.smx new_ads.csv\n\nsparsemix score ads.smx new_ads.parquet --json"


@takes_table("count", "time")
def score(
    *,
    model: options.Model,
    input: options.Input,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Show the mean log density of rows under a model; higher is better, and rows it never saw count most."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.loading import load_mixture
    from sparsemix.cli.results import say_unknown, score_batches
    from sparsemix.cli.tables import facts_table

    source = open_source(input, reading, quiet=quiet)
    learnt = load_mixture(model)
    batches = source.asked(learnt, batch_rows)
    found = score_batches(learnt, batches, quiet=quiet)
    say_unknown(batches, quiet=quiet)
    if json:
        show_json(found | {"n_unknown_rows": batches.n_unknown_rows})
    else:
        facts = {name: "-" if value is None else f"{value:,.6g}" for name, value in found.items()}
        show(facts_table({name.replace("_", " "): value for name, value in facts.items()}))
