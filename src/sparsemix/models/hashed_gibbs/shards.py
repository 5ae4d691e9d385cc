"""Rows visited side by side, each shard of them beside a copy of the clusters of its own.

The shards of a block do not see each other's moves until its end, when every copy follows them: an approximation to
one row after another, the better the fewer rows of a block move. Copies are whole numbers and functions of those, so
that the answer depends on the number of shards, but not on that of threads. Memory: a copy of the statistics a shard.
"""

from collections.abc import Callable
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.hashed_gibbs.kernels import follow
from sparsemix.models.hashed_gibbs.state import Clusters, FloatVector, IntVector, Prior, Rows
from sparsemix.numeric.threads import thread_runner

Sweep = Callable[[Clusters, IntVector, FloatVector, NDArray[np.int64]], None]


class Shards:
    """Equal copies of the clusters, the first of which is the one that is given.

    Parameters
    ----------
    clusters : Clusters
    n_shards, n_threads : int
    """

    def __init__(self, clusters: Clusters, n_shards: int, n_threads: int) -> None:
        copies = (Clusters._make(column.copy() for column in clusters) for _ in range(n_shards - 1))
        self.copies = [clusters, *copies]
        self._n_threads = min(n_threads, n_shards)

    def visit(
        self,
        rows: Rows,
        prior: Prior,
        sweep: Sweep,
        assigned: IntVector,
        order: IntVector,
        uniforms: FloatVector,
        tally: NDArray[np.int64],
    ) -> None:
        """Visit the rows of `order`, a shard beside each copy, and let all copies follow."""
        before, tallies = assigned[order], np.zeros((len(self.copies), tally.size), np.int64)
        ends = np.linspace(0, order.size, len(self.copies) + 1).astype(int)
        places = [slice(first, last) for first, last in pairwise(ends.tolist())]
        numbers = [(number, number + 1) for number in range(len(places))]

        def own(number: tuple[int, int]) -> None:
            place = places[number[0]]
            sweep(self.copies[number[0]], order[place], uniforms[place], tallies[number[0]])

        def others(number: tuple[int, int]) -> None:
            own_place = places[number[0]]
            for place in (slice(own_place.start), slice(own_place.stop, None)):
                follow(rows, prior, self.copies[number[0]], order[place], before[place], assigned)

        with thread_runner(self._n_threads) as run:
            run(own, numbers)
            run(others, numbers)
        tally += tallies.sum(axis=0)
