"""svmlight files: a label, then ``column:count`` pairs, a row a line.

Columns may be numbered from 0 or from 1: from 0 if any line has a column 0. Comments (``#``) and ``qid:`` are
left out, blank lines are no rows, a label with commas (several labels) is one text.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.arrow_numpy import to_numpy
from sparsemix.data.byte_stream import TextPiece, decode_lines, line_pieces
from sparsemix.data.canonical import canonical_counts, not_a_count
from sparsemix.data.dataset import Dataset
from sparsemix.data.report import ReadReport
from sparsemix.data.values import COUNT_RULE, Column, parse_numbers
from sparsemix.data.vocabulary import Vocabulary

PAIR = r"^(?P<column>[0-9]{1,10}):(?P<count>[-+.0-9a-zA-Z]+)$"
MOST_COLUMNS = 2**27
"""Models keep memory for every column up to the last, whether rows hold it or not; here 1 GB for each float."""

COLUMN_RULE = f"a column number up to {MOST_COLUMNS:,}, since columns without entries take memory too"
COLUMN_REMEDY = (
    "Number the columns anew, or give names instead of numbers, as lists of features in JSON lines."
)


@dataclass(frozen=True)
class Layout:
    """What only the whole file knows.

    Attributes
    ----------
    first_column : int
        0 or 1.
    n_features : int
    labels : Vocabulary
        Empty if no line has a label.
    n_rows : int
    """

    first_column: int
    n_features: int
    labels: Vocabulary
    n_rows: int


class _Rows(NamedTuple):
    """Rows of a piece of a file.

    Attributes
    ----------
    labels : pyarrow.StringArray (n_rows,)
        Null where a line has no label.
    rows, columns : ndarray of int (n_pairs,)
    counts : ndarray of float64 (n_pairs,)
    """

    labels: Any
    rows: NDArray[np.int64]
    columns: NDArray[np.int64]
    counts: NDArray[np.float64]


def scan_svmlight(files: tuple[Path, ...]) -> Layout:
    """Read the files once for what only the whole knows."""
    labels = Vocabulary()
    least, largest, n_rows = 1, -1, 0
    for rows in _read(files):
        labels.encode(pc.drop_null(pc.unique(rows.labels)))
        least = min(least, int(rows.columns.min(initial=least)))
        largest = max(largest, int(rows.columns.max(initial=largest)))
        n_rows += len(rows.labels)
    return Layout(least, max(largest + 1 - least, 0), labels, n_rows)


def svmlight_pieces(files: tuple[Path, ...], description: str) -> Iterator[Dataset]:
    """Yield the rows in order, in pieces of any size; labels and columns are numbered over the whole.

    Raises
    ------
    DataError
        If a line cannot be read or a value is no count; the message names the line.
    """
    layout = scan_svmlight(files)
    names = layout.labels.names()
    start = 0
    for rows in _read(files):
        n_rows = len(rows.labels)
        columns = rows.columns - layout.first_column
        shape = (n_rows, layout.n_features)
        matrix = canonical_counts(sparse.coo_array((rows.counts, (rows.rows, columns)), shape=shape))
        has_labels = len(names) > 0
        yield Dataset(
            matrix=matrix,
            row_ids=np.arange(start, start + n_rows),
            labels=layout.labels.encode_column(rows.labels) if has_labels else None,
            label_names=names if has_labels else None,
            report=ReadReport(
                source=description,
                n_records=n_rows,
                n_zero_counts=int(np.count_nonzero(rows.counts == 0)),
                n_duplicates=int(np.count_nonzero(rows.counts) - matrix.nnz),
            ),
        )
        start += n_rows


def _read(files: tuple[Path, ...]) -> Iterator[_Rows]:
    for file in files:
        for piece in line_pieces(file):
            yield _parse(piece, file)


def _parse(piece: TextPiece, file: Path) -> _Rows:
    texts = pa.array(decode_lines(piece, file), pa.large_string())
    texts = pc.utf8_trim_whitespace(pc.replace_substring_regex(texts, "#.*$", ""))
    is_row = pc.not_equal(texts, "")
    lines = piece.first_line + np.flatnonzero(to_numpy(is_row, False))
    tokens = pc.utf8_split_whitespace(texts.filter(is_row))
    first = pc.list_element(tokens, 0)
    labels = pc.if_else(pc.match_substring(first, ":"), None, first)
    rows = pc.list_parent_indices(tokens).to_numpy().astype(np.int64)
    words = pc.list_flatten(tokens)
    is_first = np.diff(rows, prepend=-1) > 0
    is_label = is_first & ~to_numpy(pc.match_substring(words, ":"), False)
    is_query = to_numpy(pc.starts_with(words, "qid:"), False)
    kept = ~is_label & ~is_query
    rows, words = rows[kept], words.filter(pa.array(kept))
    columns, counts = _pairs(Column(words, "column:count", lambda i: f"{file}, line {lines[rows[i]]}"))
    return _Rows(labels, rows, columns, counts)


def _pairs(column: Column) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    parts = pc.extract_regex(column.values, PAIR)
    if parts.null_count:
        record = int(np.argmax(to_numpy(parts.is_null(), False)))
        rule = "a column number, a colon and a count"
        raise column.error(record, rule, column.values[record].as_py())
    columns = parts.field("column").cast(pa.int64()).to_numpy()
    counts = parse_numbers(parts.field("count"))
    for bad, rule, remedy in (
        (not_a_count(counts), f"a column number, a colon and {COUNT_RULE}", ""),
        (columns > MOST_COLUMNS, COLUMN_RULE, COLUMN_REMEDY),
    ):
        if bad.any():
            record = int(np.argmax(bad))
            raise column.error(record, rule, column.values[record].as_py(), remedy)
    return columns, counts
