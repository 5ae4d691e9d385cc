"""What people look at: the features that stand for each component, with their uncertainty."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import betaincinv

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.online_profiles import checks
from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.state import Entries, entries_of, entries_of_component

FloatVector = NDArray[np.float64]

ORDERS = ("evidence", "mean", "lift")


class FeatureSummary(NamedTuple):
    """One feature of a component.

    mean : its probability; low, high : credible interval of that; evidence : effective number of rows with it.
    lift : probability here over probability in all rows.
    """

    feature: Any
    mean: float
    low: float
    high: float
    evidence: float
    lift: float


class ComponentSummary(NamedTuple):
    """One component: its id, expected share of rows, effective number of rows, and top features."""

    component: int
    weight: float
    n_rows: float
    features: list[FeatureSummary]


def top_features(view: View, features: FeatureNames, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all components; see `OnlineBernoulliMixture.top_features`."""
    checks.at_least("n", "top_features", n, 1)
    checks.level(level, "top_features")
    if by not in ORDERS:
        raise parameter_error("by", "top_features", f"one of {', '.join(ORDERS)}", by)
    overall = view.overall_means()
    weights = view.weights()
    return [
        ComponentSummary(
            int(component),
            float(weights[k]),
            float(view.posterior.weight_concentration[k]),
            _top(entries_of_component(view.posterior, k), overall, features, n, by, level),
        )
        for k, component in enumerate(view.component_ids)
    ]


def _top(
    entries: Entries, overall: FloatVector, features: FeatureNames, n: int, by: str, level: float
) -> list[FeatureSummary]:
    mean = entries.alpha / (entries.alpha + entries.beta)
    lift = mean / overall[entries.feature]
    if by == "lift":
        # Chance pairs have the highest lift of all; the cautious one, at the interval's lower end, ranks them down.
        key = betaincinv(entries.alpha, entries.beta, (1.0 - level) / 2.0) / overall[entries.feature]
    else:
        key = {"evidence": entries.alpha, "mean": mean}[by]
    best = np.argsort(-key, kind="stable")[:n]
    low = betaincinv(entries.alpha[best], entries.beta[best], (1.0 - level) / 2.0)
    high = betaincinv(entries.alpha[best], entries.beta[best], (1.0 + level) / 2.0)
    names = [features.names[f] if features.names is not None else int(f) for f in entries.feature[best]]
    columns = (mean[best], low, high, entries.alpha[best], lift[best])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [FeatureSummary(name, *numbers) for name, numbers in zip(names, rows, strict=True)]


def credible_interval(view: View, level: float) -> tuple[sparse.csr_array, sparse.csr_array]:
    """Ends of the intervals of all explicit features; see `OnlineBernoulliMixture.credible_interval`."""
    checks.level(level, "credible_interval")
    entries, posterior = entries_of(view.posterior), view.posterior
    indptr = np.append(0, np.cumsum(posterior.size))
    shape = (posterior.n_components, view.n_features)
    ends = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        end = sparse.csr_array(
            (betaincinv(entries.alpha, entries.beta, tail), entries.feature, indptr), shape=shape
        )
        end.sort_indices()
        ends.append(end)
    return ends[0], ends[1]
