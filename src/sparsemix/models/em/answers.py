"""What a fitted mixture answers about features: what stands for a component, what goes with a row, new rows."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import betaincinv, logsumexp, xlogy

from sparsemix.answers import ComponentSummary, Suggestion, suggestions, summaries
from sparsemix.answers.suggestions import feature_numbers, most_probable, suggestions_of, taking_part
from sparsemix.answers.summaries import NEXT_TO_NOTHING
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.foundation.errors import DataError
from sparsemix.models.em.engine import Fit
from sparsemix.models.em.families import Family
from sparsemix.models.em.state import FloatMatrix, FloatVector, IntVector, Prior, Rows


class Solution(NamedTuple):
    """A fitted mixture."""

    family: Family
    fit: Fit
    prior: Prior
    features: FeatureNames

    def proper_betas(self) -> tuple[FloatMatrix, FloatMatrix]:
        """Beta posteriors of the probabilities, alpha and beta, each (n_features, n_components).

        What is impossible or certain has next to nothing instead of zero, so that there are quantiles.
        """
        alpha, beta = self.family.betas(self.fit.statistics, self.prior)
        return np.maximum(alpha, NEXT_TO_NOTHING), np.maximum(beta, NEXT_TO_NOTHING)

    def row_length(self) -> float:
        """Mean sum of a row's counts."""
        return float(self.fit.statistics.counts.sum() / self.fit.statistics.sizes.sum())

    def n_parameters(self) -> int:
        """Free parameters."""
        n_features, n_components = self.fit.statistics.counts.shape
        return self.family.n_parameters(n_components, n_features)


class Totals(NamedTuple):
    """Sums over rows.

    n_tokens : of their counts; log_likelihood, and entropy of the responsibilities : nats.
    """

    n_rows: int
    n_tokens: float
    log_likelihood: float
    entropy: float = 0.0


def totals(rows: Rows, responsibilities: FloatMatrix, log_evidence: FloatVector) -> Totals:  # noqa: ARG001
    """Sums over some rows, without the entropy."""
    return Totals(rows.n_rows, float(rows.values.sum()), float(log_evidence.sum()))


def totals_with_entropy(rows: Rows, responsibilities: FloatMatrix, log_evidence: FloatVector) -> Totals:
    """Sums over some rows."""
    entropy = float(-xlogy(responsibilities, responsibilities).sum())
    return totals(rows, responsibilities, log_evidence)._replace(entropy=entropy)


def total(parts: list[Totals], owner: str) -> Totals:
    """Sums over all parts; DataError if there are no rows."""
    if not parts:
        raise DataError(f"'X' of {owner} must have at least one row, but it has none. Add rows.")
    return Totals(*map(sum, zip(*parts, strict=True)))


def per_token(total: Totals) -> float:
    """Log likelihood over tokens; DataError if there are none."""
    if not total.n_tokens:
        raise DataError("'X' of score_per_token must hold a feature that the model knows. Add rows.")
    return total.log_likelihood / total.n_tokens


def bic(model: Solution, total: Totals) -> float:
    """Bayesian information criterion."""
    return -2.0 * total.log_likelihood + model.n_parameters() * float(np.log(total.n_rows))


def aic(model: Solution, total: Totals) -> float:
    """Akaike's information criterion."""
    return -2.0 * total.log_likelihood + 2.0 * model.n_parameters()


def icl(model: Solution, total: Totals) -> float:
    """Integrated completed likelihood; the totals must have the entropy."""
    return bic(model, total) + 2.0 * total.entropy


def top_features(model: Solution, n: int, by: str, level: float) -> list[ComponentSummary]:
    """Summaries of all components; see `Mixture.top_features`. O(K x D)."""
    summaries.check_request(n, by, level)
    alpha, beta = model.proper_betas()
    weights = model.fit.parameters.weights()
    overall = np.maximum(model.family.profiles(model.fit.parameters).T @ weights, NEXT_TO_NOTHING)
    found = []
    for k, weight in enumerate(weights):
        held = np.flatnonzero(alpha[:, k] > NEXT_TO_NOTHING)
        top = summaries.top_of_component(
            held, alpha[held, k], beta[held, k], overall, model.features, n, by, level
        )
        found.append(ComponentSummary(k, float(weight), float(model.fit.statistics.sizes[k]), top))
    return found


def distinctive_words(model: Solution, n: int, offset: float) -> list[list[tuple[Any, float]]]:
    """Features by ``p(w|k) / (c(w) + offset)`` (TEXT, section 3.5)."""
    checks.at_least("n", "distinctive_words", n, 1)
    rule = f"a number > 0, below {checks.LARGEST}"
    checks.inside("offset", "distinctive_words", offset, rule, 0.0, checks.LARGEST, open_low=True)
    counts = model.fit.statistics.counts.sum(axis=1)
    scores = model.family.profiles(model.fit.parameters) / (counts + float(offset))
    best = np.argsort(-scores, axis=1, kind="stable")[:, :n]
    return [
        [(model.features.name_of(int(f)), float(scores[k, f])) for f in own] for k, own in enumerate(best)
    ]


def credible_interval(model: Solution, level: float) -> tuple[FloatMatrix, FloatMatrix]:
    """Ends of all intervals, twice (n_components, n_features)."""
    checks.level(level, "credible_interval")
    alpha, beta = model.proper_betas()
    ends = []
    for tail in ((1.0 - level) / 2.0, (1.0 + level) / 2.0):
        end = np.asarray(betaincinv(alpha, beta, tail), np.float64)
        end[end <= NEXT_TO_NOTHING] = 0.0
        ends.append(np.ascontiguousarray(end.T))
    return ends[0], ends[1]


def suggest(model: Solution, accepted: Any, reject: Any, n: int, level: float | None) -> list[Suggestion]:
    """The `n` most probable features that are neither accepted nor rejected."""
    wanted = feature_numbers(model.features, accepted)
    unwanted = feature_numbers(model.features, reject, "reject")
    suggestions.check_request(model.features, wanted, unwanted, n, level)
    profiles = model.family.profiles(model.fit.parameters)
    components, share = taking_part(_share(model, profiles, wanted, unwanted))
    probability = share @ profiles[components]
    best = most_probable(probability, n, np.concatenate([wanted, unwanted]))
    alpha, beta = model.proper_betas()
    betas = (alpha[np.ix_(best, components)], beta[np.ix_(best, components)])
    return suggestions_of(model.features, best, probability, betas, share, components, level)


def _share(model: Solution, profiles: FloatMatrix, accepted: IntVector, rejected: IntVector) -> FloatVector:
    """Posterior of the components given features that a row holds and lacks, all others unknown; (n_components,)."""
    n_draws = model.family.n_draws(model.row_length())
    with np.errstate(divide="ignore"):
        held = np.log(profiles[:, accepted]).sum(axis=1)
        lacking = n_draws * np.log1p(-profiles[:, rejected]).sum(axis=1)
    joint = model.fit.parameters.log_weights + held + lacking
    if np.isneginf(joint).all():
        return model.fit.parameters.weights()
    return np.asarray(np.exp(joint - logsumexp(joint)))


def sample(model: Solution, n_rows: int, rng: np.random.Generator) -> tuple[sparse.csr_array, IntVector]:
    """Rows and their components; O(features drawn) beyond the profiles."""
    length = model.row_length()
    checks.draws(n_rows, length)
    profiles, weights = model.family.profiles(model.fit.parameters), model.fit.parameters.weights()
    components = rng.choice(weights.size, n_rows, p=weights / weights.sum())
    shape = (n_rows, profiles.shape[1])
    entries = [np.empty((2, 0), np.int64)]
    for k in np.unique(components):
        members = np.flatnonzero(components == k)
        entries.append(np.stack(model.family.draw(profiles[k], members, length, rng)))
    places = np.concatenate(entries, axis=1)
    drawn = sparse.coo_array((np.ones(places.shape[1]), tuple(places)), shape=shape)
    return sparse.csr_array(drawn), components
