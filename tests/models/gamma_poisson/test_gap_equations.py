"""The equations against closed forms, brute force and each other."""

import itertools

import numpy as np
import pytest
from gap_cases import draw_counts, draw_factors
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy import stats

from sparsemix.models.gamma_poisson import equations

seeds = st.integers(0, 10_000)


def case_of(seed, n_components=3):
    counts = draw_counts(seed, 7, 6, 3)
    return counts, *draw_factors(np.random.default_rng(seed + 1), 7, 6, n_components)


def test_log_likelihood_is_that_of_poisson_counts():
    X, U, V = case_of(0)
    assert_allclose(equations.log_likelihood(X, U, V), stats.poisson.logpmf(X, U @ V.T).sum())


@given(seeds)
def test_likelihood_and_divergence_differ_by_what_the_factors_do_not_touch(seed):
    X, U, V = case_of(seed)
    _, A, B = case_of(seed + 1)
    gain = equations.log_likelihood(X, A, B) - equations.log_likelihood(X, U, V)
    assert_allclose(gain, equations.divergence(X, U, V) - equations.divergence(X, A, B), rtol=1e-9)


@given(seeds)
def test_updates_in_turn_never_raise_the_divergence(seed):
    X, U, V = case_of(seed)
    before = equations.divergence(X, U, V)
    U = equations.multiplicative_users(X, U, V)
    middle = equations.divergence(X, U, V)
    V = equations.multiplicative_features(X[:, :-1], U, V[:-1])  # the empty column would get zeros
    assert middle <= before + 1e-9
    assert equations.divergence(X[:, :-1], U, V) <= middle + 1e-9


@given(seeds, st.floats(1.0, 3.0), st.floats(0.0, 2.0))
def test_one_split_moves_both_factors_and_the_objective_never_falls(seed, shape, rate):
    X, U, V = case_of(seed)
    A, B = equations.em_step(X, U, V, shape, rate)

    def objective(users, features):
        return equations.log_likelihood(X, users, features) + equations.log_prior(users, shape, rate)

    assert_allclose(B.sum(axis=0), 1.0)
    assert objective(A, B) >= objective(U, V) - 1e-9


@given(seeds)
def test_the_flat_prior_is_maximum_likelihood(seed):
    X, U, V = case_of(seed)
    assert_allclose(
        equations.posterior_mode_users(X, U, V, 1.0, 0.0), equations.multiplicative_users(X, U, V)
    )


def test_a_shape_below_one_clips_at_zero():
    users = equations.posterior_mode_users(np.array([[1.0, 0.0]]), np.ones((1, 2)), np.eye(2) + 0.1, 0.5, 1.0)
    assert users[0, 1] == 0.0
    assert users[0, 0] > 0.0


def test_one_component_has_a_closed_form():
    X = draw_counts(3, 8, 5, 2).astype(float)
    U, V = equations.em_step(X, np.ones((8, 1)), np.full((5, 1), 0.2), 2.0, 0.5)
    assert_allclose(U[:, 0], (X.sum(axis=1) + 1.0) / 1.5)
    assert_allclose(V[:, 0], X.sum(axis=0) / X.sum())


def test_allocated_counts_add_up():
    X, U, V = case_of(5)
    assert_allclose(equations.allocated(X, U, V).sum(axis=2), X)


@pytest.mark.parametrize("counts", [[2, 1], [0, 3], [0, 0]])
def test_evidence_of_one_user_and_one_component_is_known(counts):
    """The total is negative binomial, and its part of one of two features beta-binomial."""
    shape, rate, concentration = 1.7, 0.6, 0.4
    total = stats.nbinom.logpmf(sum(counts), shape, rate / (rate + 1.0))
    part = stats.betabinom.logpmf(counts[0], sum(counts), concentration, concentration)
    H = np.array(counts)[None, :, None]
    assert_allclose(equations.log_evidence_of_split(H, shape, rate, concentration), total + part)


def test_evidence_of_all_splits_of_small_tables_adds_up_to_one():
    total = 0.0
    for cells in itertools.product(range(14), repeat=2):
        H = np.array(cells)[None, None, :]  # one user, one feature, two components
        total += np.exp(equations.log_evidence_of_split(H, [1.0, 2.0], [3.0, 2.0], 0.5))
    assert_allclose(total, 1.0, rtol=1e-3)
