"""Leaps along the curve that two sweeps of EM have begun (SQUAREM).

With r = b - a and v = c - 2b + a the leap from `a` over `b` to `c` goes to ``a + 2 t r + t^2 v``, t at most |r| / |v|.
"""

import numpy as np

from sparsemix.models.gamma_poisson.state import Factors, FloatMatrix, FloatVector
from sparsemix.models.gamma_poisson.user_tables import fill, new_like, total
from sparsemix.numeric.leaps import KEPT


def leap_length(a: Factors, b: Factors, c: Factors) -> float:
    """Length t that fits the curve; users and features weigh as much as they have moved."""
    step, bend = sum(total(_moves, *places) for places in zip(a, b, c, strict=True))
    return float(np.sqrt(step / bend)) if bend > 0.0 else 0.0


def _moves(a: FloatMatrix, b: FloatMatrix, c: FloatMatrix) -> FloatVector:
    """Squared lengths of the first step, and of the difference of both, (2,)."""
    before, after = b - a, c - b
    after -= before
    # No `np.vdot`: threads of BLAS would wait on our cores.
    return np.array([np.einsum("ik,ik->", each, each) for each in (before, after)])


def leap(a: Factors, b: Factors, c: Factors, length: float) -> Factors:
    """Where the leap ends: with columns of V that sum to one, and rates as they would be without that."""
    features = _ahead(a.features, b.features, c.features, length)
    sums = features.sum(axis=0)
    places = (a.users, b.users, c.users)
    users = fill(new_like(c.users), lambda a, b, c: _ahead(a, b, c, length) * sums, *places)
    return Factors(users, features / sums)


def _ahead(a: FloatMatrix, b: FloatMatrix, c: FloatMatrix, t: float) -> FloatMatrix:
    reached = (1.0 - t) ** 2 * a
    part = (2.0 * t * (1.0 - t)) * b
    reached += part
    reached += np.multiply(t**2, c, out=part)
    return np.maximum(reached, np.multiply(KEPT, c, out=part), out=reached)
