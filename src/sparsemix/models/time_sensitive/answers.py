"""What the clusters answer about features and time: what stands for a cluster, what goes with a row, threads."""

from typing import Any, NamedTuple

import numpy as np

from sparsemix.answers import ComponentSummary, FeatureSummary, Suggestion, clusters
from sparsemix.foundation.checks import at_least
from sparsemix.models.time_sensitive.solution import Profiles, Solution, history_weights, log_weights


class Thread(NamedTuple):
    """A cluster in time.

    component : its id. n_rows : its rows. first, last : their first and last time, seconds since 1970 UTC.
    activity : weight of its history at the time of the last row of all.
    timeline : its rows in equal parts of the time of all rows.
    features : those that are most distinctive, by lift.
    """

    component: int
    n_rows: int
    first: float
    last: float
    activity: float
    timeline: list[int]
    features: list[FeatureSummary]


def top_features(solution: Profiles, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all clusters, from the features that they hold; O(entries of the counts)."""
    return clusters.top_features(_clusters(solution), n, by, level)


def threads(solution: Solution, n: int, n_bins: int) -> list[Thread]:
    """Clusters in the order of their first rows; O(n_rows + K n_bins + entries of the counts)."""
    at_least("n_features", "threads", n, 1)
    at_least("n_bins", "threads", n_bins, 1, "an integer from 1 to 100,000", 100_000)
    times, labels, sizes = solution.times, solution.labels, solution.sizes
    first, last = np.full((2, sizes.size), np.inf)
    np.minimum.at(first, labels, times)
    last = -last
    np.maximum.at(last, labels, times)
    span = max(times[-1] - times[0], np.finfo(np.float64).tiny)
    bins = np.minimum(((times - times[0]) / span * n_bins).astype(np.int64), n_bins - 1)
    timelines = np.bincount(labels * n_bins + bins, minlength=sizes.size * n_bins).reshape(-1, n_bins)
    activity = history_weights(solution, times[-1])
    features = [each.features for each in top_features(solution, n, "lift", 0.95)]
    return [
        Thread(
            int(k),
            int(sizes[k]),
            float(first[k]),
            float(last[k]),
            float(activity[k]),
            timelines[k].tolist(),
            features[k],
        )
        for k in np.lexsort((np.arange(sizes.size), first))
    ]


def suggest(solution: Profiles, accepted: Any, reject: Any, n: int, level: float | None) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    return clusters.suggest(_clusters(solution), accepted, reject, n, level)


def _clusters(solution: Profiles) -> clusters.Clusters:
    """The clusters whatever their time."""
    hyper, counts = solution.hyper, solution.counts
    pseudo_counts, n_draws = hyper.a + hyper.b, 1.0
    own: Any = solution.sizes
    if hyper.family == "multinomial":
        pseudo_counts, own = hyper.a * solution.features.n_features, counts.sum(axis=1)
        n_draws = float(counts.sum() / solution.sizes.sum())
    total = np.asarray(own, np.float64) + pseudo_counts
    return clusters.Clusters(
        solution.features, solution.sizes, counts, hyper.a, total, log_weights(solution), n_draws
    )
