"""Which features go with those that a row holds (ADS, section 6), with accept and reject feedback."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv, expit, log_expit, logsumexp

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import parameter_error
from sparsemix.models.online_profiles import checks
from sparsemix.models.online_profiles.prediction import View, log_not_listed

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

NEGLIGIBLE_SHARE = 1e-4  # components below it do not take part in a suggestion
NEGLIGIBLE_IN_INTERVALS = 1e-3  # the same for the intervals, which take longer
BISECTIONS = 30


class Suggestion(NamedTuple):
    """A feature that may go with a row.

    probability : of the feature, given the row's; low, high : its credible interval.
    components : the components that speak for it, as (id, share of the probability), largest first.
    """

    feature: Any
    probability: float
    low: float
    high: float
    components: list[tuple[int, float]]


def feature_numbers(features: FeatureNames, given: Any, name: str = "accepted") -> IntVector:
    """Distinct numbers of features given by name, or by number where there are no names."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable):
        raise parameter_error(
            name, "suggest", "a sequence of features", given, "Put a single one in brackets."
        )
    positions = features.positions()
    asked = [g.item() if isinstance(g, np.generic) else g for g in given]
    for one in asked:
        if not isinstance(one, str | int) or one not in positions:
            near = (
                get_close_matches(str(one), [str(p) for p in positions], n=3)
                if features.names is not None
                else []
            )
            remedy = f"Did you mean {', '.join(near)}?" if near else "Leave it out."
            raise parameter_error(name, "suggest", "features that the model knows", one, remedy)
    return np.array(list(dict.fromkeys(positions[one] for one in asked)), np.int64)


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
    both = np.intersect1d(accepted, rejected)
    if both.size:
        one = features.names[both[0]] if features.names is not None else int(both[0])
        raise parameter_error(
            "reject", "suggest", "free of accepted features", one, "Take it out of one of them."
        )
    checks.at_least("n", "suggest", n, 1)
    if level is not None:
        checks.level(level, "suggest")
    checks.share("completeness", "suggest", completeness)
    share = responsibilities(view, accepted, rejected, completeness)
    taking_part = np.flatnonzero(share >= NEGLIGIBLE_SHARE * share.max())
    share = share[taking_part] / share[taking_part].sum()
    factor = _default_factor(view, taking_part)
    probability = _probabilities(view, taking_part, share, factor)
    probability[np.concatenate([accepted, rejected])] = -1.0
    best = _most_probable(probability, n)
    best = best[probability[best] >= 0.0]
    alpha, beta = _betas(view, taking_part, best, factor)
    low, high = _mixture_interval(alpha, beta, share, level)
    carried = share * alpha / (alpha + beta)
    ids = view.component_ids[taking_part]
    return [
        Suggestion(
            features.names[feature] if features.names is not None else int(feature),
            float(probability[feature]),
            float(low[i]),
            float(high[i]),
            _behind(ids, carried[i]),
        )
        for i, feature in enumerate(best)
    ]


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


def _most_probable(probability: FloatVector, n: int) -> IntVector:
    """The features with the `n` largest probabilities, largest first, ties by their order."""
    n = min(n, probability.size)
    least = np.partition(probability, probability.size - n)[probability.size - n] if n else np.inf
    candidates = np.flatnonzero(probability >= least)
    return candidates[np.argsort(-probability[candidates], kind="stable")[:n]]


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


def _mixture_interval(
    alpha: FloatVector, beta: FloatVector, share: FloatVector, level: float | None
) -> tuple[FloatVector, FloatVector]:
    """Equal-tailed intervals of mixtures of Betas, by bisection between the components' own quantiles.

    Components that hold less than `NEGLIGIBLE_IN_INTERVALS` of the mixture are left out.
    """
    if level is None:
        nothing = np.full(alpha.shape[0], np.nan)
        return nothing, nothing
    held = share >= min(NEGLIGIBLE_IN_INTERVALS, share.max())
    alpha, beta, share = alpha[:, held], beta[:, held], share[held] / share[held].sum()
    ends = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        quantiles = betaincinv(alpha, beta, tail)
        low, high = quantiles.min(axis=1, initial=1.0), quantiles.max(axis=1, initial=0.0)
        for _ in range(BISECTIONS if share.size > 1 else 0):
            middle = (low + high) / 2.0
            below = betainc(alpha, beta, middle[:, None]) @ share < tail
            low, high = np.where(below, middle, low), np.where(below, high, middle)
        ends.append((low + high) / 2.0)
    return ends[0], ends[1]


def _behind(ids: IntVector, carried: FloatVector, most: int = 3) -> list[tuple[int, float]]:
    """The components that carry most of a probability, with their shares of it."""
    shares = carried / carried.sum()
    order = np.argsort(-shares, kind="stable")[:most]
    return [(int(ids[k]), float(shares[k])) for k in order if shares[k] >= 0.01]


class KeywordSuggester:
    """A dialogue about one row: accept or reject what is suggested, and ask again.

    Parameters
    ----------
    model : OnlineBernoulliMixture
        Fitted.
    accepted, rejected : sequence of str or int
        Features that the row holds, and that it shall not hold.

    Examples
    --------
    >>> import numpy as np
    >>> from sparsemix import KeywordSuggester, OnlineBernoulliMixture
    >>> rows = np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 50, axis=0)
    >>> model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(rows)
    >>> dialogue = KeywordSuggester(model, [0])
    >>> sorted(s.feature for s in dialogue.suggest(2))
    [1, 2]
    >>> [s.feature for s in dialogue.reject(1).suggest(1)]
    [2]
    """

    def __init__(self, model: Any, accepted: Iterable[Any] = (), rejected: Iterable[Any] = ()) -> None:
        self.model = model
        self.accepted = list(accepted)
        self.rejected = list(rejected)

    def accept(self, *features: Any) -> "KeywordSuggester":
        """Add features to the row; returns the dialogue."""
        feature_numbers(self.model._learner.features, features)
        self.rejected = [r for r in self.rejected if r not in features]
        self.accepted += [f for f in features if f not in self.accepted]
        return self

    def reject(self, *features: Any) -> "KeywordSuggester":
        """Say which features the row shall not hold; returns the dialogue."""
        feature_numbers(self.model._learner.features, features)
        self.accepted = [a for a in self.accepted if a not in features]
        self.rejected += [f for f in features if f not in self.rejected]
        return self

    def suggest(self, n: int = 10, **options: Any) -> list[Suggestion]:
        """The next suggestions; `options` are those of the model's `suggest`."""
        found: list[Suggestion] = self.model.suggest(self.accepted, self.rejected, n=n, **options)
        return found
