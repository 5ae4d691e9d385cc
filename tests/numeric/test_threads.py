"""Work in parts: every piece is done once, whatever the number of threads."""

import threading

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sparsemix.numeric.threads import equal_parts, thread_runner

works = st.lists(st.sampled_from([0.0, 1.0, 2.5, 40.0]), max_size=30).map(np.array)


@given(work=works, n_parts=st.integers(1, 8))
def test_parts_are_consecutive_and_cover_all(work, n_parts):
    parts = equal_parts(work, n_parts)
    assert [i for first, last in parts for i in range(first, last)] == list(range(work.size))
    assert all(first < last for first, last in parts)
    assert len(parts) <= n_parts


@given(work=works, n_parts=st.integers(1, 8))
def test_no_part_exceeds_its_share_by_more_than_one_piece(work, n_parts):
    share = work.sum() / n_parts + work.max(initial=0.0)
    assert all(work[first:last].sum() <= share + 1e-9 for first, last in equal_parts(work, n_parts))


def test_equal_work_is_cut_evenly():
    assert equal_parts(np.ones(12), 3) == [(0, 4), (4, 8), (8, 12)]
    assert equal_parts(np.ones(2), 3) == [(0, 1), (1, 2)]
    assert equal_parts(np.zeros(4), 2) == [(0, 4)]
    assert equal_parts(np.array([9.0, 1.0, 1.0, 1.0]), 2) == [(0, 1), (1, 4)]


@pytest.mark.parametrize("n_parts", [1, 2, 3])
def test_no_work_has_no_parts(n_parts):
    assert equal_parts(np.empty(0), n_parts) == []


@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_every_part_is_done_once_before_the_call_returns(n_threads):
    done = np.zeros(20, int)

    def work(part):
        done[slice(*part)] += 1

    with thread_runner(n_threads) as run:
        for n_calls in (1, 2):
            run(work, equal_parts(np.ones(20), 7))
            assert_array_equal(done, n_calls)
        run(work, [])
    assert_array_equal(done, 2)


def test_one_thread_is_the_callers_own():
    seen = []
    with thread_runner(1) as run:
        run(lambda part: seen.append((part, threading.current_thread())), [(0, 1), (1, 2)])
    assert seen == [((0, 1), threading.current_thread()), ((1, 2), threading.current_thread())]


def test_two_parts_run_side_by_side():
    meeting = threading.Barrier(2, timeout=60.0)  # passes only if both parts are under way at once
    with thread_runner(2) as run:
        run(lambda _: meeting.wait() and None, [(0, 1), (1, 2)])
    assert meeting.n_waiting == 0
    assert not meeting.broken


@pytest.mark.parametrize("n_threads", [1, 2])
def test_an_error_in_a_part_reaches_the_caller(n_threads):
    def fail(part):
        raise ValueError(f"part {part}")

    with thread_runner(n_threads) as run, pytest.raises(ValueError, match=r"part \(0, 1\)"):
        run(fail, [(0, 1), (1, 2)])
