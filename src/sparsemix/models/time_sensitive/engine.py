"""A chain: a partition of all rows, and sweeps that change it."""

from typing import NamedTuple

import numpy as np

from sparsemix.models.time_sensitive import building, chain_kernels, kernels, rate_kernels
from sparsemix.models.time_sensitive.split_kernels import split_and_merge
from sparsemix.models.time_sensitive.state import IntVector, Prior, Rows, SmallVector, Timing
from sparsemix.numeric.seeds import go_to, state_of

REACH = 30  # rows between the two of a pair, in the mean
MOST_DRAWS = 10_000  # uniforms drawn at a time, or one for each row


class Sweep(NamedTuple):
    """What a sweep did.

    log_joint : log probability of rows and partition together after it, nats.
    n_moved : rows that changed their cluster one by one. n_clusters : after it.
    n_active : the most candidates that a row had. n_split_merge : clusters that were cut or joined.
    """

    log_joint: float
    n_moved: int
    n_clusters: int
    n_active: int
    n_split_merge: int


class Position(NamedTuple):
    """Where a chain stands between two sweeps: with its seed, enough to go on to the same bits.

    n_sweeps : that it has made. assigned : (n_rows,) cluster of each row.
    rate : (n_rows,) which of several rates each cluster has, 0 for numbers without a cluster; empty for one rate.
    state : (6,) of its generator, see `state_of`.
    """

    n_sweeps: int
    assigned: SmallVector
    rate: SmallVector
    state: IntVector


class Chain:
    """One chain; rows stand in the order of their times.

    Parameters
    ----------
    rows : Rows
    prior : Prior
    timing : Timing
    moves_per_row : float
        Cuts and joins that a sweep proposes for each row.
    rng : Generator
        Of this chain alone; the chain is a function of it.
    """

    def __init__(
        self, rows: Rows, prior: Prior, timing: Timing, moves_per_row: float, rng: np.random.Generator
    ) -> None:
        self.rows, self.prior, self.timing = rows, prior, timing
        self._moves_per_row, self._rng = moves_per_row, rng
        self._has_rates, self._n_sweeps = timing.rates.size > 1, 0
        self._window = building.window_of(rows, prior, timing.rates.size)
        self.chains = building.no_clusters(rows.lengths.size)
        self._log_new = float(np.log(prior.concentration))
        if not self._has_rates:
            chain_kernels.sums_of_weights(timing, self.chains.sums)

    @property
    def assigned(self) -> IntVector:
        """Cluster of each row, (n_rows,), -1 before it has one."""
        return self.chains.assigned

    def start(self, assigned: IntVector, rate: IntVector | None = None) -> bool:
        """Begin from clusters 0, 1, ..., -1 for rows that enter one after another; False if that cannot be.

        `rate` says which of several rates each cluster has.
        """
        is_feasible = building.fill(self.chains, self.timing, assigned, rate)
        if is_feasible and np.any(assigned < 0):
            self._visit_rows()
        return is_feasible

    def go_on(self, position: Position) -> None:
        """Begin where another chain of this seed has stood."""
        self._n_sweeps = position.n_sweeps
        go_to(self._rng, position.state)
        self.chains.rate[: position.rate.size] = position.rate
        chain_kernels.link_all(self.timing, self.chains, position.assigned.astype(np.int64))

    def position(self) -> Position:
        """Where the chain stands."""
        rate = np.empty(0)
        if self._has_rates:
            rate = np.where(self.chains.head >= 0, self.chains.rate, 0)
        assigned = self.assigned.astype(np.int32)
        return Position(self._n_sweeps, assigned, rate.astype(np.int32), state_of(self._rng))

    def sweep(self) -> Sweep:
        """Cut and join clusters, visit all rows once, from the first to the last, and draw rates if there are any.

        What it does depends on `position` alone.
        """
        self._n_sweeps += 1
        unused = np.flatnonzero(self.chains.head < 0)[::-1]
        self.chains.free[: unused.size], self.chains.n_free[0] = unused, unused.size
        if self._has_rates:
            rate_kernels.weigh_rows(self.timing, self.chains)  # so that no rounding gathers
        n_split_merge = self._split_and_merge()
        return self._visit_rows()._replace(n_split_merge=n_split_merge)

    def _visit_rows(self) -> Sweep:
        tally, uniforms = np.zeros(4), self._rng.random(self.assigned.size)
        kernels.sweep(self.rows, self.prior, self.timing, self.chains, self._window, uniforms, tally)
        log_prior = chain_kernels.log_time_prior(self.timing, self._log_new, self.chains)
        if self._has_rates:
            uniforms = self._rng.random(self.assigned.size)
            rate_kernels.draw_rates(self.timing, self.chains, self.prior.concentration, uniforms)
            log_prior = chain_kernels.log_time_prior(self.timing, self._log_new, self.chains)
            log_prior += self.timing.log_shares[self.chains.rate[self.chains.head >= 0]].sum()
        log_normalizer = np.sum(np.log(self.chains.sums + self.prior.concentration))
        log_joint = float(tally[0] + log_prior - log_normalizer)
        return Sweep(log_joint, int(tally[1]), int(tally[2]), int(tally[3]), 0)

    def _split_and_merge(self) -> int:
        pairs = self._pairs(round(self._moves_per_row * self.assigned.size))
        n_accepted, state = 0, (self.rows, self.prior, self.timing, self.chains)
        halves = building.no_halves(self.rows)
        while len(pairs):
            uniforms = 1.0 - self._rng.random(len(pairs))
            draws = self._rng.random(max(self.assigned.size, MOST_DRAWS))
            n_done, accepted = split_and_merge(*state, pairs, uniforms, draws, halves)
            pairs, n_accepted = pairs[n_done:], n_accepted + accepted
        return n_accepted

    def _pairs(self, n_moves: int) -> IntVector:
        """Pairs of rows, (n_moves, 2), whatever the partition: near one another, for far ones are seldom together.

        They stand in the order of time, so that what a move reads is still at hand from the one before.
        """
        n_rows = self.assigned.size
        if n_rows < 2:
            return np.empty((0, 2), np.int64)
        steps = self._rng.geometric(1.0 / REACH, n_moves) % n_rows
        first = np.sort(self._rng.integers(n_rows, size=n_moves))
        pairs = np.column_stack([first, (first + steps) % n_rows])
        return pairs[steps > 0]
