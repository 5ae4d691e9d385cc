"""What people look at: the features that stand for a component, with their uncertainty."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaincinv

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.foundation.errors import parameter_error

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ORDERS = ("evidence", "mean", "lift")
NEXT_TO_NOTHING = 1e-300  # stands for pseudo-counts of zero where quantiles are asked for


class FeatureSummary(NamedTuple):
    """One feature of a component.

    mean : its probability; low, high : credible interval of that; evidence : effective number of rows with it.
    lift : probability here over probability in all rows.

    Of real numbers `mean` is that of the component; lift : how far above the mean of all rows it lies, in standard
    deviations of all rows; evidence : how far, in scales of the posterior of the mean.
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


def check_request(n: object, by: object, level: object) -> None:
    """Raise ParameterError unless the arguments of `top_features` can be."""
    checks.at_least("n", "top_features", n, 1)
    checks.level(level, "top_features")
    if not isinstance(by, str) or by not in ORDERS:
        raise parameter_error("by", "top_features", f"one of {', '.join(ORDERS)}", by)


def top_of_component(
    feature: NDArray[np.integer[Any]],
    alpha: FloatVector,
    beta: FloatVector,
    overall: FloatVector,
    features: FeatureNames,
    n: int,
    by: str,
    level: float,
) -> list[FeatureSummary]:
    """The `n` first features of a component.

    Parameters
    ----------
    feature, alpha, beta : (n_entries,) features with their Betas.
    overall : (n_features,) probabilities over all rows.
    by : "evidence" sorts by alpha, "mean" by the mean, "lift" by the mean, at the interval's low end, over `overall`.
    """
    mean = alpha / (alpha + beta)
    lift = mean / overall[feature]
    if by == "lift":
        # Chance pairs have the highest lift of all; the cautious one, at the interval's lower end, ranks them down.
        key = betaincinv(alpha, beta, (1.0 - level) / 2.0) / overall[feature]
    else:
        key = {"evidence": alpha, "mean": mean}[by]
    best = np.argsort(-key, kind="stable")[:n]
    low = betaincinv(alpha[best], beta[best], (1.0 - level) / 2.0)
    high = betaincinv(alpha[best], beta[best], (1.0 + level) / 2.0)
    columns = (mean[best], low, high, alpha[best], lift[best])
    rows = zip(*(column.tolist() for column in columns), strict=True)
    return [
        FeatureSummary(features.name_of(int(f)), *numbers)
        for f, numbers in zip(feature[best], rows, strict=True)
    ]
