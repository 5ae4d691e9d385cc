"""The rules for what a record says: blocks of any reader become rows, features and counts, all as numbers.

This is the only place where records are dropped, and every one is counted.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from sparsemix.data.blocks import Block
from sparsemix.data.pairs import Pairs, read_pairs
from sparsemix.data.report import ReadReport
from sparsemix.data.values import EMPTY, NULL, CodedColumn, Column, code_column, parse_counts, parse_times
from sparsemix.foundation.errors import ParameterError

CODED_ROLES = ("group", "label")
ATTRIBUTE_ROLES = ("group", "time", "label")


@dataclass(frozen=True)
class Attribute:
    """A group, time or label of each row of a block: the first that a record of the row has.

    Attributes
    ----------
    numbers : ndarray (n_rows,)
        int32 positions in `values` with -1 = missing, or float64 seconds with NaN = missing.
    values : pyarrow.StringArray or None
        Distinct texts; None for times.
    conflicts : ndarray of bool (n_rows,)
        Whether another record of the row says something else.
    is_text : bool
        Whether digits are text.
    """

    numbers: NDArray[Any]
    values: Any
    conflicts: NDArray[np.bool_]
    is_text: bool


@dataclass(frozen=True)
class CleanBlock:
    """What a block says.

    Attributes
    ----------
    rows : pyarrow.StringArray (n_rows,)
        Distinct row ids as text, in order of first appearance.
    first_records : ndarray of int64 (n_rows,)
        Record at which each row appears first, counted over all blocks.
    row_is_text : bool
        Whether digits of row ids are text.
    attributes : dict of str to Attribute
    features : pyarrow.StringArray (n_features,)
        Distinct names, in order of first appearance.
    pair_rows, pair_features : ndarray of int32 (n_pairs,)
        Positions in `rows` and `features`, in the order of the records.
    pair_counts : ndarray of float64 (n_pairs,) or None
        None if only presence counts.
    report : ReadReport
    """

    rows: Any
    first_records: NDArray[np.int64]
    row_is_text: bool
    attributes: dict[str, Attribute]
    features: Any
    pair_rows: NDArray[np.int32]
    pair_features: NDArray[np.int32]
    pair_counts: NDArray[np.float64] | None
    report: ReadReport


def clean_block(block: Block, first_record: int, delimiter: str | None) -> CleanBlock:
    """Apply the rules to a block whose first record is number `first_record` of the source.

    Raises
    ------
    DataError
        If a value breaks its rule; the message says where.
    ParameterError
        If counts are asked for in basket form, or a delimiter for a column that is not text.
    """
    row = _rows(block, first_record)
    kept = np.flatnonzero(row.codes >= 0)
    row_of_kept = row.codes[kept]
    first = _first_of_each(row_of_kept, len(row.values))
    pairs = read_pairs(_column(block, "feature"), delimiter)
    pair_rows = row.codes if pairs.records is None else row.codes[pairs.records]
    counts = _counts(block, pairs)
    codes = pairs.features.codes
    is_kept = (pair_rows >= 0) & (codes >= 0)
    is_zero = np.zeros_like(is_kept) if counts is None else is_kept & (counts == 0)
    is_kept &= ~is_zero
    features, pair_features = _used(pairs.features, is_kept)
    null_lists = np.count_nonzero(row.codes[pairs.null_records] >= 0)
    report = ReadReport(
        n_records=block.n_records,
        n_null_rows=int(np.count_nonzero(row.codes == NULL)),
        n_empty_rows=int(np.count_nonzero(row.codes == EMPTY)),
        n_null_features=int(np.count_nonzero((codes == NULL) & (pair_rows >= 0)) + null_lists),
        n_empty_features=int(np.count_nonzero((codes == EMPTY) & (pair_rows >= 0))),
        n_zero_counts=int(np.count_nonzero(is_zero)),
    )
    return CleanBlock(
        rows=row.values,
        first_records=first_record + kept[first],
        row_is_text=is_text_column(block, "row", row),
        attributes={
            role: _attribute(block, role, kept, row_of_kept, len(row.values))
            for role in ATTRIBUTE_ROLES
            if role in block.columns
        },
        features=features,
        pair_rows=pair_rows[is_kept],
        pair_features=pair_features,
        pair_counts=None if counts is None else counts[is_kept],
        report=report,
    )


def _column(block: Block, role: str) -> Column:
    return Column(block.columns[role], role, block.place)


def _rows(block: Block, first_record: int) -> CodedColumn:
    """Row ids; without a column for them the records are numbered."""
    if "row" in block.columns:
        return code_column(_column(block, "row"))
    numbers = pa.array(np.arange(first_record, first_record + block.n_records)).cast(pa.large_string())
    return CodedColumn(np.arange(block.n_records, dtype=np.int32), numbers, is_integer=True)


def _counts(block: Block, pairs: Pairs) -> NDArray[np.float64] | None:
    if "count" not in block.columns:
        return None
    if pairs.records is not None:
        raise ParameterError(
            "'count' of read_table must be None in basket form, where a record holds many features. "
            "Bring the table into long form, one record per row and feature."
        )
    return parse_counts(_column(block, "count"))


def _used(features: CodedColumn, is_kept: NDArray[np.bool_]) -> tuple[Any, NDArray[np.int32]]:
    """Drop the features that no kept pair has; they keep the order of first appearance."""
    if is_kept.all():
        return features.values, features.codes
    codes = features.codes[is_kept]
    first = _first_of_each(codes, len(features.values))
    order = np.argsort(first, kind="stable")
    order = order[first[order] >= 0]
    new_code = np.full(len(features.values), NULL, dtype=np.int32)
    new_code[order] = np.arange(order.size, dtype=np.int32)
    return features.values.take(pa.array(order)), new_code[codes]


def _attribute(
    block: Block, role: str, kept: NDArray[np.int64], row_of_kept: NDArray[np.int32], n_rows: int
) -> Attribute:
    values, is_text = None, False
    if role in CODED_ROLES:
        coded = code_column(_column(block, role))
        numbers: NDArray[Any] = np.maximum(coded.codes[kept], NULL)
        values, is_text = coded.values, is_text_column(block, role, coded)
        missing: Any = NULL
        known = np.flatnonzero(numbers != NULL)
    else:
        numbers = parse_times(_column(block, role))[kept]
        missing = np.nan
        known = np.flatnonzero(~np.isnan(numbers))
    rows, numbers = row_of_kept[known], numbers[known]
    first = _first_of_each(rows, n_rows)
    chosen = np.full(n_rows, missing, dtype=numbers.dtype)
    chosen[first >= 0] = numbers[first[first >= 0]]
    conflicts = np.zeros(n_rows, dtype=np.bool_)
    conflicts[rows[numbers != chosen[rows]]] = True
    return Attribute(chosen, values, conflicts, is_text)


def _first_of_each(codes: NDArray[np.int32], n_codes: int) -> NDArray[np.int64]:
    """Position of the first occurrence of each code, -1 if it has none."""
    first = np.full(n_codes, -1, dtype=np.int64)
    first[codes[::-1]] = np.arange(codes.size - 1, -1, -1)
    return first


def is_text_column(block: Block, role: str, coded: CodedColumn) -> bool:
    """Whether the source says that ids are text, even if they look like numbers."""
    return role in block.text_roles or not (block.untyped or coded.is_integer)
