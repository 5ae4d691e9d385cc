"""A chain: a partition of all rows, and sweeps that change it."""

from typing import NamedTuple

import numpy as np

from sparsemix.models.time_sensitive import building, chain_kernels, kernels
from sparsemix.models.time_sensitive.state import IntVector, Prior, Rows, Timing


class Sweep(NamedTuple):
    """What a sweep did.

    log_joint : log probability of rows and partition together after it, nats.
    n_moved : rows that changed their cluster. n_clusters : after it. n_active : the most candidates that a row had.
    """

    log_joint: float
    n_moved: int
    n_clusters: int
    n_active: int


class Chain:
    """One chain; rows stand in the order of their times.

    Parameters
    ----------
    rows : Rows
    prior : Prior
    timing : Timing
    rng : Generator
        Of this chain alone; the chain is a function of it.
    """

    def __init__(self, rows: Rows, prior: Prior, timing: Timing, rng: np.random.Generator) -> None:
        self.rows, self.prior, self.timing = rows, prior, timing
        self._rng = rng
        self._window = building.window_of(rows, prior)
        self.chains = building.no_clusters(rows.lengths.size)
        self._log_new = float(np.log(prior.concentration))
        self._log_normalizer = float(chain_kernels.log_normalizer(timing, prior.concentration))

    @property
    def assigned(self) -> IntVector:
        """Cluster of each row, (n_rows,), -1 before it has one."""
        return self.chains.assigned

    def start(self, assigned: IntVector) -> bool:
        """Begin from clusters 0, 1, ..., -1 for rows that enter one after another; False if that cannot be."""
        is_feasible = building.fill(self.chains, self.timing, assigned)
        if is_feasible and np.any(assigned < 0):
            self.sweep()
        return is_feasible

    def sweep(self) -> Sweep:
        """Visit all rows once, from the first to the last."""
        tally, uniforms = np.zeros(4), self._rng.random(self.assigned.size)
        kernels.sweep(self.rows, self.prior, self.timing, self.chains, self._window, uniforms, tally)
        log_prior = chain_kernels.log_time_prior(self.timing, self._log_new, self.chains)
        log_joint = float(tally[0] + log_prior - self._log_normalizer)
        return Sweep(log_joint, int(tally[1]), int(tally[2]), int(tally[3]))
