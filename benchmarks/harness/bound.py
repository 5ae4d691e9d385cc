"""The bound: what it costs to score rows once against fixed profiles and learn nothing."""

import time

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


def seconds_to_score(rows: csr_array, assignments: np.ndarray, n_components: int, repeats: int) -> float:
    """Return the best of `repeats` passes over `rows`, with profiles estimated from the true clusters."""
    log_odds, log_all_off = _profiles(rows, assignments, n_components)
    out = np.empty(n_components, dtype=np.float32)
    score_rows(rows.indptr[:2], rows.indices, log_odds, log_all_off, out)
    best = np.inf
    for _ in range(repeats):
        start = time.perf_counter()
        score_rows(rows.indptr, rows.indices, log_odds, log_all_off, out)
        best = min(best, time.perf_counter() - start)
    return best


def _profiles(rows: csr_array, assignments: np.ndarray, n_components: int) -> tuple[np.ndarray, np.ndarray]:
    members = np.bincount(assignments[assignments >= 0], minlength=n_components)
    counts = np.zeros((n_components, rows.shape[1]), dtype=np.float32)
    for k in range(n_components):
        counts[k] = rows[assignments == k].sum(axis=0)
    means = (counts + 0.01) / (members[:, None] + 1.0)
    log_odds = np.ascontiguousarray((np.log(means) - np.log1p(-means)).T, dtype=np.float32)
    log_weights = np.log((members + 1.0) / (members + 1.0).sum())
    return log_odds, (log_weights + np.log1p(-means).sum(axis=1)).astype(np.float32)
