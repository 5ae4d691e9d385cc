"""Chains of partitions between two sweeps: which draws are kept, how many there are, and where the rows are now."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def kept_sweeps(n_sweeps: int, burn_in: int, thin: int) -> range:
    """Sweeps after which a draw is kept; the last is always one of them.

    Examples
    --------
    >>> list(kept_sweeps(10, 4, 2))
    [5, 7, 9]
    """
    return range(n_sweeps - 1, burn_in - 1, -thin)[::-1]


def n_kept(kept: range, n_done: Any) -> NDArray[np.int64]:
    """How many draws chains have kept after so many sweeps each; (n_chains,)."""
    found: NDArray[np.int64] = np.count_nonzero(np.array(kept) < np.reshape(n_done, (-1, 1)), axis=1)
    return found


def draws_so_far(draws: NDArray[np.int32], kept: range, n_done: Sequence[int]) -> NDArray[np.int32]:
    """The draws that there are of (n_chains, n_kept, n_rows); (n_draws, n_rows), chain after chain, a view of all."""
    found = n_kept(kept, n_done)
    if found.min() == len(kept):
        return draws.reshape(-1, draws.shape[2])
    return np.vstack([own[:n] for own, n in zip(draws, found, strict=True)])


def of_the_best_chain(log_joint: NDArray[np.float64], positions: Sequence[Any]) -> Any:
    """Where the rows are in the chain that has the highest log joint now, the first of equals; (n_rows,).

    Parameters
    ----------
    log_joint : (n_chains, n_sweeps)
        After each sweep, nats.
    positions : sequence
        Each with `n_sweeps` and `assigned`, or None for a chain without a sweep; one at least is none of these.
    """
    last = [
        (log_joint[chain, position.n_sweeps - 1], -chain, position.assigned)
        for chain, position in enumerate(positions)
        if position is not None
    ]
    return max(last, key=lambda each: each[:2])[2]
