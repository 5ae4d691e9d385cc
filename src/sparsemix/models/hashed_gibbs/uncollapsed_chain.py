"""A chain of uncollapsed sampling: weights and profiles given the assignment, then all assignments given those."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.hashed_gibbs import joint_kernels
from sparsemix.models.hashed_gibbs.engine import Position, Streams, Sweep
from sparsemix.models.hashed_gibbs.state import (
    BERNOULLI,
    MULTINOMIAL,
    POISSON,
    FloatVector,
    IntVector,
    Prior,
    Rows,
)
from sparsemix.models.hashed_gibbs.uncollapsed_kernels import (
    draw_rows,
    log_gammas,
    log_odds,
    move_rows,
    sum_of_exponentials,
)
from sparsemix.numeric.seeds import stream
from sparsemix.numeric.threads import thread_runner

ROWS_PER_BLOCK = 2_000
CELLS_PER_BLOCK = 1 << 18  # of the table, drawn from one stream of random numbers


class UncollapsedChain:
    """One chain; the same for any number of threads, as every block of features has a random stream of its own.

    Parameters
    ----------
    rows : Rows
    prior : Prior
    n_components : int
    n_threads : int
    seed : SeedSequence
        Of this chain alone.
    """

    def __init__(
        self, rows: Rows, prior: Prior, n_components: int, n_threads: int, seed: np.random.SeedSequence
    ) -> None:
        self.rows, self.prior = rows, prior
        self._seed, self._n_threads, self._n_sweeps = seed, n_threads, 0
        self.assigned: IntVector = np.full(rows.lengths.size, -1)
        self._sizes, self._totals = np.zeros(n_components, np.int64), np.zeros(n_components, np.int64)
        self._counts = np.zeros((prior.n_features, n_components), np.int32)
        self._table = np.empty((prior.n_features, n_components), np.float32)

    def start(self, assigned: IntVector, **_: Any) -> None:
        """Begin from an assignment, (n_rows,), with -1 for rows that start anywhere."""
        anywhere = stream(self._seed, Streams.START).integers(self._sizes.size, size=assigned.size)
        self._adopt(np.where(assigned < 0, anywhere, assigned))

    def go_on(self, position: Position) -> None:
        """Begin where another chain with this seed has stood: the next sweep is equal to the bit."""
        self._n_sweeps = position.n_sweeps
        self._adopt(position.assigned.astype(np.int64))

    def position(self) -> Position:
        """Where the chain stands."""
        return Position(self._n_sweeps, self.assigned.astype(np.int32))

    def sweep(self, *, adapts: bool = False) -> Sweep:  # noqa: ARG002  (nothing to adapt)
        """Draw weights and profiles, then the clusters of all rows."""
        rng = stream(self._seed, Streams.SWEEP + Streams.STEP * self._n_sweeps)
        self._n_sweeps += 1
        bias = self._log_weights(rng)
        sums = self._draw_table(rng)
        slope = np.zeros(bias.size)
        if self.prior.family == MULTINOMIAL:
            slope = -np.log(sums)
        else:
            bias += sums
        uniforms, drawn = rng.random(self.assigned.size), np.empty_like(self.assigned)

        def draw(part: tuple[int, int]) -> None:
            draw_rows(self.rows, self.prior.family, *part, self._table, bias, slope, uniforms, drawn)

        self._in_blocks(draw, drawn.size, ROWS_PER_BLOCK)
        n_moved = self._adopt(drawn)
        return Sweep(self.log_joint(), n_moved, n_moved, int(np.count_nonzero(self._sizes)))

    def log_joint(self) -> float:
        """Log joint of rows and assignments with weights and profiles integrated out, nats, up to a constant."""
        n_features, n_clusters = self._counts.shape
        start, mask = np.arange(n_features) * n_clusters, np.full(n_features, -1)
        no_list = np.empty(n_features, np.int32)
        cells = (start, mask, no_list, no_list, self._counts.ravel())
        return float(joint_kernels.log_joint(self.prior, self._sizes, self._totals, *cells))

    def _adopt(self, assigned: IntVector) -> int:
        before, self.assigned = self.assigned, assigned
        return int(move_rows(self.rows, before, assigned, self._counts, self._sizes, self._totals))

    def _log_weights(self, rng: np.random.Generator) -> FloatVector:
        """Draw the weights from their Dirichlet posterior; as Gamma variables, whose sum does not matter."""
        shape = self._sizes + self.prior.concentration
        drawn = np.log(rng.standard_gamma(shape + 1.0))
        return np.asarray(drawn - rng.standard_exponential(shape.size) / shape)

    def _draw_table(self, rng: np.random.Generator) -> FloatVector:
        """Draw the profiles; returns what a score owes to all features of a cluster.

        Multinomial: the table has logs of Gamma variables, and their sums are returned. Poisson: logs of rates, and
        their sums times -1. Bernoulli: log odds, and sums of the logs of "off".
        """
        n_features, n_clusters = self._counts.shape
        step = max(1, CELLS_PER_BLOCK // n_clusters)
        n_blocks = -(-n_features // step)
        streams, sums = rng.spawn(n_blocks), np.empty((n_blocks, n_clusters))

        def draw(part: tuple[int, int]) -> None:
            block = part[0] // step
            self._draw_block(streams[block], slice(*part), sums[block])

        self._in_blocks(draw, n_features, step)
        total = sums.sum(axis=0)
        return np.asarray(-total if self.prior.family == POISSON else total)

    def _draw_block(self, rng: np.random.Generator, part: slice, sums_out: FloatVector) -> None:
        prior, counts, logs = self.prior, self._counts[part], self._table[part]
        _log_gammas(rng, prior.a, counts, logs)
        if prior.family == BERNOULLI:
            logs_off = np.empty_like(logs)
            _log_gammas(rng, prior.b, self._sizes.astype(np.int32) - counts, logs_off)
            log_odds(logs, logs_off, sums_out)
            return
        if prior.family == POISSON:
            logs -= np.log(prior.b + self._sizes).astype(np.float32)
        sum_of_exponentials(logs, sums_out)

    def _in_blocks(self, function: Callable[[tuple[int, int]], None], n: int, step: int) -> None:
        parts = [(first, min(first + step, n)) for first in range(0, n, step)]
        with thread_runner(self._n_threads) as run_all:
            run_all(function, parts)


def _log_gammas(
    rng: np.random.Generator, first_shape: float, counts: NDArray[np.int32], logs_out: NDArray[np.float32]
) -> None:
    shape: Any = (counts + np.float32(first_shape + 1.0)).astype(np.float32)
    gammas = rng.standard_gamma(shape, dtype=np.float32)
    exponentials = rng.standard_exponential(counts.shape, dtype=np.float32)
    log_gammas(gammas, exponentials, first_shape, counts, logs_out)
