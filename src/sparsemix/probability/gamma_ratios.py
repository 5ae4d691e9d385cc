"""Ratios of Gamma functions that stay accurate where the functions themselves are huge.

The predictive of a row is a difference of log Gamma functions. At a million rows each of them is near ten million, and
their plain difference is wrong in the ninth digit after the point; Stirling's series is subtracted term by term.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.jit import kernel

FloatArray = NDArray[np.float64]

_SERIES_FROM = 32.0  # there the first term that the series leaves out is below 1e-16


@kernel
def log_rising(start: float, steps: float) -> float:
    """``ln G(start + steps) - ln G(start)`` for ``start > 0`` and ``steps >= 0``, whole or not.

    For whole steps it is the log of ``start (start + 1) ... (start + steps - 1)``.

    Examples
    --------
    >>> round(math.exp(log_rising(3.0, 2.0)), 9)
    12.0
    """
    end = start + steps
    if start < _SERIES_FROM:
        return math.lgamma(end) - math.lgamma(start)
    leading = (start - 0.5) * math.log1p(steps / start) + steps * (math.log(end) - 1.0)
    return leading + _tail(end) - _tail(start)


@kernel
def _tail(z: float) -> float:
    """Return what is left of ``ln G(z)`` after ``(z - 1/2) ln z - z + ln(2 pi)/2``."""
    inverse = 1.0 / z
    square = inverse * inverse
    return inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))


@kernel
def sums_of_log_rising(
    starts: FloatArray,  # IN  (n_clusters, n_entries)
    steps: FloatArray,  # IN  (n_entries,)
    sums_out: FloatArray,  # OUT (n_clusters,)
) -> None:
    """Sum over the entries of ``log_rising(start, steps)``, for each cluster."""
    for k in range(starts.shape[0]):
        total = 0.0
        for e in range(steps.shape[0]):
            total += log_rising(starts[k, e], steps[e])
        sums_out[k] = total
