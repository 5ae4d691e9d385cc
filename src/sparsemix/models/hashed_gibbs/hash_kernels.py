"""Compiled sweep with proposals from binary signatures (FASTEX, section 3): of a cluster only the bits are looked at.

A random direction gives one bit: the sign of a vector's product with it. The share z of differing bits of row and
cluster estimates their angle, pi z, and that their inner product:

    q(k) ~ exp(t (|theta_k| |x| cos(pi z_k) + score of the row's length) + log weight)

The products of a cluster with all directions are whole numbers, so that adding a row and taking it out again leaves no
trace. Cost of a row: O(K n_bits / 64 + its features x n_bits).
"""

import math

import numpy as np

from sparsemix.models.hashed_gibbs.cell_kernels import count_of
from sparsemix.models.hashed_gibbs.draw_kernels import draw
from sparsemix.models.hashed_gibbs.exact_kernels import FLOOR
from sparsemix.models.hashed_gibbs.kernels import add_row, constants, log_gain, log_plus, n_differing
from sparsemix.models.hashed_gibbs.length_kernels import score_lengths, score_of_length, weigh_empty
from sparsemix.models.hashed_gibbs.state import BERNOULLI, ENTER, LEAVE, NONE, PROCESS
from sparsemix.numeric.jit import inner_kernel, kernel

UNIT = 1024.0  # fixed point of products with directions
SQUARE_UNIT = 65536.0  # fixed point of squared norms
MOMENT_UNIT = 1048576.0  # fixed point of sums over clusters


@kernel
def sweep_hash(
    rows,
    prior,
    clusters,  # IN, OUT
    signatures,  # IN, OUT
    order,  # IN  (n,) int64, rows to visit
    assigned,  # IN, OUT  (n_rows,) int64
    uniforms,  # IN  (n, 2) float64: the draw, the acceptance
    tally_out,  # OUT  (3,) int64: proposals of another cluster, accepted ones, rows
):
    """One proposal for each row."""
    n_clusters, n_words = signatures.bits.shape
    weights, sums = np.empty(n_clusters, np.float32), np.empty(n_clusters)
    scores, constant = np.empty(n_clusters), np.empty(4)
    products, bits = np.empty(64 * n_words, np.int32), np.empty(n_words, np.uint64)
    for i in range(order.shape[0]):
        row = order[i]
        own = assigned[row]
        norm = own_without(rows, row, prior, clusters, signatures, own, products, bits, constant)
        score_by_bits(rows, row, prior, clusters, signatures, own, norm, bits, constant, scores)
        new = draw(scores, FLOOR, uniforms[i, 0], weights, sums)
        tally_out[2] += 1
        if new == own:
            continue
        tally_out[0] += 1
        log_ratio = math.log(weights[own] / weights[new])
        log_ratio += log_gain(rows, row, prior, clusters, own, new)
        if math.log(1.0 - uniforms[i, 1]) < log_ratio:
            tally_out[1] += 1
            move_signature(rows, row, prior, clusters, signatures, own, LEAVE)
            move_signature(rows, row, prior, clusters, signatures, new, ENTER)
            add_row(rows, row, prior, clusters, own, LEAVE)
            add_row(rows, row, prior, clusters, new, ENTER)
            renew_signature(prior, clusters, signatures, own)
            renew_signature(prior, clusters, signatures, new)
            assigned[row] = new


@inner_kernel
def score_by_bits(
    rows,
    row,
    prior,
    clusters,
    signatures,
    own,
    norm,  # IN  float64, of the own cluster without the row
    bits,  # IN  (n_words,) uint64, of the own cluster without the row
    constant,  # IN  (4,) float64, of the own cluster without the row
    scores_out,  # OUT  (K,) float64
):
    """Approximate scores of a row in all clusters, without the row."""
    length, row_norm, of_row = rows.lengths[row], signatures.row_norms[row], signatures.row_bits[row]
    all_bits, norms, cosines = signatures.bits, signatures.norms, signatures.cosines
    for k in range(norms.shape[0]):
        scores_out[k] = norms[k] * row_norm * cosines[n_differing(all_bits[k], of_row)]
    of_own = norm * row_norm * cosines[n_differing(bits, of_row)]
    if signatures.is_raw:
        for k in range(norms.shape[0]):
            scores_out[k] += clusters.constant[k, 0]
        scores_out[own] = of_own + constant[0]
    else:
        score_lengths(prior, clusters, length, scores_out, scores_out)
        size, total = clusters.sizes[own] - 1, clusters.totals[own] - length
        scores_out[own] = of_own + score_of_length(prior, constant, size, total, length)
    if prior.process == PROCESS:
        weigh_empty(prior, clusters.sizes, clusters.empty, clusters.n_empty[0], own, scores_out)
    if signatures.tempering != 1.0:
        for k in range(norms.shape[0]):
            scores_out[k] *= signatures.tempering


@inner_kernel
def own_without(
    rows,
    row,
    prior,
    clusters,
    signatures,
    own,
    products_out,  # OUT  (n_bits,) int32
    bits_out,  # OUT  (n_words,) uint64
    constant_out,  # OUT  (4,) float64
):
    """Signature of the row's cluster without the row; returns its norm."""
    for i in range(products_out.shape[0]):
        products_out[i] = signatures.products[own, i]
    square, plain = signatures.squares[own], signatures.sums[own]
    size, total = clusters.sizes[own] - 1, clusters.totals[own] - rows.lengths[row]
    off = clusters.off[own, 1]
    columns, counts, mask, start = rows.columns, rows.counts, clusters.mask, clusters.start
    slots, cell_counts, signs = clusters.slots, clusters.cell_counts, signatures.signs
    logs, scale, centre = prior.log_a, signatures.scale, signatures.centre
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = columns[at], np.int64(counts[at])
        count = count_of(mask[w], start[w], slots, cell_counts, own)
        change, square_change = _changes(logs, prior.a, scale[w], centre[w], count, -added)
        square += square_change
        plain += change
        add_direction(signs[w], change, products_out)
        if prior.family == BERNOULLI:
            off += log_plus(prior.log_b, prior.b, size - count + 1)
            if count <= size:
                off -= log_plus(prior.log_b, prior.b, size - count)
    constants(prior, size, total, off, constant_out)
    level = prior.log_a[0] + constant_out[1]
    set_bits(signatures, products_out, level, bits_out)
    return norm_of(prior, signatures, square, plain, level)


@inner_kernel
def _changes(logs, a, scale, centre, count, added):
    """Change of a cluster's coordinate and squared norm when a feature's count changes, as whole numbers."""
    before = log_plus(logs, a, count) - logs[0]
    after = log_plus(logs, a, count + added) - logs[0]
    change = np.rint(UNIT * after / scale) - np.rint(UNIT * before / scale)
    square = np.rint(SQUARE_UNIT * after * (after - 2.0 * centre) / scale**2)
    square -= np.rint(SQUARE_UNIT * before * (before - 2.0 * centre) / scale**2)
    return np.int32(change), np.int64(square)


@inner_kernel
def add_direction(signs, change, products_out):
    """Add a multiple of a feature's random direction."""
    for i in range(products_out.shape[0]):
        products_out[i] += change * signs[i]


@inner_kernel
def move_signature(rows, row, prior, clusters, signatures, cluster, sign):
    """Change the products of a cluster as `add_row` is about to change its counts."""
    columns, counts, mask, start = rows.columns, rows.counts, clusters.mask, clusters.start
    slots, cell_counts, signs = clusters.slots, clusters.cell_counts, signatures.signs
    logs, scale, centre = prior.log_a, signatures.scale, signatures.centre
    products = signatures.products[cluster]
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = columns[at], np.int64(counts[at])
        count = count_of(mask[w], start[w], slots, cell_counts, cluster)
        change, square_change = _changes(logs, prior.a, scale[w], centre[w], count, sign * added)
        signatures.squares[cluster] += square_change
        signatures.sums[cluster] += change
        add_direction(signs[w], change, products)


@inner_kernel
def renew_signature(prior, clusters, signatures, cluster):
    """Bits and norm of a cluster, from its products."""
    level = prior.log_a[0] + clusters.constant[cluster, 1]
    set_bits(signatures, signatures.products[cluster], level, signatures.bits[cluster])
    square, plain = signatures.squares[cluster], signatures.sums[cluster]
    signatures.norms[cluster] = norm_of(prior, signatures, square, plain, level)


@inner_kernel
def set_bits(signatures, products, level, bits_out):
    """Signs of the products about the centre, or for raw parameters about nothing."""
    about = signatures.centre_products
    factor = -level if signatures.is_raw else 1.0
    for j in range(bits_out.shape[0]):
        word = np.uint64(0)
        for i in range(64):
            at = 64 * j + i
            is_set = products[at] / UNIT - factor * about[at] >= 0.0
            word |= np.uint64(is_set) << np.uint64(i)
        bits_out[j] = word


@inner_kernel
def norm_of(prior, signatures, square, plain, level):
    """Norm of a cluster's parameters, of which `level` is the value of a feature that it does not hold."""
    total = square / SQUARE_UNIT
    if signatures.is_raw:
        total += level * (2.0 * plain / UNIT + level * prior.n_features)
    else:
        total += signatures.centre_square
    return math.sqrt(max(total, 0.0))


@kernel
def project_rows(
    rows,
    signatures,  # OUT  row_bits, row_norms
    first,  # IN  int64
    last,  # IN  int64
):
    """Signatures of rows; O(nnz x n_bits)."""
    n_bits = signatures.signs.shape[1]
    products = np.empty(n_bits)
    for row in range(first, last):
        products[:] = 0.0
        square = 0.0
        for at in range(rows.indptr[row], rows.indptr[row + 1]):
            w = rows.columns[at]
            value = rows.counts[at] * signatures.scale[w]
            square += value * value
            for i in range(n_bits):
                products[i] += value * signatures.signs[w, i]
        signatures.row_norms[row] = math.sqrt(square)
        for j in range(signatures.row_bits.shape[1]):
            word = np.uint64(0)
            for i in range(64):
                if products[64 * j + i] >= 0.0:
                    word |= np.uint64(1) << np.uint64(i)
            signatures.row_bits[row, j] = word


@kernel
def moments_of_features(
    prior,
    clusters,
    first_out,  # OUT  (n_features,) float64
    second_out,  # OUT  (n_features,) float64
):
    """Sums over clusters of a feature's gain and of its square; O(cells).

    In fixed point, so that the order of the clusters changes nothing.
    """
    n_clusters = clusters.sizes.shape[0]
    for w in range(first_out.shape[0]):
        n_cells = n_clusters if clusters.mask[w] < 0 else clusters.n_listed[w]
        first, second = np.int64(0), np.int64(0)
        for cell in range(clusters.start[w], clusters.start[w] + n_cells):
            count = np.int64(clusters.cell_counts[cell])
            if count > 0:
                gain = log_plus(prior.log_a, prior.a, count) - prior.log_a[0]
                first += np.int64(np.rint(MOMENT_UNIT * gain))
                second += np.int64(np.rint(MOMENT_UNIT * gain * gain))
        first_out[w], second_out[w] = first / MOMENT_UNIT, second / MOMENT_UNIT


@kernel
def project_clusters(
    prior,
    clusters,
    signatures,  # OUT  products, squares, sums, bits, norms
):
    """Signatures of all clusters, anew; O(cells x n_bits)."""
    n_clusters = clusters.sizes.shape[0]
    signatures.products[:] = 0
    signatures.squares[:] = 0
    signatures.sums[:] = 0
    for w in range(prior.n_features):
        n_cells = n_clusters if clusters.mask[w] < 0 else clusters.n_listed[w]
        for j in range(n_cells):
            k = j if clusters.mask[w] < 0 else np.int64(clusters.keys[clusters.start[w] + j])
            count = np.int64(clusters.cell_counts[clusters.start[w] + j])
            if k >= 0 and count > 0:
                change, square = _changes(
                    prior.log_a, prior.a, signatures.scale[w], signatures.centre[w], NONE, count
                )
                signatures.squares[k] += square
                signatures.sums[k] += change
                add_direction(signatures.signs[w], change, signatures.products[k])
    for k in range(n_clusters):
        renew_signature(prior, clusters, signatures, k)
