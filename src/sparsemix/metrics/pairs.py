"""Pairs of rows: how often two rows of one true cluster are put together, and two of different ones are.

Two rows share a cluster with probability ``p(c_i = c_j) = sum_k r_ik r_jk``; a pair counts as together when
that exceeds a threshold.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.foundation.errors import parameter_error
from sparsemix.metrics.inputs import FloatMatrix, IntVector, as_codes, as_responsibilities, check_same_rows

_BLOCK_ROWS = 1_000
_ROC_THRESHOLDS = (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)


class PairRates(NamedTuple):
    """Rates over pairs of rows.

    true_positive : share of the pairs of one true cluster that are put together; nan without such a pair
    false_positive : share of the pairs of different true clusters that are put together; nan without one
    """

    true_positive: float
    false_positive: float


class PairRoc(NamedTuple):
    """Rates over pairs of rows at several thresholds, each of shape (n_thresholds,)."""

    thresholds: NDArray[np.float64]
    true_positive: NDArray[np.float64]
    false_positive: NDArray[np.float64]


def pair_rates(true: ArrayLike, predicted: ArrayLike, threshold: float = 0.5) -> PairRates:
    """Return the true and false positive rate over all pairs of rows at one threshold.

    Parameters
    ----------
    true : array_like, shape (n_rows,)
        True labels of any kind.
    predicted : array_like, shape (n_rows, n_components) or (n_rows,)
        Responsibilities, or labels.
    threshold : float, default 0.5
        A pair is together when its probability is above this; in [0, 1).

    Returns
    -------
    PairRates

    Raises
    ------
    ParameterError
        If the threshold is outside [0, 1).
    DataError
        If the numbers of rows differ or there is no row.

    Notes
    -----
    All pairs are visited, a block at a time: time grows with the square of the rows, memory does not.

    Examples
    --------
    >>> pair_rates(["a", "a", "b"], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    PairRates(true_positive=1.0, false_positive=0.0)
    >>> pair_rates(["a", "a", "b"], [0, 1, 1])
    PairRates(true_positive=0.0, false_positive=0.5)
    """
    curve = pair_roc(true, predicted, [threshold])
    return PairRates(float(curve.true_positive[0]), float(curve.false_positive[0]))


def pair_roc(true: ArrayLike, predicted: ArrayLike, thresholds: Sequence[float] = _ROC_THRESHOLDS) -> PairRoc:
    """Return the true and false positive rates over all pairs of rows at several thresholds.

    Parameters
    ----------
    true : array_like, shape (n_rows,)
        True labels of any kind.
    predicted : array_like, shape (n_rows, n_components) or (n_rows,)
        Responsibilities, or labels.
    thresholds : sequence of float, default 0.1, 0.2, ... 0.9
        Each in [0, 1).

    Returns
    -------
    PairRoc
        The rates in the order of `thresholds`.

    Raises
    ------
    ParameterError
        If a threshold is outside [0, 1).
    DataError
        If the numbers of rows differ or there is no row.

    Examples
    --------
    >>> curve = pair_roc([0, 0, 1], [[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]], [0.3, 0.5, 0.8])
    >>> curve.true_positive.tolist(), curve.false_positive.tolist()
    ([1.0, 1.0, 0.0], [1.0, 0.0, 0.0])
    """
    levels = np.asarray(thresholds, dtype=np.float64)
    if levels.ndim != 1 or not ((levels >= 0.0) & (levels < 1.0)).all():
        raise parameter_error("thresholds", "pair_roc", "numbers in [0, 1)", thresholds)
    codes, responsibilities = as_codes(true, "true"), as_responsibilities(predicted, "predicted")
    check_same_rows("true", len(codes), "predicted", len(responsibilities))
    order = np.argsort(codes, kind="stable")
    together, positive_together, positive = _count(codes[order], responsibilities[order], levels)
    apart = len(codes) * (len(codes) - 1) // 2 - together
    return PairRoc(levels, _ratio(positive_together, together), _ratio(positive - positive_together, apart))


def _count(
    codes: IntVector, responsibilities: FloatMatrix, levels: NDArray[np.float64]
) -> tuple[int, IntVector, IntVector]:
    """Count the pairs of one true cluster, those of them above each level, and all pairs above each level.

    The rows must be sorted by `codes`.
    """
    n_rows = len(codes)
    together, positive_together, positive = 0, *np.zeros((2, len(levels)), dtype=np.int64)
    last = np.searchsorted(codes, codes, side="right")
    for start in range(0, n_rows, _BLOCK_ROWS):
        stop = min(start + _BLOCK_ROWS, n_rows)
        shared = responsibilities[start:stop] @ responsibilities[start:].T
        position = np.arange(n_rows - start)
        later = position > np.arange(stop - start)[:, None]
        same = later & (position < (last[start:stop] - start)[:, None])
        together += int(same.sum())
        for index, level in enumerate(levels):
            above = shared > level
            positive[index] += np.count_nonzero(above & later)
            positive_together[index] += np.count_nonzero(above & same)
    return together, positive_together, positive


def _ratio(counts: IntVector, total: int) -> NDArray[np.float64]:
    return counts / total if total else np.full(len(counts), np.nan)
