"""The evidence of many clusters at once, on several threads."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import equal_parts, thread_runner

FloatVector = NDArray[np.float64]

ENTRIES_FOR_THREADS = 50_000


class Collapsed(Protocol):
    """A family with its parameters integrated out."""

    def log_evidence(self, sizes: FloatVector, counts: sparse.csr_array) -> FloatVector:
        """Collapsed log evidence of each cluster, with its factor of the prior on partitions; 0 if empty."""
        ...


def log_evidence(
    family: Collapsed, sizes: FloatVector, counts: sparse.csr_array, n_threads: int
) -> FloatVector:
    """What `family.log_evidence` says, to the bit; each thread has clusters of its own."""
    if n_threads == 1 or counts.nnz < ENTRIES_FOR_THREADS:
        return family.log_evidence(sizes, counts)
    evidence = np.empty(sizes.size)

    def fill(part: tuple[int, int]) -> None:
        place = slice(*part)
        evidence[place] = family.log_evidence(sizes[place], sparse.csr_array(counts[place]))

    with thread_runner(n_threads) as run:
        run(fill, equal_parts(np.diff(counts.indptr) + 1.0, n_threads))
    return evidence
