"""Long form and basket form as pairs of a record and a feature."""

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from sparsemix.data.arrow_numpy import is_text, one_array, to_numpy
from sparsemix.data.values import CodedColumn, Column, code_column
from sparsemix.foundation.errors import parameter_error


class Pairs(NamedTuple):
    """Features of some records.

    Attributes
    ----------
    records : ndarray of int64 (n_pairs,) or None
        Record of each pair; None in long form, where every record is one pair.
    features : CodedColumn
        (n_pairs,)
    null_records : ndarray of int64
        Records of the basket form that have a null in place of a list.
    """

    records: NDArray[np.int64] | None
    features: CodedColumn
    null_records: NDArray[np.int64]


def read_pairs(column: Column, delimiter: str | None) -> Pairs:
    """Return the pairs of a column of features: names, lists of names, or text that a delimiter splits.

    Raises
    ------
    ParameterError
        If `delimiter` is given for a column that is not text.
    """
    values = one_array(column.values)
    if delimiter is not None:
        values = split_text(_text(values, delimiter), delimiter)
    if not is_list(values.type):
        return Pairs(None, code_column(column), np.empty(0, dtype=np.int64))
    records = pc.list_parent_indices(values).to_numpy().astype(np.int64)
    nulls = np.flatnonzero(to_numpy(values.is_null(), False))
    items = Column(pc.list_flatten(values), column.role, lambda pair: column.place(int(records[pair])))
    return Pairs(records, code_column(items), nulls)


def split_text(texts: Any, delimiter: str | None) -> Any:
    """Split text into lists; blanks around an item are cut off.

    Parameters
    ----------
    texts : pyarrow.LargeStringArray (n,)
    delimiter : str or None
        None or a blank split at any run of blanks.

    Returns
    -------
    pyarrow.ListArray of text (n,)

    Examples
    --------
    >>> split_text(pa.array(["a; b c;"]), ";").to_pylist()
    [['a', 'b c', '']]
    >>> split_text(pa.array([" a  b "]), " ").to_pylist()
    [['a', 'b']]
    """
    if delimiter is None or delimiter == " ":
        return pc.utf8_split_whitespace(pc.utf8_trim_whitespace(texts))
    lists = pc.split_pattern(texts, delimiter)
    items = pc.utf8_trim_whitespace(lists.flatten())
    offsets = np.concatenate([[0], np.cumsum(to_numpy(pc.list_value_length(lists), 0))])
    mask = lists.is_null() if lists.null_count else None
    return pa.LargeListArray.from_arrays(pa.array(offsets, pa.int64()), items, mask=mask)


def is_list(kind: Any) -> bool:
    """Whether a type of Arrow holds lists."""
    tests = (pa.types.is_list, pa.types.is_large_list, pa.types.is_fixed_size_list, _is_list_view)
    return any(test(kind) for test in tests)


def _is_list_view(kind: Any) -> bool:
    return str(kind).startswith(("list_view<", "large_list_view<"))


def _text(values: Any, delimiter: str) -> Any:
    kind = values.type.value_type if pa.types.is_dictionary(values.type) else values.type
    if not (is_text(kind) or pa.types.is_null(kind)):
        rule = f"None for a column of type {kind} (it splits text)"
        raise parameter_error("delimiter", "read_table", rule, delimiter)
    return values.cast(pa.large_string())
