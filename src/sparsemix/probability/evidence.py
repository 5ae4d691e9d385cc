"""The evidence of many clusters at once, on several threads."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import thread_parts, thread_runner

FloatVector = NDArray[np.float64]

ENTRIES_FOR_THREADS = 50_000


class Collapsed(Protocol):
    """A family with its parameters integrated out."""

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Collapsed log evidence of each cluster, with its factor of the prior on partitions; 0 if empty."""
        ...


def threads_for(n_entries: int, n_threads: int) -> int:
    """Threads that work on so many entries is worth, of those that there are."""
    return n_threads if n_entries >= ENTRIES_FOR_THREADS else 1


def log_evidence(
    family: Collapsed, sizes: FloatVector, counts: sparse.csr_array, n_threads: int
) -> FloatVector:
    """What `family.log_evidence` says, to the bit; each thread has clusters of its own."""
    n_threads = threads_for(counts.nnz, n_threads)
    if n_threads == 1:
        return family.log_evidence(sizes, counts)
    evidence = np.empty(sizes.size)

    def fill(part: tuple[int, int]) -> None:
        place = slice(*part)
        evidence[place] = family.log_evidence(sizes[place], sparse.csr_array(counts[place]))

    with thread_runner(n_threads) as run:
        run(fill, thread_parts(np.diff(counts.indptr) + 1.0, n_threads))
    return evidence
