"""The paper's formulas against closed forms, exact fractions and enumeration."""

from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from profile_cases import dense_state, random_posterior

from sparsemix.models.online_profiles import equations

UPDATES = [equations.project_beta, equations.project_beta_stably]

pseudo_counts = st.floats(1e-6, 1e9)
means = st.floats(1e-9, 1 - 1e-9)
shares = st.floats(0.0, 1.0)


def exact_update(alpha, beta, x, responsibility):
    """Moment matching in exact fractions."""
    a, b, x, r = (Fraction(float(value)) for value in (alpha, beta, x, responsibility))
    n = a + b
    on, off = ((a + 1) / (n + 1), (a + 1) * (a + 2)), (a / (n + 1), a * (a + 1))
    first = (1 - r) * a / n + r * (x * on[0] + (1 - x) * off[0])
    second = (1 - r) * a * (a + 1) / (n * (n + 1)) + r * (x * on[1] + (1 - x) * off[1]) / ((n + 1) * (n + 2))
    pseudo_count = (first - second) / (second - first**2)
    return float(first * pseudo_count), float((1 - first) * pseudo_count)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("x", [0.0, 1.0])
def test_a_certain_row_counts_once(update, x):
    assert_allclose(update(2.5, 7.25, x, 1.0), (2.5 + x, 7.25 + 1 - x), rtol=1e-12)


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("x", [0.0, 0.3, 1.0])
def test_a_row_of_another_component_changes_nothing(update, x):
    assert_allclose(update(2.5, 7.25, x, 0.0), (2.5, 7.25), rtol=1e-12)


@pytest.mark.parametrize("update", UPDATES)
@given(alpha=st.floats(0.1, 50), beta=st.floats(0.1, 50), x=shares, r=shares)
def test_the_mean_moves_between_prior_and_posterior_by_the_responsibility(update, alpha, beta, x, r):
    new_alpha, new_beta = update(alpha, beta, x, r)
    prior, posterior = alpha / (alpha + beta), (alpha + x) / (alpha + beta + 1)
    assert_allclose(new_alpha / (new_alpha + new_beta), (1 - r) * prior + r * posterior, rtol=1e-10)


@pytest.mark.parametrize("update", UPDATES)
def test_pseudo_counts_are_lost_most_at_a_responsibility_of_0_4(update):
    # ADS, Figure 3: alpha = 1, beta = 9, the feature is on; "maximum loss of pseudo-count" at r = 0.4.
    r = np.linspace(0, 1, 101)
    alpha, beta = np.array([update(1.0, 9.0, 1.0, share) for share in r]).T
    lowest = r[np.argmin(alpha + beta)]
    assert lowest == pytest.approx(0.4, abs=0.06)
    assert (alpha + beta)[40] < 10
    variance = alpha * beta / ((alpha + beta) ** 2 * (alpha + beta + 1))
    assert variance[40] > variance[0]  # "the variance of the updated distribution is larger than before"


@pytest.mark.parametrize("update", UPDATES)
def test_a_fractional_feature_mixes_on_and_off(update):
    # t ~ Beta(1, 1), x = 1/2, r = 1: half Beta(2, 1) and half Beta(1, 2), which is uniform again.
    assert_allclose(update(1.0, 1.0, 0.5, 1.0), (1.0, 1.0), rtol=1e-12)
    assert_allclose(update(1.0, 9.0, 0.25, 0.5), exact_update(1.0, 9.0, 0.25, 0.5), rtol=1e-12)


@given(n=pseudo_counts, mean=means, x=st.sampled_from([0.0, 1.0]) | shares, r=shares)
def test_the_stable_form_keeps_twelve_digits(n, mean, x, r):
    alpha, beta = n * mean, n * (1 - mean)
    found = equations.project_beta_stably(alpha, beta, x, r)
    assert_allclose(found, exact_update(alpha, beta, x, r), rtol=1e-12)


@pytest.mark.parametrize("n", [1e-6, 1e-3, 1.0, 1e3, 1e6, 1e9])
@pytest.mark.parametrize("r", [1e-12, 1e-3, 0.4, 0.999, 1 - 1e-12])
@pytest.mark.parametrize("x", [0.0, 0.1, 1.0])
def test_the_stable_form_at_chosen_places(n, r, x):
    for mean in (1e-6, 0.1, 0.999):
        found = equations.project_beta_stably(n * mean, n * (1 - mean), x, r)
        assert_allclose(found, exact_update(n * mean, n * (1 - mean), x, r), rtol=1e-12)


def test_the_printed_form_forgets_what_it_learns_at_large_pseudo_counts():
    place = (5e8, 5e8, 1.0, 0.4)
    exact = exact_update(*place)
    assert abs(equations.project_beta(*place)[0] - exact[0]) > 10  # rows, where 0.4 of a row was to be learnt
    assert abs(equations.project_beta_stably(*place)[0] - exact[0]) < 1e-6


@given(seed=st.integers(0, 10_000))
def test_rows_have_probabilities_that_sum_to_one(seed):
    state = dense_state(random_posterior(seed, n_features=4), 4)
    rows = np.array(list(product([0.0, 1.0], repeat=4)))
    assert np.exp([equations.log_predictive(state, row) for row in rows]).sum() == pytest.approx(1.0)


def test_responsibilities_are_the_normalised_products_of_the_paper():
    state = dense_state(random_posterior(0, n_features=4), 4)
    row, mean = np.array([1.0, 0.0, 0.0, 1.0]), state.alpha / (state.alpha + state.beta)
    product_of_eq_3 = state.weight_concentration * np.prod(mean**row * (1 - mean) ** (1 - row), axis=1)
    expected = product_of_eq_3 / product_of_eq_3.sum()
    assert_allclose(equations.responsibilities(state, row), expected, rtol=1e-12)


def test_a_step_shares_the_row_out():
    state, row = dense_state(random_posterior(1, n_features=4), 4), np.array([1.0, 0.0, 1.0, 1.0])
    share, after = equations.responsibilities(state, row), equations.step(state, row)
    assert_allclose(after.weight_concentration, state.weight_concentration + share)
    for k, d in product(range(3), range(4)):
        expected = exact_update(state.alpha[k, d], state.beta[k, d], row[d], share[k])
        assert_allclose((after.alpha[k, d], after.beta[k, d]), expected, rtol=1e-8)


def test_a_step_leaves_out_components_below_the_least_responsibility():
    state, row = dense_state(random_posterior(1, n_features=4), 4), np.array([1.0, 0.0, 1.0, 1.0])
    share = equations.responsibilities(state, row)
    after = equations.step(state, row, min_responsibility=float(np.sort(share)[1]))
    assert_allclose(after.alpha[share.argmin()], state.alpha[share.argmin()], rtol=0)
    assert after.weight_concentration.sum() == pytest.approx(state.weight_concentration.sum() + 1)


@given(seed=st.integers(0, 10_000), least=st.floats(0.0, 0.999))
def test_a_step_always_has_a_learner(seed, least):
    state, row = dense_state(random_posterior(seed, n_features=4), 4), np.array([1.0, 0.0, 1.0, 1.0])
    after = equations.step(state, row, min_responsibility=least)
    assert after.weight_concentration.sum() == pytest.approx(state.weight_concentration.sum() + 1)


@given(seed=st.integers(0, 10_000), accepted=st.sets(st.integers(0, 4)), rejected=st.sets(st.integers(0, 4)))
def test_suggestions_are_the_conditional_probabilities_of_the_unobserved(seed, accepted, rejected):
    assume(not accepted & rejected)
    state = dense_state(random_posterior(seed, n_features=5), 5)
    mean = state.alpha / (state.alpha + state.beta)
    weights = state.weight_concentration / state.weight_concentration.sum()
    rows = np.array(list(product([0, 1], repeat=5)))
    rows = rows[rows[:, list(accepted)].all(axis=1) & ~rows[:, list(rejected)].any(axis=1)]
    joint = np.prod(np.where(rows[:, None], mean, 1 - mean), axis=2) @ weights
    expected = joint @ rows / joint.sum()
    found = equations.suggestion_probabilities(state, sorted(accepted), sorted(rejected))
    free = [d for d in range(5) if d not in accepted | rejected]
    assert_allclose(found[free], expected[free], rtol=1e-10)
