"""Run the chains, from their start or from where they stood, and choose one partition for all."""

from collections.abc import Callable
from threading import Event
from typing import NamedTuple, Protocol

import numpy as np

from sparsemix.chains import point_estimate
from sparsemix.chains.grouping import by_size
from sparsemix.models.hashed_gibbs.engine import Position, Sweep
from sparsemix.models.hashed_gibbs.runs import Run
from sparsemix.models.hashed_gibbs.state import IntVector
from sparsemix.numeric.threads import thread_runner, told


class Progress(NamedTuple):
    """Told after each sweep: which chain and which sweep of it, both from 0, and what that did."""

    chain: int
    sweep: int
    result: Sweep


class AnyChain(Protocol):
    """What a chain must be able to do."""

    def start(self, assigned: IntVector, *, at_random: float, leads: bool) -> None:
        """Begin from an assignment."""
        ...

    def go_on(self, position: Position) -> None:
        """Begin where it has stood."""
        ...

    def position(self) -> Position:
        """Where it stands."""
        ...

    def sweep(self, *, adapts: bool) -> Sweep:
        """Visit all rows."""
        ...


ChainMaker = Callable[[np.random.SeedSequence], AnyChain]


def sample(new_chain: ChainMaker, run: Run, follow: Callable[[Progress], None]) -> None:
    """Sample what is left of all chains, each from a seed of its own, so that the number of threads changes nothing.

    What `follow` raises, and Ctrl-C, end it; `run`, changed in place, then has all sweeps that have ended.
    """
    seeds, settings, wanted = _seeds(run), run.settings, Event()

    def go_on(part: tuple[int, int]) -> None:
        with told(wanted):
            for chain in range(*part):
                _go_on(new_chain(seeds[chain]), run, chain, follow, wanted)

    with thread_runner(min(settings.n_threads, settings.n_chains)) as run_all, told(wanted):
        run_all(go_on, [(chain, chain + 1) for chain in range(settings.n_chains)])


def chosen(run: Run) -> IntVector:
    """The partition with the least expected variation of information to all draws, see `by_size`; (n_rows,)."""
    draws, seed = run.kept(), int(_seeds(run)[-1].generate_state(1)[0])
    return by_size(draws[0] if len(draws) == 1 else point_estimate(draws, random_state=seed).labels)


def _go_on(chain: AnyChain, run: Run, number: int, follow: Callable[[Progress], None], wanted: Event) -> None:
    position, settings = run.positions[number], run.settings
    if position is None:
        chain.start(run.start.assigned, at_random=run.start.at_random, leads=run.start.leads)
    else:
        chain.go_on(position)
    for sweep in range(run.n_done()[number], settings.n_sweeps):
        if wanted.is_set():
            return
        result = chain.sweep(adapts=sweep < settings.burn_in)
        run.record(number, chain.position(), result)
        follow(Progress(number, sweep, result))


def _seeds(run: Run) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(run.settings.seed).spawn(run.settings.n_chains + 1)
