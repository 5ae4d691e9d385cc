"""Compiled draws from log weights.

Exponentials of all log weights are taken side by side, in single precision: ``2**n`` is written into the exponent of a
number, and what is left, at most half of log 2, goes through a series. They are what is drawn from, to the last bit.
"""

import math

import numpy as np

from sparsemix.numeric.jit import inner_inlined_kernel, inner_kernel

_ONE, _LOG_2, _PER_LOG_2 = np.float32(1.0), np.float32(0.6931471805599453), np.float32(1.4426950408889634)
_TO_WHOLE = np.float32(
    12582912.0
)  # 1.5 * 2**23: what is added to it loses its fraction, and stands in the last bits
_BLOCK = 16  # weights that are added up before a draw looks for its place among them
_EXPONENT = np.int32(23)  # first bit of a number's exponent


@inner_kernel
def draw(
    log_weights,  # IN  (n,) float64 or float32
    floor,  # IN  float64, above -80
    uniform,  # IN  float64
    weights_out,  # OUT  (n,) float32, what the draw is proportional to
    work,  # work  (n,) float64
):
    """Draw from log weights, with none less than `floor` below the highest."""
    weigh(log_weights, floor, weights_out, work)
    n, total = weights_out.shape[0], 0.0
    n_blocks = n // _BLOCK
    for block in range(n_blocks):
        a = b = c = d = 0.0
        for k in range(block * _BLOCK, (block + 1) * _BLOCK, 4):
            a, b = a + weights_out[k], b + weights_out[k + 1]
            c, d = c + weights_out[k + 2], d + weights_out[k + 3]
        work[block] = a + b + (c + d)
        total += work[block]
    for k in range(n_blocks * _BLOCK, n):
        total += weights_out[k]
    left, block = uniform * total, 0
    while block < n_blocks and left >= work[block]:
        left -= work[block]
        block += 1
    k, last = block * _BLOCK, min((block + 1) * _BLOCK, n) - 1
    while k < last and left >= weights_out[k]:
        left -= weights_out[k]
        k += 1
    return min(k, n - 1)


@inner_inlined_kernel
def weigh(log_weights, floor, weights_out, work):
    """Exponentials of log weights less the highest, or of `floor`, to 4e-6."""
    top, least, whole = highest(log_weights), np.float32(floor), work.view(np.float32)
    for k in range(log_weights.shape[0]):
        halvings = max(np.float32(log_weights[k] - top), least) * _PER_LOG_2
        whole[k] = halvings + _TO_WHOLE
        r = (halvings - (whole[k] - _TO_WHOLE)) * _LOG_2
        series = np.float32(1 / 24) + r * (np.float32(1 / 120) + r * np.float32(1 / 720))
        series = np.float32(1 / 2) + r * (np.float32(1 / 6) + r * series)
        weights_out[k] = _ONE + r * (_ONE + r * series)
    bits, exponents = weights_out.view(np.int32), work.view(np.int32)
    for k in range(bits.shape[0]):
        bits[k] = np.int32(bits[k] + np.int32(exponents[k] << _EXPONENT))


@inner_kernel
def draw_softmax(
    scores,  # IN, used up  (n,) float64
    uniform,  # IN  float64
):
    """Draw from log weights: the first at which the sum of the shares is above `uniform`."""
    top, total = highest(scores), 0.0
    for k in range(scores.shape[0]):
        scores[k] = math.exp(scores[k] - top)
        total += scores[k]
    left, last = uniform * total, 0
    for k in range(scores.shape[0]):
        left -= scores[k]
        if left < 0.0:
            return k
        if scores[k] > 0.0:
            last = k
    return last


@inner_kernel
def highest(values):
    """The largest of the values; four running maxima, which the processor follows side by side."""
    n = values.shape[0]
    a = b = c = d = values[0]
    for k in range(0, n - 3, 4):
        a, b = max(a, values[k]), max(b, values[k + 1])
        c, d = max(c, values[k + 2]), max(d, values[k + 3])
    for k in range(n - n % 4, n):
        a = max(a, values[k])
    return max(a, b, c, d)
