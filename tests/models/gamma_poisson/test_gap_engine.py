"""Sweeps of EM against the equations and scikit-learn; traces that never fall; threads that change nothing."""

import numpy as np
import pytest
from gap_cases import draw_counts, draw_factors, flat, prior_of, table_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.decomposition import NMF

from sparsemix.models.gamma_poisson import engine, equations
from sparsemix.models.gamma_poisson.acceleration import leap, leap_length
from sparsemix.models.gamma_poisson.engine import WALKS, Loop, Table
from sparsemix.models.gamma_poisson.state import Factors, normalised

algorithms = pytest.mark.parametrize("algorithm", sorted(WALKS))
priors = pytest.mark.parametrize(("shape", "rate"), [(1.0, 0.0), (1.1, 0.01), (3.0, 2.0)])


def start_of(counts, n_components=3, seed=1):
    return draw_factors(np.random.default_rng(seed), *counts.shape, n_components)


@priors
def test_a_sweep_is_the_equation(shape, rate):
    X = draw_counts()
    start = start_of(X)
    found = engine.run(table_of(X), start, prior_of(3, shape, rate), Loop("em", 1, 0.0))
    users, features = equations.em_step(X, *start, shape, rate)
    assert_allclose(found.factors.users, users, rtol=1e-10, atol=1e-14)
    assert_allclose(found.factors.features, features, rtol=1e-10, atol=1e-14)
    expected = equations.log_likelihood(X, users, features) + equations.log_prior(users, shape, rate)
    assert_allclose(found.trace[-1], expected)
    assert_allclose(found.component_counts.sum(), X.sum())


@pytest.mark.parametrize("smoothing", [0.05, 2.0])
def test_a_smoothed_sweep_is_the_equation(smoothing):
    X = draw_counts()
    start, prior = start_of(X), prior_of(3, 1.1, 0.01)._replace(smoothing=smoothing)
    found = engine.run(table_of(X), start, prior, Loop("em", 1, 0.0))
    users, features = equations.em_step(X, *start, 1.1, 0.01, smoothing)
    assert_allclose(found.factors.users, users, rtol=1e-10, atol=1e-14)
    assert_allclose(found.factors.features, features, rtol=1e-10, atol=1e-14)
    expected = equations.log_likelihood(X, users, features) + equations.log_prior(users, 1.1, 0.01)
    assert_allclose(found.trace[-1], expected + equations.log_feature_prior(features, smoothing))


@algorithms
@pytest.mark.parametrize("shape", [1.0, 1.1])
def test_the_smoothed_trace_never_falls(algorithm, shape):
    X = draw_counts()
    prior = prior_of(3, shape, 0.0 if shape == 1.0 else 0.01)._replace(smoothing=0.3)
    found = engine.run(table_of(X), start_of(X), prior, Loop(algorithm, 500, 1e-7))
    assert np.diff(found.trace).min() >= -1e-9 * abs(found.trace[-1])
    assert found.factors.features.min() > 0.0
    features = equations.em_step(X, *found.factors, shape, prior.rate, 0.3)[1]
    assert_allclose(features, found.factors.features, atol=1e-3)


@pytest.mark.parametrize("n_sweeps", [1, 4, 20])
def test_updates_in_turn_are_those_of_scikit_learn(n_sweeps):
    """KL-NMF from the same start; empty rows and columns left out, which scikit-learn floors."""
    X = draw_counts()[:-1, :-1].astype(float)
    X = X[X.sum(axis=1) > 0]
    start = start_of(X)
    peer = NMF(
        3, init="custom", solver="mu", beta_loss="kullback-leibler", max_iter=n_sweeps, tol=0, random_state=0
    )
    users = peer.fit_transform(X, W=start.users.copy(), H=start.features.T.copy())
    found = engine.run(table_of(X), start, flat(3), Loop("multiplicative", n_sweeps, -1.0))
    assert_allclose(
        found.factors.users @ found.factors.features.T, users @ peer.components_, rtol=1e-9, atol=1e-9
    )
    gap = equations.divergence(X, *found.factors)
    assert_allclose(np.sqrt(2.0 * gap), peer.reconstruction_err_)


@algorithms
@priors
@pytest.mark.parametrize("n_components", [1, 3])
def test_the_trace_never_falls_and_ends_at_a_stationary_point(algorithm, shape, rate, n_components):
    X = draw_counts()
    prior = prior_of(n_components, shape, rate)
    found = engine.run(table_of(X), start_of(X, n_components), prior, Loop(algorithm, 500, 1e-7))
    assert np.diff(found.trace).min() >= -1e-9 * abs(found.trace[-1])
    users, features = equations.em_step(X, *found.factors, shape, rate)
    again = equations.log_likelihood(X, users, features) + equations.log_prior(users, shape, rate)
    assert_allclose(again, found.trace[-1], atol=1e-4 * X.sum())


@algorithms
def test_algorithms_find_the_same_top_where_there_is_one(algorithm):
    X = draw_counts()
    found = engine.run(table_of(X), start_of(X, 1), prior_of(1, 2.0, 0.5), Loop(algorithm, 100, 1e-12))
    assert_allclose(found.factors.users[:, 0], (X.sum(axis=1) + 1.0) / 1.5)
    assert_allclose(found.factors.features[:, 0], X.sum(axis=0) / X.sum())


def test_leaps_take_fewer_sweeps():
    X = draw_counts(1, 200, 30, 4)
    runs = {
        name: engine.run(table_of(X), start_of(X, 4), flat(4), Loop(name, 2000, 1e-9))
        for name in ("accelerated", "em")
    }
    goal = min(run.trace[-1] for run in runs.values()) - 1e-3 * X.sum() ** 0.5
    sweeps = {name: int(np.argmax(np.array(run.trace) >= goal)) for name, run in runs.items()}
    assert 0 < sweeps["accelerated"] < 0.8 * sweeps["em"]


@algorithms
def test_a_shape_below_one_clips_and_stays_finite(algorithm):
    X = draw_counts()
    found = engine.run(table_of(X), start_of(X), prior_of(3, 0.3, 0.1), Loop(algorithm, 200, 1e-9))
    users = found.factors.users
    assert (users[:-1] == 0.0).any()
    assert np.isfinite(found.trace).all()
    assert np.isfinite(users).all()
    assert (users[X.sum(axis=1) > 0].max(axis=1) > 0.0).all()  # nobody with a history is left without factors
    assert not users[-1].any()


def test_prior_of_each_component():
    X = draw_counts()
    prior = prior_of(3, 1.5, 1.0)._replace(rate=np.array([0.1, 1.0, 10.0]))
    found = engine.run(table_of(X), start_of(X), prior, Loop("em", 1, 0.0))
    assert_allclose(
        found.factors.users, equations.em_step(X, *start_of(X), 1.5, prior.rate)[0], rtol=1e-10, atol=1e-14
    )


@algorithms
def test_threads_change_no_bit(algorithm):
    X = draw_counts(2, 400, 10, 3)
    table = table_of(X)
    assert len(table.parts) > 4
    one, three = (
        engine.run(table, start_of(X), prior_of(3, 1.1, 0.01), Loop(algorithm, 20, 0.0, n)) for n in (1, 3)
    )
    assert one.trace == three.trace
    assert_array_equal(one.factors.users, three.factors.users)
    assert_array_equal(one.factors.features, three.factors.features)


def test_parts_do_not_change_the_answer(monkeypatch):
    X = draw_counts(2, 400, 10, 3)
    many = engine.run(table_of(X), start_of(X), flat(3), Loop("em", 10, 0.0))
    monkeypatch.setattr(engine, "MOST_PARTS", 1)
    table = table_of(X)
    assert len(table.parts) == 1
    assert_allclose(engine.run(table, start_of(X), flat(3), Loop("em", 10, 0.0)).trace, many.trace)


def test_equal_factors_have_no_leap_and_leaps_keep_features_normalised():
    a, b, c = (draw_factors(np.random.default_rng(seed), 5, 4, 2) for seed in range(3))
    assert leap_length(a, a, a) == 0.0
    reached = leap(a, b, c, 3.0)
    assert_allclose(reached.features.sum(axis=0), 1.0)
    assert (reached.users > 0).all()


def test_a_component_without_events_is_spread_evenly():
    assert_array_equal(normalised(np.array([[0.0, 2.0], [0.0, 6.0]])), [[0.5, 0.25], [0.5, 0.75]])
    start = Factors(np.array([[0.0, 1.0]] * 2), np.array([[0.5, 0.5], [0.5, 0.5]]))
    found = engine.run(table_of([[1, 2], [3, 4]]), start, flat(2), Loop("accelerated", 50, 0.0))
    assert np.isfinite(found.factors.users).all()
    assert_allclose(found.component_counts, [0.0, 10.0])


def test_no_events_at_all():
    found = engine.run(Table(table_of(np.zeros((3, 2))).rows, 2), start_of(np.zeros((3, 2))), flat(3), Loop())
    assert not found.factors.users.any()
    assert found.trace[-1] == 0.0
