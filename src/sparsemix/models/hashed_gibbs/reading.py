"""What users hand over, as rows of whole numbers."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.count_inputs import as_count_rows
from sparsemix.data.feature_names import FeatureNames, new_features
from sparsemix.data.inputs import as_binary_rows
from sparsemix.foundation.checks import threshold
from sparsemix.foundation.errors import DataError, shorten

MOST = 2**31 - 1  # a feature's sum of counts, and that of a row


class Table:
    """Rows as CSR arrays of whole numbers, with the names of their columns."""

    def __init__(self, X: Any, family: str, binarize: float | None, owner: str) -> None:
        if family == "bernoulli":
            threshold(owner, binarize)
            table: Any = as_binary_rows(X, binarize=binarize, owner=owner)
        else:
            table = as_count_rows(X, owner=owner)
        self.names, self.n_rows, self.n_features = table.names, table.n_rows, table.n_features
        block = table.block(0, self.n_rows)
        counts = np.ones(block.columns.size) if family == "bernoulli" else block.values
        self._check_whole(counts, block, owner)
        shape = (self.n_rows, self.n_features)
        self.matrix = sparse.csr_array((counts.astype(np.int64), block.columns, block.indptr), shape=shape)
        check_sums(self.matrix.sum(axis=0), self.names, owner)
        of_rows = self.matrix.sum(axis=1)
        if of_rows.max(initial=0) > MOST:
            row = int(of_rows.argmax())
            raise DataError(_too_much(owner, "rows", f"row {row}", of_rows[row]))

    def features(self, owner: str) -> FeatureNames:
        """The columns as features of a new model; DataError if there is nothing to learn."""
        return new_features(self.n_rows, self.n_features, self.names, owner)

    def known(self, features: FeatureNames, owner: str) -> tuple[Any, Any]:
        """The rows in the columns of a model, and which of them hold something, but nothing that it knows."""
        columns = features.known_columns_of(self.n_features, self.names, owner=owner)
        if columns is None:
            return self.matrix, np.zeros(self.n_rows, bool)
        matrix = self._renamed(columns, features.n_features)
        return matrix, (np.diff(self.matrix.indptr) > 0) & (np.diff(matrix.indptr) == 0)

    def joined(self, features: FeatureNames, owner: str) -> tuple[Any, FeatureNames]:
        """The rows in the columns of a model, with those that are new to it, and all of these as features."""
        columns = features.columns_of(self.n_features, self.names, owner=owner)
        if columns is None:
            return self.matrix, features
        every = features.extended(columns, self.names)
        return self._renamed(columns, every.n_features), every

    def _check_whole(self, counts: Any, block: Any, owner: str) -> None:
        wrong = (counts != np.floor(counts)) | (counts > MOST)
        if wrong.any():
            at = int(wrong.argmax())
            row = int(np.searchsorted(block.indptr, at, side="right")) - 1
            where = _column(int(block.columns[at]), self.names)
            raise DataError(
                f"'X' of {owner} must hold whole numbers from 0 to {MOST}, but {where} of row {row} is "
                f"{counts[at]!s}. Round or scale the values first."
            )

    def _renamed(self, columns: Any, n_features: int) -> Any:
        """The rows with other numbers for the columns; those from `n_features` on are left out."""
        entries = self.matrix.tocoo()
        column = columns[entries.coords[1]]
        is_known = column < n_features
        kept = (entries.coords[0][is_known], column[is_known])
        return sparse.csr_array((entries.data[is_known], kept), shape=(self.n_rows, n_features))


def check_sums(sums: Any, names: Any, owner: str) -> None:
    """Raise DataError if sums of the columns' counts are more than the statistics of clusters hold."""
    if sums.max(initial=0) > MOST:
        column = int(sums.argmax())
        raise DataError(_too_much(owner, "columns", _column(column, names), sums[column]))


def _too_much(owner: str, what: str, where: str, total: Any) -> str:
    return f"'X' of {owner} must have sums of {what} up to {MOST}, but that of {where} is {total}. Scale it first."


def _column(column: int, names: Any) -> str:
    return f"column {column if names is None else shorten(names[column])}"
