"""The bound: what it costs to score rows once against fixed profiles and learn nothing."""

import time
from functools import partial

import numpy as np
from scipy.sparse import csr_array

from sparsemix.numeric.jit import reordering_kernel


@reordering_kernel
def score_rows(
    indptr,        # IN  (n_rows + 1,) int32
    indices,       # IN  (nnz,) int32
    log_odds,      # IN  (n_features, n_components) float32: log mu - log(1 - mu)
    log_all_off,   # IN  (n_components,) float32: log weight + sum_d log(1 - mu_d)
    responsibilities_out,   # OUT (n_components,) float32, of the last row
):  # fmt: skip
    """Gather, add and softmax over all components, row by row; return the summed log normalisers."""
    n_components = log_all_off.shape[0]
    total = 0.0
    for i in range(indptr.shape[0] - 1):
        for k in range(n_components):
            responsibilities_out[k] = log_all_off[k]
        for position in range(indptr[i], indptr[i + 1]):
            column = indices[position]
            for k in range(n_components):
                responsibilities_out[k] += log_odds[column, k]
        top = responsibilities_out[0]
        for k in range(n_components):
            top = max(top, responsibilities_out[k])
        normaliser = np.float32(0.0)
        for k in range(n_components):
            responsibilities_out[k] = np.exp(responsibilities_out[k] - top)
            normaliser += responsibilities_out[k]
        scale = np.float32(1.0) / normaliser
        for k in range(n_components):
            responsibilities_out[k] *= scale
        total += top + np.log(normaliser)
    return total


class Bound:
    """Scores rows once, whenever it is asked to, with profiles estimated from the true clusters.

    Parameters
    ----------
    rows : csr_array
    assignments : (n_rows,) true cluster of each row, -1 for clutter
    n_components : int
    """

    def __init__(self, rows: csr_array, assignments: np.ndarray, n_components: int) -> None:
        out = np.empty(n_components, dtype=np.float32)
        arguments = (rows.indices, *_profiles(rows, assignments, n_components), out)
        score_rows(rows.indptr[:2], *arguments)  # compiles
        self._score = partial(score_rows, rows.indptr, *arguments)

    def cpu_seconds(self) -> float:
        """Score all rows; return the CPU seconds of this thread."""
        start = time.thread_time()
        self._score()
        return time.thread_time() - start


def _profiles(rows: csr_array, assignments: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    members = np.bincount(assignments[assignments >= 0], minlength=n_components)
    counts = np.zeros((n_components, rows.shape[1]), dtype=np.float32)
    for k in range(n_components):
        counts[k] = rows[assignments == k].sum(axis=0)
    means = (counts + 0.01) / (members[:, None] + 1.0)
    log_odds = np.ascontiguousarray((np.log(means) - np.log1p(-means)).T, dtype=np.float32)
    log_weights = np.log((members + 1.0) / (members + 1.0).sum())
    return log_odds, (log_weights + np.log1p(-means).sum(axis=1)).astype(np.float32)
