"""Kernels against the equations: conditionals, whole sweeps, evidence."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from thread_cases import (
    FAMILIES,
    RULES,
    all_partitions,
    approach,
    chains_of,
    compiled_conditional,
    setting,
)
from thread_entries import score_near

from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import building, chain_kernels, equations, kernels, score_kernels
from sparsemix.models.time_sensitive.state import RECURSION

families = pytest.mark.parametrize("family", FAMILIES)
rules = pytest.mark.parametrize(("kernel", "strict"), RULES)


def is_possible(case, labels):
    return not np.isneginf(equations.log_prior(case.logs, labels, case.prior.concentration))


@rules
@families
def test_conditionals_are_those_of_the_equations(family, kernel, strict):
    case = setting(family, kernel, strict=strict)
    for labels in filter(lambda each: is_possible(case, each), all_partitions(5)):
        for row in range(5):
            clusters, found = compiled_conditional(case, labels, row)
            candidates = equations.candidates(labels, row)
            expected = np.exp(equations.log_conditional(case.prior, case.dense, case.logs, labels, row))
            share = dict(zip(candidates[:-1], expected[:-1], strict=True)) | {-1: expected[-1]}
            # Clusters that are not looked at have no weight; the others stand in the order of the candidates.
            assert [c for c in candidates[:-1] if c in clusters] == clusters[:-1].tolist()
            assert sum(share[c] for c in clusters) > 1.0 - 1e-11
            assert_allclose(np.exp(found), [share[c] for c in clusters], rtol=1e-9, atol=1e-11)


@rules
def test_impossible_partitions_are_told(kernel, strict):
    case = setting(kernel=kernel, strict=strict)
    for labels in all_partitions(5):
        chains = building.no_clusters(5)
        assert chain_kernels.link_all(case.timing, chains, labels) == is_possible(case, labels)


def stream(n_rows, rng, n_features=12, length=6):
    """Rows of threads that come and go."""
    times = np.cumsum(np.round(rng.exponential(1.0, n_rows), 1))
    topic = (times // 15).astype(int) + rng.integers(3, size=n_rows)
    centre = np.random.default_rng(1).dirichlet(np.full(n_features, 0.3), topic.max() + 1)
    return np.array([rng.multinomial(length, centre[t]) for t in topic]), times


def swept(case, labels, uniforms):
    """Labels after a compiled sweep, and what it tells."""
    chains, window, tally = chains_of(case, labels), building.window_of(case.rows, case.prior), np.zeros(4)
    kernels.sweep(case.rows, case.prior, case.timing, chains, window, uniforms, tally)
    assert window.n_active[0] == 0
    assert not window.n_listed.any()
    assert not window.sizes.any()
    return chains, tally


@rules
@families
def test_sweeps_choose_what_the_equations_choose(family, kernel, strict):
    rng = np.random.default_rng(3)
    dense, times = stream(25, rng)
    case = setting(family, kernel, dense, times, strict=strict)
    labels = np.arange(25)
    for _ in range(3):
        uniforms = rng.random(25)
        expected = equations.sweep(case.prior, case.dense, case.logs, labels, uniforms)
        chains, tally = swept(case, labels, uniforms)
        assert_array_equal(by_first_appearance(chains.assigned), by_first_appearance(expected))
        assert tally[2] == np.unique(expected).size
        check_joint(case, chains, tally)
        check_decays(case, chains)
        labels = chains.assigned.copy()


def test_what_sweeps_leave_out_is_not_seen():
    dense, times = stream(120, np.random.default_rng(8))
    case = setting("multinomial", "exponential", dense * 3, times)
    labels, n_left_out = by_first_appearance((times // 15).astype(np.int64)), 0
    for row in range(0, 120, 7):
        chains, window = chains_of(case, labels), building.window_of(case.rows, case.prior)
        state = (case.prior, case.timing, chains, window)
        approach(case, chains, window, row)
        kernels.take_out(case.rows, row, *state)
        n = score_near(case.rows, row, *state, np.inf)
        exact, sizes = window.scores[:n].copy(), window.sizes[window.active[: n - 1]]
        assert score_near(case.rows, row, *state, score_kernels.FAR) == n
        missing = exact - window.scores[:n]
        is_bounded = missing <= np.append(np.log(sizes), 0.0) + 1e-12
        assert np.all((missing >= -1e-12) & (is_bounded | (missing == np.inf)))
        assert np.all(np.exp(exact - exact.max())[missing > 1e-12] < 1e-20)
        n_left_out += np.count_nonzero(missing > 1e-12)
    assert n_left_out >= 3


def check_decays(case, chains):
    if case.timing.way == RECURSION:
        later = np.flatnonzero(chains.before >= 0)
        gaps = case.timing.times[later] - case.timing.times[chains.before[later]]
        assert later.size > 5
        assert_allclose(chains.decay[later], np.exp(-case.timing.rate * gaps), rtol=1e-15)


def check_joint(case, chains, tally):
    sums = np.empty(len(case.dense))
    chain_kernels.sums_of_weights(case.timing, sums)
    normalizer = np.sum(np.log(sums + case.prior.concentration))
    of_times = chain_kernels.log_time_prior(case.timing, np.log(case.prior.concentration), chains)
    expected = equations.log_joint(case.prior, case.dense, case.logs, chains.assigned)
    assert_allclose(tally[0] + of_times - normalizer, expected, rtol=1e-11)


@pytest.mark.parametrize("n_rows", [250, pytest.param(500, marks=pytest.mark.slow)])
def test_same_seed_gives_the_labels_of_the_reference(n_rows):
    rng = np.random.default_rng(11)
    dense, times = stream(n_rows, rng)
    case = setting("multinomial", "exponential", dense, times, concentration=0.1)
    uniforms, tally = rng.random((1, n_rows)), np.zeros(4)
    chains, window = building.no_clusters(n_rows), building.window_of(case.rows, case.prior)
    kernels.sweep(case.rows, case.prior, case.timing, chains, window, rng.random(n_rows), tally)
    labels = chains.assigned.copy()
    assert labels.min() >= 0
    for own in uniforms:
        expected = equations.sweep(case.prior, case.dense, case.logs, labels, own)
        kernels.sweep(case.rows, case.prior, case.timing, chains, window, own, tally)
        assert_array_equal(by_first_appearance(chains.assigned), by_first_appearance(expected))
        labels = expected
    assert 5 < tally[2] < 100
    assert tally[3] < tally[2] + 1  # the window is smaller than the stream
