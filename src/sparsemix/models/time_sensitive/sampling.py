"""Run the chains: burn in, keep draws, and choose one partition for all."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.chains import point_estimate
from sparsemix.chains.grouping import by_size
from sparsemix.models.time_sensitive.engine import Chain, Sweep
from sparsemix.models.time_sensitive.state import IntVector
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

    n_sweeps: int
    burn_in: int
    thin: int
    n_chains: int
    n_threads: int
    seed: int

    @property
    def kept(self) -> range:
        """Sweeps after which a draw is kept, from the last backwards."""
        return range(self.n_sweeps - 1, self.burn_in - 1, -self.thin)


class Trace(NamedTuple):
    """What the chains did; rows stand in the order of their times.

    draws : (n_draws, n_rows) int32, chain after chain. sweeps : of each chain. labels : (n_rows,) the partition chosen.
    """

    draws: NDArray[np.int32]
    sweeps: list[list[Sweep]]
    labels: IntVector


def sample(
    new_chain: Callable[[np.random.Generator], Chain],
    settings: Settings,
    start: IntVector,
    follow: Callable[[Progress], None],
    *,
    search: bool,
) -> Trace:
    """Sample all chains, each from a seed of its own, so that the number of threads changes nothing.

    Without `search` the partition chosen is one of the draws: others may be impossible.
    """
    seeds = np.random.SeedSequence(settings.seed).spawn(settings.n_chains + 1)
    n_kept = len(settings.kept)
    draws = np.empty((settings.n_chains, n_kept, start.size), np.int32)
    sweeps: list[list[Sweep]] = [[] for _ in range(settings.n_chains)]

    def run(part: tuple[int, int]) -> None:
        for number in range(*part):
            chain = new_chain(np.random.default_rng(seeds[number]))
            chain.start(start)
            for sweep in range(settings.n_sweeps):
                sweeps[number].append(chain.sweep())
                if sweep in settings.kept:
                    draws[number, n_kept - 1 - settings.kept.index(sweep)] = chain.assigned
                follow(Progress(number, sweep, sweeps[number][-1]))

    with thread_runner(min(settings.n_threads, settings.n_chains)) as run_all:
        run_all(run, [(number, number + 1) for number in range(settings.n_chains)])
    kept = draws.reshape(-1, start.size)
    seed = int(seeds[-1].generate_state(1)[0])
    return Trace(kept, sweeps, _chosen(kept, seed, max_iter=100 if search else 0))


def _chosen(draws: NDArray[np.int32], seed: int, max_iter: int) -> IntVector:
    """The partition with the least expected variation of information, clusters numbered from the largest down."""
    labels = (
        draws[0] if len(draws) == 1 else point_estimate(draws, max_iter=max_iter, random_state=seed).labels
    )
    return by_size(labels)
