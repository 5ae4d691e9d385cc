"""Compiled products of what the tokens of a row's features say for all clusters, in single precision.

Beside a cluster without feature w, the token after j others of it is better explained by a cluster that holds n_w by

    (a + n_w + j) / (a + j)  =  1 + n_w / (a + j)

Such factors are multiplied, many clusters at a time and without a logarithm; before a product can outgrow its type its
exponent is taken out.
"""

import numpy as np

from sparsemix.models.hashed_gibbs.gain_kernels import count_in, has_tokens
from sparsemix.models.hashed_gibbs.kernels import gain
from sparsemix.numeric.jit import inner_inlined_kernel

ROOM = 80.0  # nats by which a product may grow before its exponent is taken out; single precision has 88
_ZERO, _ONE, _LOG_2 = np.float32(0.0), np.float32(1.0), np.float32(0.6931471805599453)
_EXPONENT, _FRACTION = (
    23,
    (1 << 23) - 1,
)  # of a number in single precision: where the one begins, and the other's bits
_OF_ONE = 127 << _EXPONENT


@inner_inlined_kernel
def add_features(
    rows,
    row,
    prior,
    clusters,
    own,  # IN  int64, -1 for none
    products,  # work  (K + 1,) float32
    held_out,  # OUT  (K + 1,) float32
):
    """What the features of a row say for each cluster, nats; the last is that of the own one, without the row."""
    columns, added_counts, mask, starts = rows.columns, rows.counts, clusters.mask, clusters.start
    n_listed, keys, counts, spans = clusters.n_listed, clusters.keys, clusters.cell_counts, clusters.spans
    sizes, n_clusters, room = clusters.sizes, clusters.sizes.shape[0], ROOM
    for k in range(n_clusters + 1):
        held_out[k], products[k] = _ZERO, _ONE
    for at in range(rows.indptr[row], rows.indptr[row + 1]):
        w, added = columns[at], np.int64(added_counts[at])
        first, is_list, span = np.uint64(starts[w]), mask[w] >= 0, np.float64(spans[w])
        n_cells = np.int64(n_listed[w]) if is_list else n_clusters
        of_own = count_in(is_list, keys, counts, first, n_cells, own) - added
        if not has_tokens(prior, added) or span > ROOM:
            _add_at_once(prior, sizes, is_list, keys, counts, first, n_cells, added, held_out)
            if of_own > 0:
                held_out[n_clusters] += gain(prior, sizes[own] - 1, of_own, added)
            continue
        for token in range(added):
            if room < span:
                _take_exponents(products, held_out)
                room = ROOM
            room -= span
            inverse = np.float32(1.0 / (prior.a + token))
            if is_list:
                for j in range(n_cells):
                    cell = first + np.uint64(j)
                    products[np.uint32(keys[cell])] *= _ONE + np.float32(counts[cell]) * inverse
            else:
                for k in range(n_clusters):
                    products[k] *= _ONE + np.float32(counts[first + np.uint64(k)]) * inverse
            products[n_clusters] *= _ONE + np.float32(of_own) * inverse
    _take_exponents(products, held_out)
    _add_logarithms(products, held_out)


@inner_inlined_kernel
def _add_at_once(prior, sizes, is_list, keys, counts, first, n_cells, added, held_out):
    """Where tokens are too many, or not what a family counts, or products grow too fast."""
    for j in range(n_cells):
        at = first + np.uint64(j)
        if counts[at] > 0:
            k = np.int64(keys[at]) if is_list else j
            held_out[k] += gain(prior, sizes[k], np.int64(counts[at]), added)


@inner_inlined_kernel
def _take_exponents(products, held_out):
    """Add the logarithms of powers of two to `held_out`, and leave the products between one and two."""
    bits = products.view(np.int32)
    for k in range(bits.shape[0]):
        exponent = np.int32((bits[k] >> _EXPONENT) - 127)
        held_out[k] += np.float32(exponent) * _LOG_2
        bits[k] = np.int32((bits[k] & _FRACTION) | _OF_ONE)


@inner_inlined_kernel
def _add_logarithms(products, held_out):
    """Add the logarithms of numbers between one and two: log m = 2 artanh((m - 1) / (m + 1)), to 2e-7."""
    for k in range(products.shape[0]):
        s = (products[k] - _ONE) / (products[k] + _ONE)
        q = s * s
        series = np.float32(1 / 9) + q * np.float32(1 / 11)
        series = np.float32(1 / 5) + q * (np.float32(1 / 7) + q * series)
        held_out[k] += (s + s) * (_ONE + q * (np.float32(1 / 3) + q * series))
