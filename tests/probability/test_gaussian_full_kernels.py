"""Compiled statistics and predictives of Gaussians of full covariance equal their dense twin, also after many moves."""

import gaussian_cases as dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.probability import gaussian_full_kernels as kernels
from sparsemix.probability.gaussian_full import GaussianFull, normal_wishart_prior, weak_prior

modes = pytest.mark.parametrize("mode", MODES)
seeds = st.integers(0, 10_000)


def predictions(mode, state, prior, rows):
    found = np.full((len(rows), state.sizes.size), np.nan)
    for row, out in zip(rows, found, strict=True):
        as_mode(kernels.log_predictive, mode)(state, prior, row, out)
    return found


def expected(prior, rows, labels, n_clusters, asked):
    of_clusters = [rows[labels == k] for k in range(n_clusters)]
    return [[dense.full_log_predictive(prior, own, row) for own in of_clusters] for row in asked]


def added(mode, prior, rows, labels, n_clusters, shift):
    state = GaussianFull(prior).init(n_clusters, shift)
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
    for name in ("sizes", "sums", "products", "means", "constants"):
        assert_allclose(getattr(state, name), before[state._fields.index(name)], rtol=1e-11, err_msg=name)
    assert_allclose(np.tril(state.factors), np.tril(before[state._fields.index("factors")]), rtol=1e-7)


@modes
def test_an_emptied_cluster_has_the_prior_to_the_last_bit(mode):
    """Rows of so many orders of magnitude that no two numbers hold their sums, or those of their products, exactly."""
    rng = np.random.default_rng(0)
    rows = 10.0 ** (rng.uniform(-20.0, 20.0, (30, 8)) / np.repeat([1.0, 2.0], 4))
    prior = weak_prior(rng.normal(size=(30, 8)))
    state, new = (GaussianFull(prior).init(2, np.zeros(8)) for _ in range(2))
    for row in rows:
        as_mode(kernels.add_row, mode)(state, prior, row, 1)
    for row in rng.permutation(rows):
        as_mode(kernels.remove_row, mode)(state, prior, row, 1)
    for part, fresh in zip(state, new, strict=True):
        assert_array_equal(part, fresh)


def moved(mode, outlier):
    """A hundred thousand moves of rows, among them one far away, which visits each cluster; and the clusters afresh."""
    rng = np.random.default_rng(0)
    rows, labels = dense.draw_clusters(rng, n_rows=200)
    rows[7] += outlier
    prior = weak_prior(rows[:7])
    family, shift = GaussianFull(prior), rows[:7].mean(axis=0)
    state = added(mode, prior, rows, labels, 3, shift)
    n_moves = dense.n_moves(kernels, mode)
    moves = np.column_stack([rng.integers(200, size=n_moves), rng.integers(3, size=n_moves)])
    labels = dense.move_rows(kernels, mode, state, prior, rows, labels, moves)
    fresh = family.init(3, shift)
    for row, label in zip(rows, labels, strict=True):
        kernels.add_row(fresh, prior, row, label)
    for k in range(3):
        kernels.refresh(fresh, prior, k)
    assert_array_equal(state.sizes, np.bincount(labels, minlength=3))
    return prior, rows, labels, state, fresh


@modes
@pytest.mark.parametrize("outlier", [0.0, 100.0])
def test_predictions_do_not_drift(mode, outlier):
    prior, rows, labels, state, fresh = moved(mode, outlier)
    found = predictions(mode, state, prior, rows[:10])
    assert_allclose(found, predictions(mode, fresh, prior, rows[:10]), rtol=0.0, atol=1e-10)
    assert_allclose(found, expected(prior, rows, labels, 3, rows[:10]), rtol=1e-9, atol=1e-9)


@modes
def test_a_visitor_from_very_far_leaves_no_trace(mode):
    """Where it is, the covariance is nearly singular, and digits are gone as they would be afresh; nowhere else."""
    prior, rows, labels, state, fresh = moved(mode, 1e6)
    found, again = (predictions(mode, each, prior, rows[:6]) for each in (state, fresh))
    others = np.arange(3) != labels[7]
    assert_allclose(found[:, others], again[:, others], rtol=0.0, atol=1e-10)
    assert_allclose(found, again, rtol=1e-6)
    direct = np.array(expected(prior, rows, labels, 3, rows[:6]))
    assert_allclose(found[:, others], direct[:, others], rtol=0.0, atol=1e-9)


@modes
def test_factors_are_computed_anew_on_a_schedule(mode):
    rows = np.random.default_rng(0).normal(size=(300, 2))
    prior = weak_prior(rows)
    state = GaussianFull(prior).init(1, np.zeros(2))
    changes = []
    for row in rows:
        as_mode(kernels.add_row, mode)(state, prior, row, 0)
        changes.append(state.changes[0])
    for row in rows[:200]:
        as_mode(kernels.remove_row, mode)(state, prior, row, 0)
        changes.append(state.changes[0])
    assert max(changes) == kernels.FACTORISE_AFTER
    assert changes.count(0) == 500 // (kernels.FACTORISE_AFTER + 1)


@modes
def test_a_row_that_takes_most_of_the_scatter_along_makes_the_factor_new(mode):
    rows, far = np.random.default_rng(0).normal(size=(20, 2)), np.array([1e4, 0.0])
    prior = weak_prior(rows)
    state = added(mode, prior, [*rows, far], [0] * 21, 1, np.zeros(2))
    as_mode(kernels.remove_row, mode)(state, prior, rows[0], 0)
    assert state.changes[0] == 22
    as_mode(kernels.remove_row, mode)(state, prior, far, 0)
    assert state.changes[0] == 0
    found = predictions(mode, state, prior, rows)[:, 0]
    direct = [dense.full_log_predictive(prior, rows[1:], row) for row in rows]
    assert_allclose(found, direct, rtol=1e-9)


@modes
def test_a_scatter_that_rounding_has_made_indefinite_stays_above_the_prior(mode):
    """Two equal features, far apart and with hardly any prior: the plain matrix has no Cholesky factor."""
    prior = normal_wishart_prior(np.zeros(2), 1e-6, 4.0, 1e-12 * np.eye(2))
    state = GaussianFull(prior).init(1, np.zeros(2))
    rows = 1e5 * np.random.default_rng(0).normal(size=(30, 1)) * np.ones(2)
    for row in rows:
        as_mode(kernels.add_row, mode)(state, prior, row, 0)
    for row in rows[::-1]:
        assert np.isfinite(predictions(mode, state, prior, rows[:3])).all()
        as_mode(kernels.remove_row, mode)(state, prior, row, 0)


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
