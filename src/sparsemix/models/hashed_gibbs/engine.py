"""A chain: an assignment of all rows, the statistics that belong to it, and sweeps that change both."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from enum import IntEnum
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.hashed_gibbs import building, joint_kernels
from sparsemix.models.hashed_gibbs.exact_kernels import sweep_exact
from sparsemix.models.hashed_gibbs.hash_kernels import sweep_hash
from sparsemix.models.hashed_gibbs.index_kernels import n_well_read, place, sweep_index
from sparsemix.models.hashed_gibbs.kernels import add_rows
from sparsemix.models.hashed_gibbs.leading import led
from sparsemix.models.hashed_gibbs.shards import Shards
from sparsemix.models.hashed_gibbs.signatures import Frame, HashForm, frame_of, signatures_of
from sparsemix.models.hashed_gibbs.state import (
    Clusters,
    FloatVector,
    IntVector,
    Prior,
    Rows,
    SmallVector,
)
from sparsemix.numeric.seeds import stream

Visitor = Callable[[IntVector, FloatVector, NDArray[np.int64]], None]

ROWS_PER_BLOCK = 50_000  # uniforms drawn at a time
INDEX_BUDGET = 512  # entries of lists that a proposal from the index looks at
ROWS_FOR_CHOICE = 10_000  # looked at before proposals are chosen
SMALL = 500  # clusters up to which looking at all of them is about as fast, and sooner where rows should be
FEW = 4  # features of a row: from less of them the right clusters are too rarely found
AUTO = "auto"
PROPOSALS = (AUTO, "exact", "index", "hash")
"""Chosen by `benchmarks/hashed_gibbs.py`."""


class Sweep(NamedTuple):
    """What a sweep did.

    log_joint : after it, nats. n_proposed : rows for which another cluster was proposed; n_moved : that moved.
    n_clusters : with rows, after it.
    """

    log_joint: float
    n_proposed: int
    n_moved: int
    n_clusters: int


class Position(NamedTuple):
    """Where a chain stands between two sweeps. With its seed, that is all that the next sweep depends on.

    n_sweeps : done so far. assigned : (n_rows,) int32, in a copy. frame : of the signatures, if there are any, and
    framed : number of the sweep in which they were made, with its random directions. cycle : of proposals, as the chain
    has chosen it at its start; empty as long as that is not known.
    """

    n_sweeps: int
    assigned: SmallVector
    frame: Frame | None = None
    framed: int = 0
    cycle: tuple[str, ...] = ()


class Streams(IntEnum):
    """Numbers of a chain's random streams, `STEP` further for each sweep, so that any can be the first of a run."""

    START = 0
    SWEEP = 1
    DIRECTIONS = 2
    STEP = 2


class Plan(NamedTuple):
    """How sweeps are made.

    cycle : proposals, one after another, or "auto" alone: to be chosen at the start; form : of the signatures.
    n_shards : of rows that are visited side by side; n_threads : for them.
    """

    cycle: tuple[str, ...]
    form: HashForm
    index_budget: int
    n_shards: int = 1
    n_threads: int = 1

    @property
    def is_exact(self) -> bool:
        """Whether all clusters are looked at in every sweep."""
        return self.cycle == ("exact",)


def plan_of(proposal: str, n_components: int, form: HashForm, index_budget: int) -> Plan:
    """How proposals are made that are named with commas between them; "auto" looks at all of few clusters."""
    if proposal == AUTO and n_components <= SMALL:
        proposal = "exact"
    return Plan(cycle_of(proposal), form, index_budget)


def cycle_of(proposal: str) -> tuple[str, ...]:
    """The names in a string that has commas between them."""
    return tuple(name.strip() for name in proposal.split(","))


class SeededChain(ABC):
    """What chains of all kinds of rows share: each is a function of its seed, and every sweep has a stream of its own.

    Parameters
    ----------
    n_rows, n_clusters : int
    plan : Plan
    seed : SeedSequence
        Of this chain alone.
    """

    clusters: Any

    def __init__(self, n_rows: int, n_clusters: int, plan: Plan, seed: np.random.SeedSequence) -> None:
        self.plan = plan
        self.assigned: IntVector = np.full(n_rows, -1)
        self._n_clusters, self._seed = n_clusters, seed
        self._frame: Frame | None = None
        self._framed = 0
        self._signatures: Any = None
        self._n_sweeps = 0

    def start(self, assigned: IntVector, *, at_random: float = 0.0, leads: bool = False) -> None:
        """Begin from an assignment, (n_rows,) with -1 for rows that enter one after another.

        Of those a share, `at_random`, starts anywhere before the others enter. Beside clusters without rows, which know
        no common feature, common features alone bring rows together. With `leads` a leader clustering comes first.
        """
        rng = stream(self._seed, Streams.START)
        left = rng.permutation(np.flatnonzero(assigned < 0))
        anywhere = left[: round(at_random * left.size)]
        self.assigned[:] = assigned
        self.assigned[anywhere] = rng.integers(self._n_clusters, size=anywhere.size)
        left = left[anywhere.size :]
        if leads:
            self._lead(left)
            left = left[self.assigned[left] < 0]
        self._add_all()
        for order in self._blocks(left):
            self._enter(order, rng)

    def go_on(self, position: Position) -> None:
        """Begin where another chain with this seed has stood: the next sweep is equal to the bit."""
        self._n_sweeps, assigned, self._frame, self._framed, cycle = position
        if cycle and self.plan.cycle == (AUTO,):
            self.plan = self.plan._replace(cycle=cycle)
        self.assigned[:] = assigned
        self._add_all()

    def take_frame(self) -> None:
        """Measure signatures from the present clusters, whatever rows enter or move from now on."""
        if "hash" in self.plan.cycle:
            self._frame = self._frame_now()

    def position(self) -> Position:
        """Where the chain stands."""
        assigned = self.assigned.astype(np.int32)
        return Position(self._n_sweeps, assigned, self._frame, self._framed, self.plan.cycle)

    def sweep(self, *, adapts: bool) -> Sweep:
        """Visit all rows once, in a new order; before the first kept draw it `adapts`: makes signatures anew."""
        proposal = self.plan.cycle[self._n_sweeps % len(self.plan.cycle)]
        rng = stream(self._seed, Streams.SWEEP + Streams.STEP * self._n_sweeps)
        self._begin_sweep()
        visit = self._visitor(proposal, adapts=adapts)
        self._n_sweeps += 1
        tally = np.zeros(3, np.int64)
        for order in self._blocks(rng.permutation(self.assigned.size)):
            visit(order, rng.random((order.size, 2)), tally)
        if proposal != "hash":
            self._signatures = None
        n_clusters = self._n_clusters - int(self.clusters.n_empty[0])
        return Sweep(self.log_joint(), int(tally[0]), int(tally[1]), n_clusters)

    @abstractmethod
    def log_joint(self) -> float:
        """Log joint of rows and assignments, nats, up to a constant."""

    @abstractmethod
    def _add_all(self) -> None:
        """Make the statistics of the assignment; there are none yet."""

    @abstractmethod
    def _lead(self, order: IntVector) -> None:
        """Assign rows by a leader clustering, as far as they are told apart by it; there are no others."""

    @abstractmethod
    def _enter(self, order: IntVector, rng: np.random.Generator) -> None:
        """Let rows enter one after another."""

    @abstractmethod
    def _frame_now(self) -> Frame:
        """Where signatures of the present clusters are measured from."""

    @abstractmethod
    def _begin_sweep(self) -> None:
        """Make the statistics a function of the assignment alone, whatever has led to it."""

    @abstractmethod
    def _visitor(self, proposal: str, *, adapts: bool) -> Visitor:
        """Return what visits rows."""

    def _signed(self, make: Callable[..., Any], *state: Any, adapts: bool) -> Any:
        """The signatures, made anew where that is due."""
        if self._signatures is None or adapts:
            if adapts or self._frame is None:
                self._frame, self._framed = None, self._n_sweeps
            rng = stream(self._seed, Streams.DIRECTIONS + Streams.STEP * self._framed)
            self._signatures = make(*state, self.plan.form, rng, self._frame)
            self._frame = Frame(self._signatures.scale, self._signatures.centre)
        return self._signatures

    def _blocks(self, order: IntVector) -> list[IntVector]:
        return [order[first : first + ROWS_PER_BLOCK] for first in range(0, order.size, ROWS_PER_BLOCK)]


class Chain(SeededChain):
    """A chain of rows of counts.

    Parameters
    ----------
    rows : Rows
    prior : Prior
    n_components : int
    plan : Plan
    seed : SeedSequence
    """

    def __init__(
        self, rows: Rows, prior: Prior, n_components: int, plan: Plan, seed: np.random.SeedSequence
    ) -> None:
        super().__init__(rows.lengths.size, n_components, plan, seed)
        self.rows, self.prior = rows, prior
        self.clusters: Clusters = building.no_clusters(rows, prior, n_components)
        self._shards: Shards | None = None

    def start(self, assigned: IntVector, *, at_random: float = 0.0, leads: bool = False) -> None:
        """Begin from an assignment, see `SeededChain`, and choose proposals for what has come of it."""
        super().start(assigned, at_random=at_random, leads=leads)
        self.choose_proposals()

    def choose_proposals(self) -> None:
        """Settle "auto": the index, unless lists are so long that it would read too few features of most rows.

        From now on the choice stays, so that all sweeps have the same law. Cost: O(ROWS_FOR_CHOICE * FEW).
        """
        if self.plan.cycle != (AUTO,):
            return
        n_rows = self.assigned.size
        some = np.linspace(0, n_rows - 1, min(n_rows, ROWS_FOR_CHOICE), dtype=np.int64)
        n_well = n_well_read(self.rows, self.clusters, self.plan.index_budget, some, FEW)
        self.plan = self.plan._replace(cycle=("index" if 2 * n_well >= some.size else "exact",))

    def log_joint(self) -> float:
        """Log joint of rows and assignments, nats, up to a constant."""
        held = self.clusters
        cells = (held.start, held.mask, held.n_listed, held.keys, held.cell_counts)
        return float(joint_kernels.log_joint(self.prior, held.sizes, held.totals, *cells))

    def _add_all(self) -> None:
        add_rows(self.rows, self.prior, self.clusters, self.assigned)

    def _lead(self, order: IntVector) -> None:
        self.assigned[:] = led(self.rows, self.prior, self._n_clusters, order)

    def _enter(self, order: IntVector, rng: np.random.Generator) -> None:
        if self.plan.is_exact:
            uniforms = rng.random((order.size, 2))
            self._visit("exact", self.clusters, order, uniforms, np.zeros(3, np.int64))
            return
        state = (self.rows, self.prior, self.clusters)
        place(*state, self.plan.index_budget, order, self.assigned, rng.random(order.size))

    def _frame_now(self) -> Frame:
        return frame_of(self.rows, self.prior, self.clusters, is_raw=self.plan.form.is_raw)

    def _visitor(self, proposal: str, *, adapts: bool) -> Visitor:
        if proposal == "hash":
            state = (self.rows, self.prior, self.clusters)
            signatures = self._signed(signatures_of, *state, adapts=adapts)
            return lambda order, uniforms, tally: sweep_hash(
                *state, signatures, order, self.assigned, uniforms, tally
            )
        visit = partial(self._visit, proposal)
        if self._shards is None:
            return partial(visit, self.clusters)
        return partial(self._shards.visit, self.rows, self.prior, visit, self.assigned)

    def _begin_sweep(self) -> None:
        """Sort the clusters without rows."""
        if self.plan.n_shards > 1 and self._shards is None:
            self._shards = Shards(self.clusters, self.plan.n_shards, self.plan.n_threads)
        order = np.argsort(self.clusters.sizes > 0, kind="stable")
        for clusters in self._shards.copies if self._shards else [self.clusters]:
            clusters.empty[:] = order
            clusters.place[order] = np.arange(order.size)

    def _visit(
        self,
        proposal: str,
        clusters: Clusters,
        order: IntVector,
        uniforms: FloatVector,
        tally: NDArray[np.int64],
    ) -> None:
        state = (self.rows, self.prior, clusters)
        if proposal == "exact":
            sweep_exact(*state, order, self.assigned, uniforms, tally)
        else:
            sweep_index(*state, self.plan.index_budget, order, self.assigned, uniforms, tally)
