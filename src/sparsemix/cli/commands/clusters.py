"""``sparsemix clusters``: what the clusters are about."""

from typing import Annotated

import typer

from sparsemix.cli import options

EXAMPLES = (
    "sparsemix clusters ads.smx\n\n"
    "sparsemix clusters ads.smx -n 5 --by lift\n\n"
    "sparsemix clusters ads.smx --component 7 -n 30\n\n"
    "sparsemix clusters ads.smx --json > clusters.json"
)


def clusters(
    *,
    model: options.Model,
    n: Annotated[int, typer.Option("-n", min=1, help="Keywords for each cluster.")] = 10,
    by: options.By = options.Order.EVIDENCE,
    component: Annotated[int | None, typer.Option("--component", metavar="ID", help="Only this one.")] = None,
    level: options.Level = 0.95,
    json: options.Json = False,
) -> None:
    """Show the clusters of a model, the largest first, with their keywords."""
    from sparsemix.cli.console import show, show_json
    from sparsemix.cli.loading import load_mixture
    from sparsemix.cli.results import describe_clusters, pick_component
    from sparsemix.cli.tables import cluster_title, clusters_table, keywords_table
    from sparsemix.reporting.summary import takes_real_numbers

    learnt = load_mixture(model)
    found, are_real = describe_clusters(learnt, n, by=by, level=level), takes_real_numbers(learnt)
    if component is not None:
        found = [pick_component(found, component)]
    if json:
        show_json({"level": level, "by": by, "clusters": found})
    elif component is not None:
        show(cluster_title(found[0]), keywords_table(found[0], level, are_real=are_real))
    else:
        show(clusters_table(found, are_real=are_real))
