"""What the Gaussian families ask of dense rows, whatever their covariance."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]
IntVector = NDArray[np.int64]
RowKernel = Callable[[Any, Any, FloatArray, Any], None]


def variances(rows: FloatArray) -> FloatArray:
    """Variance of each feature, (n_features,); the unit where it is the same in all rows."""
    return np.where(np.ptp(rows, axis=0) > 0.0, rows.var(axis=0), 1.0)


def add_labelled(add_row: RowKernel, state: Any, prior: Any, rows: FloatArray, labels: IntVector) -> None:
    """Add rows to the clusters of their labels, in place; rows labelled -1 are left out."""
    for i in np.flatnonzero(labels >= 0):
        add_row(state, prior, rows[i], labels[i])


def predictives(log_predictive: RowKernel, state: Any, prior: Any, rows: FloatArray) -> FloatArray:
    """Log predictive of rows under each cluster, (n_rows, n_clusters)."""
    found = np.empty((len(rows), state.sizes.size))
    for row, out in zip(rows, found, strict=True):
        log_predictive(state, prior, row, out)
    return found
