"""Components shared out to the threads that learn them."""

from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.numeric.threads import thread_parts

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

PIECES = 2  # in which the work of a thread is cut at least
SLOTS_AT_ONCE = 64  # a multiple of what vector registers hold: where slots are cut changes no bit
NO_END = np.iinfo(np.int64).max


class Part(NamedTuple):
    """Work of a thread: the Betas in slots `low` to ``high - 1`` of components, (n_learners,)."""

    learners: IntVector
    low: int
    high: int

    @property
    def is_piece(self) -> bool:
        """Whether it is not all of its components."""
        return self.low > 0 or self.high < NO_END


def learning_parts(work: FloatVector, size: IntVector, n_threads: int) -> list[Part]:
    """Share components out to threads, one that would keep a thread busy for long in pieces; large parts come first.

    Parameters
    ----------
    work : (n_components,)
    size : (n_components,)
        Slots in use.
    n_threads : int

    Examples
    --------
    >>> for part in learning_parts(np.array([90.0, 5.0, 5.0]), np.array([200, 100, 100]), 2):
    ...     print(part.learners, part.low, "to the end" if part.high == NO_END else part.high)
    [0] 0 64
    [0] 64 128
    [0] 128 to the end
    [1] 0 to the end
    [2] 0 to the end
    """
    most = work.sum() / (PIECES * n_threads)
    is_large = (work > 2 * most) & (n_threads > 1)
    parts = []
    for k in np.flatnonzero(is_large):
        n_pieces, n_slots = int(np.ceil(work[k] / most)), int(size[k])
        bounds = {i * n_slots // n_pieces // SLOTS_AT_ONCE * SLOTS_AT_ONCE for i in range(n_pieces)}
        parts += [Part(np.array([k]), *slots) for slots in pairwise([*sorted(bounds), NO_END])]
    others = np.flatnonzero(~is_large)
    return parts + [Part(others[a:b], 0, NO_END) for a, b in thread_parts(work[others], n_threads)]
