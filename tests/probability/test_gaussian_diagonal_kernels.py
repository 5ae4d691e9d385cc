"""Compiled statistics and predictives of independent Gaussians equal their dense twin, also after many moves."""

import gaussian_cases as dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.probability import gaussian_diagonal_kernels as kernels
from sparsemix.probability.gaussian_diagonal import GaussianDiagonal, weak_prior

modes = pytest.mark.parametrize("mode", MODES)
seeds = st.integers(0, 10_000)


def predictions(mode, state, prior, rows):
    found = np.full((len(rows), state.sizes.size), np.nan)
    for row, out in zip(rows, found, strict=True):
        as_mode(kernels.log_predictive, mode)(state, prior, row, out)
    return found


def expected(prior, rows, labels, n_clusters, asked):
    of_clusters = [rows[labels == k] for k in range(n_clusters)]
    return [[dense.diagonal_log_predictive(prior, own, row) for own in of_clusters] for row in asked]


def added(mode, prior, rows, labels, n_clusters, shift):
    state = GaussianDiagonal(prior).init(n_clusters, shift)
    for row, label in zip(rows, labels, strict=True):
        as_mode(kernels.add_row, mode)(state, prior, row, label)
    return state


@modes
@given(seed=seeds, n_features=st.integers(1, 4), n_rows=st.integers(1, 30), share=st.floats(1e-3, 10.0))
def test_predictive_equals_the_twin(mode, seed, n_features, n_rows, share):
    rows, labels = dense.draw_clusters(np.random.default_rng(seed), n_rows, n_features)
    prior = weak_prior(rows, share)
    state = added(mode, prior, rows, labels, 4, rows[0])
    found = predictions(mode, state, prior, rows[:5])
    assert_allclose(found, expected(prior, rows, labels, 4, rows[:5]), rtol=1e-9, atol=1e-9)


@modes
@given(seed=seeds)
def test_a_row_that_comes_and_goes_changes_nothing(mode, seed):
    rng = np.random.default_rng(seed)
    rows, labels = dense.draw_clusters(rng)
    prior, far = weak_prior(rows), rng.normal(0.0, 1e6, 3)
    state = added(mode, prior, rows, labels, 3, rows.mean(axis=0))
    before = [np.array(part) for part in state]
    as_mode(kernels.add_row, mode)(state, prior, far, 1)
    assert not np.array_equal(state.means, before[state._fields.index("means")])
    as_mode(kernels.remove_row, mode)(state, prior, far, 1)
    for name, part, old in zip(state._fields, state, before, strict=True):
        if not name.endswith("_low"):
            assert_allclose(part, old, rtol=1e-13, err_msg=name)


@modes
def test_an_emptied_cluster_has_the_prior_to_the_last_bit(mode):
    """Rows of so many orders of magnitude that no two numbers hold their sums, or those of their products, exactly."""
    rng = np.random.default_rng(0)
    rows = 10.0 ** (rng.uniform(-20.0, 20.0, (30, 8)) / np.repeat([1.0, 2.0], 4))
    prior = weak_prior(rng.normal(size=(30, 8)))
    state, new = (GaussianDiagonal(prior).init(2, np.zeros(8)) for _ in range(2))
    for row in rows:
        as_mode(kernels.add_row, mode)(state, prior, row, 1)
    for row in rng.permutation(rows):
        as_mode(kernels.remove_row, mode)(state, prior, row, 1)
    for part, fresh in zip(state, new, strict=True):
        assert_array_equal(part, fresh)


@modes
@pytest.mark.parametrize("outlier", [0.0, 1e6])
def test_predictions_do_not_drift(mode, outlier):
    """A hundred thousand moves of rows, among them one far away, which visits each cluster."""
    rng = np.random.default_rng(0)
    rows, labels = dense.draw_clusters(rng, n_rows=200)
    rows[7] += outlier
    prior = weak_prior(rows[:7])
    state = added(mode, prior, rows, labels, 3, rows[:7].mean(axis=0))
    n_moves = dense.n_moves(kernels, mode)
    moves = np.column_stack([rng.integers(200, size=n_moves), rng.integers(3, size=n_moves)])
    labels = dense.move_rows(kernels, mode, state, prior, rows, labels, moves)
    found = predictions(mode, state, prior, rows[:10])
    fresh = added(mode, prior, rows, labels, 3, rows[:7].mean(axis=0))
    assert_array_equal(state.sizes, np.bincount(labels, minlength=3))
    assert_allclose(found, predictions(mode, fresh, prior, rows[:10]), rtol=0.0, atol=1e-11)
    assert_allclose(found, expected(prior, rows, labels, 3, rows[:10]), rtol=1e-9, atol=1e-9)


@modes
def test_other_clusters_are_not_touched(mode):
    rows, labels = dense.draw_clusters(np.random.default_rng(0))
    prior = weak_prior(rows)
    state = added(mode, prior, rows, labels, 3, rows[0])
    before = [np.array(part) for part in state[1:]]
    as_mode(kernels.add_row, mode)(state, prior, rows[1], 2)
    for part, old in zip(state[1:], before, strict=True):
        assert_array_equal(part[:2], old[:2])
        assert not np.array_equal(part[2], old[2])


@modes
def test_rounding_never_takes_a_rate_below_the_prior(mode):
    """Equal rows far from where sums are taken: their scatter is nothing but rounding, of either sign."""
    prior = weak_prior(np.zeros((1, 1)))._replace(strength=1e-12, rate=np.array([1e-9]))
    below = 0
    for row in 1e6 * np.random.default_rng(0).random((50, 1)):
        state = added(mode, prior, [row] * 3, [0] * 3, 1, np.zeros(1))
        below += state.squares[0, 0] < state.sums[0, 0] ** 2 / 3
        assert state.rates[0, 0] >= 1e-9
    assert below > 0
