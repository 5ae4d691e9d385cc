"""Click rates of pairs of a user and an ad, from factors and the ad's own rate; and how strong the latter must be."""

from typing import NamedTuple

import numpy as np

from sparsemix.models.gamma_poisson.answers import pair_rates
from sparsemix.models.gamma_poisson.beta_binomial import BetaPrior, most_likely_prior, smoothed
from sparsemix.models.gamma_poisson.calibration import losses_of
from sparsemix.models.gamma_poisson.events import KINDS, Cells, Vocabulary, totals
from sparsemix.models.gamma_poisson.state import Draws, Factors, FloatMatrix, FloatVector, IntVector

STRENGTHS = tuple(float(each) for each in 10.0 ** np.arange(-1.0, 6.5, 0.5))


class RateDraws(NamedTuple):
    """Draws of the factors and, for each, of the ads' own rates, (n_draws, n_ads + 1); the last is of unknown ads."""

    factors: Draws
    ad_rates: FloatMatrix


class Rates(NamedTuple):
    """All that predictions need.

    ad_rates : (n_ads + 1,) smoothed rates of the ads, the last of unknown ones.
    smoothing : impressions that an ad's own rate counts for, beside those of the user.
    """

    users: Vocabulary
    ads: Vocabulary
    prior: BetaPrior
    ad_rates: FloatVector
    smoothing: float
    factors: Factors
    n_mended: float
    draws: RateDraws | None = None


def ad_rates(cells: Cells, n_ads: int, prior: BetaPrior) -> FloatVector:
    """Smoothed rates of the ads, and behind them that of an ad without impressions; (n_ads + 1,)."""
    clicks, impressions = (totals(cells.ad, each, n_ads + 1) for each in (cells.clicks, cells.impressions))
    return smoothed(clicks, impressions, prior)


def prior_of(cells: Cells, n_ads: int) -> BetaPrior:
    """The Beta prior of the ads' own rates, learnt from all of them."""
    clicks, impressions = (totals(cells.ad, each, n_ads) for each in (cells.clicks, cells.impressions))
    return most_likely_prior(clicks, impressions)


def draws_of(factors: Draws, cells: Cells, n_ads: int, prior: BetaPrior, seed: int) -> RateDraws:
    """The draws of the factors with draws of the ads' own rates beside them."""
    clicks, impressions = (totals(cells.ad, each, n_ads + 1) for each in (cells.clicks, cells.impressions))
    a, b = clicks + prior.clicks, impressions - clicks + prior.impressions - prior.clicks
    own = np.random.default_rng([seed, 2]).beta(a, b, (len(factors.features), n_ads + 1))
    return RateDraws(factors, own)


def expected_events(factors: Factors, user: IntVector, ad: IntVector) -> tuple[FloatVector, FloatVector]:
    """Expected impressions and clicks of pairs, zero where the user or the ad (-1) is unknown; twice (n_pairs,)."""
    is_known = (user >= 0) & (ad >= 0)
    found = []
    for kind in (0, 1):
        rates = np.zeros(user.size)
        rates[is_known] = pair_rates(factors, user[is_known], len(KINDS) * ad[is_known] + kind)
        found.append(rates)
    return found[0], found[1]


def blend(events: tuple[FloatVector, FloatVector], own: FloatVector, smoothing: float) -> FloatVector:
    """Clicks over impressions of the user, with `smoothing` impressions at the ad's own rate, at most 1.

    What the poster calls a and b are ``smoothing x own`` and ``smoothing``: a user without history gets a / b.
    """
    impressions, clicks = events
    return np.asarray(np.minimum((clicks + smoothing * own) / (impressions + smoothing), 1.0))


def predicted(rates: Rates, user: IntVector, ad: IntVector) -> FloatVector:
    """Mean rates of pairs, (n_pairs,); with draws the mean over them, at the mean rates of the ads."""
    if rates.draws is None:
        return blend(expected_events(rates.factors, user, ad), rates.ad_rates[ad], rates.smoothing)
    own = np.broadcast_to(rates.ad_rates, rates.draws.ad_rates.shape)
    return np.asarray(drawn(rates, rates.draws._replace(ad_rates=own), user, ad).mean(axis=0))


def drawn(rates: Rates, draws: RateDraws, user: IntVector, ad: IntVector) -> FloatMatrix:
    """Rates of pairs in each draw, (n_draws, n_pairs)."""
    each = zip(draws.factors.users, draws.factors.features, draws.ad_rates, strict=True)
    return np.array(
        [
            blend(expected_events(Factors(users, features), user, ad), own[ad], rates.smoothing)
            for users, features, own in each
        ]
    )


def best_smoothing(cells: Cells, factors: Factors, own: FloatVector) -> float:
    """The strongest smoothing that predicts cells which were not learnt about as well as the best of `STRENGTHS`.

    About as well: its log loss is no more than a standard error of the difference above the lowest. So a user's factors
    are heard as far as the cells show that they help, and chance in a few clicks is not taken for that.
    """
    shown = cells.take(cells.impressions > 0.0)
    events = expected_events(factors, shown.user, shown.ad)
    found = (blend(events, own[shown.ad], strength) for strength in STRENGTHS)
    losses = np.array([losses_of(shown.clicks, shown.impressions, rates) for rates in found])
    more = losses - losses[losses.sum(axis=1).argmin()]
    is_as_good = more.sum(axis=1) <= np.sqrt((more**2).sum(axis=1))
    return STRENGTHS[int(np.flatnonzero(is_as_good)[-1])]
