"""Values of a table as numbers, or an error that says which of them is none and what to do."""

from decimal import Decimal
from numbers import Real
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import DataError, shorten

FOR_LISTS = (
    "Lists of keywords, one for each row, become rows and features by "
    "sparsemix.read_table(pyarrow.table({'keywords': X}))."
)
FOR_FRAMES = "A data frame of ids and keywords becomes rows and features by sparsemix.read_table(X)."
MAKE_NUMBERS = "Turn the values into 1 where a row holds the feature and 0 where it does not."

_KINDS = {"c": "complex numbers", "M": "dates", "m": "durations", "V": "records"}


def no_numbers(owner: str, found: str, remedy: str) -> DataError:
    """Build the one wording of what is no table of numbers."""
    return DataError(f"'X' of {owner} must be a table of numbers, rows x features, but {found}. {remedy}")


def as_numbers(values: NDArray[Any], owner: str, column: str | None = None) -> NDArray[Any]:
    """Check that values are numbers, and make floats of numbers that are objects.

    Parameters
    ----------
    values : (n_rows, n_columns) ndarray
    owner : str
        Who asks, for messages.
    column : str, optional
        Name of the one column of a data frame.

    Returns
    -------
    (n_rows, n_columns) ndarray
        Of booleans, integers or floats; None became NaN, and what exceeds floats infinity.

    Raises
    ------
    DataError
        If a value is none of those.

    Examples
    --------
    >>> as_numbers(np.array([[1, None]], dtype=object), "the model")
    array([[ 1., nan]])
    """
    kind = values.dtype.kind
    if kind in "biuf":
        return values
    if kind == "O":
        return _from_objects(values, owner, column)
    what = "it" if column is None else f"column {shorten(column)}"
    if kind == "c":
        raise no_numbers(
            owner, f"{what} holds complex numbers", f"Complex data not supported. {MAKE_NUMBERS}"
        )
    if kind in _KINDS:
        raise no_numbers(owner, f"{what} holds {_KINDS[kind]}", MAKE_NUMBERS)
    found = f"text, such as {shorten(values.item(0))}" if values.size else "text"
    raise no_numbers(owner, f"{what} holds {found}", _remedy(values.item(0) if values.size else "", column))


def _from_objects(values: NDArray[Any], owner: str, column: str | None) -> NDArray[np.float64]:
    for position, value in enumerate(values.flat):
        if value is not None and not isinstance(value, Real | np.bool_ | Decimal):
            row, number = divmod(position, values.shape[1])
            where = f"column {number if column is None else shorten(column)} of row {row}"
            raise no_numbers(owner, f"{where} is {shorten(value)}", _remedy(value, column))
    return np.fromiter(map(_as_float, values.flat), np.float64, values.size).reshape(values.shape)


def _remedy(value: Any, column: str | None) -> str:
    if not isinstance(value, str | bytes | list | tuple | set | frozenset | np.ndarray):
        return MAKE_NUMBERS
    if isinstance(value, str | bytes) and value.strip().isdigit():
        return "Turn the text into numbers."
    return FOR_LISTS if column is None else FOR_FRAMES


def _as_float(value: Any) -> float:
    if value is None:
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf if value > 0 else -np.inf
