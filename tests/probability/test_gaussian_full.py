"""Gaussians of full covariance: evidence and predictive against Student's t, integrals, chain rule and derivatives."""

from itertools import permutations

import gaussian_cases as dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad, trapezoid
from scipy.stats import invgamma, multivariate_normal, norm, wishart

from sparsemix.probability import gaussian_diagonal
from sparsemix.probability.gaussian_diagonal_kernels import NormalGammaPrior
from sparsemix.probability.gaussian_full import GaussianFull, normal_wishart_prior, weak_prior
from sparsemix.probability.gaussian_full_kernels import refresh

seeds = st.integers(0, 10_000)
ROOT = np.array([[1.0, 0.0, 0.0], [0.5, 2.0, 0.0], [-0.3, 0.2, 0.7]])
priors = st.builds(
    lambda strength, degrees, scale: normal_wishart_prior(
        np.array([1.0, -2.0, 0.0]), strength, degrees, scale * ROOT @ ROOT.T
    ),
    st.floats(0.01, 10.0),
    st.floats(2.1, 20.0),
    st.floats(0.01, 10.0),
)
ONE = normal_wishart_prior(np.array([0.3]), 0.5, 3.0, np.array([[1.6]]))


def draw_rows(seed, n_rows=4, n_features=3):
    return np.random.default_rng(seed).normal(1.0, 2.0, (n_rows, n_features))


def one_cluster(prior, rows):
    """The cluster of these rows beside an empty one, summed from their mean."""
    rows, family = np.asarray(rows, float).reshape(-1, prior.mean.size), GaussianFull(prior)
    if len(rows):
        return family, family.state_of(rows, np.zeros(len(rows), int), 2)
    return family, family.init(2, np.zeros(prior.mean.size))


def evidence_of(prior, rows):
    family, state = one_cluster(prior, rows)
    evidence = family.log_evidence(state)
    assert evidence[1] == 0.0
    return evidence[0]


def predictive_of(prior, row, rows):
    family, state = one_cluster(prior, rows)
    return family.log_predictive(state, np.reshape(row, (1, -1)))[0, 0]


@given(prior=priors, seed=seeds, n_rows=st.integers(0, 5))
def test_evidence_equals_the_twin(prior, seed, n_rows):
    rows = draw_rows(seed, n_rows)
    assert evidence_of(prior, rows) == pytest.approx(dense.full_log_evidence(prior, rows), abs=1e-9)


@given(prior=priors, seed=seeds, n_rows=st.integers(1, 5))
def test_predictive_is_the_difference_of_two_evidences(prior, seed, n_rows):
    rows = draw_rows(seed, n_rows)
    difference = evidence_of(prior, rows) - evidence_of(prior, rows[:-1])
    assert predictive_of(prior, rows[-1], rows[:-1]) == pytest.approx(difference, abs=1e-9)


@given(prior=priors, seed=seeds)
def test_the_order_of_the_rows_changes_nothing(prior, seed):
    rows = draw_rows(seed, 3)
    chains = [
        sum(predictive_of(prior, rows[i], rows[list(order[:at])]) for at, i in enumerate(order))
        for order in permutations(range(3))
    ]
    assert_allclose(chains, evidence_of(prior, rows), rtol=0.0, atol=1e-9)


@given(seed=seeds, n_rows=st.integers(0, 5), strength=st.floats(0.01, 10.0), shape=st.floats(0.1, 10.0))
def test_one_feature_is_the_family_of_independent_features(seed, n_rows, strength, shape):
    rows, row = draw_rows(seed, n_rows, 1), np.array([[0.7]])
    full = normal_wishart_prior(np.array([0.3]), strength, 2.0 * shape, np.array([[1.6]]))
    single = gaussian_diagonal.GaussianDiagonal(
        NormalGammaPrior(np.array([0.3]), strength, shape, np.array([0.8]))
    )
    state = single.init(1, np.zeros(1))
    for each in rows:
        gaussian_diagonal.add_row(state, single.prior, each, 0)
    assert evidence_of(full, rows) == pytest.approx(single.log_evidence(state)[0], abs=1e-9)
    assert predictive_of(full, row, rows) == pytest.approx(single.log_predictive(state, row)[0, 0], abs=1e-9)


@pytest.mark.parametrize("rows", [[0.1], [2.0, -1.0], [0.3, 0.4, 0.5, 2.0]])
def test_evidence_of_one_feature_is_the_integral_over_mean_and_variance(rows):
    """On a grid of ln variance and mean in units of the standard deviation, where the trapezium rule is exact."""
    log_variances, distances = np.arange(-6.0, 25.0, 0.02)[:, None], np.arange(-30.0, 30.0, 0.05)
    variances = np.exp(log_variances)
    deviations = np.sqrt(variances)
    means = distances * deviations
    joint = invgamma.pdf(variances, 0.5 * ONE.degrees, scale=0.5 * ONE.scale[0, 0]) * variances * deviations
    joint = joint * norm.pdf(means, ONE.mean[0], deviations / np.sqrt(ONE.strength))
    for row in rows:
        joint *= norm.pdf(row, means, deviations)
    direct = trapezoid(trapezoid(joint, distances, axis=1), log_variances[:, 0])
    assert np.exp(evidence_of(ONE, rows)) == pytest.approx(direct, rel=1e-9)


def test_evidence_of_two_features_is_the_mean_likelihood_under_the_prior():
    """Within five standard errors of 200,000 draws, which are below two percent."""
    prior = normal_wishart_prior(np.zeros(2), 1.0, 8.0, np.array([[8.0, 3.0], [3.0, 6.0]]))
    rows, rng = np.array([[0.5, 0.2], [-1.0, 0.3]]), np.random.default_rng(0)
    roots = np.linalg.cholesky(wishart.rvs(8.0, np.linalg.inv(prior.scale), 200_000, random_state=rng))
    spread = np.linalg.inv(roots).transpose(
        0, 2, 1
    )  # a root of the covariance: the inverse of the precision's
    means = (spread @ rng.normal(size=(200_000, 2, 1)))[:, :, 0]
    log_likelihoods = np.zeros(200_000)
    for row in rows:
        white = np.einsum("nji,nj->ni", roots, row - means)
        log_roots = np.log(np.diagonal(roots, axis1=1, axis2=2)).sum(axis=1)
        log_likelihoods += log_roots - 0.5 * (white**2).sum(axis=1) - np.log(2.0 * np.pi)
    likelihoods = np.exp(log_likelihoods)
    error = likelihoods.std() / np.sqrt(likelihoods.size)
    assert error < 0.02 * likelihoods.mean()
    assert abs(np.exp(evidence_of(prior, rows)) - likelihoods.mean()) < 5 * error


@pytest.mark.parametrize("rows", [[], [5.0], [0.3, 0.4, 0.5, 2.0]])
def test_predictive_integrates_to_one(rows):
    def density(angle):  # row = tan(angle): the whole line between two finite ends
        return np.exp(predictive_of(ONE, np.tan(angle), rows)) / np.cos(angle) ** 2

    assert quad(density, -np.pi / 2, np.pi / 2, limit=200)[0] == pytest.approx(1.0, abs=1e-7)


def test_predictive_of_two_features_integrates_to_one():
    prior = normal_wishart_prior(np.zeros(2), 1.0, 6.0, np.array([[2.0, 0.6], [0.6, 1.0]]))
    family, state = one_cluster(prior, [[1.0, 0.5], [0.0, -1.0], [0.3, 0.3]])
    grid = np.arange(-60.0, 60.0, 0.25)
    plane = np.stack(np.meshgrid(grid, grid), axis=-1).reshape(-1, 2)
    total = np.exp(family.log_predictive(state, plane)[:, 0]).sum() * 0.25**2
    assert total == pytest.approx(1.0, abs=1e-4)


@pytest.mark.parametrize("entry", [(0, 0), (1, 0), (2, 1), (2,), (0,)])
def test_expected_parameters_are_the_derivative_of_the_evidence(entry):
    """Central difference with step 1e-4: the error is below 1e-7. Off the diagonal, one entry stands for two."""
    rows = draw_rows(1, 6)
    family, state = one_cluster(weak_prior(rows), rows)
    parameters = family.expected_natural_parameters(state)
    table = state.sums if len(entry) == 1 else state.products
    ends = []
    for step in (1e-4, -2e-4):
        table[(0, *entry)] += step
        refresh(state, family.prior, 0)
        ends.append(family.log_evidence(state)[0])
    slope = (ends[0] - ends[1]) / 2e-4
    found = (parameters.linear if len(entry) == 1 else parameters.quadratic)[(0, *entry)]
    assert (1.0 + (len(set(entry)) == 2)) * found == pytest.approx(slope, abs=1e-6)


def test_expected_parameters_are_the_mean_over_the_posterior():
    rows = draw_rows(1, 6)
    prior = weak_prior(rows)
    family, state = one_cluster(prior, rows)
    parameters = family.expected_natural_parameters(state)
    strength, mean, degrees, scale = dense.full_posterior(prior, rows)
    rng = np.random.default_rng(0)
    precisions = wishart.rvs(degrees, np.linalg.inv(scale), 100_000, random_state=rng)
    # precision times mean has mean precision @ mean, and the noise of a root of the precision
    noise = np.linalg.cholesky(precisions) @ rng.normal(0.0, strength**-0.5, (100_000, 3, 1))
    linear = precisions @ (mean - state.shift) + noise[:, :, 0]
    for found, draws in ((parameters.linear[0], linear), (parameters.quadratic[0], -0.5 * precisions)):
        error = draws.std(axis=0) / np.sqrt(len(draws))
        assert np.all(np.abs(found - draws.mean(axis=0)) < 5 * error)


def test_the_approximation_by_expected_parameters_is_a_gaussian():
    rows = draw_rows(2, 6)
    family, state = one_cluster(weak_prior(rows), rows)
    linear, quadratic, log_partition = (part[0] for part in family.expected_natural_parameters(state))
    precision = -2.0 * quadratic
    direct = multivariate_normal(np.linalg.solve(precision, linear), np.linalg.inv(precision))
    for z in rows - state.shift:
        assert linear @ z + z @ quadratic @ z - log_partition == pytest.approx(direct.logpdf(z))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("strength", [1e-8, 1e8])
@pytest.mark.parametrize("more", [1e-3, 1e8])
@pytest.mark.parametrize("n_features", [1, 5])
def test_extremes_are_finite(scale, strength, more, n_features):
    prior = normal_wishart_prior(
        np.zeros(n_features), strength, n_features - 1.0 + more, scale * np.eye(n_features)
    )
    rows = np.vstack([np.zeros(n_features), np.full(n_features, 1e6), np.full(n_features, -1e-6)])
    family = GaussianFull(prior)
    state = family.state_of(rows, np.array([0, 1, 1]), 3)
    for found in (
        family.log_predictive(state, rows),
        family.log_evidence(state),
        *family.expected_natural_parameters(state),
    ):
        assert np.isfinite(found).all()


def test_a_million_rows():
    """Sizes and sums as a million rows of mean 5 and variance 4 leave them: the predictive is nearly their Gaussian."""
    family, state = one_cluster(ONE, [])
    state.sizes[0], state.sums[0, 0], state.products[0, 0, 0] = 1e6, 5e6, 29e6
    refresh(state, ONE, 0)
    found = family.log_predictive(state, np.array([[8.0]]))[0, 0]
    assert found == pytest.approx(norm.logpdf(8.0, 5.0, 2.0), abs=1e-4)
    assert np.isfinite(family.log_evidence(state)).all()


def test_a_prior_of_constant_features_is_proper():
    prior = weak_prior(np.array([[0.1, 3.0], [0.1, 5.0], [0.1, 7.0]]), share=0.5)
    assert_allclose(prior.mean, [0.1, 5.0])
    assert_allclose(prior.scale, [[0.5, 0.0], [0.0, 0.5 * 8.0 / 3.0]])
    assert_allclose(prior.factor @ prior.factor.T, prior.scale)
    assert prior.degrees == 4.0


def test_rows_without_a_label_are_left_out():
    rows, labels = dense.draw_clusters(np.random.default_rng(0))
    labels[::3] = -1
    family = GaussianFull(weak_prior(rows))
    state = family.state_of(rows, labels, 3)
    for k in range(3):
        direct = dense.full_log_evidence(family.prior, rows[labels == k])
        assert family.log_evidence(state)[k] == pytest.approx(direct, abs=1e-9)
