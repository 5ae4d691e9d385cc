"""Stop when the user asks: at once while rows are read, else between two blocks, so that the rest can be saved."""

import os
import signal
import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from types import FrameType
from typing import NoReturn, TypeVar

from sparsemix.cli.console import note

Block = TypeVar("Block")

SAVED_UNLESS_ASKED_AGAIN = (
    "Stopping; what is learnt will be saved. Ctrl-C again stops at once and saves nothing."
)
_SIGNALS = (signal.SIGINT, signal.SIGTERM)
_PATIENCE = 0.2  # seconds to wait for an answer


class StopRequest:
    """Whether the user has asked to stop; a second Ctrl-C stops at once.

    Attributes
    ----------
    wanted : bool
    insisted : bool
        Whether there was a second Ctrl-C.
    """

    def __init__(self) -> None:
        self.wanted = self.insisted = False
        self._is_reading = False

    def ask(self, number: int, _frame: FrameType | None) -> None:
        """Note the wish, and let the next signal stop at once; while rows are read, this one does."""
        self.wanted = True
        signal.signal(number, self._insist if number == signal.SIGINT else signal.SIG_DFL)
        if self._is_reading:
            raise KeyboardInterrupt

    def _insist(self, _number: int, _frame: FrameType | None) -> NoReturn:
        self.insisted = True
        raise KeyboardInterrupt

    def reading(self, blocks: Iterable[Block]) -> Iterator[Block]:
        """Yield blocks; a wish to stop ends the reading of the next one, which may take long, at once.

        Raises
        ------
        KeyboardInterrupt
            When the user asks, or has asked since the block before.
        """
        waiting = iter(blocks)
        while (block := self._next(waiting)) is not None:
            yield block

    def _next(self, blocks: Iterator[Block]) -> Block | None:
        self._is_reading = True
        try:
            if self.wanted:
                raise KeyboardInterrupt
            return next(blocks, None)
        except Exception as error:
            if self.wanted:  # libraries turn Ctrl-C into errors of their own
                raise KeyboardInterrupt from error
            raise
        finally:
            self._is_reading = False


@contextmanager
def stop_between_blocks(answer: str = "", *, quiet: bool = False) -> Iterator[StopRequest]:
    """Turn Ctrl-C and a polite kill into a wish while the block runs.

    Parameters
    ----------
    answer : str
        What to tell the user who has asked, if that takes a moment.
    quiet : bool
        Tell nothing.

    Yields
    ------
    StopRequest
    """
    request = StopRequest()
    with _handled(_SIGNALS, request.ask, "" if quiet else answer):
        yield request


@contextmanager
def remembering_ctrl_c() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C raise KeyboardInterrupt as always, and give a function that tells whether it has."""
    pressed = []

    def interrupt(number: int, _frame: FrameType | None) -> NoReturn:
        pressed.append(number)
        raise KeyboardInterrupt

    with _handled((signal.SIGINT,), interrupt, "Stopping, once the step that is running ends."):
        yield lambda: bool(pressed)


@contextmanager
def _handled(
    numbers: Iterable[int], handler: Callable[[int, FrameType | None], None], answer: str
) -> Iterator[None]:
    if threading.current_thread() is not threading.main_thread():
        yield
        return
    heeded = [number for number in numbers if signal.getsignal(number) is not signal.SIG_IGN]
    before = {number: signal.signal(number, handler) for number in heeded}
    try:
        with _answering(answer):
            yield
    finally:
        for number, old in before.items():
            signal.signal(number, old)


@contextmanager
def _answering(answer: str) -> Iterator[None]:
    """Tell the user who sends a signal that it has arrived, unless the block ends in a moment anyway.

    A thread does, for Python's handlers wait until compiled code, such as the sort of a table, comes back.
    """
    source, target = os.pipe()
    os.set_blocking(target, False)
    before = signal.set_wakeup_fd(target)
    is_over = threading.Event()

    def listen() -> None:
        if os.read(source, 1) and not is_over.wait(_PATIENCE) and answer:
            note(answer)

    listener = threading.Thread(target=listen, daemon=True)
    listener.start()
    try:
        yield
    finally:
        is_over.set()
        signal.set_wakeup_fd(before)
        os.close(target)
        listener.join()
        os.close(source)
