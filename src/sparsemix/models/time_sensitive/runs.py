"""What the chains have done so far: enough to go on to the same bits."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.chains.unfinished import draws_so_far, kept_sweeps, of_the_best_chain
from sparsemix.models.time_sensitive.engine import Position, Sweep
from sparsemix.models.time_sensitive.solution import Hyperparameters
from sparsemix.models.time_sensitive.state import FloatMatrix, IntVector, SmallVector
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

IntMatrix = NDArray[np.int64]
LEARNER = -1  # number of the chain that learns concentration and decay


class Progress(NamedTuple):
    """Told after each sweep: which chain, which sweep of it, and what that did; chain -1 is the one that learns."""

    chain: int
    sweep: int
    result: Sweep


class Settings(NamedTuple):
    """How much is sampled.

    n_learning : sweeps of the chain that learns, before the others begin; n_sweeps : in all, of each other chain;
    burn_in : of those come first and leave no draws; thin : sweeps for one draw.
    """

    n_learning: int
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


class Start(NamedTuple):
    """Where chains begin, as it was asked for; rows stand in the order of their times.

    hyper, kernel : before anything is learnt. assigned : (n_rows,) clusters that are given, -1 for rows that enter.
    order : (n_rows,) the rows in the order of their times. rows : digest of rows and times.
    """

    hyper: Hyperparameters
    kernel: TimeKernel
    assigned: IntVector
    order: IntVector
    rows: str


@dataclass
class Run:
    """Chains between two sweeps; rows stand in the order of their times.

    Attributes
    ----------
    settings : Settings
    start : Start
    learner : Position or None
        Of the chain that learns, None before its first sweep has ended.
    learning : (n_learning, 2) ndarray
        Concentration and rate after each sweep of it.
    positions : list of Position or None
        Of the other chains, likewise.
    draws : (n_chains, n_kept, n_rows) ndarray of int32
    log_joint, n_moved, n_clusters, n_split_merge : (n_chains, n_sweeps) ndarray
        Of each sweep; NaN and -1 for those to come.
    """

    settings: Settings
    start: Start
    learner: Position | None
    learning: FloatMatrix
    positions: list[Position | None]
    draws: NDArray[np.int32]
    log_joint: FloatMatrix
    n_moved: IntMatrix
    n_clusters: IntMatrix
    n_split_merge: IntMatrix

    def record(self, chain: int, position: Position, sweep: Sweep) -> None:
        """Take down what the last sweep of a chain has done; the position last, which makes it count."""
        number = position.n_sweeps - 1
        self.log_joint[chain, number] = sweep.log_joint
        self.n_moved[chain, number] = sweep.n_moved
        self.n_clusters[chain, number] = sweep.n_clusters
        self.n_split_merge[chain, number] = sweep.n_split_merge
        kept = self.settings.kept
        if number in kept:
            self.draws[chain, kept.index(number)] = position.assigned
        self.positions[chain] = position

    def n_learnt(self) -> int:
        """Sweeps of the chain that learns."""
        return 0 if self.learner is None else self.learner.n_sweeps

    def n_done(self) -> list[int]:
        """Sweeps that each of the other chains has made."""
        return [0 if position is None else position.n_sweeps for position in self.positions]

    def has_begun(self) -> bool:
        """Whether any sweep has ended."""
        return self.learner is not None or any(self.n_done())

    def kept(self) -> NDArray[np.int32]:
        """The draws so far, (n_draws, n_rows), chain after chain."""
        return draws_so_far(self.draws, self.settings.kept, self.n_done())

    def latest(self) -> SmallVector:
        """Where the rows are in the chain that has the highest log joint now, or in the one that learns; (n_rows,)."""
        if self.learner is not None and not any(self.n_done()):
            return self.learner.assigned
        latest: SmallVector = of_the_best_chain(self.log_joint, self.positions)
        return latest


def new_run(settings: Settings, start: Start) -> Run:
    """Nothing is sampled yet. Memory: 4 bytes for each row in each draw."""
    of_sweeps = (settings.n_chains, settings.n_sweeps)
    return Run(
        settings,
        start,
        None,
        np.full((settings.n_learning, 2), np.nan),
        [None] * settings.n_chains,
        np.empty((settings.n_chains, len(settings.kept), start.assigned.size), np.int32),
        np.full(of_sweeps, np.nan),
        np.full(of_sweeps, -1),
        np.full(of_sweeps, -1),
        np.full(of_sweeps, -1),
    )
