"""The evidence of many components at once, on several threads."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import equal_parts, thread_runner
from sparsemix.probability.beta_bernoulli import BetaBernoulli

FloatVector = NDArray[np.float64]

ENTRIES_FOR_THREADS = 50_000


@dataclass(frozen=True)
class ThreadedBetaBernoulli(BetaBernoulli):
    """The family, whose evidence threads compute, each for components of its own."""

    n_threads: int = 1

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """As in `BetaBernoulli`, to the bit."""
        n_threads = self.n_threads if counts.nnz >= ENTRIES_FOR_THREADS else 1
        whole = super().log_evidence
        if n_threads == 1:
            return whole(sizes, counts)
        evidence = np.empty(sizes.size)

        def fill(part: tuple[int, int]) -> None:
            place = slice(*part)
            evidence[place] = whole(sizes[place], sparse.csr_array(counts[place]))

        with thread_runner(n_threads) as run:
            run(fill, equal_parts(np.diff(counts.indptr) + 1.0, n_threads))
        return evidence
