"""Clean blocks to one data set."""

from collections.abc import Collection
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.attributes import AttributeColumn
from sparsemix.data.clean import ATTRIBUTE_ROLES, CleanBlock
from sparsemix.data.dataset import Dataset
from sparsemix.data.ids import natural_ids
from sparsemix.data.pair_matrix import build_matrix, by_first_appearance, in_row_order
from sparsemix.data.report import ReadReport
from sparsemix.data.vocabulary import Vocabulary


class Assembler:
    """Takes blocks in order and makes a data set of them.

    Rows stand in order of first appearance; so do the features when the table is read row by row.

    Parameters
    ----------
    report : ReadReport
        To start the counters from.
    roles : collection of str
        Roles that have a column.
    """

    def __init__(self, report: ReadReport, roles: Collection[str]) -> None:
        self._report = report
        self._roles = roles
        self._rows = Vocabulary()
        self._features = Vocabulary()
        self._row_is_text = False
        self._attributes = [AttributeColumn(role) for role in ATTRIBUTE_ROLES if role in roles]
        self._pair_rows: list[NDArray[np.int32]] = []
        self._pair_features: list[NDArray[np.int32]] = []
        self._pair_counts: list[NDArray[np.float64]] = []

    @property
    def n_records(self) -> int:
        """Number of records taken so far."""
        return self._report.n_records

    def add(self, block: CleanBlock) -> None:
        """Take a block."""
        rows = self._rows.encode(block.rows)
        features = self._features.encode(block.features)
        self._pair_rows.append(rows.astype(np.int32)[block.pair_rows])
        self._pair_features.append(features.astype(np.int32)[block.pair_features])
        if block.pair_counts is not None:
            self._pair_counts.append(block.pair_counts)
        for column in self._attributes:
            column.update(rows, len(self._rows), block.attributes[column.role])
        self._row_is_text |= block.row_is_text
        self._report += block.report

    def finish(self) -> Dataset:
        """Return the data set; the assembler is empty afterwards."""
        rows, features, counts = in_row_order(*self._take_pairs())
        order, features = by_first_appearance(features, len(self._features))
        matrix = build_matrix(rows, features, counts, (len(self._rows), len(self._features)))
        fields: dict[str, Any] = {}
        for column in self._attributes:
            fields |= column.fields()
        conflicts = {column.role: int(column.conflicts.sum()) for column in self._attributes}
        return Dataset(
            matrix=matrix,
            row_ids=natural_ids(self._rows.names(), self._row_is_text),
            feature_names=self._features.names()[order],
            report=replace(self._report, n_duplicates=int(rows.size - matrix.nnz), n_conflicts=conflicts),
            **fields,
        )

    def _take_pairs(self) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.float64] | None]:
        rows = np.concatenate([np.empty(0, np.int32), *self._pair_rows])
        self._pair_rows.clear()
        features = np.concatenate([np.empty(0, np.int32), *self._pair_features])
        self._pair_features.clear()
        counts = np.concatenate([np.empty(0), *self._pair_counts]) if "count" in self._roles else None
        self._pair_counts.clear()
        return rows, features, counts
