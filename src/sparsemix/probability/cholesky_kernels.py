"""Compiled Cholesky factors that follow a matrix as single rows are added to and taken from it.

Factors are lower triangles; what stands above the diagonal is never read.
"""

import math

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.jit import borrowing_kernel

FloatArray = NDArray[np.float64]


@borrowing_kernel
def factorise(
    matrix: FloatArray,  # IN/OUT (d, d): its lower triangle becomes the factor
    least: FloatArray,  # IN  (d, d): factor of a matrix that this one exceeds
) -> None:
    """Cholesky factor in place. O(d**3 / 3).

    A sum of `least`'s matrix and a positive semidefinite one has no pivot below those of the former; rounding that says
    otherwise is put right, so that the factor always exists.
    """
    for j in range(matrix.shape[0]):
        pivot = matrix[j, j]
        for i in range(j):
            pivot -= matrix[j, i] * matrix[j, i]
        root = max(math.sqrt(max(pivot, 0.0)), least[j, j])
        matrix[j, j] = root
        for k in range(j + 1, matrix.shape[0]):
            total = matrix[k, j]
            for i in range(j):
                total -= matrix[k, i] * matrix[j, i]
            matrix[k, j] = total / root


@borrowing_kernel
def update(
    factor: FloatArray,  # IN/OUT (d, d)
    vector: FloatArray,  # IN, used up  (d,)
) -> None:
    """Factor of ``L L^T + v v^T``. O(d**2)."""
    for j in range(vector.shape[0]):
        old, mine = factor[j, j], vector[j]
        new = math.hypot(old, mine)
        factor[j, j] = new
        for i in range(j + 1, vector.shape[0]):
            factor[i, j] = (old * factor[i, j] + mine * vector[i]) / new
            vector[i] = (new * vector[i] - mine * factor[i, j]) / old


@borrowing_kernel
def downdate(
    factor: FloatArray,  # IN/OUT (d, d)
    vector: FloatArray,  # IN, used up  (d,)
    least_kept: float,
) -> bool:
    """Factor of ``L L^T - v v^T``; false, with a broken factor, if less than this share of the determinant is left.

    Errors grow by one over that share. O(d**2).
    """
    kept = 1.0
    for j in range(vector.shape[0]):
        old, mine = factor[j, j], vector[j]
        square = (old - mine) * (old + mine)
        kept *= square / (old * old)
        if not kept > least_kept:
            return False
        new = math.sqrt(square)
        factor[j, j] = new
        for i in range(j + 1, vector.shape[0]):
            factor[i, j] = (old * factor[i, j] - mine * vector[i]) / new
            vector[i] = (new * vector[i] - mine * factor[i, j]) / old
    return True


@borrowing_kernel
def squared_distance(
    factor: FloatArray,  # IN  (d, d)
    vector: FloatArray,  # IN, used up  (d,): becomes the solution of L z = v
) -> float:
    """``v^T (L L^T)^-1 v``. O(d**2 / 2)."""
    total = 0.0
    for j in range(vector.shape[0]):
        rest = vector[j]
        for i in range(j):
            rest -= factor[j, i] * vector[i]
        vector[j] = rest / factor[j, j]
        total += vector[j] * vector[j]
    return total
