"""What clusters of rows say about features, from their counts alone."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import logsumexp

from sparsemix.answers import suggestions, summaries
from sparsemix.answers.suggestions import (
    Suggestion,
    feature_numbers,
    most_probable,
    suggestions_of,
    taking_part,
)
from sparsemix.answers.summaries import NEXT_TO_NOTHING, ComponentSummary
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import DataError

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


class Clusters(NamedTuple):
    """Clusters with a Beta posterior for each feature.

    sizes : (K,) rows. counts : (K, n_features) CSR, sums of the rows' counts.
    a : first pseudo-count of a feature; counts are added to it.
    total : (K,) sum of both parameters of any feature of a cluster.
    log_weights : (K,) of the next row.
    n_draws : how often a row draws a feature; 1 where a feature is there or not.
    """

    features: FeatureNames
    sizes: NDArray[Any]
    counts: Any
    a: float
    total: FloatVector
    log_weights: FloatVector
    n_draws: float


def mean_score(scores: FloatVector, owner: str) -> float:
    """Mean of the scores of rows; DataError if there are none."""
    if not scores.size:
        raise DataError(f"'X' of {owner} must have at least one row, but it has none. Add rows.")
    return float(scores.mean())


def top_features(clusters: Clusters, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all clusters, from the features that they hold; O(entries of the counts)."""
    summaries.check_request(n, by, level)
    counts, a, total = clusters.counts, clusters.a, clusters.total
    beta, weights = total - a, np.exp(clusters.log_weights)
    shares = weights / weights.sum()
    overall = shares @ (a / total) + np.asarray((sparse.diags_array(shares / total) @ counts).sum(axis=0))
    found = []
    for k, size in enumerate(clusters.sizes):
        part = slice(counts.indptr[k], counts.indptr[k + 1])
        held, count = counts.indices[part], counts.data[part]
        pair = (a + count, _lacked(beta[k], count))
        top = summaries.top_of_component(held, *pair, overall, clusters.features, n, by, level)
        found.append(ComponentSummary(k, float(weights[k]), float(size), top))
    return found


def suggest(clusters: Clusters, accepted: Any, reject: Any, n: int, level: float | None) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    features, counts, a, total = clusters.features, clusters.counts, clusters.a, clusters.total
    wanted = feature_numbers(features, accepted)
    unwanted = feature_numbers(features, reject, "reject")
    suggestions.check_request(features, wanted, unwanted, n, level)
    components, share = taking_part(_share(clusters, wanted, unwanted))
    probability = np.full(features.n_features, float(share @ (a / total[components])))
    probability += (share / total[components]) @ counts[components]
    probability = np.minimum(probability, 1.0)
    best = most_probable(probability, n, np.concatenate([wanted, unwanted]))
    held = counts[components][:, best].toarray().T
    pair = (a + held, _lacked((total - a)[components], held))
    return suggestions_of(features, best, probability, pair, share, components, level)


def _lacked(beta: Any, count: Any) -> FloatVector:
    """Second parameters of Betas; zero, or less by rounding, where a cluster draws nothing but one feature."""
    return np.asarray(np.maximum(beta - count, NEXT_TO_NOTHING))


def _share(clusters: Clusters, wanted: IntVector, unwanted: IntVector) -> FloatVector:
    """Posterior of the clusters given features that a row holds and lacks, all else unknown; (K,)."""
    counts, a, total = clusters.counts, clusters.a, clusters.total
    held = np.log((a + counts[:, wanted].toarray()) / total[:, None]).sum(axis=1)
    chance = np.minimum((a + counts[:, unwanted].toarray()) / total[:, None], np.nextafter(1.0, 0.0))
    joint = clusters.log_weights + held + clusters.n_draws * np.log1p(-chance).sum(axis=1)
    return np.asarray(np.exp(joint - logsumexp(joint)))
