"""Signatures of real rows and of their clusters, see `real_hash_kernels` and, for counts, `signatures`."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.hashed_gibbs import real_hash_kernels
from sparsemix.models.hashed_gibbs.real_state import FloatMatrix, FloatVector, RealClusters, RealPrior
from sparsemix.models.hashed_gibbs.signatures import Frame, HashForm, cosines_of

ROWS_PER_BLOCK = 4_000


class RealSignatures(NamedTuple):
    """Bits of rows and clusters, and what they are made of.

    directions : (n_parameters, n_bits), normal: with few parameters there are too few combinations of signs.
    scale, centre : (n_parameters,) of the clusters' parameters; 1 and 0 in the raw form, as is `row_mean`.
    row_mean : (n_parameters,) mean statistics of the rows.
    bits : (K, n_bits / 64); norms, constants : (K,). row_bits : (n_rows, n_bits / 64); row_norms : (n_rows,).
    cosines : (n_bits + 1,) by number of differing bits.
    """

    directions: FloatMatrix
    scale: FloatVector
    centre: FloatVector
    row_mean: FloatVector
    bits: NDArray[np.uint64]
    norms: FloatVector
    constants: FloatVector
    row_bits: NDArray[np.uint64]
    row_norms: FloatVector
    cosines: FloatVector
    tempering: float
    is_raw: bool


def statistics_of(rows: FloatMatrix, prior: RealPrior, shift: FloatVector) -> FloatMatrix:
    """Sufficient statistics of rows, (n_rows, n_parameters): ``row - shift`` and its squares or products."""
    centred = rows - shift
    if not prior.is_full:
        return np.hstack([centred, centred**2])
    first, second = np.tril_indices(shift.size)
    return np.hstack([centred, centred[:, first] * centred[:, second]])


def signatures_of(
    rows: FloatMatrix,
    prior: RealPrior,
    clusters: RealClusters,
    form: HashForm,
    rng: np.random.Generator,
    frame: Frame | None = None,
) -> RealSignatures:
    """Signatures of all rows and clusters; centre and scale are given, or those of the present clusters.

    O((n_rows + K) n_parameters n_bits); memory O((n_parameters + n_rows / 8 + K / 8) n_bits) bytes.
    """
    n_rows, n_clusters, shift = len(rows), clusters.sizes.size, clusters.statistics.shift
    moments = _moments(rows, prior, shift)
    n_words = -(-form.n_bits // 64)
    directions = rng.standard_normal((moments.shape[1], 64 * n_words))
    directions[:, form.n_bits :] = 0.0  # bits of a short signature that are always equal
    if frame is None:
        frame = _frame_of(prior, clusters, moments, is_raw=form.is_raw)
    row_mean = np.zeros_like(frame.centre) if form.is_raw else moments[0]
    made = RealSignatures(
        directions,
        *frame,
        row_mean,
        np.zeros((n_clusters, n_words), np.uint64),
        np.zeros(n_clusters),
        np.zeros(n_clusters),
        np.zeros((n_rows, n_words), np.uint64),
        np.zeros(n_rows),
        cosines_of(form, n_clusters),
        form.tempering,
        form.is_raw,
    )
    for block in _blocks(n_rows):
        scaled = (statistics_of(rows[block], prior, shift) - row_mean) * frame.scale
        real_hash_kernels.project_rows(scaled, block.start, made)
    real_hash_kernels.renew_all(prior, clusters, made)
    return made


def frame_of(rows: FloatMatrix, prior: RealPrior, clusters: RealClusters, *, is_raw: bool) -> Frame:
    """Where the parameters of the present clusters lie, and the scale that makes the product of the norms least."""
    return _frame_of(prior, clusters, _moments(rows, prior, clusters.statistics.shift), is_raw=is_raw)


def _blocks(n_rows: int) -> list[slice]:
    return [slice(first, first + ROWS_PER_BLOCK) for first in range(0, n_rows, ROWS_PER_BLOCK)]


def _moments(rows: FloatMatrix, prior: RealPrior, shift: FloatVector) -> FloatMatrix:
    """Means over the rows of the statistics and of their squares, (2, n_parameters)."""
    total: FloatMatrix = np.zeros((2, 1))
    for block in _blocks(len(rows)):
        statistics = statistics_of(rows[block], prior, shift)
        total = total + np.stack([statistics.sum(axis=0), (statistics**2).sum(axis=0)])
    return total / len(rows)


def _frame_of(prior: RealPrior, clusters: RealClusters, moments: FloatMatrix, *, is_raw: bool) -> Frame:
    n_parameters = moments.shape[1]
    if is_raw:
        return Frame(np.ones(n_parameters), np.zeros(n_parameters))
    live = np.flatnonzero(clusters.sizes)
    thetas = np.empty((max(1, live.size), n_parameters))
    for theta, k in zip(thetas, live if live.size else [0], strict=True):
        real_hash_kernels.natural_parameters(prior.gaussian, clusters.statistics, k, theta)
    of_rows = moments[1] - moments[0] ** 2
    spread = thetas.var(axis=0)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        scale = (spread / of_rows) ** 0.25
    is_sound = np.isfinite(scale) & (scale > 0.0)
    return Frame(
        np.where(is_sound, scale, np.median(scale[is_sound]) if is_sound.any() else 1.0), thetas.mean(axis=0)
    )
