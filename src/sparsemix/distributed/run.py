"""What a fit on many workers has done: one line for each join."""

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

from sparsemix.data.report import ReadReport


class Join(NamedTuple):
    """What the workers have learnt from some rows, put together.

    Attributes
    ----------
    number : int
        From 1 on.
    n_messages : int
        Batches of an epoch of EM, or children of the online learner.
    n_rows : int
        Rows that were learnt.
    n_bytes : int
        Of the arrays of all messages, between workers and to the one who joins.
    n_bytes_of_model : int
        Of the arrays that each worker got before.
    seconds : float
        Of all that, by the clock.
    n_damped : int
        Pseudo-counts that children had lost more of than there were.
    """

    number: int
    n_messages: int
    n_rows: int
    n_bytes: int
    n_bytes_of_model: int
    seconds: float
    n_damped: int = 0


OnJoin = Callable[[Join], None]


@dataclass
class Run:
    """A fit on many workers.

    Attributes
    ----------
    joins : list of Join
        In EM one for each epoch; of the online learner one for each round of batches.
    label_names : list of str or None
        Of labels in files: component 0 stands for the first.
    report : ReadReport
        What reading the files dropped and merged.
    on_join : callable or None
        Told of each.
    """

    joins: list[Join] = field(default_factory=list)
    label_names: list[str] | None = None
    report: ReadReport = field(default_factory=ReadReport)
    on_join: OnJoin | None = field(default=None, repr=False)

    def add(self, join: Join) -> None:
        """Note a join."""
        self.joins.append(join)
        if self.on_join is not None:
            self.on_join(join)

    @property
    def n_rows(self) -> int:
        """Rows of all joins; those of an epoch count anew in the next."""
        return sum(join.n_rows for join in self.joins)

    @property
    def n_bytes(self) -> int:
        """Bytes of all messages to the joins."""
        return sum(join.n_bytes for join in self.joins)

    @property
    def seconds(self) -> float:
        """Time of all joins."""
        return sum(join.seconds for join in self.joins)


class Stopwatch:
    """Seconds since it was made."""

    def __init__(self) -> None:
        self._start = time.perf_counter()

    def read(self) -> float:
        """Return them."""
        return time.perf_counter() - self._start
