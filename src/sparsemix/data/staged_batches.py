"""Batches of rows out of an arranged stage."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.dataset import Dataset
from sparsemix.data.ids import WIDTHS, as_integers
from sparsemix.data.object_arrays import object_array
from sparsemix.data.pair_matrix import build_matrix
from sparsemix.data.report import ReadReport
from sparsemix.data.staging import Stage
from sparsemix.data.vocabulary import Vocabulary

SQL_TYPES = {"int64": "BIGINT", "uint64": "UBIGINT"}


class StagedBatches:
    """Cuts data sets out of a stage; what holds for the whole table is found out once.

    Parameters
    ----------
    stage : Stage
        After `Stage.arrange`.
    growing : bool
        Whether a batch has only the features that appeared by its last row.

    Attributes
    ----------
    n_rows : int
    """

    def __init__(self, stage: Stage, growing: bool) -> None:
        self._stage = stage
        order, self._first_rows = stage.feature_order()
        self._names = stage.features.names()[order]
        self._column = np.empty(len(stage.features), dtype=np.int32)
        self._column[order] = np.arange(order.size, dtype=np.int32)
        self._growing = growing
        self._row_width = self._integer_width("row", "row_id")
        self._group_width = (
            self._integer_width("group", "group_value") if "group" in stage.attributes else None
        )
        self._labels = self._find_labels() if "label" in stage.attributes else None
        self.n_rows = int(stage.table("SELECT count(*) AS n FROM rows")["n"][0].as_py())

    def batch(self, start: int, stop: int, is_first: bool) -> Dataset:
        """Return rows `start` to `stop`; the first batch reports what reading dropped."""
        inside = f"WHERE number >= {start} AND number < {stop} ORDER BY number"
        rows = self._stage.table(f"SELECT * FROM rows {inside}")
        cells = self._stage.table(f"SELECT * FROM cells {inside}, rowid")
        columns = self._column[cells["feature"].to_numpy()]
        n_features = int(np.searchsorted(self._first_rows, stop)) if self._growing else len(self._names)
        matrix = build_matrix(
            cells["number"].to_numpy() - start,
            columns,
            cells["n"].to_numpy().copy() if self._stage.has_counts else None,
            (stop - start, n_features),
        )
        return Dataset(
            matrix=matrix,
            row_ids=_with_width(rows["row_id"], self._row_width),
            feature_names=self._names[:n_features],
            report=self._report(rows, len(columns) - matrix.nnz, is_first),
            **self._attribute_fields(rows),
        )

    def _report(self, rows: Any, n_duplicates: int, is_first: bool) -> ReadReport:
        total = self._stage.report
        batch = ReadReport(
            source=total.source,
            guessed=total.guessed,
            n_duplicates=n_duplicates,
            n_conflicts={
                role: int(np.count_nonzero(rows[f"{role}_conflict"].to_numpy()))
                for role in self._stage.attributes
            },
        )
        return total + batch if is_first else batch

    def _attribute_fields(self, rows: Any) -> dict[str, Any]:
        fields: dict[str, Any] = {}
        for role in self._stage.attributes:
            values = rows[f"{role}_value"]
            if role == "time":
                fields["times"] = values.to_numpy()
            elif role == "group":
                fields["groups"] = object_array(_with_width(values, self._group_width).tolist())
            elif self._labels is not None:
                fields["labels"] = self._labels.encode_column(values)
                fields["label_names"] = self._labels.names()
        return fields

    def _find_labels(self) -> Vocabulary:
        query = "SELECT label_value FROM rows WHERE label_value IS NOT NULL GROUP BY label_value"
        labels = Vocabulary()
        labels.encode(self._stage.table(f"{query} ORDER BY min(number)")["label_value"])
        return labels

    def _integer_width(self, role: str, column: str) -> str | None:
        """Integer type that holds all ids of a column, or None if one is text."""
        if role in self._stage.text_roles:
            return None
        for width in WIDTHS:
            digits = f"CAST(TRY_CAST({column} AS {SQL_TYPES[width]}) AS VARCHAR)"
            test = f"bool_and(coalesce({digits} = {column}, {column} IS NULL))"
            if self._stage.table(f"SELECT coalesce({test}, true) AS yes FROM rows")["yes"][0].as_py():
                return width
        return None


def _with_width(texts: Any, width: str | None) -> NDArray[Any]:
    array: NDArray[Any] = texts.to_numpy().astype(object)
    return array if width is None else as_integers(array, width)
