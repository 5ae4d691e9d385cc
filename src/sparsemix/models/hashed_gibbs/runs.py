"""What the chains have done so far: enough to go on to the same bits."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.chains.unfinished import draws_so_far, kept_sweeps, of_the_best_chain
from sparsemix.models.hashed_gibbs.engine import Position, Sweep
from sparsemix.models.hashed_gibbs.state import FloatMatrix, IntVector, SmallVector

IntMatrix = NDArray[np.int64]


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

    @property
    def kept(self) -> range:
        """Sweeps after which a draw is kept."""
        return kept_sweeps(self.n_sweeps, self.burn_in, self.thin)

    def threads_of_a_chain(self) -> int:
        """Threads that are left for each chain when the chains have shared them."""
        return max(1, self.n_threads // self.n_chains)


class Start(NamedTuple):
    """Where chains begin.

    assigned : (n_rows,) clusters that are given, -1 for rows that enter after the others. at_random : share of those
    that is put anywhere before; leads : whether a leader clustering comes before. rows : digest of the rows, empty
    where it is not known.
    """

    assigned: IntVector
    at_random: float = 0.0
    leads: bool = False
    rows: str = ""


class Run(NamedTuple):
    """Chains between two sweeps.

    positions : where each chain stands, None before its first sweep has ended.
    draws : (n_chains, n_kept, n_rows) int32.
    log_joint, n_proposed, n_moved, n_clusters : (n_chains, n_sweeps) of each sweep; NaN and -1 for those to come.
    """

    settings: Settings
    start: Start
    positions: list[Position | None]
    draws: NDArray[np.int32]
    log_joint: FloatMatrix
    n_proposed: IntMatrix
    n_moved: IntMatrix
    n_clusters: IntMatrix

    def record(self, chain: int, position: Position, sweep: Sweep) -> None:
        """Take down what the last sweep of a chain has done; the position last, which makes it count."""
        number = position.n_sweeps - 1
        self.log_joint[chain, number] = sweep.log_joint
        self.n_proposed[chain, number] = sweep.n_proposed
        self.n_moved[chain, number] = sweep.n_moved
        self.n_clusters[chain, number] = sweep.n_clusters
        kept = self.settings.kept
        if number in kept:
            self.draws[chain, kept.index(number)] = position.assigned
        self.positions[chain] = position

    def n_done(self) -> list[int]:
        """Sweeps that each chain has done."""
        return [0 if position is None else position.n_sweeps for position in self.positions]

    def is_complete(self) -> bool:
        """Whether there is nothing left to sample."""
        return min(self.n_done()) == self.settings.n_sweeps

    def kept(self) -> NDArray[np.int32]:
        """The draws so far, (n_draws, n_rows), chain after chain."""
        return draws_so_far(self.draws, self.settings.kept, self.n_done())

    def latest(self) -> SmallVector:
        """Where the rows are in the chain that has the highest log joint now; (n_rows,)."""
        latest: SmallVector = of_the_best_chain(self.log_joint, self.positions)
        return latest


def new_run(settings: Settings, start: Start) -> Run:
    """Nothing is sampled yet. Memory: 4 bytes for each row in each draw."""
    of_sweeps = (settings.n_chains, settings.n_sweeps)
    return Run(
        settings,
        start,
        [None] * settings.n_chains,
        np.empty((settings.n_chains, len(settings.kept), start.assigned.size), np.int32),
        np.full(of_sweeps, np.nan),
        np.full(of_sweeps, -1),
        np.full(of_sweeps, -1),
        np.full(of_sweeps, -1),
    )
