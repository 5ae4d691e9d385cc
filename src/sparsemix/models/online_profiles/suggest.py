"""Which features go with those that a row holds (ADS, section 6), with accept and reject feedback."""

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, log_expit, logsumexp

from sparsemix.answers.suggestions import (
    Suggestion,
    check_request,
    most_probable,
    suggestions_of,
    taking_part,
)
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.models.online_profiles.prediction import View, log_not_listed

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]


def responsibilities(
    view: View, accepted: IntVector, rejected: IntVector, completeness: float
) -> FloatVector:
    """Posterior of the components given accepted and rejected features, (n_live,) (ADS, eq 6).

    All other features are not observed, or with ``completeness > 0`` were listed with that probability if present:
    the likelihood of a listed feature is ``completeness mu``, of one that is not listed ``1 - completeness mu``.
    """
    joint = np.log(view.posterior.weight_concentration) + view.log_silence(completeness)
    for given, sign in ((accepted, 1.0), (rejected, -1.0)):
        for feature in given:
            log_odds = view.log_odds(int(feature))
            joint = joint + log_expit(sign * log_odds) - log_not_listed(expit(log_odds), completeness)
    return np.exp(joint - logsumexp(joint))


def suggestions(
    view: View,
    features: FeatureNames,
    accepted: IntVector,
    rejected: IntVector,
    n: int,
    level: float | None,
    completeness: float,
) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    check_request(features, accepted, rejected, n, level)
    checks.share("completeness", "suggest", completeness)
    components, share = taking_part(responsibilities(view, accepted, rejected, completeness))
    factor = _default_factor(view, components)
    probability = _probabilities(view, components, share, factor)
    best = most_probable(probability, n, np.concatenate([accepted, rejected]))
    betas = _betas(view, components, best, factor)
    ids = view.component_ids[components]
    return suggestions_of(features, best, probability, betas, share, ids, level)


def _default_factor(view: View, components: IntVector) -> FloatVector:
    """What a feature's popularity makes of the default of components that do not know it, (n_features,).

    The default is the belief about an average feature; a feature twice as frequent over all rows gets twice of it.
    """
    most = 0.5 / view.default_means()[components].max()
    return np.asarray(np.minimum(view.popularity(), most))


def _probabilities(view: View, components: IntVector, share: FloatVector, factor: FloatVector) -> FloatVector:
    """Probability of every feature, (n_features,); O(n_features + explicit features of the components)."""
    posterior = view.posterior
    default = view.default_means()[components]
    size = posterior.size[components]
    owner = np.repeat(np.arange(components.size), size)
    ends = np.cumsum(size)
    slot = np.arange(owner.size) + np.repeat(posterior.start[components] - (ends - size), size)
    feature, alpha = posterior.feature[slot], posterior.alpha[slot]
    above = share[owner] * (alpha / (alpha + posterior.beta[slot]) - default[owner] * factor[feature])
    probability = (share @ default) * factor + np.bincount(feature, above, view.n_features)
    probability[posterior.common_feature] = posterior.common_alpha / (
        posterior.common_alpha + posterior.common_beta
    )
    return probability


def _betas(
    view: View, components: IntVector, features: IntVector, factor: FloatVector
) -> tuple[FloatVector, FloatVector]:
    """Betas of features in components, each (n_features, n_components)."""
    posterior = view.posterior
    total = posterior.default_alpha[components] + posterior.default_beta[components]
    alpha = factor[features, None] * posterior.default_alpha[components]
    beta = total - alpha
    column = np.full(posterior.n_components, -1)
    column[components] = np.arange(components.size)
    for i, feature in enumerate(features):
        owner, slot = view.entries_of_feature(int(feature))
        known = column[owner] >= 0
        alpha[i, column[owner[known]]] = posterior.alpha[slot[known]]
        beta[i, column[owner[known]]] = posterior.beta[slot[known]]
    _, at, source = np.intersect1d(features, posterior.common_feature, return_indices=True)
    alpha[at], beta[at] = posterior.common_alpha[source, None], posterior.common_beta[source, None]
    return alpha, beta
