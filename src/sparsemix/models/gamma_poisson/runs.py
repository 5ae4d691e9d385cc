"""What a fit has done so far: enough to go on to the same bits."""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from sparsemix.models.gamma_poisson import engine, sampling
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.state import Prior


class Settings(NamedTuple):
    """Checked parameters.

    seed : of starts and chains; loop and plan : how EM and chains run. on_disk : whether tables of users are.
    """

    solver: str
    n_components: int
    prior: Prior
    n_init: int
    n_chains: int
    loop: engine.Loop
    plan: sampling.Plan
    seed: int
    on_disk: bool = False

    @property
    def is_sampled(self) -> bool:
        """Whether chains run."""
        return self.solver == "gibbs"

    def n_sweeps(self) -> int:
        """Most sweeps of all starts or chains together."""
        return self.plan.n_sweeps * self.n_chains if self.is_sampled else self.loop.max_iter * self.n_init


class Rows(NamedTuple):
    """What tells one table from another: the run that goes on must be given the same."""

    n_rows: int
    n_features: int
    n_entries: int
    n_events: float

    @classmethod
    def of(cls, table: Table) -> "Rows":
        """Of a table."""
        return cls(table.n_rows, table.n_features, table.rows.values.size, table.n_events)


@dataclass
class Run:
    """A fit between two sweeps, changed in place.

    settings : of the fit. rows : of its table.
    n_ended : starts or chains that have; n_before : their sweeps. best : of such starts; traces : of such chains.
    standing : where the next one stands, None before its first sweep.
    """

    settings: Settings
    rows: Rows
    best: engine.Fit | None = None
    traces: list[sampling.Trace] = field(default_factory=list)
    standing: engine.Standing | sampling.Standing | None = None
    n_ended: int = 0
    n_before: int = 0

    def n_sweeps(self) -> int:
        """Sweeps made in all starts or chains together."""
        return self.n_before + (0 if self.standing is None else self.standing.n_sweeps)

    def end_of_one(self, n_sweeps: int) -> None:
        """Go on to the next start or chain."""
        self.standing, self.n_before, self.n_ended = None, self.n_before + n_sweeps, self.n_ended + 1

    def has_begun(self) -> bool:
        """Whether there is anything to go on with."""
        return self.standing is not None or self.n_ended > 0


def differing(old: Settings, new: Settings) -> tuple[str, object, object] | None:
    """A parameter in which two fits differ, its old and its new value; the seed, threads and max_iter may differ."""
    for was, now in ((old, new), (old.prior, new.prior), (old.loop, new.loop), (old.plan, new.plan)):
        for name in type(was)._fields:
            values = getattr(was, name), getattr(now, name)
            is_free = name in {"seed", "n_threads", "max_iter", "on_disk"} or isinstance(values[0], tuple)
            if not is_free and not np.array_equal(np.asarray(values[0]), np.asarray(values[1])):
                return name, *values
    return None
