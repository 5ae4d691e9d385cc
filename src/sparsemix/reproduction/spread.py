"""Mean and spread of a number over data sets."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np


class Spread(NamedTuple):
    """Mean of numbers, their standard deviation, and the standard error of the mean."""

    mean: float
    deviation: float
    error: float


def spread_of(numbers: Iterable[float]) -> Spread:
    """Return the spread of at least one number.

    Examples
    --------
    >>> spread_of([1.0, 3.0])
    Spread(mean=2.0, deviation=1.4142135623730951, error=1.0)
    """
    values = np.array(list(numbers), float)
    deviation = float(values.std(ddof=1)) if values.size > 1 else 0.0
    return Spread(float(values.mean()), deviation, deviation / float(np.sqrt(values.size)))
