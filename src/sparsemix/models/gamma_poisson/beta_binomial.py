"""Click rates of ads alone: a Beta prior learnt from all ads (empirical Bayes), and smoothed rates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.special import betaln, expit, logit

FloatVector = NDArray[np.float64]
LEAST_STRENGTH, MOST_STRENGTH = 1e-3, 1e7


class BetaPrior(NamedTuple):
    """Beta prior of a click rate: smoothing counts `clicks` of `impressions`, whose ratio is its mean."""

    clicks: float
    impressions: float

    @property
    def mean(self) -> float:
        """Rate of an ad of which nothing is known."""
        return self.clicks / self.impressions


def log_evidence(clicks: FloatVector, impressions: FloatVector, prior: BetaPrior) -> float:
    """Log probability of the clicks of all ads, given their impressions, in any one order, nats."""
    a, b = prior.clicks, prior.impressions - prior.clicks
    return float((betaln(clicks + a, impressions - clicks + b) - betaln(a, b)).sum())


def most_likely_prior(clicks: FloatVector, impressions: FloatVector) -> BetaPrior:
    """The prior with the highest evidence; O(different pairs of counts) a step.

    Without a click, or with nothing but clicks, no strength is most likely: then it is one impression, with half a
    click and half a miss added to the mean.

    Examples
    --------
    >>> prior = most_likely_prior(np.array([1.0, 2.0, 9.0]), np.array([100.0, 100.0, 100.0]))
    >>> round(prior.mean, 3)
    0.04
    """
    total, shown = float(clicks.sum()), float(impressions.sum())
    mean = (total + 0.5) / (shown + 1.0)
    if not 0.0 < total < shown:
        return BetaPrior(mean, 1.0)
    pairs, times = np.unique(np.column_stack([clicks, impressions]), axis=0, return_counts=True)

    def cost(point: FloatVector) -> float:
        strength = float(np.exp(point[1]))
        a = float(expit(point[0])) * strength
        b = float(expit(-point[0])) * strength
        terms = betaln(pairs[:, 0] + a, pairs[:, 1] - pairs[:, 0] + b) - betaln(a, b)
        return -float(times @ terms) / total

    bounds = [(-30.0, 30.0), (np.log(LEAST_STRENGTH), np.log(MOST_STRENGTH))]
    starts = ([logit(mean), np.log(strength)] for strength in (1.0, 30.0, 1000.0))
    best = min(
        (minimize(cost, start, method="L-BFGS-B", bounds=bounds) for start in starts), key=lambda r: r.fun
    )
    strength = float(np.exp(best.x[1]))
    return BetaPrior(float(expit(best.x[0])) * strength, strength)


def smoothed(clicks: FloatVector, impressions: FloatVector, prior: BetaPrior) -> FloatVector:
    """Rates ``(clicks + a) / (impressions + b)``."""
    return np.asarray((clicks + prior.clicks) / (impressions + prior.impressions))
