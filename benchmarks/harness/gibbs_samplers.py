"""Samplers of mixtures of multinomials behind one small interface, and what they did in a number of CPU seconds."""

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from harness.gibbs_peers import DenseGibbs
from sparsemix.metrics import normalized_mutual_information, variation_of_information
from sparsemix.models.hashed_gibbs import building
from sparsemix.models.hashed_gibbs.engine import INDEX_BUDGET, Chain, plan_of
from sparsemix.models.hashed_gibbs.signatures import HashForm, signatures_of
from sparsemix.models.hashed_gibbs.uncollapsed_chain import UncollapsedChain
from sparsemix.reproduction.fastex_chains import Point
from sparsemix.reproduction.fastex_kernels import propose_only

SMOOTHING, CONCENTRATION = 0.1, 1.0
SEED = 97  # not that of the texts, whose first draw is the truth


@dataclass(frozen=True)
class Did:
    """What a sampler did: rows visited, proposals of another cluster, moves, CPU seconds."""

    n_rows: int
    n_proposed: int
    n_moved: int
    seconds: float

    @property
    def microseconds(self) -> float:
        """CPU time of a row."""
        return 1e6 * self.seconds / self.n_rows

    @property
    def acceptance(self) -> float:
        """Share of proposals of another cluster that were accepted."""
        return self.n_moved / max(1, self.n_proposed)

    @property
    def moves_per_second(self) -> float:
        """Rows that changed their cluster, by CPU second."""
        return self.n_moved / self.seconds


class Dense:
    """Plain or cached collapsed sampling in dense tables."""

    def __init__(
        self, rows: csr_array, n_clusters: int, start: np.ndarray | None, *, is_cached: bool
    ) -> None:
        began = time.process_time()
        self.sampler = DenseGibbs(
            rows, n_clusters, SMOOTHING, CONCENTRATION, SEED, is_cached=is_cached, start=start
        )
        self.seconds_to_start = time.process_time() - began

    @property
    def assigned(self) -> np.ndarray:
        """Cluster of each row."""
        return self.sampler.assigned

    def sweep(self, n_rows: int | None = None) -> Did:
        """Visit all rows, or so many of them."""
        began = time.process_time()
        n_moved = self.sampler.sweep(n_rows)
        return Did(n_rows or self.assigned.size, n_moved, n_moved, time.process_time() - began)


class Ours:
    """A chain of the library: "exact", "index", "hash" with so many bits, or "uncollapsed".

    `start` is an assignment; without one a share of the rows, `at_random`, starts anywhere before the others enter,
    or a leader clustering `leads`.
    """

    def __init__(
        self,
        rows: csr_array,
        n_clusters: int,
        start: np.ndarray | None,
        *,
        kind: str,
        n_bits: int = 128,
        is_raw: bool = False,
        at_random: float = 1.0,
        leads: bool = False,
        n_shards: int = 1,
        n_threads: int = 1,
    ) -> None:
        began = time.process_time()
        indexed = building.rows_of(rows.indptr, rows.indices, rows.data, rows.shape[1])
        prior = building.prior_of(indexed, "multinomial", "finite", CONCENTRATION, 0.0, SMOOTHING, 1.0)
        seed = np.random.SeedSequence(SEED)
        if kind == "uncollapsed":
            self.chain = UncollapsedChain(indexed, prior, n_clusters, 1, seed)
        else:
            plan = plan_of(kind, n_clusters, HashForm(n_bits, is_raw), INDEX_BUDGET)
            plan = plan._replace(n_shards=n_shards, n_threads=n_threads)
            self.chain = Chain(indexed, prior, n_clusters, plan, seed)
        assigned = np.full(rows.shape[0], -1) if start is None else start.copy()
        self.chain.start(assigned, at_random=at_random, leads=leads)
        self.seconds_to_start = time.process_time() - began

    @property
    def assigned(self) -> np.ndarray:
        """Cluster of each row."""
        return self.chain.assigned

    def sweep(self, n_rows: int | None = None) -> Did:  # noqa: ARG002  (always all rows)
        """Visit all rows."""
        began = time.process_time()
        done = self.chain.sweep(adapts=False)
        seconds = time.process_time() - began
        return Did(self.assigned.size, done.n_proposed, done.n_moved, seconds)

    def proposal_microseconds(self) -> float:
        """CPU time of a row for proposals from signatures alone, without the exact ratio and without moves."""
        chain = self.chain
        signatures = signatures_of(
            chain.rows, chain.prior, chain.clusters, chain.plan.form, np.random.default_rng(0)
        )
        uniforms = np.random.default_rng(1).random(self.assigned.size)
        began = time.process_time()
        propose_only(chain.rows, chain.prior, chain.clusters, signatures, self.assigned, uniforms)
        return 1e6 * (time.process_time() - began) / uniforms.size


Sampler = Dense | Ours


@dataclass(frozen=True)
class Run:
    """Where a sampler stood at its start and after each sweep, and its agreement with the truth (NMI) at the end."""

    points: list[Point]
    nmi: float


def run(make: Callable[[], Sampler], truth: np.ndarray, most_seconds: float, most_sweeps: int) -> Run:
    """Sweep until the time or the number of sweeps is over; the start counts, its compilation does not."""
    sampler = make()
    seconds = sampler.seconds_to_start
    points = [Point(seconds, variation_of_information(truth, sampler.assigned))]
    while len(points) <= most_sweeps and seconds <= most_seconds:
        seconds += sampler.sweep().seconds
        points.append(Point(seconds, variation_of_information(truth, sampler.assigned)))
    return Run(points, normalized_mutual_information(truth, sampler.assigned))
