"""What clusters of ads are about, and which keywords go with some of them (Table 4)."""

from collections.abc import Iterator, Mapping
from typing import Any

from sparsemix.data import Dataset
from sparsemix.reproduction.ads_methods import CLUTTER, fitted
from sparsemix.reproduction.results import Cell, Table

N_CLUSTERS, N_KEYWORDS, N_SUBSCRIBED, N_SUGGESTED = 10, 5, 2, 10


def topic_tables(corpora: Mapping[tuple[str, int], Dataset]) -> Iterator[Table]:
    """The largest clusters with their first keywords, and what is suggested for an ad that holds the first two of all.

    Parameters
    ----------
    corpora : dict
        Ads after the cut, by their name and the number of clusters.
    """
    topics: list[tuple[Cell, ...]] = []
    suggestions: list[tuple[Cell, ...]] = []
    for (name, n_clusters), ads in corpora.items():
        model = fitted(CLUTTER, ads, n_clusters, seed=0, most=0)
        tops = _largest(model)
        topics += [(name, n_clusters, weight, ", ".join(keywords)) for weight, keywords in tops]
        subscribed = tops[0][1][:N_SUBSCRIBED]
        suggestions += [
            (
                name,
                n_clusters,
                ", ".join(subscribed),
                str(each.feature),
                each.probability,
                each.low,
                each.high,
            )
            for each in model.suggest(subscribed, n=N_SUGGESTED)
        ]
    heads = ("ads", "K")
    yield Table(
        "clusters",
        "The largest clusters of Bayes with clutter",
        (*heads, "share", "keywords by alpha"),
        topics,
    )
    columns = (*heads, "subscribed", "suggested", "probability", "low", "high")
    yield Table("table_4", "Table 4: suggested keywords", columns, suggestions)


def _largest(model: Any) -> list[tuple[float, list[str]]]:
    """Share and first keywords of the largest clusters."""
    clusters = [each for each in model.top_features(N_KEYWORDS) if each.component >= 0 and each.features]
    clusters.sort(key=lambda each: -each.weight)
    return [
        (each.weight, [str(keyword.feature) for keyword in each.features]) for each in clusters[:N_CLUSTERS]
    ]
