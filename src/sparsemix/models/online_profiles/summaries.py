"""What people look at: the features that stand for each component, with their uncertainty."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import betaincinv

from sparsemix.answers.summaries import ComponentSummary, check_request, top_of_component
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.models.online_profiles.prediction import View
from sparsemix.models.online_profiles.state import entries_of, entries_of_component

FloatVector = NDArray[np.float64]


def top_features(view: View, features: FeatureNames, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all components; see `OnlineBernoulliMixture.top_features`."""
    check_request(n, by, level)
    overall = view.overall_means()
    weights, sizes = view.weights(), view.sizes()
    return [
        ComponentSummary(
            int(component),
            float(weights[k]),
            float(sizes[k]),
            top_of_component(*entries_of_component(view.posterior, k), overall, features, n, by, level),
        )
        for k, component in enumerate(view.component_ids)
    ]


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
