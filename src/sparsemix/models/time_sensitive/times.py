"""Times of rows, in any form that people have them in, as seconds since 1970."""

from collections.abc import Mapping, Set
from typing import Any

import numpy as np

from sparsemix.foundation.errors import DataError, shorten
from sparsemix.models.time_sensitive.state import FloatVector

FARTHEST = 1e50  # seconds; differences and products with rates stay finite
RULE = "ISO texts, seconds since 1970 or datetimes"


def times_of(X: Any, times: Any, n_rows: int, owner: str, *, needed: bool) -> FloatVector:
    """Seconds since 1970-01-01 UTC of each row, (n_rows,).

    Parameters
    ----------
    X : Dataset or anything else
        The times of a Dataset are taken where `times` is None.
    times : sequence of str, number or datetime, NumPy array, pandas or polars Series, Arrow array, or None
        Without a zone they are UTC; anything below a microsecond is cut off.
    needed : bool
        Whether there must be times; else rows without are one second apart in their order.

    Raises
    ------
    DataError
        If `times` are no sequence of times, one is missing, none or endless, or there are not as many as rows.
    """
    given = given_times(X, times)
    if given is None:
        if needed:
            raise DataError(
                f"'times' of {owner} must be given, one for each row ({RULE}), or 'X' must be a Dataset with times. "
                f"Set time_kernel='step' for a mixture that knows no time."
            )
        return np.arange(n_rows, dtype=np.float64)
    seconds = _seconds(given, owner)
    if seconds.shape != (n_rows,):
        raise DataError(
            f"'times' of {owner} must be one for each of {n_rows} rows, but there are {seconds.size}."
        )
    is_known = ~np.isnan(seconds)
    if not np.all(is_known):
        row = int(np.argmin(is_known))
        raise DataError(
            f"'times' of {owner} must not be missing, but that of {row_name(X, row)} is. Leave the row out."
        )
    is_near = np.abs(seconds) <= FARTHEST
    if not np.all(is_near):
        row = int(np.argmin(is_near))
        raise DataError(
            f"'times' of {owner} must be within {FARTHEST:g} seconds of 1970, but that of {row_name(X, row)} is "
            f"{seconds[row]}. "
            f"Correct it, or leave the row out."
        )
    return seconds


def row_name(X: Any, row: int) -> str:
    """How messages call a row: by its place, and by the id that it has in a Dataset."""
    ids = getattr(X, "row_ids", None) if hasattr(X, "matrix") else None
    return f"row {row}" if ids is None or str(ids[row]) == str(row) else f"row {row} ({ids[row]})"


def given_times(X: Any, times: Any) -> Any:
    """The times that a user gives: `times`, or else those of a Dataset; None for none."""
    return getattr(X, "times", None) if times is None and hasattr(X, "matrix") else times


def _seconds(given: Any, owner: str) -> FloatVector:
    if isinstance(given, np.ma.MaskedArray):
        given = (
            np.ma.filled(given.astype(np.float64), np.nan) if given.dtype.kind in "iuf" else given.tolist()
        )
    if isinstance(given, np.ndarray) and given.dtype.kind == "M":
        given = given.astype("M8[us]")
    if isinstance(given, np.ndarray) and given.dtype.kind in "iuf":
        return given.astype(np.float64).reshape(-1) if given.ndim == 1 else _refuse(given, owner)
    import pyarrow as pa

    from sparsemix.data.values import Column, parse_times

    if isinstance(given, str | bytes | Set | Mapping):
        raise _wrong(given, owner)
    try:
        values = given.to_arrow() if hasattr(given, "to_arrow") else pa.array(given, from_pandas=True)
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise _wrong(given, owner) from error
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_boolean(kind) or "binary" in str(kind):
        raise _wrong(given, owner)
    return parse_times(Column(values, "times", lambda row: f"row {row}"))


def _refuse(given: Any, owner: str) -> FloatVector:
    raise _wrong(given, owner)


def _wrong(given: Any, owner: str) -> DataError:
    return DataError(f"'times' of {owner} must be a sequence of {RULE}, but it is {shorten(given)}.")
