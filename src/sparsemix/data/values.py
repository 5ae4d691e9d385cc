"""One column of a table: ids as codes, counts as numbers, times as seconds.

Text is never handled line by line: a column is dictionary-encoded first, and the rules are applied to its
distinct values.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparsemix.data.arrow_numpy import is_text, one_array, to_numpy
from sparsemix.data.canonical import not_a_count
from sparsemix.foundation.errors import DataError, shorten

NULL, EMPTY = -1, -2
"""Codes of a missing value and of an empty string."""

COUNT_RULE = "a whole number >= 0"
COUNT_REMEDY = "Correct it, name another count=, or name row= and feature= and no count= if there is none."
TIME_RULE = "an ISO 8601 time such as 2024-05-31T12:00:00Z, or seconds since 1970"


class Column(NamedTuple):
    """A column of some records, and the words for saying where a bad value is."""

    values: Any
    role: str
    place: Callable[[int], str]

    def error(self, record: int, rule: str, value: object, remedy: str = "") -> DataError:
        """Return the one wording of a bad value."""
        where = self.place(record)
        message = f"{where}: '{self.role}' must be {rule}, but it is {shorten(value)}."
        return DataError(f"{message} {remedy}".rstrip())

    def type_error(self, rule: str, kind: object) -> DataError:
        """Return the one wording of a column of the wrong type, with the place where it begins."""
        where = f"{self.place(0)}: " if len(self.values) else ""
        return DataError(
            f"{where}'{self.role}' must be a column of {rule}, but its type is {str(kind)[:80]}."
        )


@dataclass(frozen=True)
class CodedColumn:
    """A column as numbers of its distinct values.

    Attributes
    ----------
    codes : ndarray of int32 (n,)
        Position in `values`; NULL or EMPTY where there is no value.
    values : pyarrow.StringArray (n_values,)
        Distinct, in order of first appearance.
    is_integer : bool
        Whether the values are integers by type, rather than text.
    """

    codes: NDArray[np.int32]
    values: Any
    is_integer: bool


def code_column(column: Column) -> CodedColumn:
    """Encode ids: text as it is, integers as their digits, whole floats as integers.

    Raises
    ------
    DataError
        If the values are fractional numbers or nested.
    """
    encoded = _dictionary_encoded(column)
    indices = to_numpy(encoded.indices, NULL)
    text, is_integer = _as_text(encoded.dictionary, indices, column)
    used = pc.unique(pa.array(indices)).to_numpy()
    used = used[used >= 0]
    taken = text.take(pa.array(used))
    is_empty = pc.equal(taken, "")
    distinct = pc.if_else(is_empty, None, taken).dictionary_encode()
    entries = to_numpy(distinct.indices, NULL).astype(np.int32)
    entries[to_numpy(is_empty, False)] = EMPTY
    code_of = np.full(len(text) + 1, NULL, dtype=np.int32)  # the last entry answers index -1
    code_of[used] = entries
    return CodedColumn(code_of[indices], distinct.dictionary, is_integer)


def _dictionary_encoded(column: Column) -> Any:
    values = one_array(column.values)
    kind = values.type
    if pa.types.is_dictionary(kind):
        return values
    if pa.types.is_nested(kind):
        raise column.type_error("text or integers", kind)
    if pa.types.is_null(kind) or str(kind) in ("string_view", "binary_view"):
        values = values.cast(pa.large_string())
    return values.dictionary_encode()


def _as_text(dictionary: Any, indices: NDArray[Any], column: Column) -> tuple[Any, bool]:
    kind = dictionary.type
    if pa.types.is_floating(kind):
        return whole_texts(Column(dictionary, column.role, _first_place(indices, column))), True
    try:
        return dictionary.cast(pa.large_string()), pa.types.is_integer(kind)
    except pa.ArrowException as error:
        raise column.type_error("text or integers", kind) from error


def _first_place(indices: NDArray[Any], column: Column) -> Callable[[int], str]:
    """Return the place of an entry of a dictionary: of the first record that has it."""
    return lambda entry: column.place(int(np.argmax(indices == entry)))


def whole_texts(column: Column) -> Any:
    """Return floats that are whole numbers as text, 3.0 as "3"; NaN is a null.

    Raises
    ------
    DataError
        If a number is fractional: it is a quantity, not a name.
    """
    numbers = to_numpy(column.values.cast(pa.float64()), np.nan)
    missing = np.isnan(numbers)
    bad = ~missing & not_a_count(np.abs(numbers))
    if bad.any():
        entry = int(np.argmax(bad))
        rule = "text or an integer (it is a name, not a quantity)"
        raise column.error(entry, rule, float(numbers[entry]), "Cast the column to text first.")
    whole = np.where(missing, 0, numbers).astype(np.int64)
    return pa.array(whole, mask=missing).cast(pa.large_string())


def parse_counts(column: Column, remedy: str = COUNT_REMEDY) -> NDArray[np.float64]:
    """Return counts as numbers; `remedy` is what to do about one that is none.

    Returns
    -------
    ndarray of float64 (n,)

    Raises
    ------
    DataError
        If a value is missing, negative, fractional, NaN or no number at all; the message says where.
    """
    values = one_array(column.values)
    try:
        counts = parse_numbers(values)
    except pa.ArrowException as error:
        raise column.type_error("numbers", values.type) from error
    bad = not_a_count(counts)
    if bad.any():
        record = int(np.argmax(bad))
        raise column.error(record, COUNT_RULE, values[record].as_py(), remedy)
    return counts


def holds_numbers(values: Any) -> bool:
    """Whether any value of a column is a number, or text that says one.

    Examples
    --------
    >>> holds_numbers(pa.array(["many", "3"])), holds_numbers(pa.array(["many", ""]))
    (True, False)
    """
    try:
        numbers = parse_numbers(one_array(values))
    except pa.ArrowException:
        return False
    return not bool(np.isnan(numbers).all())


def parse_times(column: Column) -> NDArray[np.float64]:
    """Return times as seconds since 1970-01-01 UTC, NaN where the time is missing.

    Numbers are taken as seconds; times without a zone as UTC; anything below a microsecond is cut off.

    Raises
    ------
    DataError
        If a value is no time; the message says where.
    """
    values = one_array(column.values)
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if pa.types.is_timestamp(kind) or pa.types.is_date(kind):
        unit = pa.timestamp("us", tz=getattr(kind, "tz", None))
        micros = values.cast(kind).cast(unit, safe=False).cast(pa.int64())
        return to_numpy(micros.cast(pa.float64(), safe=False), np.nan) / 1e6
    if pa.types.is_time(kind) or pa.types.is_duration(kind) or pa.types.is_nested(kind):
        raise column.type_error("times", kind)
    times = parse_numbers(values, _seconds)
    missing = to_numpy(values.is_null(), False)
    if is_text(kind):
        missing = missing | to_numpy(pc.equal(values.cast(pa.large_string()), ""), True)
    else:
        missing = missing | np.isnan(times)
    bad = ~missing & ~np.isfinite(times)
    if bad.any():
        record = int(np.argmax(bad))
        raise column.error(record, TIME_RULE, values[record].as_py())
    return times


def parse_numbers(values: Any, parse: Callable[[str], float] | None = None) -> NDArray[np.float64]:
    """Return the numbers of an array, NaN where there is none; text is parsed once per distinct value."""
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not is_text(kind):
        if pa.types.is_decimal(kind) or pa.types.is_boolean(kind):
            values = values.cast(pa.float64() if pa.types.is_decimal(kind) else pa.int8())
        return to_numpy(values.cast(pa.float64(), safe=False), np.nan)
    encoded = values if pa.types.is_dictionary(values.type) else values.dictionary_encode()
    parsed = [(parse or _number)(text or "") for text in encoded.dictionary.to_pylist()]
    number_of = np.array([*parsed, np.nan])
    numbers: NDArray[np.float64] = number_of[to_numpy(encoded.indices, NULL)]
    return numbers


def _number(text: str) -> float:
    try:
        return np.nan if "_" in text else float(text)
    except ValueError:
        return np.nan


def _seconds(text: str) -> float:
    number = _number(text)
    if not np.isnan(number):
        return number
    try:
        time = datetime.fromisoformat(text.removesuffix(" UTC").strip())
        aware = time if time.tzinfo is not None else time.replace(tzinfo=UTC)
        return (aware - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds()
    except ValueError:
        return np.nan
