"""Leaps along the curve that two sweeps of EM have begun (SQUAREM).

With r = b - a and v = c - 2b + a the leap from `a` over `b` to `c` goes to ``a + 2 t r + t^2 v``, t at most |r| / |v|.
"""

import numpy as np

from sparsemix.models.gamma_poisson.state import Factors

SHORTEST_LIMIT, GROWTH = 4.0, 4.0
KEPT = 0.1  # share of each factor that a leap leaves


def leap_length(a: Factors, b: Factors, c: Factors) -> float:
    """Length t that fits the curve; users and features weigh as much as they have moved."""
    step = bend = 0.0
    for first, second, third in zip(a, b, c, strict=True):
        step += float(np.sum((second - first) ** 2))
        bend += float(np.sum((third - 2.0 * second + first) ** 2))
    return float(np.sqrt(step / bend)) if bend > 0.0 else 0.0


def leap(a: Factors, b: Factors, c: Factors, length: float) -> Factors:
    """Where the leap ends: with columns of V that sum to one, and rates as they would be without that."""
    users, features = (
        np.maximum(
            first + 2.0 * length * (second - first) + length**2 * (third - 2.0 * second + first), KEPT * third
        )
        for first, second, third in zip(a, b, c, strict=True)
    )
    sums = features.sum(axis=0)
    return Factors(users * sums, features / sums)
