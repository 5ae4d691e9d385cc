"""Signatures of rows and clusters: which random directions they point along (FASTEX, section 3.2).

The parameters of clusters are almost parallel, being logarithms of small probabilities. Their common mean is taken
away, which changes no ratio of probabilities, and features are scaled, ``x_w s_w`` and ``theta_w / s_w``, so that the
product of the norms becomes least. The raw form leaves both out.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.hashed_gibbs import hash_kernels
from sparsemix.models.hashed_gibbs.state import Clusters, FloatVector, IntVector, Prior, Rows


class Signatures(NamedTuple):
    """Bits of rows and clusters, and what they are made of.

    signs : (n_features, n_bits) int8, the random directions.
    scale, centre : (n_features,) s_w, and the mean of theta_w before scaling; 1 and 0 in the raw form.
    centre_products : (n_bits,) products of the scaled centre with the directions; raw: sums of the signs.
    centre_square : squared norm of the scaled centre.
    products : (K, n_bits) int32, squares, sums : (K,) int64, of the clusters' parameters, in fixed point.
    bits : (K, n_bits / 64); norms : (K,). row_bits : (n_rows, n_bits / 64); row_norms : (n_rows,).
    cosines : (n_bits + 1,) by number of differing bits.
    """

    signs: NDArray[np.int8]
    scale: FloatVector
    centre: FloatVector
    centre_products: FloatVector
    centre_square: float
    products: NDArray[np.int32]
    squares: IntVector
    sums: IntVector
    bits: NDArray[np.uint64]
    norms: FloatVector
    row_bits: NDArray[np.uint64]
    row_norms: FloatVector
    cosines: FloatVector
    tempering: float
    is_raw: bool


class Frame(NamedTuple):
    """What the parameters of clusters are measured from: scale and centre of each feature, see `Signatures`."""

    scale: FloatVector
    centre: FloatVector


class HashForm(NamedTuple):
    """How proposals from signatures are made.

    n_bits : a multiple of 64, or less than 64.
    is_raw : neither centre nor scale. miss : probability with which the estimate may exceed the bound, or None for
    none (FASTEX, Theorem 3). tempering : factor of the log proposal.
    """

    n_bits: int
    is_raw: bool = False
    miss: float | None = None
    tempering: float = 1.0


def signatures_of(
    rows: Rows,
    prior: Prior,
    clusters: Clusters,
    form: HashForm,
    rng: np.random.Generator,
    frame: Frame | None = None,
) -> Signatures:
    """Signatures of all rows and clusters; the centre and the scales are given, or those of the present clusters.

    O(nnz x n_bits + cells x n_bits); memory O((n_features + K) n_bits + n_rows n_bits / 8) bytes.
    """
    n_words = -(-form.n_bits // 64)
    shape = (prior.n_features, 64 * n_words)
    signs = (2 * rng.integers(0, 2, shape, dtype=np.int8) - 1).astype(np.int8)
    signs[:, form.n_bits :] = 0  # bits of a short signature that are always equal
    scale, centre = frame_of(rows, prior, clusters, is_raw=form.is_raw) if frame is None else frame
    n_clusters, n_rows = clusters.sizes.size, rows.lengths.size
    made = Signatures(
        signs,
        scale,
        centre,
        signs.sum(axis=0, dtype=np.float64) if form.is_raw else (centre / scale) @ signs,
        float(np.sum((centre / scale) ** 2)),
        np.zeros((n_clusters, 64 * n_words), np.int32),
        np.zeros(n_clusters, np.int64),
        np.zeros(n_clusters, np.int64),
        np.zeros((n_clusters, n_words), np.uint64),
        np.zeros(n_clusters),
        np.zeros((n_rows, n_words), np.uint64),
        np.zeros(n_rows),
        cosines_of(form, n_clusters),
        form.tempering,
        form.is_raw,
    )
    hash_kernels.project_rows(rows, made, 0, n_rows)
    hash_kernels.project_clusters(prior, clusters, made)
    return made


def cosines_of(form: HashForm, n_clusters: int) -> FloatVector:
    """Cosine of the angle that a number of differing bits means, with the bound where it is asked for."""
    share = np.arange(form.n_bits + 1) / form.n_bits
    if form.miss is not None:
        share = np.maximum(share - math.sqrt(math.log(n_clusters / form.miss) / (2.0 * form.n_bits)), 0.0)
    return np.asarray(np.cos(np.pi * share))


def frame_of(rows: Rows, prior: Prior, clusters: Clusters, *, is_raw: bool) -> Frame:
    """Where the parameters of the present clusters lie, and the scale that makes the product of the norms least."""
    if is_raw:
        return Frame(np.ones(prior.n_features), np.zeros(prior.n_features))
    first, second = np.empty(prior.n_features), np.empty(prior.n_features)
    hash_kernels.moments_of_features(prior, clusters, first, second)
    n_live = max(1, clusters.sizes.size - int(clusters.n_empty[0]))
    centre = first / n_live
    spread = np.maximum(second / n_live - centre**2, 0.0)
    squares = np.bincount(rows.columns, rows.counts.astype(np.float64) ** 2, minlength=prior.n_features)
    of_rows = squares / rows.lengths.size
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = (spread / of_rows) ** 0.25
    usual = np.median(scale[np.isfinite(scale) & (scale > 0.0)]) if np.any(spread > 0.0) else 1.0
    return Frame(np.where(np.isfinite(scale) & (scale > 0.0), scale, usual), centre)
