"""``sparsemix score``: how well a model predicts rows."""

from typing import Annotated, Any

import typer

from sparsemix.cli import options
from sparsemix.cli.cluster_options import takes_cluster
from sparsemix.cli.factor_options import takes_events
from sparsemix.cli.table_options import takes_table

EXAMPLES = (
    "sparsemix score ads.smx new_ads.csv\n\n"
    "sparsemix score ads.smx new_ads.parquet --json\n\n"
    "sparsemix score factors.smx later.csv --observed before.csv --count clicks\n\n"
    "sparsemix score rates.smx later_events.csv\n\n"
    "sparsemix score ads.smx 'new/*.parquet' --workers 4"
)


@takes_table("count", "time")
@takes_events
@takes_cluster
def score(
    *,
    model: options.Model,
    input: options.Input,
    observed: Annotated[
        str | None,
        typer.Option(
            "--observed",
            metavar="TABLE",
            help="What else the same rows have done, which their factors are found from; for gamma-poisson only. "
            "Without it from half of the events of INPUT.",
        ),
    ] = None,
    batch_rows: options.BatchRows = None,
    json: options.Json = False,
    quiet: options.Quiet = False,
    reading: dict[str, Any],
    events: dict[str, str],
    cluster: dict[str, Any],
) -> None:
    """Show how well a model predicts rows: log density, or log loss and AUC of click rates; unseen rows count most."""
    from sparsemix.cli.asking import asked, check_for_workers
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.factor_answers import scores_factors
    from sparsemix.cli.inputs import open_source
    from sparsemix.cli.loading import check_mixture
    from sparsemix.cli.questions import scores
    from sparsemix.cli.results import say_unknown, summed_scores
    from sparsemix.cli.tables import scores_table
    from sparsemix.model_io import load_model

    source = open_source(input, reading, quiet=quiet)
    learnt = load_model(model)
    check_for_workers(learnt, batch_rows, cluster)
    if scores_factors(learnt, model, source, observed, events, json=json):
        return
    check_mixture(learnt, model)
    answers = asked(learnt, source, scores, "Scoring", batch_rows=batch_rows, cluster=cluster)
    found = summed_scores(learnt, answers)
    say_unknown(answers, quiet=quiet)
    show_json(found | {"n_unknown_rows": answers.n_unknown_rows}) if json else show(scores_table(found))
