"""What users hand over, as rows of counts in the columns of the model."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.count_inputs import CountRows, as_count_rows
from sparsemix.data.feature_names import FeatureNames, new_features
from sparsemix.foundation.errors import DataError
from sparsemix.models.gamma_poisson.state import Rows


class Given(NamedTuple):
    """Rows, and which of them hold features, but none that the model knows."""

    rows: Rows
    is_unknown: NDArray[np.bool_]


def read_new(X: Any, owner: str) -> tuple[Rows, FeatureNames]:
    """Rows and features of a new model; DataError if there is nothing to learn."""
    table = as_count_rows(X, owner=owner)
    features = new_features(table.n_rows, table.n_features, table.names, owner)
    return table.block(0, table.n_rows), features


def read_known(X: Any, features: FeatureNames, owner: str) -> Given:
    """The rows in the columns of a model; features that it does not know are left out."""
    table = as_count_rows(X, owner=owner)
    columns = features.known_columns_of(table.n_features, table.names, owner=owner)
    rows = table.block(0, table.n_rows, columns)
    if columns is None:
        return Given(rows, np.zeros(table.n_rows, bool))
    row = np.repeat(np.arange(table.n_rows), np.diff(rows.indptr))
    is_known = rows.columns < features.n_features
    n_known = np.bincount(row[is_known], minlength=table.n_rows)
    known = Rows(np.concatenate([[0], np.cumsum(n_known)]), rows.columns[is_known], rows.values[is_known])
    return Given(known, (np.diff(rows.indptr) > 0) & (n_known == 0))


def read_columns(X: Any, n_users: int, owner: str) -> Rows:
    """New features, a row for each, over the users that the model has learnt; DataError unless those are as many."""
    table: CountRows = as_count_rows(X, owner=owner)
    if table.n_rows != n_users:
        raise DataError(
            f"'X' of {owner} must have a row for each of the {n_users} users that were learnt, in their order, but it "
            f"has {table.n_rows}. Put empty rows where nothing happened."
        )
    block = table.block(0, table.n_rows)
    by_user = sparse.csr_array((block.values, block.columns, block.indptr), shape=(n_users, table.n_features))
    flipped: Any = sparse.csr_array(by_user.T)
    flipped.sort_indices()
    return Rows(flipped.indptr.astype(np.int64), flipped.indices.astype(np.int32), flipped.data)
