"""Cholesky factors that follow a matrix, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode
from numpy.testing import assert_allclose

from sparsemix.probability.cholesky_kernels import downdate, factorise, squared_distance, update

modes = pytest.mark.parametrize("mode", MODES)
cases = given(seed=st.integers(0, 10_000), size=st.integers(1, 6))


def draw_matrix(rng, size):
    root = rng.normal(size=(size, size + 2)) * rng.uniform(0.1, 10.0, (size, 1))
    return root @ root.T


def lower_of(matrix, rng):
    """The lower triangle, with nonsense above it."""
    return np.tril(matrix) + np.triu(rng.normal(size=matrix.shape), 1)


@modes
@cases
def test_factorise(mode, seed, size):
    rng = np.random.default_rng(seed)
    matrix = draw_matrix(rng, size)
    found = lower_of(matrix, rng)
    as_mode(factorise, mode)(found, np.zeros_like(matrix))
    assert_allclose(np.tril(found) @ np.tril(found).T, matrix, rtol=1e-12, atol=1e-12 * matrix.max())
    assert np.all(np.diag(found) > 0.0)


@modes
@pytest.mark.parametrize("size", [1, 3])
def test_no_pivot_is_below_what_is_known_to_be_there(mode, size):
    """A matrix of rank one with rounding that makes it indefinite."""
    matrix, least = np.full((size, size), 1e6), 1e-6 * np.eye(size)
    matrix[-1, -1] -= 1e-3 if size > 1 else 2e6
    as_mode(factorise, mode)(matrix, least)
    assert np.isfinite(matrix).all()
    assert matrix[-1, -1] == 1e-6


@modes
@cases
def test_update(mode, seed, size):
    rng = np.random.default_rng(seed)
    matrix, vector = draw_matrix(rng, size), rng.normal(0.0, 5.0, size)
    factor = lower_of(np.linalg.cholesky(matrix), rng)
    as_mode(update, mode)(factor, vector.copy())
    expected = np.linalg.cholesky(matrix + np.outer(vector, vector))
    assert_allclose(np.tril(factor), expected, rtol=1e-9, atol=1e-9)


@modes
@cases
def test_downdate_undoes_an_update(mode, seed, size):
    rng = np.random.default_rng(seed)
    matrix, vector = draw_matrix(rng, size), rng.normal(0.0, 0.5, size)
    before = np.linalg.cholesky(matrix)
    factor = lower_of(np.linalg.cholesky(matrix + np.outer(vector, vector)), rng)
    kept = np.linalg.det(matrix) / np.linalg.det(matrix + np.outer(vector, vector))
    if as_mode(downdate, mode)(factor, vector.copy(), 1e-3):
        assert_allclose(np.tril(factor), before, rtol=1e-7, atol=1e-7)
    else:
        assert kept <= 1e-3 * (1 + 1e-6)


@modes
@pytest.mark.parametrize("excess", [0.0, 1e-9, 0.5])
def test_a_downdate_that_leaves_nothing_says_so(mode, excess):
    factor, vector = np.array([[2.0, 0.0], [1.0, 3.0]]), np.array([2.0, 1.0])
    assert not as_mode(downdate, mode)(factor, (1.0 + excess) * vector, 0.01)


@modes
@cases
def test_squared_distance(mode, seed, size):
    rng = np.random.default_rng(seed)
    matrix, vector = draw_matrix(rng, size), rng.normal(size=size)
    factor = lower_of(np.linalg.cholesky(matrix), rng)
    found = as_mode(squared_distance, mode)(factor, vector.copy())
    assert found == pytest.approx(vector @ np.linalg.solve(matrix, vector), rel=1e-7)
