"""``sparsemix update``: learn new rows into a model."""

from pathlib import Path
from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.table_options import takes_table
from sparsemix.cli.time_options import LATE

EXAMPLES = "sparsemix update ads.smx new_ads.csv\n\nsparsemix update ads.smx new_ads.csv -o ads_of_today.smx"


@takes_table("count", "time")
def update(
    *,
    model: options.Model,
    input: options.Input,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", metavar="FILE", readable=False, help="Where to write; default: MODEL itself."
        ),
    ] = None,
    unrelated: Annotated[
        bool, typer.Option("--unrelated", help="Learn INPUT though MODEL knows none of its keywords.")
    ] = False,
    late: LATE = None,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
) -> None:
    """Learn the rows of INPUT into a model, as if they had followed the rows it has learnt."""
    from sparsemix.cli.factor_answers import updates_factors
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.outputs import check_model_output
    from sparsemix.cli.starting import check_learner
    from sparsemix.cli.times import check_times, set_late
    from sparsemix.cli.updating import learn_more, show_update
    from sparsemix.model_io import load_model, save_model

    target, source = output or model, open_source(input, reading, quiet=quiet)
    learner = load_model(model)
    if updates_factors(learner, model, source, target, json=json):
        return
    check_learner(learner, model)
    check_times(learner, source.reading, learns=True)
    set_late(learner, late)
    check_model_output(target, source)
    before, batches = learn_more(learner, source, batch_rows, may_be_unrelated=unrelated, quiet=quiet)
    save_model(learner, target)
    show_update(learner, before, batches, target, json=json, quiet=quiet)
