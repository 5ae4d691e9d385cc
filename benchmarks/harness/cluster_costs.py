"""What a round of the online learner costs on a cluster, from what its parts cost.

A round has four parts, one after the other: every worker gets the posterior, every worker reads and learns its rows,
all messages come over one link to the one who joins, and are added there.
"""

from typing import NamedTuple

import numpy as np

from sparsemix.models.online_profiles.state import Posterior, entries_of

BYTES_PER_ENTRY = 20  # of a message: feature, alpha, beta
BYTES_PER_ENTRY_OF_POSTERIOR = 44  # with its place in the index


class Costs(NamedTuple):
    """Of one cluster and one table.

    rows_per_second : read and learnt by one worker; seconds_per_entry : of a message, to add it; link : bytes a second
    of each machine.
    """

    rows_per_second: float
    seconds_per_entry: float
    link: float


class Round(NamedTuple):
    """Seconds of the parts of a round."""

    posterior: float
    learning: float
    messages: float
    adding: float

    @property
    def seconds(self) -> float:
        """Of all parts."""
        return sum(self)

    @property
    def share_of_join(self) -> float:
        """Share of the time in which workers wait for messages to arrive and to be added."""
        return (self.messages + self.adding) / self.seconds


def round_of(costs: Costs, n_workers: int, rows_per_worker: int, entries: float, explicit: float) -> Round:
    """A round in which each worker learns so many rows and changes so many of all explicit entries."""
    return Round(
        float(n_copies(n_workers) * explicit * BYTES_PER_ENTRY_OF_POSTERIOR / costs.link),
        rows_per_worker / costs.rows_per_second,
        n_workers * entries * BYTES_PER_ENTRY / costs.link,
        n_workers * entries * costs.seconds_per_entry,
    )


def n_copies(n_workers: int) -> int:
    """How often the posterior is sent one after the other: workers that have it hand it on."""
    return int(np.ceil(np.log2(n_workers + 1)))


def most_workers(costs: Costs, rows_per_worker: int, entries: float) -> float:
    """Workers at which a join takes as long as the learning before it."""
    of_one = entries * (BYTES_PER_ENTRY / costs.link + costs.seconds_per_entry)
    return rows_per_worker / costs.rows_per_second / of_one


def changed_entries(posterior: Posterior, n_features: int, n_rows: int) -> float:
    """Entries that a child changes in so many rows, to be expected from what the posterior knows.

    An explicit feature of a component is changed if a row of the component holds it, and one that is not becomes
    explicit then; its probability is the component's default.
    """
    owner, entries = posterior.owner(), entries_of(posterior)
    rows = n_rows * posterior.weight_concentration / posterior.weight_concentration.sum()
    known = entries.alpha / (entries.alpha + entries.beta + posterior.certain[owner])
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    others = n_features - posterior.size
    return float(_met(known, rows[owner]).sum() + (others * _met(default, rows)).sum())


def _met(probability: np.ndarray, n_rows: np.ndarray) -> np.ndarray:
    """Probability that at least one of so many rows holds a feature."""
    return -np.expm1(n_rows * np.log1p(-probability))
