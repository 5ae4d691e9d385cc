"""Mean and spread of a number over data sets, and what they say about a claim."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from sparsemix.reproduction.results import Table


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


def claims_table(title: str, difference: str, claims: Iterable[tuple[str, Spread]]) -> Table:
    """Whether claims are seen, that is, whether a difference is above two standard errors.

    Parameters
    ----------
    title : str
    difference : str
        Head of the column of differences.
    claims : iterable of (str, Spread)
        Claim, and the difference that must be above zero.
    """
    rows = [
        (claim, "yes" if gain.mean > 2.0 * gain.error else "no", gain.mean, gain.error)
        for claim, gain in claims
    ]
    return Table("order", title, ("claim", "seen", difference, "standard error"), rows)
