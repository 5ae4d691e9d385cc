"""What users hand over, as a matrix of whole numbers."""

from typing import Any

import numpy as np
from scipy import sparse

from sparsemix.data.count_inputs import as_count_rows
from sparsemix.data.feature_names import FeatureNames, new_features
from sparsemix.data.inputs import as_binary_rows
from sparsemix.foundation.errors import DataError
from sparsemix.models.time_sensitive.times import row_name
from sparsemix.probability.entries import row_sums

MOST = 2**31 - 1  # sums of counts over a row or a feature


def sums_of_columns(columns: Any, counts: Any) -> Any:
    """Sums of the counts in those columns that have any; there may be too many others to count."""
    return np.bincount(np.unique(columns, return_inverse=True)[1], counts)


class Table:
    """Rows as CSR of whole numbers, with the names of their columns."""

    def __init__(self, X: Any, family: str, binarize: float | None, owner: str) -> None:
        is_binary = family == "bernoulli"
        table: Any = (
            as_binary_rows(X, binarize=binarize, owner=owner) if is_binary else as_count_rows(X, owner=owner)
        )
        self.names, self.n_rows, self.n_features = table.names, table.n_rows, table.n_features
        block = table.block(0, self.n_rows)
        counts = np.ones(block.columns.size) if is_binary else block.values
        if not np.all((counts == np.floor(counts)) & (counts <= MOST)):
            wrong = int(np.argmax((counts != np.floor(counts)) | (counts > MOST)))
            row = row_name(X, int(np.searchsorted(block.indptr, wrong, side="right")) - 1)
            column = block.columns[wrong] if self.names is None else self.names[block.columns[wrong]]
            raise DataError(
                f"'X' of {owner} must hold whole numbers up to {MOST}, but there is {counts[wrong]:.16g} in {row}, "
                f"column {column}. Round or scale the values first."
            )
        shape = (self.n_rows, self.n_features)
        self.matrix = sparse.csr_array((counts.astype(np.int64), block.columns, block.indptr), shape=shape)
        sums = (row_sums(self.matrix), sums_of_columns(block.columns, counts))
        most = int(max(each.max(initial=0) for each in sums))
        if most > MOST:
            raise DataError(
                f"'X' of {owner} must have sums of rows and columns up to {MOST}, but one is {most}."
            )

    def features(self, owner: str) -> FeatureNames:
        """The columns as features of a new model; DataError if there is nothing to learn."""
        return new_features(self.n_rows, self.n_features, self.names, owner)

    def known(self, features: FeatureNames, owner: str) -> tuple[Any, Any]:
        """The rows in the columns of a model, and which hold something, but nothing that it knows."""
        columns = features.known_columns_of(self.n_features, self.names, owner=owner)
        if columns is None:
            return self.matrix, np.zeros(self.n_rows, bool)
        width = max(features.n_features, int(columns.max(initial=-1)) + 1)
        renamed: Any = sparse.csr_array(
            (self.matrix.data, columns[self.matrix.indices], self.matrix.indptr), shape=(self.n_rows, width)
        )
        known = sparse.csr_array(renamed[:, : features.n_features])
        known.sort_indices()
        return known, (np.diff(self.matrix.indptr) > 0) & (np.diff(known.indptr) == 0)

    def among(self, features: FeatureNames, owner: str) -> tuple[Any, FeatureNames]:
        """The rows in the columns of a model that learns new names, and its features with these."""
        columns = features.columns_of(self.n_features, self.names, owner=owner)
        grown = features.extended(columns, self.names)
        if columns is None:
            return self.matrix, grown
        cells = (self.matrix.data, columns[self.matrix.indices], self.matrix.indptr)
        renamed: Any = sparse.csr_array(cells, shape=(self.n_rows, grown.n_features))
        renamed.sort_indices()
        return renamed, grown
