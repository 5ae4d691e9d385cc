"""Read tables of events, or of pairs of a user and an ad: a record each, columns as they are."""

from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.blocks import Block
from sparsemix.data.clean import is_text_column
from sparsemix.data.columns import check_columns
from sparsemix.data.formats import MATRIX_FORMATS, find_files
from sparsemix.data.ids import natural_ids
from sparsemix.data.object_arrays import object_array
from sparsemix.data.request import Request, file_reader
from sparsemix.data.values import Column, code_column, parse_counts
from sparsemix.foundation.errors import DataError, ParameterError

ROLES = {"user": "row", "ad": "feature", "event": "label", "count": "count"}
"""Columns of an event table, and what a reader takes each for."""

COUNT = "count"
_COUNT_REMEDY = "Correct it, or name another count=."


class _Ids(NamedTuple):
    """Ids of a block as text, and whether the source says that they are text."""

    texts: NDArray[Any]
    is_text: bool


def read_events(path: str, columns: Mapping[str, str], **form: Any) -> dict[str, NDArray[Any]]:
    r"""Read columns of a table of events.

    Parameters
    ----------
    path : str
        Parquet, CSV, TSV or JSON lines, a folder or a glob of them.
    columns : dict of str to str
        Of "user", "ad", "event" and "count" those that are wanted, and the names of their columns.
    **form : Any
        How the file is laid out: ``format``, ``columns``, ``separator`` and ``quote`` of `read_table`.

    Returns
    -------
    dict of str to (n_records,) ndarray
        "user" and "ad" are whole numbers where all of them are and the source does not say that they are text, else
        text; "event" is text, "count" numbers.

    Raises
    ------
    ParameterError
        If a column does not exist, or the file has no columns.
    DataError
        If there is no such file, it is damaged, or a value is missing or no id or count; the message says where.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "events.csv")
    ...     _ = path.write_text("who,ad,event\n7,tea,click\n9,car,impression\n")
    ...     read_events(str(path), {"user": "who", "event": "event"})
    {'user': array([7, 9]), 'event': array(['click', 'impression'], dtype=object)}
    """
    request = Request.of_keywords("read_events", form)
    files = find_files(path, request.format)
    if files.format in (*MATRIX_FORMATS, "baskets"):
        raise ParameterError(f"{path!r} has no columns, but {', '.join(columns)} are wanted.")
    reader = file_reader(files, request)
    check_columns(columns, reader.column_names(tuple(columns.values())))
    parts: dict[str, list[Any]] = {name: [] for name in columns}
    for block in reader.blocks({ROLES[name]: column for name, column in columns.items()}):
        for name in columns:
            parts[name].append(_counts(block) if name == COUNT else _ids(block, name))
    return {name: _joined(name, found) for name, found in parts.items()}


def column_names(path: str, wanted: Collection[str] = (), **form: Any) -> list[str]:
    """Columns of a table; none for files without columns. Raises as `read_events` for files that cannot be read."""
    request = Request.of_keywords("column_names", form)
    files = find_files(path, request.format)
    is_table = files.format not in (*MATRIX_FORMATS, "baskets")
    return file_reader(files, request).column_names(wanted) if is_table else []


def has_column(path: str, name: str, **form: Any) -> bool:
    """Whether a table has a column; False for files without columns."""
    return name in column_names(path, (name,), **form)


def _counts(block: Block) -> NDArray[np.float64]:
    return parse_counts(Column(block.columns[COUNT], COUNT, block.place), _COUNT_REMEDY)


def _ids(block: Block, name: str) -> _Ids:
    role = ROLES[name]
    column = Column(block.columns[role], name, block.place)
    coded = code_column(column)
    missing = coded.codes < 0
    if missing.any():
        raise column.error(int(missing.argmax()), "there in every record", None)
    texts = object_array(coded.values.to_pylist())[coded.codes]
    return _Ids(texts, is_text_column(block, role, coded))


def _joined(name: str, parts: list[Any]) -> NDArray[Any]:
    if not parts:
        raise DataError("there is no record to read. Check the input.")
    if name == COUNT:
        return np.concatenate(parts)
    texts = np.concatenate([part.texts for part in parts])
    if name == "event":
        return texts
    return natural_ids(texts, any(part.is_text for part in parts))
