"""Arrow columns to NumPy."""

from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray


def one_array(values: Any) -> Any:
    """Join the chunks of a column; dictionaries of the chunks become one."""
    if not isinstance(values, pa.ChunkedArray):
        return values
    if pa.types.is_dictionary(values.type):
        values = values.unify_dictionaries()
    return values.combine_chunks() if values.num_chunks != 1 else values.chunk(0)


def to_numpy(values: Any, null: float | bool) -> NDArray[Any]:
    """Return an array or column with `null` in place of nulls.

    Examples
    --------
    >>> to_numpy(pa.array([1, None]), -1).tolist(), to_numpy(pa.array([True, None]), False).tolist()
    ([1, -1], [True, False])
    """
    filled = pc.fill_null(one_array(values), null) if values.null_count else one_array(values)
    array: NDArray[Any] = filled.to_numpy(zero_copy_only=False)
    return array


def is_text(kind: Any) -> bool:
    """Whether a type of Arrow is text; views are known by name, since older releases lack them."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or str(kind) == "string_view")
