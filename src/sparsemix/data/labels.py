"""Known labels of rows, -1 where unknown."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.foundation.checks import is_number
from sparsemix.foundation.errors import DataError, shorten

MOST_EXACT = 2.0**53  # float labels from here on are no longer all the integers


def known_labels(y: ArrayLike | None, n_rows: int, n_components: int) -> NDArray[np.int64]:
    """Labels as component ids, -1 for unknown.

    Raises
    ------
    DataError
        If there is not one integer in ``-1 .. n_components - 1`` per row.
    """
    if y is None:
        return np.full(n_rows, -1)
    try:
        labels = np.asarray(y)
        if labels.dtype.kind == "U":  # of which only some need be text
            labels = np.asarray(y, dtype=object)
    except ValueError as error:
        raise DataError(
            f"'y' must hold one label per row, {n_rows}, but its parts differ in length."
        ) from error
    if labels.shape != (n_rows,):
        raise DataError(f"'y' must hold one label per row, {n_rows}, but its shape is {labels.shape}.")
    numbers = _whole_numbers(labels)
    wrong = np.isnan(numbers)
    if wrong.any():
        row = int(wrong.argmax())
        found = f"it holds {shorten(labels[row : row + 1].tolist()[0])} for row {row}"
        raise DataError(f"'y' must hold integers, -1 for unknown, but {found}.")
    whole = numbers.astype(np.int64)
    if n_rows and (whole.min() < -1 or whole.max() >= n_components):
        raise DataError(
            f"'y' must hold labels from -1 (unknown) to {n_components - 1}, but it holds {whole.min()} to "
            f"{whole.max()}. Raise n_components or renumber the labels."
        )
    return whole


def _whole_numbers(labels: NDArray[Any]) -> NDArray[np.float64]:
    """The labels as floats, NaN for what is no integer; (n_rows,)."""
    if labels.dtype.kind == "O":
        numbers = np.array(
            [one if is_number(one) and abs(one) < MOST_EXACT else np.nan for one in labels], float
        )
    elif labels.dtype.kind in "iuf":
        numbers = labels.astype(np.float64)
    else:
        return np.full(labels.size, np.nan)
    return np.where((np.abs(numbers) < MOST_EXACT) & (numbers == np.floor(numbers)), numbers, np.nan)
