"""What users hand over, as blocks of rows for the engine."""

from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.count_inputs import CountRows, as_count_rows
from sparsemix.data.feature_names import FeatureNames, check_distinct
from sparsemix.data.inputs import BinaryRows, RowBlock, as_binary_rows
from sparsemix.models.em.state import FloatVector, IntVector, Rows

Table = CountRows | BinaryRows


def as_rows(X: Any, family: str, binarize: float | None, owner: str) -> Table:
    """Counts for multinomials, zeros and ones for Bernoullis; DataError if `X` is neither."""
    if family == "multinomial":
        return as_count_rows(X, owner=owner)
    return as_binary_rows(X, binarize=binarize, owner=owner)


def features_of(tables: Iterable[Table], owner: str) -> tuple[FeatureNames, int]:
    """All features of the tables, by name where columns have names, and the number of rows."""
    features, n_rows = None, 0
    for table in tables:
        n_rows += table.n_rows
        if features is None:
            if table.names is not None:
                check_distinct(table.names)
            features = FeatureNames(table.n_features, table.names)
        else:
            columns = features.columns_of(table.n_features, table.names, owner=owner)
            features = features.extended(columns, table.names)
    return features or FeatureNames(0, None), n_rows


def read(
    table: Table,
    features: FeatureNames,
    labels: IntVector | None = None,
    row_weights: FloatVector | None = None,
    *,
    owner: str,
) -> Iterator[tuple[Rows, NDArray[np.bool_]]]:
    """The rows in blocks, and which of them hold features, but none that the model knows; unknown ones are left out."""
    columns = features.columns_of(table.n_features, table.names, owner=owner)
    first = 0
    for block in table.blocks(columns):
        n_rows = block.indptr.size - 1
        part = slice(first, first + n_rows)
        rows = Rows(
            block.indptr,
            block.columns,
            np.ones(block.columns.size) if isinstance(block, RowBlock) else block.values,
            np.full(n_rows, -1) if labels is None else labels[part],
            np.ones(n_rows) if row_weights is None else row_weights[part],
        )
        known = rows.known(features.n_features)
        yield known, (np.diff(rows.indptr) > 0) & (np.diff(known.indptr) == 0)
        first += n_rows
