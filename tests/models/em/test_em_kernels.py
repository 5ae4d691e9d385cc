"""Every kernel of EM equals its equation, compiled and plain."""

import numpy as np
import pytest
from em_cases import (
    MODES,
    NAMES,
    as_mode,
    dense_of,
    draw_mixture,
    draw_rows,
    log_joint_of,
    parameters_of,
    rows_of,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.models.em import equations, kernels

seeds = st.integers(0, 10_000)
modes = pytest.mark.parametrize("mode", MODES)
names = pytest.mark.parametrize("name", NAMES)


def log_joint(mode, rows, parameters):
    found = np.full((rows.n_rows, parameters.log_weights.size), np.nan)
    as_mode(kernels.log_joint, mode)(
        rows.indptr, rows.columns, rows.values, parameters.constants, parameters.feature_weights, found
    )
    return found


def normalise(mode, joint, labels, weights, *, is_hard, negligible=-46.0):
    """Responsibilities and log evidence; the kernel's own copy of `joint` becomes the former."""
    found, evidence = np.array(joint, float), np.full(len(joint), np.nan)
    as_mode(kernels.fall_short, mode)(
        found, np.asarray(labels), np.log(np.asarray(weights)), negligible, is_hard, evidence
    )
    np.exp(found, out=found)
    totals = np.full_like(evidence, np.nan)
    as_mode(kernels.share_out, mode)(negligible, found, totals)
    evidence += np.log(totals)
    return found, evidence


def add_expected_counts(mode, rows, responsibilities, n_features, *parts):
    counts = np.zeros((n_features, responsibilities.shape[1]))
    for part, n_parts in parts or [(0, 1)]:
        as_mode(kernels.add_expected_counts, mode)(
            rows.indptr, rows.columns, rows.values, responsibilities, rows.row_weights, part, n_parts, counts
        )
    return counts


def expected_sizes(mode, responsibilities, row_weights, start):
    sizes = start.copy()
    as_mode(kernels.add_expected_sizes, mode)(responsibilities, row_weights, sizes)
    return sizes


@modes
@names
@given(seed=seeds, n_components=st.integers(1, 5), n_features=st.integers(1, 7))
def test_log_joint(mode, name, seed, n_components, n_features):
    rng = np.random.default_rng(seed)
    dense = draw_mixture(rng, name, n_components, n_features)
    rows = draw_rows(rng, name, n_features=n_features)
    found = log_joint(mode, rows_of(rows), parameters_of(name, dense))
    assert_allclose(found, log_joint_of(name, dense, rows), rtol=1e-10, atol=1e-10)


@modes
@names
@given(seed=seeds)
def test_log_joint_where_features_are_impossible(mode, name, seed):
    rng = np.random.default_rng(seed)
    dense, rows = draw_mixture(rng, name, zeros=0.5), draw_rows(rng, name)
    if name == "bernoulli":  # certain features are the engine's to ask for
        dense.profiles[dense.profiles == 1.0] = 0.5
    found, expected = (
        log_joint(mode, rows_of(rows), parameters_of(name, dense)),
        log_joint_of(name, dense, rows),
    )
    assert_array_equal(found == -np.inf, expected == -np.inf)
    possible = expected > -np.inf
    assert_allclose(found[possible], expected[possible], rtol=1e-10, atol=1e-10)


@modes
@given(
    joint=st.lists(st.lists(st.floats(-800, 800) | st.just(-np.inf), min_size=3, max_size=3), max_size=4),
    labels=st.lists(st.integers(-1, 2), min_size=4, max_size=4),
    is_hard=st.booleans(),
)
def test_normalise(mode, joint, labels, is_hard):
    joint, labels = np.array(joint, float).reshape(-1, 3), np.array(labels[: len(joint)], int)
    weights = np.array([0.5, 0.3, 0.2])
    found, evidence = normalise(mode, joint, labels, weights, is_hard=is_hard)
    step = equations.hard_responsibilities if is_hard else equations.soft_responsibilities
    expected = equations.clamp(step(joint, weights), labels)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-19)
    for i, (row, label) in enumerate(zip(joint, labels, strict=True)):
        assert not np.isnan(evidence[i])
        if label >= 0:
            assert evidence[i] == row[label]
        elif is_hard:
            assert evidence[i] == row.max()
        else:
            assert evidence[i] == pytest.approx(equations.log_evidence(row[None])[0], abs=1e-10)


@modes
@given(joint=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=6), is_hard=st.booleans())
def test_evidence_is_the_lower_bound_at_its_own_responsibilities(mode, joint, is_hard):
    joint = np.array([joint])
    weights = np.full(joint.size, 1.0 / joint.size)
    found, evidence = normalise(mode, joint, [-1], weights, is_hard=is_hard)
    assert found.sum() == pytest.approx(1.0, abs=1e-12)
    assert evidence[0] == pytest.approx(equations.lower_bound(joint, found, np.ones(1)), abs=1e-9)


@modes
@pytest.mark.parametrize("is_hard", [True, False])
def test_a_row_that_no_component_can_have_made_keeps_the_weights(mode, is_hard):
    joint, weights = np.full((1, 3), -np.inf), np.array([0.2, 0.3, 0.5])
    found, evidence = normalise(mode, joint, [-1], weights, is_hard=is_hard)
    assert_allclose(found, [weights], rtol=1e-14)
    assert_array_equal(evidence, [-np.inf])


@modes
def test_a_known_row_stays_where_it_is_known_to_be_though_it_cannot_be(mode):
    found, evidence = normalise(mode, [[0.0, -np.inf]], [1], [0.5, 0.5], is_hard=False)
    assert_array_equal(found, [[0.0, 1.0]])
    assert_array_equal(evidence, [-np.inf])


@modes
def test_equals_go_to_the_first(mode):
    joint = [[1.0, 2.0, 2.0], [3.0, 3.0, 3.0], [-np.inf, -np.inf, -5.0]]
    found, _ = normalise(mode, joint, [-1, -1, -1], np.full(3, 1 / 3), is_hard=True)
    assert_array_equal(found, np.eye(3)[[1, 0, 2]])


@modes
def test_what_cannot_change_a_sum_is_left_out(mode):
    """A responsibility below 1e-20 of the largest is zero, which spares its expected counts."""
    found, evidence = normalise(mode, [[0.0, -45.0, -47.0]], [-1], np.full(3, 1 / 3), is_hard=False)
    assert found[0, 1] == pytest.approx(np.exp(-45.0))
    assert found[0, 2] == 0.0
    assert evidence[0] == 0.0
    shares = normalise(mode, [[0.0, -690.0]], [-1], np.full(2, 0.5), is_hard=False, negligible=-700.0)[0]
    assert shares[0, 1] == pytest.approx(np.exp(-690.0))


@modes
@pytest.mark.parametrize("dense_rows", [True, False])  # many shares, or few among many components
@given(seed=seeds)
def test_expected_counts(mode, dense_rows, seed):
    rng = np.random.default_rng(seed)
    rows, row_weights = draw_rows(rng, "multinomial"), rng.integers(3, size=12) * 0.5
    n_components = 3 if dense_rows else 12
    responsibilities = rng.dirichlet(np.full(n_components, 0.5), 12)
    if not dense_rows:
        responsibilities[:, rng.permutation(n_components)[:10]] = 0.0
    counts = add_expected_counts(mode, rows_of(rows, row_weights=row_weights), responsibilities, 6)
    sizes = expected_sizes(mode, responsibilities, row_weights, np.zeros(n_components))
    assert_allclose(sizes, equations.expected_sizes(responsibilities, row_weights), rtol=1e-12, atol=1e-300)
    expected = equations.expected_counts(rows, responsibilities, row_weights)
    assert_allclose(counts.T, expected, rtol=1e-12, atol=1e-300)


@modes
@given(seed=seeds, n_parts=st.integers(1, 4))
def test_features_that_are_added_apart_have_the_same_bits(mode, seed, n_parts):
    rng = np.random.default_rng(seed)
    rows = rows_of(draw_rows(rng, "multinomial", n_features=30), row_weights=rng.random(12))
    responsibilities = rng.dirichlet(np.full(7, 0.2), 12) * (rng.random((12, 7)) < 0.5)
    whole = add_expected_counts(mode, rows, responsibilities, 30)
    apart = [
        add_expected_counts(mode, rows, responsibilities, 30, (part, n_parts)) for part in range(n_parts)
    ]
    assert_array_equal(sum(apart), whole)
    assert (sum((counts != 0.0).astype(int) for counts in apart) <= 1).all()


@modes
def test_counts_are_added_to_what_is_there(mode):
    rows = rows_of([[2.0, 0.0]])
    counts = np.array([[1.0], [7.0]])
    as_mode(kernels.add_expected_counts, mode)(
        rows.indptr, rows.columns, rows.values, np.ones((1, 1)), rows.row_weights, 0, 1, counts
    )
    assert_array_equal(counts, [[3.0], [7.0]])
    assert_array_equal(expected_sizes(mode, np.ones((1, 1)), rows.row_weights, np.array([5.0])), [6.0])


@names
def test_the_parameters_of_the_cases_are_the_mixtures_themselves(name):
    dense = draw_mixture(np.random.default_rng(0), name, zeros=0.3)
    again = dense_of(name, parameters_of(name, dense))
    assert_allclose(again.weights, dense.weights)
    assert_allclose(again.profiles, dense.profiles, rtol=1e-12)
