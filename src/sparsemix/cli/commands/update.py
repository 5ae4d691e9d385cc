"""``sparsemix update``: learn new rows into a model."""

from pathlib import Path
from typing import Annotated

import typer

from sparsemix.cli import options

EXAMPLES = "sparsemix update ads.smx new_ads.csv\n\nsparsemix update ads.smx new_ads.csv -o ads_of_today.smx"


def update(
    *,
    model: options.Model,
    input: options.Input,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Where to write; default: MODEL itself."),
    ] = None,
    row: options.Row = None,
    feature: options.Feature = None,
    count: options.Count = None,
    delimiter: options.Delimiter = None,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
) -> None:
    """Learn the rows of INPUT into a model, as if they had followed the rows it has learnt."""
    from sparsemix.cli.blocks import BLOCK_ROWS, cut
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.learning import check_can_write, learn
    from sparsemix.cli.results import show_update
    from sparsemix.model_io import load_model, save_model

    target = output or model
    check_can_write(target)
    source = open_source(input, quiet, row=row, feature=feature, count=count, delimiter=delimiter)
    learner = load_model(model)
    before = int(learner.n_rows_seen_)
    learn(learner, cut(source.stream(batch_rows), [BLOCK_ROWS]), total=None, quiet=quiet)
    save_model(learner, target)
    show_update(learner, before, target, json=json)
