"""Bayesian NMF: rectified normals, conditionals, an exact posterior on one cell, Geweke's joint test, answers."""

import numpy as np
import pytest
from gap_cases import draw_counts
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from scipy.stats import norm
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sparsemix import BayesianNMF, DataError, ParameterError
from sparsemix.chains import effective_sample_size
from sparsemix.models.gamma_poisson import equations
from sparsemix.models.gamma_poisson.nmf_sampling import NMFChain, NMFPrior, draw_factor, rectified_normal
from sparsemix.models.gamma_poisson.state import Factors

FALSE_ALARM = 1e-6
COUNTS = draw_counts()


def new_nmf(**changes):
    return BayesianNMF(
        **{"n_components": 3, "n_sweeps": 60, "burn_in": 20, "thin": 4, "random_state": 0, **changes}
    )


@pytest.mark.parametrize("mean", [3.0, 0.0, -2.0, -30.0, -3e3])
def test_rectified_normals(mean):
    found = rectified_normal(np.full(4_000, mean), 1.5, np.random.default_rng(0))
    assert (found >= 0.0).all()
    expected = stats.truncnorm(-mean / 1.5, np.inf, mean, 1.5)
    assert stats.kstest(found, expected.cdf).pvalue > 1e-4


def test_far_tails_are_exponential_and_finite():
    found = rectified_normal(np.full(4_000, -1e9), 2.0, np.random.default_rng(0))
    assert stats.kstest(found, stats.expon(scale=4e-9).cdf).pvalue > 1e-4


def test_a_column_is_drawn_from_its_conditional(monkeypatch):
    rng = np.random.default_rng(1)
    X, users, features = rng.random((5, 4)), rng.random((5, 2)), rng.random((4, 2))
    seen = []

    def spy(mean, deviation, _):
        seen.append((mean, deviation))
        return users[:, len(seen) - 1].copy()

    monkeypatch.setattr("sparsemix.models.gamma_poisson.nmf_sampling.rectified_normal", spy)
    draw_factor(users.copy(), features, X @ features, 0.3, 0.7, rng)
    for k, (mean, deviation) in enumerate(seen):
        expected, variance = equations.nmf_conditional(X, users, features, k, 0.3, 0.7)
        assert_allclose(mean, expected)
        assert_allclose(deviation**2, variance)


def test_one_cell_has_the_exact_posterior():
    """x = 2 of one user and one feature: the noise integrates out, and a grid does the rest."""
    prior = NMFPrior(1.0, 0.8, 3.0, 2.0)
    chain = NMFChain(
        sparse.csr_array([[2.0]]), Factors(np.ones((1, 1)), np.ones((1, 1))), prior, np.random.default_rng(0)
    )
    found = []
    for _ in range(4_000):
        chain.sweep()
        found.append([chain.factors.users[0, 0], chain.factors.users[0, 0] * chain.factors.features[0, 0]])
    grid = (np.arange(3_000) + 0.5) * 0.005
    a, b = grid[:, None], grid[None, :]
    weight = np.exp(-a - 0.8 * b) * (2.0 + 0.5 * (2.0 - a * b) ** 2) ** -3.5
    for values, quantity in zip(np.transpose(found), (a + 0 * b, a * b), strict=True):
        ess = effective_sample_size(values)
        assert ess >= 100
        z = (values.mean() - (weight * quantity).sum() / weight.sum()) / (values.std() / np.sqrt(ess))
        assert abs(z) < norm.isf(FALSE_ALARM / 2)


@pytest.mark.slow
def test_geweke_joint():
    prior, shape, n_steps = NMFPrior(1.0, 2.0, 4.0, 3.0), (2, 3), 20_000
    rng = np.random.default_rng(0)

    def from_prior():
        users, features = rng.exponential(1.0, (shape[0], 2)), rng.exponential(0.5, (shape[1], 2))
        return Factors(users, features), prior.noise_scale / rng.gamma(prior.noise_shape)

    def says(factors, noise):
        users, features = factors
        return [users[0, 0], features[0, 0], noise, users[0] @ features[1], np.log(noise)]

    expected, found = np.array([says(*from_prior()) for _ in range(n_steps)]), []
    factors, noise = from_prior()
    for _ in range(n_steps):
        X = rng.normal(factors.users @ factors.features.T, np.sqrt(noise))
        chain = NMFChain(sparse.csr_array(X), factors, prior, rng)
        chain.noise = noise
        chain.sweep()
        factors, noise = chain.factors, chain.noise
        found.append(says(factors, noise))
    for one, other in zip(np.transpose(found), expected.T, strict=True):
        ess = effective_sample_size(one)
        assert ess >= 100
        error = np.sqrt(one.var() / ess + other.var() / n_steps)
        assert abs(one.mean() - other.mean()) < norm.isf(FALSE_ALARM / 2) * error


def test_what_a_fit_leaves():
    model = new_nmf(n_chains=2).fit(COUNTS)
    assert model.user_factors_.shape == (60, 3)
    assert model.feature_factors_.shape == (3, 12)
    assert model.user_draws_.shape == (20, 60, 3)
    assert model.log_likelihood_.shape == (2, 60)
    assert set(model.diagnostics_) == {"log_likelihood", "noise_variance"}
    users, features = np.indices(COUNTS.shape).reshape(2, -1)
    rates = model.rates(users, features).reshape(COUNTS.shape)
    mean = np.einsum("dnk,dkm->nm", model.user_draws_, model.feature_draws_) / 20
    assert_allclose(rates, mean)
    error = ((COUNTS - rates) ** 2).mean()
    assert error < 0.5 * COUNTS.var()
    assert_allclose(model.noise_variance_, error, rtol=0.5)


def test_log_likelihood_is_that_of_normal_cells():
    model = new_nmf(n_sweeps=3, burn_in=2, thin=1).fit(COUNTS)
    noise = model._trace.total_rate[0, -1]
    mean = model.user_draws_[-1] @ model.feature_draws_[-1]
    assert_allclose(model.log_likelihood_[0, -1], norm.logpdf(COUNTS, mean, np.sqrt(noise)).sum())


def test_sparse_rows_are_the_same_and_the_seed_decides():
    first = new_nmf().fit(COUNTS)
    assert_array_equal(new_nmf().fit(sparse.coo_matrix(COUNTS)).user_draws_, first.user_draws_)
    assert not np.array_equal(new_nmf(random_state=1).fit(COUNTS).user_draws_, first.user_draws_)
    assert clone(first).get_params() == first.get_params()


@pytest.mark.parametrize("counts", [[[5]], np.eye(4), [[10**6, 1], [0, 0]]])
def test_odd_tables_give_finite_answers(counts):
    model = new_nmf().fit(counts)
    assert np.isfinite(model.user_draws_).all()
    assert np.isfinite(model.log_likelihood_).all()


def test_short_integers_are_numbers_of_chains():
    short = new_nmf(n_chains=np.int8(2), n_components=np.int8(2)).fit(COUNTS)
    assert_array_equal(short.user_draws_, new_nmf(n_chains=2, n_components=2).fit(COUNTS).user_draws_)


@pytest.mark.parametrize("changes", [
    {"n_components": 0}, {"user_rate": 0.0}, {"feature_rate": "flat"}, {"noise_shape": -1.0}, {"noise_scale": np.nan},
    {"burn_in": 60}, {"thin": 0}, {"n_chains": 0}, {"random_state": -1},
])  # fmt: skip
def test_parameters_that_break_their_rule(changes):
    [name] = changes
    with pytest.raises(ParameterError, match=f"'{name}' of BayesianNMF must be"):
        new_nmf(**changes).fit(COUNTS)


def test_wrong_questions():
    with pytest.raises(NotFittedError):
        new_nmf().rates([0], [0])
    with pytest.raises(DataError, match="above zero"):
        new_nmf().fit(np.zeros((3, 2)))
    model = new_nmf().fit(COUNTS)
    with pytest.raises(DataError, match="as many"):
        model.rates([0, 1], [0])
    with pytest.raises(DataError, match="from 0 to 11"):
        model.rates([0], [12])
