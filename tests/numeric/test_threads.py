"""Work in parts: every piece is done once, whatever the number of threads."""

import multiprocessing
import os
import threading
import time
from concurrent.futures import Future

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sparsemix.numeric.threads import equal_parts, holds_everywhere, row_parts, thread_parts, thread_runner

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


@given(work=works, n_threads=st.integers(1, 8))
def test_parts_for_threads_cover_all_and_become_smaller(work, n_threads):
    parts = thread_parts(work, n_threads)
    assert [i for first, last in parts for i in range(first, last)] == list(range(work.size))
    assert len(parts) <= (1 if n_threads == 1 else 12 * n_threads)
    first, *_, last = thread_parts(np.ones(1_000), 1 + n_threads)
    assert first[1] - first[0] >= 2 * (last[1] - last[0])


@given(lengths=st.lists(st.integers(0, 9), max_size=30), n_threads=st.integers(1, 8))
def test_rows_are_cut_by_what_they_hold(lengths, n_threads):
    indptr = np.cumsum([0, *lengths])
    assert row_parts(indptr, n_threads) == thread_parts(np.array(lengths) + 1.0, n_threads)


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


@pytest.mark.parametrize("slow", [0, 1])
def test_of_several_errors_the_first_in_order_reaches_the_caller(slow):
    meeting = threading.Barrier(2, timeout=60.0)

    def fail(part):
        meeting.wait()
        if part[0] == slow:
            time.sleep(0.02)
        raise ValueError(f"part {part}")

    with thread_runner(2) as run, pytest.raises(ValueError, match=r"part \(0, 1\)"):
        run(fail, [(0, 1), (1, 2)])


def test_parts_may_have_parts_themselves():
    done = np.zeros((6, 6), int)

    def outer(part):
        def inner(own):
            done[part[0], own[0]] += 1

        with thread_runner(3) as run_inner:
            run_inner(inner, [(i, i + 1) for i in range(6)])

    with thread_runner(3) as run:
        run(outer, [(i, i + 1) for i in range(6)])
    assert_array_equal(done, 1)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are not copied here")
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")
def test_a_copied_process_has_helpers_of_its_own():
    meet_twice()
    child = multiprocessing.get_context("fork").Process(target=meet_twice)
    child.start()
    child.join(60.0)
    assert child.exitcode == 0


def meet_twice():
    meeting = threading.Barrier(2, timeout=30.0)
    with thread_runner(2) as run:
        run(lambda _: meeting.wait() and None, [(0, 1), (1, 2)])


@pytest.mark.parametrize("n_threads", [1, 3])
@pytest.mark.parametrize(("odd", "holds"), [(None, True), (0, False), (9, False), (4, False)])
def test_a_test_holds_everywhere(n_threads, odd, holds):
    values = np.ones(10)
    if odd is not None:
        values[odd] = 0.0
    assert holds_everywhere(lambda piece: bool(values[piece].all()), 10, 3, n_threads) is holds


def test_pieces_overlap():
    """A fall from one piece to the next is seen."""
    values = np.array([1, 2, 1, 2])
    rises = lambda piece: bool(np.all(np.diff(values[piece]) > 0))  # noqa: E731
    assert holds_everywhere(rises, 4, 2, 1)
    assert not holds_everywhere(rises, 4, 2, 1, overlap=1)
    assert holds_everywhere(rises, 0, 2, 1, overlap=1)


def test_no_helper_is_at_work_after_an_interrupt(monkeypatch):
    """Also where the user interrupts the waiting itself."""
    done, started = [], threading.Event()

    def interrupted(_):
        raise KeyboardInterrupt

    def work(part):
        if threading.current_thread() is threading.main_thread():
            started.wait(30.0)
            return
        started.set()
        time.sleep(0.05)
        done.append(part)

    monkeypatch.setattr(Future, "result", interrupted)
    with thread_runner(2) as run, pytest.raises(KeyboardInterrupt):
        run(work, [(0, 1), (1, 2)])
    assert len(done) == 1
