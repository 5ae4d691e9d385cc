"""How well two partitions of the same rows agree."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.metrics.inputs import as_codes, check_same_rows


def adjusted_rand(true: ArrayLike, predicted: ArrayLike) -> float:
    """Return the adjusted Rand index: 1 for equal partitions, about 0 for independent ones.

    Parameters
    ----------
    true, predicted : array_like, shape (n_rows,)
        Labels of any kind. A label such as -1 is a cluster like any other: leave rows out beforehand where
        that is not meant.

    Returns
    -------
    float

    Raises
    ------
    DataError
        If the lengths differ or there is no row.

    Examples
    --------
    >>> adjusted_rand([0, 0, 1, 1], ["b", "b", "a", "a"])
    1.0
    """
    from sklearn.metrics import adjusted_rand_score

    return float(adjusted_rand_score(*_pair(true, predicted)))


def normalized_mutual_information(true: ArrayLike, predicted: ArrayLike) -> float:
    """Return mutual information divided by the mean of the two entropies, between 0 and 1.

    Parameters
    ----------
    true, predicted : array_like, shape (n_rows,)
        Labels of any kind.

    Returns
    -------
    float

    Raises
    ------
    DataError
        If the lengths differ or there is no row.

    Examples
    --------
    >>> normalized_mutual_information([0, 0, 1, 1], [5, 5, 3, 3])
    1.0
    >>> normalized_mutual_information([0, 0, 1, 1], [0, 1, 0, 1])
    0.0
    """
    from sklearn.metrics import normalized_mutual_info_score

    return float(normalized_mutual_info_score(*_pair(true, predicted)))


def variation_of_information(true: ArrayLike, predicted: ArrayLike) -> float:
    """Return H(A) + H(B) - 2 I(A, B) in nats: a distance between partitions, 0 for equal ones.

    Parameters
    ----------
    true, predicted : array_like, shape (n_rows,)
        Labels of any kind.

    Returns
    -------
    float

    Raises
    ------
    DataError
        If the lengths differ or there is no row.

    Examples
    --------
    >>> variation_of_information([0, 0, 1, 1], [5, 5, 3, 3])
    0.0
    >>> round(variation_of_information([0, 0, 1, 1], [0, 1, 0, 1]), 4)  # 2 ln 2
    1.3863
    """
    first, second = _pair(true, predicted)
    n_rows = len(first)
    cells, joint = np.unique(first * (second.max() + 1) + second, return_counts=True)
    in_first = np.bincount(first)[cells // (second.max() + 1)]
    in_second = np.bincount(second)[cells % (second.max() + 1)]
    # H(A|B) + H(B|A), cell by cell: no large terms to cancel, and exactly zero for equal partitions
    return float((joint * (np.log(in_first / joint) + np.log(in_second / joint))).sum() / n_rows)


def _pair(true: ArrayLike, predicted: ArrayLike) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    first, second = as_codes(true, "true"), as_codes(predicted, "predicted")
    check_same_rows("true", len(first), "predicted", len(second))
    return first, second
