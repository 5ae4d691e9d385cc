"""What metrics accept, brought into one form."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.foundation.errors import DataError

FloatMatrix: TypeAlias = NDArray[np.float64]
IntVector: TypeAlias = NDArray[np.int64]


def as_codes(labels: ArrayLike | Sequence[object], name: str) -> IntVector:
    """Return labels of any kind (numbers, strings, objects) as codes 0, 1, ... of shape (n_rows,).

    Raises
    ------
    DataError
        If `labels` is not one-dimensional or holds no row.
    """
    values = np.asarray(labels)
    if values.ndim != 1 or len(values) == 0:
        raise DataError(
            f"'{name}' must be a vector with one label a row and at least one row, but its shape is "
            f"{values.shape}. Pass the labels of all rows in one dimension."
        )
    if values.dtype != object:
        return np.unique(values, return_inverse=True)[1].astype(np.int64)
    known: dict[object, int] = {}
    return np.array([known.setdefault(value, len(known)) for value in values.tolist()], dtype=np.int64)


def as_responsibilities(values: ArrayLike, name: str) -> FloatMatrix:
    """Return responsibilities of shape (n_rows, n_components); labels become one-hot rows.

    Raises
    ------
    DataError
        If `values` has more than two dimensions, no row, or a number outside [0, 1].
    """
    given = np.asarray(values)
    if given.ndim != 2:
        codes = as_codes(given, name)
        one_hot = np.zeros((len(codes), int(codes.max()) + 1))
        one_hot[np.arange(len(codes)), codes] = 1.0
        return one_hot
    matrix = given.astype(np.float64, copy=False)
    if matrix.size == 0 or not (matrix.min() >= 0.0 and matrix.max() <= 1.0 + 1e-6):
        raise DataError(
            f"'{name}' must hold probabilities in [0, 1], a row each and at least one row. "
            "Pass the result of 'predict_proba' or a vector of labels."
        )
    return matrix


def check_same_rows(first: str, n_first: int, second: str, n_second: int) -> None:
    """Raise `DataError` unless both arguments speak of the same number of rows."""
    if n_first != n_second:
        raise DataError(
            f"'{first}' and '{second}' must have the same number of rows, but they have {n_first} and "
            f"{n_second}. Pass one value for each row in the same order."
        )
