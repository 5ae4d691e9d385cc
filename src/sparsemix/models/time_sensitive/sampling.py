"""Run the chains, from their start or from where they stood, and choose one partition for all."""

from collections.abc import Callable
from threading import Event

import numpy as np

from sparsemix.chains import point_estimate
from sparsemix.chains.grouping import by_size
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.models.time_sensitive.runs import Progress, Run
from sparsemix.models.time_sensitive.state import IntVector
from sparsemix.numeric.threads import thread_runner, told

ChainMaker = Callable[[np.random.Generator], Chain]


def sample(new_chain: ChainMaker, run: Run, follow: Callable[[Progress], None]) -> None:
    """Sample what is left of all chains, each from a seed of its own, so that the number of threads changes nothing.

    What `follow` raises, and Ctrl-C, end it; `run`, changed in place, then has all sweeps that have ended.
    """
    seeds, settings, wanted = _seeds(run), run.settings, Event()

    def go_on(part: tuple[int, int]) -> None:
        with told(wanted):
            for chain in range(*part):
                _go_on(new_chain(np.random.default_rng(seeds[chain])), run, chain, follow, wanted)

    with thread_runner(min(settings.n_threads, settings.n_chains)) as run_all, told(wanted):
        run_all(go_on, [(chain, chain + 1) for chain in range(settings.n_chains)])


def chosen(run: Run, *, search: bool) -> IntVector:
    """The partition with the least expected variation of information, clusters numbered from the largest down.

    Without `search` it is one of the draws: others may be impossible.
    """
    draws, seed = run.kept(), int(_seeds(run)[-1].generate_state(1)[0])
    if len(draws) == 1:
        return by_size(draws[0])
    return by_size(point_estimate(draws, max_iter=100 if search else 0, random_state=seed).labels)


def _go_on(chain: Chain, run: Run, number: int, follow: Callable[[Progress], None], wanted: Event) -> None:
    position, n_sweeps = run.positions[number], run.settings.n_sweeps
    if position is None:
        chain.start(run.start.assigned)
    else:
        chain.go_on(position)
    for sweep in range(run.n_done()[number], n_sweeps):
        if wanted.is_set():
            return
        result = chain.sweep()
        run.record(number, chain.position(), result)
        follow(Progress(number, sweep, result))


def _seeds(run: Run) -> list[np.random.SeedSequence]:
    return np.random.SeedSequence(run.settings.seed).spawn(run.settings.n_chains + 1)
