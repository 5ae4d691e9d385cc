"""What the clusters answer about features and time: what stands for a cluster, what goes with a row, threads."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sparsemix.answers import ComponentSummary, FeatureSummary, Suggestion, suggestions, summaries
from sparsemix.answers.suggestions import feature_numbers, most_probable, suggestions_of, taking_part
from sparsemix.foundation.checks import at_least
from sparsemix.models.time_sensitive.solution import Profiles, Solution, history_weights, log_weights
from sparsemix.models.time_sensitive.state import FloatVector, IntVector


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
    summaries.check_request(n, by, level)
    counts, beta, total = _betas(solution)
    a, weights = solution.hyper.a, np.exp(log_weights(solution))
    shares = weights / weights.sum()
    overall = shares @ (a / total) + np.asarray((sparse.diags_array(shares / total) @ counts).sum(axis=0))
    found = []
    for k, size in enumerate(solution.sizes):
        part = slice(counts.indptr[k], counts.indptr[k + 1])
        held, count = counts.indices[part], counts.data[part]
        pair = (a + count, beta[k] - count)
        top = summaries.top_of_component(held, *pair, overall, solution.features, n, by, level)
        found.append(ComponentSummary(k, float(weights[k]), float(size), top))
    return found


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
    wanted = feature_numbers(solution.features, accepted)
    unwanted = feature_numbers(solution.features, reject, "reject")
    suggestions.check_request(solution.features, wanted, unwanted, n, level)
    counts, beta, total = _betas(solution)
    a = solution.hyper.a
    components, share = taking_part(_share(solution, counts, total, wanted, unwanted))
    probability = np.full(solution.features.n_features, float(share @ (a / total[components])))
    probability += (share / total[components]) @ counts[components]
    best = most_probable(probability, n, np.concatenate([wanted, unwanted]))
    held = counts[components][:, best].toarray().T
    pair = (a + held, beta[components] - held)
    return suggestions_of(solution.features, best, probability, pair, share, components, level)


def _betas(solution: Profiles) -> tuple[Any, FloatVector, FloatVector]:
    """Beta posteriors of features: counts to add to a, second parameters without them, and sums of both."""
    hyper, counts = solution.hyper, solution.counts
    pseudo_counts = hyper.a + hyper.b
    own: Any = solution.sizes
    if hyper.family == "multinomial":
        pseudo_counts, own = hyper.a * solution.features.n_features, counts.sum(axis=1)
    total = np.asarray(own, np.float64) + pseudo_counts
    return counts, total - hyper.a, total


def _share(
    solution: Profiles, counts: Any, total: FloatVector, wanted: IntVector, unwanted: IntVector
) -> FloatVector:
    """Posterior of the clusters given features that a row holds and lacks, all else and its time unknown; (K,)."""
    a, n_draws = solution.hyper.a, 1.0
    if solution.hyper.family == "multinomial":
        n_draws = float(counts.sum() / solution.sizes.sum())
    held = np.log((a + counts[:, wanted].toarray()) / total[:, None]).sum(axis=1)
    chance = np.minimum((a + counts[:, unwanted].toarray()) / total[:, None], np.nextafter(1.0, 0.0))
    joint = log_weights(solution) + held + n_draws * np.log1p(-chance).sum(axis=1)
    return np.asarray(np.exp(joint - logsumexp(joint)))
