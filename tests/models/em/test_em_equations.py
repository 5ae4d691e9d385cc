"""The chapter's formulas against products written out, enumeration and exact fractions."""

from itertools import product
from math import factorial

import numpy as np
import pytest
from em_cases import NAMES, Dense, draw_mixture, draw_rows, log_joint_of
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta, dirichlet

from sparsemix.models.em import equations

seeds = st.integers(0, 10_000)
names = pytest.mark.parametrize("name", NAMES)
zeros = st.sampled_from([0.0, 0.4])

# Two components, three features: the first never makes feature 2, nor the second feature 0.
HALVES = Dense(np.array([0.25, 0.75]), np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))


def products(name, dense, rows):
    """``p(k) prod_w p(w|k)^x`` as printed (TEXT, eq 3.2)."""
    p, x = dense.profiles, rows[:, None, :]
    factors = p**x * ((1 - p) ** (1 - x) if name == "bernoulli" else 1.0)
    return dense.weights * factors.prod(axis=2)


@names
@given(seed=seeds, zeros=zeros)
def test_the_joint_is_the_product_of_eq_3_2(name, seed, zeros):
    rng = np.random.default_rng(seed)
    dense, rows = draw_mixture(rng, name, zeros=zeros), draw_rows(rng, name)
    joint = log_joint_of(name, dense, rows)
    expected = products(name, dense, rows)
    assert_allclose(np.exp(joint), expected, rtol=1e-10)
    assert_array_equal(joint == -np.inf, expected == 0.0)
    assert_allclose(np.exp(equations.log_evidence(joint)), expected.sum(axis=1), rtol=1e-10)


@given(seed=seeds, zeros=zeros)
def test_binary_rows_have_probabilities_that_sum_to_one(seed, zeros):
    dense = draw_mixture(np.random.default_rng(seed), "bernoulli", zeros=zeros)
    rows = np.array(list(product([0.0, 1.0], repeat=6)))
    evidence = equations.log_evidence(log_joint_of("bernoulli", dense, rows))
    assert np.exp(evidence).sum() == pytest.approx(1.0)


@given(seed=seeds, zeros=zeros)
def test_texts_of_one_length_have_probabilities_that_sum_to_one(seed, zeros):
    """Each row of counts stands for as many texts as its words can be put in order."""
    dense = draw_mixture(np.random.default_rng(seed), "multinomial", n_features=4, zeros=zeros)
    rows = np.array([row for row in product(range(4), repeat=4) if sum(row) == 3], float)
    orders = [factorial(3) / np.prod([factorial(int(count)) for count in row]) for row in rows]
    evidence = equations.log_evidence(log_joint_of("multinomial", dense, rows))
    assert orders @ np.exp(evidence) == pytest.approx(1.0)


@names
@given(seed=seeds, zeros=zeros)
def test_responsibilities_are_normalised_products(name, seed, zeros):
    rng = np.random.default_rng(seed)
    dense, rows = draw_mixture(rng, name, zeros=zeros), draw_rows(rng, name)
    joint, expected = log_joint_of(name, dense, rows), products(name, dense, rows)
    soft = equations.soft_responsibilities(joint, dense.weights)
    hard = equations.hard_responsibilities(joint, dense.weights)
    assert_allclose(soft.sum(axis=1), 1.0)
    for i, row in enumerate(expected):
        if row.sum() == 0.0:
            assert_array_equal(soft[i], dense.weights)
            assert_array_equal(hard[i], dense.weights)
        else:
            assert_allclose(soft[i], row / row.sum(), rtol=1e-9, atol=1e-300)
            assert_array_equal(hard[i], np.eye(3)[joint[i].argmax()])


def test_equal_components_give_the_row_to_the_first():
    joint = np.log([[0.2, 0.2, 0.2], [0.1, 0.2, 0.2]])
    assert_array_equal(equations.hard_responsibilities(joint, np.full(3, 1 / 3)), np.eye(3)[[0, 1]])


def test_a_row_that_no_component_can_have_made_keeps_the_weights():
    rows = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
    joint = log_joint_of("multinomial", HALVES, rows)
    assert_array_equal(joint[0], [-np.inf, -np.inf])
    assert_allclose(equations.log_evidence(joint), [-np.inf, np.log(0.125), 0.0], atol=1e-15)
    expected = [
        [0.25, 0.75],
        [1.0, 0.0],
        [0.25, 0.75],
    ]  # an empty row tells nothing, so it keeps them as well
    assert_allclose(equations.soft_responsibilities(joint, HALVES.weights), expected)
    assert equations.log_likelihood(joint, np.ones(3)) == -np.inf
    assert equations.log_likelihood(joint, np.array([0.0, 2.0, 1.0])) == pytest.approx(2 * np.log(0.125))


def test_known_rows_are_in_their_component():
    soft = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    clamped = equations.clamp(soft, np.array([1, -1, 1]))
    assert_array_equal(clamped, [[0.0, 1.0], [0.25, 0.75], [0.0, 1.0]])


def test_expected_counts_are_sums_over_rows():
    rows = np.array([[2.0, 0.0], [1.0, 1.0]])
    soft, row_weights = np.array([[0.25, 0.75], [1.0, 0.0]]), np.array([1.0, 0.5])
    assert_array_equal(equations.expected_sizes(soft, row_weights), [0.75, 0.75])
    assert_array_equal(equations.expected_counts(rows, soft, row_weights), [[1.0, 0.5], [1.5, 0.0]])


def test_count_and_divide():
    counts = np.array([[1.0, 3.0, 0.0], [0.0, 0.0, 0.0]])
    assert_array_equal(equations.maximize_multinomial(counts)[0], [0.25, 0.75, 0.0])
    assert_allclose(equations.maximize_multinomial(counts)[1], 1 / 3)
    assert_allclose(equations.maximize_multinomial(counts, 1.0)[0], [2 / 7, 4 / 7, 1 / 7])
    assert_array_equal(equations.maximize_weights(np.array([1.0, 3.0])), [0.25, 0.75])
    assert_allclose(equations.maximize_weights(np.array([0.0, 3.0]), 1.0), [0.2, 0.8])
    on = equations.maximize_bernoulli(np.array([4.0, 0.0]), counts)
    assert_array_equal(on, [[0.25, 0.75, 0.0], [0.5, 0.5, 0.5]])
    assert_allclose(equations.maximize_bernoulli(np.array([4.0]), counts[:1], 1.0), [[2 / 6, 4 / 6, 1 / 6]])
    assert_allclose(
        equations.maximize_bernoulli(np.array([4.0]), counts[:1], 0.0, 1.0), [[2 / 5, 4 / 5, 1 / 5]]
    )


def test_the_box_of_section_3_3_would_not_sum_to_one():
    """Dividing by E[c(k)] gives as many as a text has words; dividing by the words of the component gives one."""
    rows, soft = np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 1.0]]), np.array([[0.6, 0.4], [0.3, 0.7]])
    sizes = equations.expected_sizes(soft, np.ones(2))
    counts = equations.expected_counts(rows, soft, np.ones(2))
    assert_allclose((counts / sizes[:, None]).sum(axis=1), 2.0)
    assert_allclose(equations.maximize_multinomial(counts).sum(axis=1), 1.0)


@names
@given(seed=seeds, zeros=zeros)
def test_the_lower_bound_touches_the_likelihood_at_the_e_step_and_nowhere_else(name, seed, zeros):
    rng = np.random.default_rng(seed)
    dense, rows, row_weights = draw_mixture(rng, name, zeros=zeros), draw_rows(rng, name), rng.random(12)
    joint = log_joint_of(name, dense, rows)
    possible = joint.max(axis=1) > -np.inf
    joint, row_weights = joint[possible], row_weights[possible]
    best = equations.soft_responsibilities(joint, dense.weights)
    whole = equations.log_likelihood(joint, row_weights)
    assert equations.lower_bound(joint, best, row_weights) == pytest.approx(whole)
    other = rng.dirichlet(np.ones(3), joint.shape[0])
    assert equations.lower_bound(joint, other, row_weights) <= whole + 1e-9
    hard = equations.hard_responsibilities(joint, dense.weights)
    assert equations.lower_bound(joint, hard, row_weights) == pytest.approx(row_weights @ joint.max(axis=1))


def test_the_lower_bound_of_what_cannot_be():
    joint = log_joint_of("multinomial", HALVES, np.array([[1.0, 0.0, 0.0]]))
    assert equations.lower_bound(joint, np.array([[0.0, 1.0]]), np.ones(1)) == -np.inf
    assert equations.lower_bound(joint, np.array([[0.0, 1.0]]), np.zeros(1)) == 0.0


def test_priors_are_densities_up_to_a_constant():
    one, other = np.array([[0.2, 0.5, 0.3]]), np.array([[0.6, 0.1, 0.3]])
    smoothing = np.array([[0.5, 1.5, 0.0]])
    dirichlets = [dirichlet(1.0 + smoothing[0]).logpdf(profile[0]) for profile in (one, other)]
    found = [equations.multinomial_log_prior(profile, smoothing) for profile in (one, other)]
    assert np.diff(found) == pytest.approx(np.diff(dirichlets))
    found = [equations.log_prior(profile[0], 0.5) for profile in (one, other)]
    assert np.diff(found) == pytest.approx(np.diff([dirichlet([1.5] * 3).logpdf(p[0]) for p in (one, other)]))
    betas = [beta(1.5 + smoothing, 1.5).logpdf(profile).sum() for profile in (one, other)]
    found = [equations.bernoulli_log_prior(profile, 0.5, smoothing) for profile in (one, other)]
    assert np.diff(found) == pytest.approx(np.diff(betas))


def test_no_prior_has_no_objections_to_zeros():
    certain = np.array([[0.0, 1.0]])
    assert equations.multinomial_log_prior(certain, 0.0) == 0.0
    assert equations.bernoulli_log_prior(certain, 0.0, np.array([[0.0, 3.0]])) == 0.0
    assert equations.log_prior(np.array([0.0, 1.0]), 0.0) == 0.0
    assert equations.log_prior(np.array([0.0, 1.0]), 0.5) == -np.inf


def test_distinctive_words():
    # TEXT, section 3.5: p(w|k) / (c(w) + 10); the ten keep words seen once or twice from the top.
    profiles, totals = np.array([[0.30, 0.06, 0.004]]), np.array([990.0, 40.0, 1.0])
    found = equations.distinctiveness(profiles, totals)
    assert_allclose(found, [[0.0003, 0.0012, 0.004 / 11]])
    assert found.argmax() == 1
    assert equations.distinctiveness(profiles, totals, 0.0).argmax() == 2
