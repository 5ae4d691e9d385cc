"""Run the chains: burn in, keep draws, and choose one partition for all."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsemix.chains import point_estimate
from sparsemix.models.hashed_gibbs.engine import Sweep
from sparsemix.models.hashed_gibbs.state import IntVector
from sparsemix.numeric.threads import thread_runner


class Progress(NamedTuple):
    """Told after each sweep: which chain, which sweep of it, and what that did."""

    chain: int
    sweep: int
    result: Sweep


class Settings(NamedTuple):
    """How much is sampled.

    n_sweeps : in all, of each chain; burn_in : of those come first and leave no draws; thin : sweeps for one draw.
    """

    n_components: int
    n_sweeps: int
    burn_in: int
    thin: int
    n_chains: int
    n_threads: int
    seed: int


class Start(NamedTuple):
    """Where chains begin.

    assigned : (n_rows,) clusters that are given, -1 for rows that enter after the others; at_random : share of those
    that is put anywhere before.
    """

    assigned: IntVector
    at_random: float = 0.0


class AnyChain(Protocol):
    """What a chain must be able to do."""

    assigned: IntVector

    def start(self, assigned: IntVector, *, at_random: float) -> None:
        """Begin from an assignment."""
        ...

    def sweep(self, *, adapts: bool) -> Sweep:
        """Visit all rows."""
        ...


ChainMaker = Callable[[np.random.Generator], AnyChain]


class Trace(NamedTuple):
    """What the chains did.

    draws : (n_draws, n_rows) int32, chain after chain. sweeps : of each chain. labels : (n_rows,) the partition chosen.
    """

    draws: NDArray[np.int32]
    sweeps: list[list[Sweep]]
    labels: IntVector


def sample(
    new_chain: ChainMaker,
    settings: Settings,
    start: Start,
    follow: Callable[[Progress], None],
) -> Trace:
    """Sample all chains, each from a seed of its own, so that the number of threads changes nothing."""
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_chains + 1)
    n_kept = len(kept_sweeps(settings))
    draws = np.empty((settings.n_chains * n_kept, start.assigned.size), np.int32)
    sweeps: list[list[Sweep]] = [[] for _ in range(settings.n_chains)]

    def run(part: tuple[int, int]) -> None:
        for number in range(*part):
            chain = new_chain(np.random.default_rng(seeds[number]))
            own = draws[number * n_kept : (number + 1) * n_kept]
            _run(chain, settings, start, own, sweeps[number], partial(_tell, follow, number))

    with thread_runner(min(settings.n_threads, settings.n_chains)) as run_all:
        run_all(run, [(number, number + 1) for number in range(settings.n_chains)])
    return Trace(draws, sweeps, _chosen(draws, seeds[-1]))


def _tell(follow: Callable[[Progress], None], chain: int, sweep: int, result: Sweep) -> None:
    follow(Progress(chain, sweep, result))


def kept_sweeps(settings: Settings) -> range:
    """Sweeps after which a draw is kept; the last is always one of them."""
    return range(settings.n_sweeps - 1, settings.burn_in - 1, -settings.thin)


def _run(
    chain: AnyChain,
    settings: Settings,
    start: Start,
    draws_out: NDArray[np.int32],
    sweeps_out: list[Sweep],
    follow: Callable[[int, Sweep], None],
) -> None:
    chain.start(start.assigned, at_random=start.at_random)
    draw_of = {sweep: draw for draw, sweep in enumerate(reversed(kept_sweeps(settings)))}
    for sweep in range(settings.n_sweeps):
        sweeps_out.append(chain.sweep(adapts=sweep < settings.burn_in))
        if sweep in draw_of:
            draws_out[draw_of[sweep]] = chain.assigned
        follow(sweep, sweeps_out[-1])


def _chosen(draws: NDArray[np.int32], seed: np.random.SeedSequence) -> IntVector:
    """The partition with the least expected variation of information, clusters numbered from the largest down."""
    labels = draws[0] if len(draws) == 1 else point_estimate(draws, random_state=_number(seed)).labels
    _, numbers, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    rank = np.empty(sizes.size, np.int64)
    rank[np.argsort(-sizes, kind="stable")] = np.arange(sizes.size)
    return rank[numbers]


def _number(seed: np.random.SeedSequence) -> int:
    return int(seed.generate_state(1)[0])
