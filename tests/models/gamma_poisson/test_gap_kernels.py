"""Every kernel equals its equation, compiled and plain."""

import numpy as np
import pytest
from gap_cases import MODES, as_mode, draw_counts, draw_factors, rows_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.models.gamma_poisson import equations, kernels
from sparsemix.numeric import shares

seeds = st.integers(0, 10_000)
modes = pytest.mark.parametrize("mode", MODES)


def case_of(seed, n_components):
    counts = draw_counts(seed, 6, 5, 2)
    return counts, rows_of(counts), draw_factors(np.random.default_rng(seed), 6, 5, n_components)


@modes
@given(seeds, st.sampled_from([1, 2, 4, 9, 17, 25, 33]))
def test_expected_counts(mode, seed, n_components):
    X, rows, (U, V) = case_of(seed, n_components)
    factors, ratios = (shares.roomy(len(V), n_components) for _ in range(2))
    factors[:, :n_components] = V
    ratios[:] = 1.0
    rates, user_counts = np.full(rows.values.size, np.nan), np.full_like(U, np.nan)
    as_mode(kernels.add_expected_counts, mode)(*rows, U, factors, rates, user_counts, ratios)
    H = equations.allocated(X, U, V)
    assert_allclose(rates, (U @ V.T)[X > 0], rtol=1e-12)
    assert_allclose(user_counts, H.sum(axis=1), rtol=1e-12, atol=1e-12)
    assert_allclose((ratios[:, :n_components] - 1.0) * V, H.sum(axis=0), rtol=1e-9, atol=1e-12)
    assert_array_equal(ratios[:, n_components:], 1.0)


@modes
@given(seeds, st.integers(1, 4))
def test_counts_of_some_users(mode, seed, n_components):
    X, rows, (U, V) = case_of(seed, n_components)
    is_active = np.random.default_rng(seed).integers(2, size=6).astype(bool)
    found = np.full_like(U, -1.0)
    as_mode(kernels.add_user_counts, mode)(*rows, is_active, U, V, found)
    expected = np.where(is_active[:, None], equations.allocated(X, U, V).sum(axis=1), -1.0)
    assert_allclose(found, expected, rtol=1e-12, atol=1e-12)


@modes
@pytest.mark.parametrize("width", [2, 8])
def test_counts_that_no_component_can_make_are_left_out(mode, width):
    rows, U = rows_of([[3, 2]]), np.array([[1.0, 0.0]])
    V, ratios, rates, user_counts = np.eye(2, width), np.zeros((2, width)), np.empty(2), np.empty((1, 2))
    as_mode(kernels.add_expected_counts, mode)(*rows, U, V, rates, user_counts, ratios)
    assert_array_equal(user_counts, [[3.0, 0.0]])
    assert_array_equal(rates, [1.0, kernels.LEAST_RATE])
    assert_array_equal((ratios * V)[:, :2], [[3.0, 0.0], [0.0, 0.0]])


@modes
@given(seeds, st.integers(1, 4), st.integers(0, 6))
def test_drawn_counts_add_up_and_large_ones_are_left(mode, seed, n_components, most):
    X, rows, (U, V) = case_of(seed, n_components)
    small = np.where(most >= X, X, 0)
    uniforms = np.random.default_rng(seed).random(small.sum())
    rates, user_counts, feature_counts = np.empty(rows.values.size), np.zeros_like(U), np.zeros_like(V)
    draw = as_mode(kernels.add_drawn_counts, mode)
    draw(*rows, U, V, most, uniforms, rates, user_counts, feature_counts)
    assert_array_equal(user_counts.sum(axis=1), small.sum(axis=1))
    assert_array_equal(feature_counts.sum(axis=1), small.sum(axis=0))
    assert_array_equal(user_counts.sum(axis=0), feature_counts.sum(axis=0))
    assert_allclose(rates, (U @ V.T)[X > 0], rtol=1e-12)


@modes
def test_shares_of_drawn_counts_are_the_probabilities(mode):
    """An even grid of uniforms gives each component its share to within one."""
    n = 1000
    rows, U, V = rows_of([[n]]), np.array([[1.0, 2.0, 0.0, 5.0]]), np.array([[0.4, 0.3, 0.5, 0.2]])
    user_counts, feature_counts = np.zeros((1, 4)), np.zeros((1, 4))
    grid = (np.arange(n) + 0.5) / n
    draw = as_mode(kernels.add_drawn_counts, mode)
    draw(*rows, U, V, n, grid, np.empty(1), user_counts, feature_counts)
    assert_allclose(user_counts[0], n * np.array([0.2, 0.3, 0.0, 0.5]), atol=1.0)
    assert user_counts[0, 2] == 0


@modes
@given(seeds)
def test_rates_of_pairs(mode, seed):
    rng = np.random.default_rng(seed)
    U, V = draw_factors(rng, 4, 5, 3)
    users, features = rng.integers(4, size=9), rng.integers(5, size=9)
    found = np.ones(9)
    as_mode(kernels.rates_of_pairs, mode)(users, features, U, V, found)
    assert_allclose(found, 1.0 + (U @ V.T)[users, features], rtol=1e-12)
