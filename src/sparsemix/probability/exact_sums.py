"""Running sums of which a number is taken away as exactly as it was added.

A sum is the unevaluated sum of two doubles, `high` and `low`. What a step rounds off is below 2**-105 of the largest
number the sum has held, so that even a billion additions and removals leave sixteen digits right. Fixed-point numbers
would undo exactly, but on one grid for all rows that the farthest row makes too coarse for the tightest cluster; plain
doubles drift and have to be summed anew on a schedule.
"""

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.jit import kernel

FloatArray = NDArray[np.float64]


@kernel
def plus(high: float, low: float, value: float) -> tuple[float, float]:
    """``high + low + value`` as two doubles, of which the first is the rounded sum.

    Examples
    --------
    >>> plus(*plus(1.0, 0.0, 1e-20), -1.0)
    (1e-20, 0.0)
    """
    total, error = _two_sum(high, value)
    return _two_sum(total, error + low)


@kernel
def _two_sum(a: float, b: float) -> tuple[float, float]:
    """Return the rounded sum and what rounding has taken from it."""
    total = a + b
    shadow = total - a
    return total, (a - (total - shadow)) + (b - shadow)


@kernel
def add_to(high: FloatArray, low: FloatArray, at: int, value: float) -> None:
    """Add to one of many sums, (n_sums,) `high` and `low`, in place."""
    high[at], low[at] = plus(high[at], low[at], value)
