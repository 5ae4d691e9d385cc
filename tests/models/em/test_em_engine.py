"""The engine: one epoch against the equations, statistics that add, threads, and objectives that never fall."""

from itertools import pairwise, product
from math import factorial

import numpy as np
import pytest
from em_cases import (
    APART,
    IMPOSSIBLE,
    NAMES,
    Dense,
    assert_same_bits,
    draw_labels,
    draw_mixture,
    draw_rows,
    expect,
    log_joint_of,
    parameters_of,
    rows_of,
)
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.models.em import engine, equations
from sparsemix.models.em.state import Statistics

seeds = st.integers(0, 10_000)
names = pytest.mark.parametrize("name", NAMES)
ways = pytest.mark.parametrize("is_hard", [True, False], ids=["hard", "soft"])


def assert_same(one, other, rtol=1e-12):
    """Statistics that are the same, to rounding."""
    assert_allclose(one.sizes, other.sizes, rtol=rtol, atol=1e-300)
    assert_allclose(one.counts, other.counts, rtol=rtol, atol=1e-300)
    assert one.log_likelihood == pytest.approx(other.log_likelihood, rel=rtol, abs=rtol)
    assert one.n_impossible == other.n_impossible


@names
@ways
@given(seed=seeds, zeros=st.sampled_from([0.0, 0.3]), n_components=st.integers(1, 4))
def test_an_epoch_equals_the_equations(name, is_hard, seed, zeros, n_components):
    rng = np.random.default_rng(seed)
    dense, rows = draw_mixture(rng, name, n_components, zeros=zeros), draw_rows(rng, name)
    labels, row_weights = draw_labels(rng, 12, n_components), rng.integers(3, size=12) / 2
    joint, expected = expect(name, dense, rows, labels, is_hard=is_hard)
    block, parameters = rows_of(rows, labels, row_weights), parameters_of(name, dense)
    found, log_evidence = engine.responsibilities_of(block, parameters, is_hard=is_hard)
    assert_allclose(found, expected, rtol=1e-9, atol=1e-19)
    statistics = engine.summarize([block], parameters, is_hard=is_hard)
    assert_allclose(statistics.sizes, equations.expected_sizes(expected, row_weights), rtol=1e-9, atol=1e-12)
    counts = equations.expected_counts(rows, expected, row_weights)
    assert_allclose(statistics.counts.T, counts, rtol=1e-9, atol=1e-12)
    bound = equations.lower_bound(joint, expected, row_weights)
    assert statistics.log_likelihood == pytest.approx(bound, abs=1e-9)
    assert statistics.n_impossible == np.isneginf(log_evidence).sum()
    if not is_hard:
        unknown = equations.log_evidence(joint)
        assert_allclose(log_evidence[labels < 0], unknown[labels < 0], rtol=1e-10, atol=1e-10)


@names
@ways
@given(seed=seeds, cuts=st.lists(st.integers(0, 30), max_size=5))
def test_statistics_of_blocks_add(name, is_hard, seed, cuts):
    rng = np.random.default_rng(seed)
    rows = rows_of(draw_rows(rng, name, 30), draw_labels(rng, 30, 3), rng.random(30))
    parameters = parameters_of(name, draw_mixture(rng, name, zeros=0.2))
    bounds = [0, *sorted(cuts), 30]
    blocks = [rows.slice(*ends) for ends in pairwise(bounds)]
    whole = engine.summarize([rows], parameters, is_hard=is_hard)
    parts = [engine.summarize([block], parameters, is_hard=is_hard) for block in blocks]
    assert_same(sum(parts, Statistics.zeros(3, 6)), whole)
    streamed = engine.summarize(iter(blocks), parameters, is_hard=is_hard)
    assert_array_equal(streamed.counts, whole.counts)  # in one call the sums keep the order of the rows
    assert_array_equal(streamed.sizes, whole.sizes)


@names
def test_long_blocks_are_cut(name, monkeypatch):
    rng = np.random.default_rng(0)
    rows, parameters = rows_of(draw_rows(rng, name, 300)), parameters_of(name, draw_mixture(rng, name))
    whole = engine.summarize([rows], parameters)
    at_once = engine.assignments([rows], parameters)
    monkeypatch.setattr(engine, "CELLS_PER_BLOCK", 1)
    assert engine.rows_per_block(3) == 64
    assert_same(engine.summarize([rows], parameters), whole)
    assert_array_equal(engine.assignments([rows], parameters), at_once)


def test_blocks_are_smaller_where_components_are_many():
    cells = [k * engine.rows_per_block(k) for k in (1, 10, 100, 1_000)]
    assert max(cells) <= engine.CELLS_PER_BLOCK
    assert min(cells) > 0.9 * engine.CELLS_PER_BLOCK
    assert engine.rows_per_block(10**9) == 64


@pytest.mark.parametrize(("additions", "n_used"), [(0, 2), (10**9, 1)])
def test_threads_share_only_what_is_worth_it(monkeypatch, additions, n_used):
    monkeypatch.setattr(engine, "ADDITIONS_FOR_THREADS", additions)
    rng, sizes = np.random.default_rng(0), []
    rows = rows_of(draw_rows(rng, "bernoulli", 50, 9))
    expect = engine._expect
    monkeypatch.setattr(
        engine, "_expect", lambda part, *rest: (sizes.append(part.n_rows), expect(part, *rest))
    )
    parameters = parameters_of("bernoulli", draw_mixture(rng, "bernoulli", 3, 9))
    engine.summarize([rows], parameters, n_threads=2)
    assert (len(sizes), sum(sizes)) == (n_used, 50)


@names
@ways
@pytest.mark.parametrize("n_components", [1, 2, 7, 16, 37])
def test_threads_change_no_bit(name, is_hard, n_components):
    rng = np.random.default_rng(n_components)
    scale = (
        0.37 if name == "multinomial" else 1.0
    )  # products that are not whole, so that their rounding tells
    rows = rows_of(scale * draw_rows(rng, name, 150, 40, mean=0.5), row_weights=rng.random(150))
    parameters = parameters_of(name, draw_mixture(rng, name, n_components, 40, zeros=0.02))
    alone = engine.summarize([rows], parameters, is_hard=is_hard)
    assert 0 < alone.sizes.max() < 150
    for n_threads in (2, 3):
        assert_same_bits(engine.summarize([rows], parameters, is_hard=is_hard, n_threads=n_threads), alone)


@names
def test_a_row_of_weight_two_is_two_rows(name):
    rng = np.random.default_rng(7)
    dense, parameters = draw_rows(rng, name), parameters_of(name, draw_mixture(rng, name))
    twice = engine.summarize([rows_of(np.repeat(dense, 2, axis=0))], parameters)
    assert_same(engine.summarize([rows_of(dense, row_weights=np.full(12, 2.0))], parameters), twice)


@names
@ways
def test_rows_that_no_component_can_have_made_keep_the_weights_and_are_counted(name, is_hard):
    parameters = parameters_of(name, APART)
    rows = rows_of(np.vstack([IMPOSSIBLE, IMPOSSIBLE[:1]]))
    found, log_evidence = engine.responsibilities_of(rows, parameters, is_hard=is_hard)
    assert_allclose(found, [[0.25, 0.75], [1.0, 0.0], [0.0, 1.0], [0.25, 0.75]])
    assert_array_equal(np.isneginf(log_evidence), [True, False, False, True])
    statistics = engine.summarize([rows], parameters, is_hard=is_hard)
    assert statistics.n_impossible == 2
    assert statistics.log_likelihood == -np.inf
    assert_allclose(statistics.sizes, [1.5, 2.5])


@names
@ways
def test_an_impossible_row_that_weighs_nothing_spoils_nothing(name, is_hard):
    parameters = parameters_of(name, APART)
    rows = rows_of(IMPOSSIBLE, row_weights=[0.0, 1.0, 1.0])
    statistics = engine.summarize([rows], parameters, is_hard=is_hard)
    expected = engine.summarize([rows_of(IMPOSSIBLE[1:])], parameters, is_hard=is_hard)
    assert statistics.log_likelihood == expected.log_likelihood
    assert_array_equal(statistics.counts, expected.counts)


def test_certain_features_are_asked_for():
    """A component whose rows all hold a feature makes no row without it."""
    dense = Dense(np.array([0.5, 0.5]), np.array([[1.0, 0.5, 1.0], [0.5, 0.5, 0.0]]))
    rows = np.array(list(product([0.0, 1.0], repeat=3)))
    found, log_evidence = engine.responsibilities_of(rows_of(rows), parameters_of("bernoulli", dense))
    expected = log_joint_of("bernoulli", dense, rows)
    assert_allclose(np.exp(log_evidence), np.exp(expected).sum(axis=1))
    by_the_first = (found[:, 0] > 0.0) & (log_evidence > -np.inf)
    assert_array_equal(rows[by_the_first], [[1.0, 0.0, 1.0], [1.0, 1.0, 1.0]])


@given(seed=seeds)
def test_binary_rows_have_probabilities_that_sum_to_one(seed):
    """Also with features that are certain or impossible, by all rows that there are."""
    rng = np.random.default_rng(seed)
    dense = draw_mixture(rng, "bernoulli", zeros=0.5)
    rows = np.array(list(product([0.0, 1.0], repeat=6)))
    _, log_evidence = engine.responsibilities_of(rows_of(rows), parameters_of("bernoulli", dense))
    assert np.exp(log_evidence).sum() == pytest.approx(1.0)


@given(seed=seeds, zeros=st.sampled_from([0.0, 0.4]))
def test_texts_of_one_length_have_probabilities_that_sum_to_one(seed, zeros):
    dense = draw_mixture(np.random.default_rng(seed), "multinomial", n_features=4, zeros=zeros)
    rows = np.array([row for row in product(range(5), repeat=4) if sum(row) == 4], float)
    orders = [factorial(4) / np.prod([factorial(int(count)) for count in row]) for row in rows]
    _, log_evidence = engine.responsibilities_of(rows_of(rows), parameters_of("multinomial", dense))
    assert orders @ np.exp(log_evidence) == pytest.approx(1.0)


@names
@ways
def test_empty_rows(name, is_hard):
    rng = np.random.default_rng(10)
    dense = draw_mixture(rng, name)
    rows = rows_of(np.zeros((2, 6)))
    found, log_evidence = engine.responsibilities_of(rows, parameters_of(name, dense), is_hard=is_hard)
    _, expected = expect(name, dense, np.zeros((2, 6)), rows.labels, is_hard=is_hard)
    assert_allclose(found, expected)
    if name == "multinomial" and not is_hard:  # no words tell nothing
        assert_allclose(found, [dense.weights] * 2)
        assert_allclose(log_evidence, 0.0, atol=1e-15)
    statistics = engine.summarize([rows], parameters_of(name, dense), is_hard=is_hard)
    assert statistics.sizes.sum() == pytest.approx(2.0)
    assert not statistics.counts.any()


@names
def test_no_rows(name):
    parameters = parameters_of(name, draw_mixture(np.random.default_rng(0), name))
    nothing = rows_of(np.zeros((0, 6)))
    for blocks in ([], [nothing], [nothing, nothing]):
        statistics = engine.summarize(blocks, parameters, n_threads=2)
        assert_same_bits(statistics, Statistics.zeros(3, 6))
        assert engine.assignments(blocks, parameters).shape == (0,)
    assert engine.responsibilities_of(nothing, parameters)[0].shape == (0, 3)


@names
def test_equals_go_to_the_first(name):
    dense = draw_mixture(np.random.default_rng(0), name, 1)
    alike = Dense(np.full(3, 1 / 3), np.repeat(dense.profiles, 3, axis=0))
    rows = rows_of(draw_rows(np.random.default_rng(1), name))
    assert_array_equal(engine.assignments([rows], parameters_of(name, alike)), 0)
    hard, _ = engine.responsibilities_of(rows, parameters_of(name, alike), is_hard=True)
    assert_array_equal(hard, [[1.0, 0.0, 0.0]] * 12)


def test_slices_and_choices_of_rows():
    rng = np.random.default_rng(0)
    dense = draw_rows(rng, "multinomial")
    rows = rows_of(dense, np.arange(12) % 3 - 1, rng.random(12))
    part = rows.slice(3, 8)
    assert part.n_rows == 5
    assert part.indptr[0] == 0
    assert_array_equal(part.to_csr(6).toarray(), dense[3:8])
    assert_array_equal(part.labels, rows.labels[3:8])
    assert_array_equal(part.row_weights, rows.row_weights[3:8])
    assert np.shares_memory(part.values, rows.values)
    which = np.array([5, 0, 5])
    chosen = rows.taken(which)
    assert_array_equal(chosen.to_csr(6).toarray(), dense[which])
    assert_array_equal(chosen.labels, rows.labels[which])
    assert_array_equal(chosen.row_weights, rows.row_weights[which])
    assert (chosen.indptr.dtype, chosen.columns.dtype) == (np.int64, np.int32)
    assert rows_of(np.zeros((2, 3))).taken(np.array([1])).n_rows == 1
