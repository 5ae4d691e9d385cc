"""What users hand over, as dense rows of real numbers."""

from typing import Any, cast

import numpy as np
from scipy import sparse

from sparsemix.data.feature_names import FeatureNames, new_features
from sparsemix.data.input_forms import as_given
from sparsemix.foundation.errors import DataError, listed, shorten
from sparsemix.models.hashed_gibbs.reading import Table
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES, FloatMatrix

LARGEST_VALUE = 1e30  # whose squares, times precisions of the smallest variances, are far from overflow
MOST_CELLS = 1_000_000_000


def table_of(X: Any, family: str, binarize: float | None, owner: str) -> "Table | RealTable":
    """Rows as the family has them."""
    return RealTable(X, owner) if family in REAL_FAMILIES else Table(X, family, binarize, owner)


class RealTable:
    """Rows as a dense matrix, with the names of its columns."""

    def __init__(self, X: Any, owner: str) -> None:
        given, self.names, _ = as_given(X, owner)
        self.n_rows, self.n_features = map(int, given.shape)
        if self.n_rows * self.n_features > MOST_CELLS:
            raise DataError(
                f"'X' of {owner} must have at most {MOST_CELLS} cells for Gaussian rows, which are kept dense, but its "
                f"shape is {(self.n_rows, self.n_features)}. Leave out features."
            )
        if sparse.issparse(given):
            given = cast("Any", given).toarray()
        self.matrix: FloatMatrix = np.ascontiguousarray(given, np.float64)
        wrong = ~(np.abs(self.matrix) <= LARGEST_VALUE)
        if wrong.any():
            row, column = np.argwhere(wrong)[0]
            where = f"column {column if self.names is None else shorten(self.names[column])}"
            value = self.matrix[row, column]
            shown = "NaN" if np.isnan(value) else f"{value!s}"
            raise DataError(
                f"'X' of {owner} must hold finite numbers, at most {LARGEST_VALUE} in size, but {where} of row {row} "
                f"is {shown}. Fill in what is missing, and scale the features."
            )

    def features(self, owner: str) -> FeatureNames:
        """The columns as features of a new model; DataError if there is nothing to learn."""
        return new_features(self.n_rows, self.n_features, self.names, owner)

    def known(self, features: FeatureNames, owner: str) -> tuple[FloatMatrix, Any]:
        """The rows in the order of a model's columns, all of which must be there and no other; no row is unknown."""
        columns = features.columns_of(self.n_features, self.names, owner=owner)
        order = np.arange(self.n_features) if columns is None else columns
        missing = np.setdiff1d(np.arange(features.n_features), order)
        if missing.size or self.n_features != features.n_features:
            lacking = listed([features.name_of(int(feature)) for feature in missing], 3)
            raise DataError(
                f"'X' of {owner} must have just the features that the model has learnt, as Gaussian rows hold all of "
                f"them, but it has {self.n_features} for {features.n_features}, and lacks {lacking}."
            )
        matrix = np.empty_like(self.matrix)
        matrix[:, order] = self.matrix
        return matrix, np.zeros(self.n_rows, bool)

    def joined(self, features: FeatureNames, owner: str) -> tuple[FloatMatrix, FeatureNames]:
        """As `known`, with the features."""
        return self.known(features, owner)[0], features
