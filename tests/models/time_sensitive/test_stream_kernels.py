"""Kernels of streams against the equations: entering, ending, re-sampling."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp
from stream_cases import rows_of, rules_of, stream_of, threads
from thread_cases import FAMILIES, all_partitions, setting

from sparsemix.models.time_sensitive import equations, stream_kernels, window_kernels
from sparsemix.models.time_sensitive.stream import Stream, part
from sparsemix.models.time_sensitive.stream_state import Ended
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

families = pytest.mark.parametrize("family", FAMILIES)
KERNELS = {"exponential": TimeKernel.exponential(1.0), "step": TimeKernel.step()}


@families
@pytest.mark.parametrize("kernel", KERNELS)
@pytest.mark.parametrize("assignment", [0, 1])
@pytest.mark.parametrize("negligible", [1e-12, 0.05])
def test_rows_go_where_the_equations_put_them(family, kernel, assignment, negligible):
    dense, times = threads(60, np.random.default_rng(4))
    case = setting(family, KERNELS[kernel], dense, times, concentration=0.2)
    least = stream_kernels.LEAST_SHARE
    expected = equations.stream(
        case.prior, case.dense, case.logs, is_soft=bool(assignment), negligible=negligible, least_share=least
    )
    rules = rules_of(case.prior, case.timing.rate, assignment=assignment, is_held=0, negligible=negligible)
    stream = Stream(rules, 0, 0)
    labels, ended = stream.learn(rows_of(case.dense, times))
    assert_array_equal(labels, expected.argmax(axis=1))
    assert expected.shape[1] > 1
    # What the live clusters hold, and the size of those that have ended.
    live = stream.clusters.ids[stream.active]
    assert_array_equal(np.sort([*live, *ended[:, 0]]), np.arange(expected.shape[1]))
    assert (kernel == "step") == (len(ended) == 0)
    assert_allclose(stream.clusters.sizes[stream.active], expected[:, live].sum(axis=0))
    assert_allclose(ended[:, 3], expected[:, ended[:, 0].astype(int)].sum(axis=0))
    held, found = stream.held(), np.zeros((live.size, dense.shape[1]))
    found[np.repeat(np.arange(live.size), np.diff(held.indptr)), held.columns] = held.counts
    assert_allclose(found, (expected.T @ case.dense)[live], atol=1e-12)
    is_first = expected > 0
    assert_array_equal(stream.clusters.born[stream.active], times[is_first.argmax(axis=0)][live])


@families
@pytest.mark.parametrize("n_window", [5, 3, 1])
def test_conditionals_in_the_window_are_those_of_the_equations(family, n_window):
    case = setting(family)
    last = np.arange(5 - n_window, 5)
    for labels in all_partitions(5):
        for row in range(n_window):
            stream, slots = stream_of(case, labels, n_window)
            rows, slots = part(rows_of(case.dense, case.timing.times), last[0], 5), slots[last]
            state = (stream.rules, stream.clusters, stream.cells)
            window_kernels.take_out(rows, row, *state, slots[row])
            scratch = np.empty((3, stream.clusters.ids.size))
            n = window_kernels.score_again(rows, row, *state, slots, *scratch)
            found = stream.clusters.scores[:n] - logsumexp(stream.clusters.scores[:n])
            candidates = equations.candidates(labels, last[row])
            expected = equations.log_conditional(case.prior, case.dense, case.logs, labels, last[row])
            by_label = np.argsort(
                candidates[:-1]
            )  # ids are in the order of first appearance, as the labels are
            assert_allclose(found, [*expected[:-1][by_label], expected[-1]], rtol=1e-9, atol=1e-12)


@families
def test_what_is_left_after_sweeps_is_what_the_rows_say(family):
    dense, times = threads(80, np.random.default_rng(5))
    case = setting(family, KERNELS["exponential"], dense, times, concentration=0.3)
    stream = Stream(rules_of(case.prior, case.timing.rate), 20, 3)
    ids = np.empty(0, np.int64)
    is_moved = False
    for row in range(80):
        found, _ = stream.learn(rows_of(case.dense[row : row + 1], times[row : row + 1]))
        ids = np.append(ids, found)
        recent = stream.clusters.ids[stream.recent.slots]
        is_moved |= bool(np.any(ids[stream.recent.positions] != recent))
        ids[stream.recent.positions] = recent
    assert is_moved
    check_state(stream, case, ids, times)


def check_state(stream, case, ids, times):
    clusters, held = stream.clusters, stream.held()
    for at, slot in enumerate(stream.active):
        members = ids == clusters.ids[slot]
        assert clusters.sizes[slot] == members.sum()
        assert clusters.totals[slot] == case.dense[members].sum()
        assert clusters.last[slot] == times[members].max()
        assert clusters.in_window[slot] == members[stream.recent.positions].sum()
        ages = clusters.last[slot] - times[members]
        assert_allclose(clusters.weight[slot], np.exp(-case.timing.rate * ages).sum(), rtol=1e-12)
        counts = np.zeros(case.dense.shape[1])
        cells = slice(held.indptr[at], held.indptr[at + 1])
        counts[held.columns[cells]] = held.counts[cells]
        assert_array_equal(counts, case.dense[members].sum(axis=0))
    n_linked = sum(clusters.n_held[stream.active])
    assert stream.cells.numbers[1] == stream.cells.slot.size - n_linked


def test_a_sweep_draws_from_the_conditionals():
    """Where rows settle over very many sweeps, against the posterior of all partitions of four rows."""
    case = setting(
        "multinomial", dense=np.eye(3, dtype=int)[[0, 0, 1, 1]] * 2, times=np.array([0.0, 1.0, 1.0, 3.0])
    )
    partitions = all_partitions(4)
    joints = [equations.log_joint(case.prior, case.dense, case.logs, each) for each in partitions]
    expected = np.exp(joints - logsumexp(joints))
    stream, _ = stream_of(case, np.array([0, 0, 1, 1]), 4)
    rows, slots = stream.recent.rows, stream.recent.slots
    uniforms = np.random.default_rng(0).random((20_000, 4))
    seen = dict.fromkeys((tuple(each) for each in partitions), 0)
    for own in uniforms:
        stream._make_room(4, 12)
        scratch = np.empty((3, stream.clusters.ids.size))
        ended = Ended(np.empty((4, 5)), np.zeros(1, np.int64))
        state = (stream.rules, stream.clusters, stream.cells)
        window_kernels.resample(rows, *state, slots, own, *scratch, ended)
        first = {slot: k for k, slot in enumerate(dict.fromkeys(slots.tolist()))}
        seen[tuple(first[slot] for slot in slots.tolist())] += 1
    found = np.array(list(seen.values())) / uniforms.shape[0]
    assert np.abs(found - expected).sum() / 2 < 0.02


def test_weights_that_vanish_between_two_rows_of_a_cluster_are_no_trouble():
    """Ages of thousands of half-lives, where the weights themselves are zero in double precision."""
    case = setting("multinomial", TimeKernel.exponential(1.0), times=np.array([0.0, 5e3, 5e3, 6e3, 9e3]))
    labels = np.array([0, 0, 1, 0, 1])
    for row in range(5):
        stream, slots = stream_of(case, labels, 5)
        rows, state = stream.recent.rows, (stream.rules, stream.clusters, stream.cells)
        window_kernels.take_out(rows, row, *state, slots[row])
        scratch = np.empty((3, stream.clusters.ids.size))
        n = window_kernels.score_again(rows, row, *state, slots, *scratch)
        expected = equations.log_conditional(case.prior, case.dense, case.logs, labels, row)
        found = stream.clusters.scores[:n] - logsumexp(stream.clusters.scores[:n])
        by_label = np.argsort(equations.candidates(labels, row)[:-1])
        assert_allclose(found, [*expected[:-1][by_label], expected[-1]], rtol=1e-9, atol=1e-12)
