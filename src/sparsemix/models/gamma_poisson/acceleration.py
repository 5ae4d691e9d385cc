"""Leaps along the curve that two sweeps of EM have begun (SQUAREM).

With r = b - a and v = c - 2b + a the leap from `a` over `b` to `c` goes to ``a + 2 t r + t^2 v``, t at most |r| / |v|.
"""

import numpy as np

from sparsemix.models.gamma_poisson.state import Factors, FloatMatrix

SHORTEST_LIMIT, GROWTH = 4.0, 4.0
KEPT = 0.1  # share of each factor that a leap leaves


def leap_length(a: Factors, b: Factors, c: Factors) -> float:
    """Length t that fits the curve; users and features weigh as much as they have moved."""
    step = bend = 0.0
    for first, second, third in zip(a, b, c, strict=True):
        before, after = second - first, third - second
        step += float(np.vdot(before, before))
        after -= before
        bend += float(np.vdot(after, after))
    return float(np.sqrt(step / bend)) if bend > 0.0 else 0.0


def leap(a: Factors, b: Factors, c: Factors, length: float) -> Factors:
    """Where the leap ends: with columns of V that sum to one, and rates as they would be without that."""
    users, features = (_ahead(*places, length) for places in zip(a, b, c, strict=True))
    sums = features.sum(axis=0)
    return Factors(users * sums, features / sums)


def _ahead(a: FloatMatrix, b: FloatMatrix, c: FloatMatrix, t: float) -> FloatMatrix:
    reached = (1.0 - t) ** 2 * a
    reached += (2.0 * t * (1.0 - t)) * b
    reached += t**2 * c
    return np.maximum(reached, KEPT * c, out=reached)
