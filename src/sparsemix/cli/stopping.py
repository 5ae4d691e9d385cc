"""Stop between two blocks when the user asks, so that what is learnt can be saved."""

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

_SIGNALS = (signal.SIGINT, signal.SIGTERM)


class StopRequest:
    """Whether the user has asked to stop; a second Ctrl-C stops at once.

    Parameters
    ----------
    on_ask : callable, optional
        Called at once when the user asks.
    """

    def __init__(self, on_ask: Callable[[], None] = lambda: None) -> None:
        self.wanted = False
        self._on_ask = on_ask

    def ask(self, number: int, _frame: FrameType | None) -> None:
        """Note the wish, and give the signal back its usual meaning."""
        self.wanted = True
        self._on_ask()
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)


@contextmanager
def stop_between_blocks(on_ask: Callable[[], None] = lambda: None) -> Iterator[StopRequest]:
    """Turn Ctrl-C and a polite kill into a wish while the block runs.

    Parameters
    ----------
    on_ask : callable, optional
        As in `StopRequest`.

    Yields
    ------
    StopRequest
    """
    request = StopRequest(on_ask)
    if threading.current_thread() is not threading.main_thread():
        yield request
        return
    before = [signal.signal(number, request.ask) for number in _SIGNALS]
    try:
        yield request
    finally:
        for number, handler in zip(_SIGNALS, before, strict=True):
            signal.signal(number, handler)
