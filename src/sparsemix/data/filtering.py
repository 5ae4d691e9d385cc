"""The two cuts that make a raw table fit for clustering: rare features first, then overlong rows."""

from dataclasses import replace
from numbers import Integral
from typing import TYPE_CHECKING

import numpy as np

from sparsemix.data.report import FilterReport
from sparsemix.foundation.errors import parameter_error

if TYPE_CHECKING:
    from sparsemix.data.dataset import Dataset


def filter_dataset(
    dataset: "Dataset", min_rows_per_feature: int | None, max_features_per_row: int | None
) -> "Dataset":
    """Apply the cuts once, in this order; `Dataset.filter` documents them."""
    _check_threshold("min_rows_per_feature", min_rows_per_feature)
    _check_threshold("max_features_per_row", max_features_per_row)
    matrix = dataset.matrix
    popularity = np.bincount(matrix.indices, minlength=dataset.n_features)
    kept_features = np.flatnonzero(popularity >= (min_rows_per_feature or 0))
    if kept_features.size < dataset.n_features:
        matrix = matrix[:, kept_features]
    widths = np.diff(matrix.indptr)
    wide = np.zeros_like(widths, dtype=bool)
    if max_features_per_row is not None:
        wide = widths > max_features_per_row
    kept_rows = np.flatnonzero(~wide & (widths > 0))
    removed = FilterReport(
        min_rows_per_feature=min_rows_per_feature,
        max_features_per_row=max_features_per_row,
        n_features_removed=dataset.n_features - kept_features.size,
        n_entries_removed=int(dataset.matrix.nnz - matrix.nnz),
        n_wide_rows_removed=int(np.count_nonzero(wide)),
        n_empty_rows_removed=int(np.count_nonzero(widths == 0)),
    )
    names = dataset.feature_names
    narrowed = replace(
        dataset,
        matrix=matrix,
        feature_names=None if names is None else names[kept_features],
        report=replace(dataset.report, removed=removed),
    )
    return narrowed[kept_rows]


def _check_threshold(name: str, value: int | None) -> None:
    if value is None:
        return
    if isinstance(value, bool) or not isinstance(value, Integral) or value < 1:
        raise parameter_error(name, "Dataset.filter", "an integer >= 1 or None", value)
