"""Read tables of real numbers: a row a record, and a column for each feature."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparsemix.data.arrow_numpy import one_array
from sparsemix.data.blocks import Block, TableReader
from sparsemix.data.clean import is_text_column
from sparsemix.data.columns import check_columns, guess_row
from sparsemix.data.dataset import rows_to_set_aside
from sparsemix.data.formats import MATRIX_FORMATS, find_files
from sparsemix.data.ids import natural_ids
from sparsemix.data.object_arrays import object_array
from sparsemix.data.report import ReadReport
from sparsemix.data.request import Request, file_reader
from sparsemix.data.values import Column, code_column, parse_numbers
from sparsemix.foundation.errors import DataError, ParameterError, listed, parameter_error

NUMBER_RULE = "a finite number"
NUMBER_REMEDY = (
    "Correct it, or leave its record out. If the column is no feature, name those that are with feature=, or the "
    "column of ids with row=."
)


@dataclass(frozen=True, eq=False)
class NumberTable:
    """Rows of real numbers, each of which has all features.

    Attributes
    ----------
    matrix : (n_rows, n_features) ndarray of float64
    row_ids : (n_rows,) ndarray
        Integers if all ids are integers, else text.
    feature_names : (n_features,) ndarray of object
    labels : (n_rows,) ndarray of int64 or None
        Position in `label_names`; -1 where the label is missing.
    label_names : (n_labels,) ndarray of object or None
    report : ReadReport

    Examples
    --------
    >>> table = NumberTable(np.eye(3), np.arange(3), object_array(["x", "y", "z"]))
    >>> len(table[1:]), [len(part) for part in table.split(0.4, 0)]
    (2, [2, 1])
    """

    matrix: NDArray[np.float64]
    row_ids: NDArray[Any]
    feature_names: NDArray[np.object_]
    labels: NDArray[np.int64] | None = None
    label_names: NDArray[np.object_] | None = None
    report: ReadReport = field(default_factory=ReadReport)

    def __len__(self) -> int:
        return int(self.matrix.shape[0])

    def __getitem__(self, rows: slice | NDArray[Any]) -> "NumberTable":
        """Return the rows of a slice, an index array or a mask."""
        labels = None if self.labels is None else self.labels[rows]
        return replace(self, matrix=self.matrix[rows], row_ids=self.row_ids[rows], labels=labels)

    def split(
        self, test_share: float = 0.2, random_state: int | None = None
    ) -> "tuple[NumberTable, NumberTable]":
        """Set a random share of the rows aside, as `Dataset.split` does."""
        is_test = rows_to_set_aside(len(self), test_share, random_state)
        return self[~is_test], self[is_test]


def read_numbers(
    path: str,
    *,
    row: str | None = None,
    features: Sequence[str] | None = None,
    label: str | None = None,
    **form: Any,
) -> NumberTable:
    r"""Read a table of real numbers, whole.

    Parameters
    ----------
    path : str
        Parquet, CSV, TSV or JSON lines, a folder or a glob of them.
    row : str, optional
        Column of the row ids. It is guessed where there is one obvious choice; without one, records are numbered.
    features : sequence of str, optional
        Columns to read; by default all but those of ids and labels.
    label : str, optional
        Column of known classes.
    **form : Any
        How the file is laid out: ``format``, ``columns``, ``separator`` and ``quote`` of `read_table`.

    Returns
    -------
    NumberTable

    Raises
    ------
    ParameterError
        If a column does not exist, has two uses, or none is left for features, or the file has no columns.
    DataError
        If there is no such file, it is damaged, or a value is no finite number or no id; the message says where.

    Notes
    -----
    Reading takes time in proportion to the cells; memory is 8 bytes for each, and that of the texts of a block.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "flats.csv")
    ...     _ = path.write_text("id,size,price\n7,20.5,510\n9,31,300\n")
    ...     table = read_numbers(str(path))
    >>> table.row_ids, table.feature_names.tolist(), table.matrix.tolist()
    (array([7, 9]), ['size', 'price'], [[20.5, 510.0], [31.0, 300.0]])
    """
    request = Request.of_keywords("read_numbers", {"row": row, "label": label, **form})
    files = find_files(path, request.format)
    if files.format in (*MATRIX_FORMATS, "baskets"):
        raise ParameterError(
            f"{path!r} has no columns of real numbers, as its format is {files.format!r}. Give Parquet, CSV, TSV or "
            f"JSON lines with a column for each feature."
        )
    reader = file_reader(files, request)
    named = {role: name for role, name in (("row", row), ("label", label)) if name is not None}
    roles, guessed = _roles(reader, named, features)
    names = [column for role, column in roles.items() if role.startswith(_FEATURE)]
    report = ReadReport(source=reader.description, guessed=guessed)
    try:
        parts = [_part(block, names) for block in reader.blocks(roles)]
    except DataError as error:  # of JSON, which speaks of roles
        text = re.sub(f"{_FEATURE}(\\d+)", lambda found: names[int(found[1])], str(error))
        raise DataError(text) from error
    return _joined(parts, names, report)


_FEATURE = "number_of_column_"


@dataclass(frozen=True)
class _Part:
    """A block, read: numbers, ids and labels as text or None, and whether the source says that ids are text."""

    numbers: NDArray[np.float64]
    ids: NDArray[Any] | None
    is_text: bool
    labels: NDArray[Any] | None


def _roles(
    reader: TableReader, named: Mapping[str, str], features: Sequence[str] | None
) -> tuple[dict[str, str], dict[str, str]]:
    """Columns by role, each feature a role of its own, and the part that was guessed."""
    wanted = [*named.values(), *(features or [])]
    available = reader.column_names(wanted)
    check_columns(named, available)
    for name in features or []:
        check_columns({"feature": name}, available)
    if len(set(wanted)) < len(wanted):
        twice = next(name for name in wanted if wanted.count(name) > 1)
        raise parameter_error("feature", "read_numbers", "columns without any other use, each once", twice)
    free = [name for name in available if name not in wanted]
    found = None if "row" in named else guess_row(free)
    guessed = {} if found is None else {"row": found}
    chosen = [name for name in free if name != found] if features is None else list(features)
    if not chosen:
        raise ParameterError(
            f"No column is left for features; the table has {listed(available)}. Check row=."
        )
    lists = reader.list_columns().intersection(chosen)
    if lists:
        raise DataError(
            f"Column {listed(sorted(lists), 1)} of {reader.description} holds lists, but features must be columns of "
            f"numbers. Name those with feature=."
        )
    return {**named, **guessed, **{f"{_FEATURE}{i}": name for i, name in enumerate(chosen)}}, guessed


def _part(block: Block, names: Sequence[str]) -> _Part:
    numbers = np.empty((block.n_records, len(names)))
    for i, name in enumerate(names):
        numbers[:, i] = _numbers(Column(block.columns[f"{_FEATURE}{i}"], name, block.place))
    ids, is_text = _texts(block, "row")
    if ids is not None and None in ids:
        first = ids.tolist().index(None)
        raise Column(ids, "row", block.place).error(first, "there in every record", None)
    return _Part(numbers, ids, is_text, _texts(block, "label")[0])


def _numbers(column: Column) -> NDArray[np.float64]:
    values = one_array(column.values)
    try:
        numbers = parse_numbers(values)
    except pa.ArrowException as error:
        raise column.type_error("numbers", values.type) from error
    wrong = ~np.isfinite(numbers)
    if wrong.any():
        record = int(wrong.argmax())
        raise column.error(record, NUMBER_RULE, values[record].as_py(), NUMBER_REMEDY)
    return numbers


def _texts(block: Block, role: str) -> tuple[NDArray[Any] | None, bool]:
    """A column of names as text, None where one is missing, and whether the source says that they are text."""
    if role not in block.columns:
        return None, False
    coded = code_column(Column(block.columns[role], role, block.place))
    texts = object_array([*coded.values.to_pylist(), None])
    return texts[np.maximum(coded.codes, -1)], is_text_column(block, role, coded)


def _joined(parts: Sequence[_Part], names: Sequence[str], report: ReadReport) -> NumberTable:
    numbers = [part.numbers for part in parts]
    matrix = np.concatenate([np.empty((0, len(names))), *numbers])
    ids = [part.ids for part in parts if part.ids is not None]
    row_ids: NDArray[Any] = np.arange(len(matrix))
    if ids:
        row_ids = natural_ids(np.concatenate(ids), any(part.is_text for part in parts))
    labels = [part.labels for part in parts if part.labels is not None]
    codes, label_names = _coded(np.concatenate(labels)) if labels else (None, None)
    report = replace(report, n_records=len(matrix))
    return NumberTable(matrix, row_ids, object_array(names), codes, label_names, report)


def _coded(texts: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.object_]]:
    """Labels as numbers in the order in which they appear, and their names."""
    names = dict.fromkeys(text for text in texts if text is not None)
    position = {name: i for i, name in enumerate(names)}
    return np.array([position.get(text, -1) for text in texts], np.int64), object_array(names)
