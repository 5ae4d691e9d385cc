"""Compiled proposals from signatures without what follows them, to see what they cost alone."""

import numpy as np

from sparsemix.models.hashed_gibbs.draw_kernels import draw
from sparsemix.models.hashed_gibbs.exact_kernels import FLOOR
from sparsemix.models.hashed_gibbs.hash_kernels import own_without, score_by_bits
from sparsemix.numeric.jit import kernel


@kernel
def propose_only(
    rows,
    prior,
    clusters,
    signatures,
    assigned,  # IN  (n_rows,) int64
    uniforms,  # IN  (n_rows,) float64
):
    """Draw a proposal for each row, and do nothing with it but add them up, so that none is left out."""
    n_clusters, n_words = signatures.bits.shape
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    scores, constant = np.empty(n_clusters), np.empty(4)
    products, bits = np.empty(64 * n_words, np.int32), np.empty(n_words, np.uint64)
    total = 0
    for row in range(assigned.shape[0]):
        own = assigned[row]
        norm = own_without(rows, row, prior, clusters, signatures, own, products, bits, constant)
        score_by_bits(rows, row, prior, clusters, signatures, own, norm, bits, constant, scores)
        total += draw(scores, FLOOR, uniforms[row], weights, sums)
    return total
