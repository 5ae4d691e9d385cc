"""Features that may go with a row, ranked, with intervals and the components behind them."""

from collections.abc import Iterable
from difflib import get_close_matches
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, betaincinv

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.foundation.errors import listed, parameter_error

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


def listed_values(given: Any, name: str, owner: str, rule: str) -> list[Any]:
    """What is in a sequence, as plain values; ParameterError for a single one, such as text."""
    if isinstance(given, str | bytes) or not isinstance(given, Iterable) or getattr(given, "ndim", 1) == 0:
        raise parameter_error(name, owner, rule, given, "Put a single one in brackets.")
    return [each.item() if isinstance(each, np.generic) else each for each in given]


def feature_numbers(features: FeatureNames, given: Any, name: str = "accepted") -> IntVector:
    """Distinct numbers of features given by name, or by number where there are no names."""
    positions = features.positions()
    asked = listed_values(given, name, "suggest", "a sequence of features")
    for one in asked:
        if not isinstance(one, str | int) or one not in positions:
            near = (
                get_close_matches(str(one), [str(p) for p in positions], n=3)
                if features.names is not None
                else []
            )
            remedy = f"Did you mean {listed(near)}?" if near else "Leave it out."
            raise parameter_error(name, "suggest", "features that the model knows", one, remedy)
    return np.array(list(dict.fromkeys(positions[one] for one in asked)), np.int64)


def check_request(
    features: FeatureNames, accepted: IntVector, rejected: IntVector, n: object, level: object
) -> None:
    """Raise ParameterError if a feature is both accepted and rejected, or `n` or `level` cannot be."""
    both = np.intersect1d(accepted, rejected)
    if both.size:
        one = features.name_of(int(both[0]))
        raise parameter_error(
            "reject", "suggest", "free of accepted features", one, "Take it out of one of them."
        )
    checks.at_least("n", "suggest", n, 1)
    if level is not None:
        checks.level(level, "suggest")


def taking_part(share: FloatVector) -> tuple[IntVector, FloatVector]:
    """Components whose share counts, and their shares, which then sum to one."""
    components = np.flatnonzero(share >= NEGLIGIBLE_SHARE * share.max())
    return components, share[components] / share[components].sum()


def most_probable(probability: FloatVector, n: int, given: IntVector) -> IntVector:
    """The `n` most probable features but for the `given` ones, largest first, ties by their order; O(n_features)."""
    probability = probability.copy()
    probability[given] = -1.0
    n = min(n, probability.size)
    least = np.partition(probability, probability.size - n)[probability.size - n] if n else np.inf
    candidates = np.flatnonzero(probability >= least)
    best = candidates[np.argsort(-probability[candidates], kind="stable")[:n]]
    return best[probability[best] >= 0.0]


def suggestions_of(
    features: FeatureNames,
    best: IntVector,
    probability: FloatVector,
    betas: tuple[FloatVector, FloatVector],
    share: FloatVector,
    ids: IntVector,
    level: float | None,
) -> list[Suggestion]:
    """Put the answer together.

    Parameters
    ----------
    best : (n,) features, most probable first; probability : (n_features,).
    betas : alpha and beta of those features in the components that take part, each (n, n_components).
    share, ids : (n_components,) of the components that take part.
    level : mass of the intervals, None for none.
    """
    alpha, beta = betas
    low, high = mixture_interval(alpha, beta, share, level)
    carried = share * alpha / (alpha + beta)
    return [
        Suggestion(
            features.name_of(int(feature)),
            float(probability[feature]),
            float(low[i]),
            float(high[i]),
            _behind(ids, carried[i]),
        )
        for i, feature in enumerate(best)
    ]


def mixture_interval(
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
