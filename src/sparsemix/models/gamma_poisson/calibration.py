"""Whether predicted click rates are right: log loss, AUC, and predicted beside observed rates."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

FloatVector = NDArray[np.float64]
LEAST = 1e-12  # rates are kept this far from 0 and 1, where one surprise would cost everything


class CalibrationBin(NamedTuple):
    """Impressions with about the same predicted rate: how many, and the mean rates predicted and observed."""

    n_impressions: float
    predicted: float
    observed: float


class RateReport(NamedTuple):
    """How good predicted rates are on events that were not learnt.

    log_loss : nats an impression; auc : area under the ROC curve, NaN if all were clicked or none.
    floor_log_loss, floor_auc : the same of the ad's smoothed rate, whoever the user is.
    bins : predicted and observed rates, from low to high, of about equally many impressions.
    """

    n_impressions: float
    n_clicks: float
    log_loss: float
    auc: float
    floor_log_loss: float
    floor_auc: float
    bins: tuple[CalibrationBin, ...]


def log_loss(clicks: FloatVector, impressions: FloatVector, rates: FloatVector) -> float:
    """Mean negative log probability of click or no click, nats an impression.

    Examples
    --------
    >>> round(log_loss(np.array([1.0]), np.array([2.0]), np.array([0.5])), 4)
    0.6931
    """
    return float(losses_of(clicks, impressions, rates).sum() / impressions.sum())


def losses_of(clicks: FloatVector, impressions: FloatVector, rates: FloatVector) -> FloatVector:
    """Negative log probability of each cell's clicks and misses in any one order, nats, (n_cells,)."""
    kept = np.clip(rates, LEAST, 1.0 - LEAST)
    return -(clicks * np.log(kept) + (impressions - clicks) * np.log1p(-kept))


def auc(clicks: FloatVector, impressions: FloatVector, rates: FloatVector) -> float:
    """Probability that a clicked impression has a higher rate than one that was not, equals counting half.

    O(n log n); NaN if there is no pair of the two.
    """
    order = np.unique(rates, return_inverse=True)[1]
    on = np.bincount(order, clicks)
    off = np.bincount(order, impressions - clicks)
    pairs = on.sum() * off.sum()
    below = np.cumsum(off) - off
    return float((on @ (below + 0.5 * off)) / pairs) if pairs > 0.0 else np.nan


def calibration(
    clicks: FloatVector, impressions: FloatVector, rates: FloatVector, n_bins: int
) -> tuple[CalibrationBin, ...]:
    """Predicted and observed rates in bins of about equally many impressions; equal rates stay together."""
    order = np.argsort(rates, kind="stable")
    shown = np.cumsum(impressions[order])
    place = np.empty(rates.size)
    place[order] = (shown - 0.5 * impressions[order]) / shown[-1]
    same = (rankdata(rates, "dense") - 1).astype(int)
    middle = np.bincount(same, place * impressions) / np.bincount(same, impressions)
    number = np.minimum((middle[same] * n_bins).astype(int), n_bins - 1)
    found = []
    for each in np.unique(number):
        chosen = number == each
        n = float(impressions[chosen].sum())
        predicted = float(rates[chosen] @ impressions[chosen]) / n
        found.append(CalibrationBin(n, predicted, float(clicks[chosen].sum()) / n))
    return tuple(found)
