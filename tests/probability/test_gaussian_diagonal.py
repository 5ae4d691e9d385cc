"""Independent Gaussians: evidence and predictive against Student's t, integrals, chain rule and derivatives."""

from itertools import permutations

import gaussian_cases as dense
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from scipy.integrate import quad, trapezoid
from scipy.stats import gamma, norm

from sparsemix.probability.gaussian_diagonal import GaussianDiagonal, weak_prior
from sparsemix.probability.gaussian_diagonal_kernels import NormalGammaPrior, refresh

seeds = st.integers(0, 10_000)
priors = st.builds(
    NormalGammaPrior,
    st.just(np.array([1.0, -2.0, 0.0])),
    st.floats(0.01, 10.0),
    st.floats(0.1, 10.0),
    st.floats(0.01, 10.0).map(lambda rate: rate * np.array([1.0, 2.0, 0.5])),
)
ONE = NormalGammaPrior(np.array([0.3]), 0.5, 1.5, np.array([0.8]))


def draw_rows(seed, n_rows=4, n_features=3):
    return np.random.default_rng(seed).normal(1.0, 2.0, (n_rows, n_features))


def one_cluster(prior, rows):
    """The cluster of these rows beside an empty one, summed from a point beside them."""
    rows, family = np.asarray(rows, float).reshape(-1, prior.mean.size), GaussianDiagonal(prior)
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
    assert evidence_of(prior, rows) == pytest.approx(dense.diagonal_log_evidence(prior, rows), abs=1e-9)


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


@pytest.mark.parametrize("rows", [[0.1], [2.0, -1.0], [0.3, 0.4, 0.5, 2.0]])
def test_evidence_is_the_integral_over_mean_and_precision(rows):
    """On a grid of ln precision and mean in units of the standard deviation, where the trapezium rule is exact."""
    log_precisions, distances = np.arange(-25.0, 6.0, 0.02)[:, None], np.arange(-30.0, 30.0, 0.05)
    precisions = np.exp(log_precisions)
    deviations = precisions**-0.5
    means = distances * deviations
    joint = gamma.pdf(precisions, ONE.shape, scale=1.0 / ONE.rate[0]) * precisions * deviations
    joint = joint * norm.pdf(means, ONE.mean[0], deviations / np.sqrt(ONE.strength))
    for row in rows:
        joint *= norm.pdf(row, means, deviations)
    direct = trapezoid(trapezoid(joint, distances, axis=1), log_precisions[:, 0])
    assert np.exp(evidence_of(ONE, rows)) == pytest.approx(direct, rel=1e-9)


@pytest.mark.parametrize("rows", [[], [5.0], [0.3, 0.4, 0.5, 2.0]])
def test_predictive_integrates_to_one(rows):
    def density(angle):  # row = tan(angle): the whole line between two finite ends
        return np.exp(predictive_of(ONE, np.tan(angle), rows)) / np.cos(angle) ** 2

    assert quad(density, -np.pi / 2, np.pi / 2, limit=200)[0] == pytest.approx(1.0, abs=1e-7)


@pytest.mark.parametrize("feature", range(3))
@pytest.mark.parametrize("statistic", ["sums", "squares"])
def test_expected_parameters_are_the_derivative_of_the_evidence(statistic, feature):
    """Central difference with step 1e-4: the error is below 1e-7."""
    prior = weak_prior(draw_rows(0))
    family, state = one_cluster(prior, draw_rows(1, 6))
    parameters = family.expected_natural_parameters(state)
    ends, table = [], getattr(state, statistic)
    for step in (1e-4, -2e-4):
        table[0, feature] += step
        refresh(state, prior, 0)
        ends.append(family.log_evidence(state)[0])
    found = (parameters.linear if statistic == "sums" else parameters.quadratic)[0, feature]
    assert found == pytest.approx((ends[0] - ends[1]) / 2e-4, abs=1e-6)


def test_expected_parameters_are_the_mean_over_the_posterior():
    rows, rng = draw_rows(1, 6), np.random.default_rng(0)
    prior = weak_prior(rows)
    family, state = one_cluster(prior, rows)
    parameters = family.expected_natural_parameters(state)
    strength, means, shape, rates = dense.diagonal_posterior(prior, rows)
    precisions = rng.gamma(shape, 1.0 / rates, (200_000, 3))
    centres = rng.normal(means - state.shift, (strength * precisions) ** -0.5)
    for found, draws in (
        (parameters.linear[0], precisions * centres),
        (parameters.quadratic[0], -0.5 * precisions),
    ):
        error = draws.std(axis=0) / np.sqrt(len(draws))
        assert np.all(np.abs(found - draws.mean(axis=0)) < 5 * error)


def test_the_approximation_by_expected_parameters_is_a_gaussian():
    family, state = one_cluster(ONE, [5.0, 4.0, 6.0])
    linear, quadratic, log_partition = (part[0] for part in family.expected_natural_parameters(state))

    def density(z):
        return np.exp(linear[0] * z + quadratic[0] * z * z - log_partition)

    assert quad(density, -30.0, 30.0)[0] == pytest.approx(1.0)


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("strength", [1e-8, 1e8])
@pytest.mark.parametrize("shape", [1e-3, 1e8])
@pytest.mark.parametrize("n_features", [1, 5])
def test_extremes_are_finite(scale, strength, shape, n_features):
    prior = NormalGammaPrior(np.zeros(n_features), strength, shape, np.full(n_features, scale))
    rows = np.vstack([np.zeros(n_features), np.full(n_features, 1e6), np.full(n_features, -1e-6)])
    family = GaussianDiagonal(prior)
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
    state.sizes[0], state.sums[0, 0], state.squares[0, 0] = 1e6, 5e6, 29e6
    refresh(state, ONE, 0)
    found = family.log_predictive(state, np.array([[8.0]]))[0, 0]
    assert found == pytest.approx(norm.logpdf(8.0, 5.0, 2.0), abs=1e-4)
    assert np.isfinite(family.log_evidence(state)).all()


def test_rows_far_from_zero_keep_their_digits():
    """The same rows a hundred million further on: sums are taken from near them."""
    rows = draw_rows(3, 50)
    near = evidence_of(weak_prior(rows), rows)
    far = evidence_of(weak_prior(rows)._replace(mean=rows.mean(axis=0) + 1e8), rows + 1e8)
    assert far == pytest.approx(near, abs=1e-4)  # the rows themselves have lost half of their digits


def test_a_prior_of_constant_features_and_of_one_row_is_proper():
    prior = weak_prior(np.array([[0.1, 3.0], [0.1, 5.0], [0.1, 7.0]]), share=0.5)
    assert_allclose(prior.mean, [0.1, 5.0])
    assert_allclose(prior.rate, [0.5, 0.5 * 8.0 / 3.0])
    assert_allclose(weak_prior(np.array([[4.0, 2.0]])).rate, 0.1)


def test_rows_without_a_label_are_left_out():
    rows, labels = dense.draw_clusters(np.random.default_rng(0))
    labels[::3] = -1
    family = GaussianDiagonal(weak_prior(rows))
    state = family.state_of(rows, labels, 3)
    for k in range(3):
        direct = dense.diagonal_log_evidence(family.prior, rows[labels == k])
        assert family.log_evidence(state)[k] == pytest.approx(direct, abs=1e-9)
