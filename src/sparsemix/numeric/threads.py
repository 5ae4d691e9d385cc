"""Work on several threads, with an answer that does not depend on their number."""

import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from threading import Event
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Part = TypeVar("Part")
Run = Callable[[Callable[[Part], None], Sequence[Part]], None]

MOST_HELPERS = 1_000
LEAST_SHARE = 1 / 4  # of the work of a thread, in the last parts


@contextmanager
def thread_runner(n_threads: int) -> Iterator[Run[tuple[int, int]]]:
    """Yield ``run(function, parts)``, which calls the function for each part, and waits.

    Parts must write to places of their own. Kernels let go of the interpreter lock, so that they run side by side:
    the caller's thread and helpers each take the next part when they are done with one.

    Examples
    --------
    >>> squares = np.zeros(4)
    >>> def fill(part):
    ...     squares[slice(*part)] = np.arange(*part) ** 2
    >>> with thread_runner(2) as run:
    ...     run(fill, [(0, 2), (2, 4)])
    >>> squares
    array([0., 1., 4., 9.])
    """
    if n_threads == 1:
        yield _one_after_another
        return

    def side_by_side(function: Callable[[Part], None], parts: Sequence[Part]) -> None:
        left, errors = deque(enumerate(parts)), dict[int, BaseException]()
        n_helpers = min(n_threads, len(parts)) - 1
        helpers = [_pool().submit(_take_parts, function, left, errors) for _ in range(n_helpers)]
        try:
            _take_parts(function, left, errors)
        finally:
            left.clear()
            _wait_for([helper for helper in helpers if not helper.cancel()])
        if errors:
            raise errors[min(errors)]  # the first in their order: it has come to its end, whoever was faster

    yield side_by_side


def _wait_for(helpers: Sequence[Future[None]]) -> None:
    """Wait until no helper is at work, also where the user interrupts that: parts write to what the caller has."""
    try:
        for helper in helpers:
            helper.result()
    except BaseException:
        wait(helpers)
        raise


@cache
def _pool() -> ThreadPoolExecutor:
    """Helpers for the life of the process, started when they are wanted: to start one takes as long as a small part."""
    return ThreadPoolExecutor(MOST_HELPERS, thread_name_prefix="sparsemix")


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_pool.cache_clear)  # threads are not copied


def _take_parts(
    function: Callable[[Part], None], left: deque[tuple[int, Part]], errors: dict[int, BaseException]
) -> None:
    while left:
        try:
            number, part = left.popleft()
        except IndexError:  # another thread has taken the last one
            return
        try:
            function(part)
        except BaseException as error:
            errors[number] = error
            left.clear()


def run_tasks(run: Run[tuple[int, int]], tasks: Sequence[Callable[[], None]]) -> None:
    """Let threads call functions that have nothing to do with each other, the longest ones best first."""
    run(lambda place: tasks[place[0]](), [(i, i + 1) for i in range(len(tasks))])


def holds_everywhere(
    test: Callable[[slice], bool], size: int, length: int, n_threads: int, *, overlap: int = 0
) -> bool:
    """Whether a test holds for each piece of ``range(size)`` of such a length; asked no more where one fails.

    Parameters
    ----------
    overlap : int, default=0
        How far a piece begins before the end of the one before it.

    Examples
    --------
    >>> numbers = np.array([1, 2, 3, 5, 4])
    >>> holds_everywhere(lambda piece: np.all(np.diff(numbers[piece]) > 0), 5, 2, n_threads=2, overlap=1)
    False
    """
    failed = Event()

    def look(part: tuple[int, int]) -> None:
        if not failed.is_set() and not test(slice(max(part[0] - overlap, 0), part[1])):
            failed.set()

    with thread_runner(n_threads) as run:
        run(look, [(first, min(first + length, size)) for first in range(0, size, length)])
    return not failed.is_set()


def _one_after_another(function: Callable[[Part], None], parts: Sequence[Part]) -> None:
    for part in parts:
        function(part)


@contextmanager
def told(wanted: Event) -> Iterator[None]:
    """Let work on other threads know of an error, which is also how the user stops it.

    Examples
    --------
    >>> wanted = Event()
    >>> try:
    ...     with told(wanted):
    ...         raise KeyboardInterrupt
    ... except KeyboardInterrupt:
    ...     wanted.is_set()
    True
    """
    try:
        yield
    except BaseException:
        wanted.set()
        raise


def equal_parts(work: NDArray[np.float64], n_parts: int) -> list[tuple[int, int]]:
    """Cut ``range(work.size)`` into consecutive parts of about the same total work; empty parts are left out.

    Examples
    --------
    >>> equal_parts(np.array([1.0, 1.0, 1.0, 3.0]), 2)
    [(0, 3), (3, 4)]
    """
    return _cut(work, np.arange(1, n_parts) / n_parts)


def thread_parts(work: NDArray[np.float64], n_threads: int) -> list[tuple[int, int]]:
    """Cut ``range(work.size)`` into consecutive parts, large ones first, for threads that each take the next one.

    So no thread waits long for another at the end, though it is only guessed how long a part takes.

    Examples
    --------
    >>> thread_parts(np.ones(64), 2)
    [(0, 16), (16, 28), (28, 37), (37, 45), (45, 53), (53, 61), (61, 64)]
    """
    return _cut(work, _falling_shares(n_threads))


def row_parts(indptr: NDArray[np.integer[Any]], n_threads: int) -> list[tuple[int, int]]:
    """Cut rows as `thread_parts` does; work on a row is what it holds, and a little more.

    Examples
    --------
    >>> row_parts(np.array([0, 5, 5, 5, 10]), 1)
    [(0, 4)]
    """
    return _cut_at(indptr + np.arange(indptr.size), _falling_shares(n_threads))


@cache
def _falling_shares(n_threads: int) -> NDArray[np.float64]:
    """Where to cut: each part is a share of what is left, by the number of threads."""
    ends, left = [], 1.0
    while n_threads > 1 and left > LEAST_SHARE / n_threads:
        left -= max(left / (2 * n_threads), LEAST_SHARE / n_threads)
        ends.append(1.0 - left)
    return np.array(ends)


def _cut(work: NDArray[np.float64], shares: NDArray[np.float64]) -> list[tuple[int, int]]:
    ends = np.zeros(work.size + 1)
    np.cumsum(work, out=ends[1:])
    return _cut_at(ends, shares)


def _cut_at(ends: NDArray[Any], shares: NDArray[np.float64]) -> list[tuple[int, int]]:
    """Cut where the work that lies before, ``ends[i]`` before `i`, is nearest to these shares of all."""
    n_pieces = ends.size - 1
    if not shares.size:
        return [(0, n_pieces)] if n_pieces else []
    wanted = ends[-1] * shares
    above = np.searchsorted(ends, wanted)
    below = np.maximum(above - 1, 0)
    nearest = np.where(wanted - ends[below] < ends[above] - wanted, below, above)
    bounds = [0, *nearest.tolist(), n_pieces]
    return [(a, b) for a, b in pairwise(bounds) if a < b]
