"""What an index says of rows, which several threads share; their number changes no bit."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import scoring_kernels
from sparsemix.models.online_profiles.state import ScoreIndex
from sparsemix.numeric.threads import row_parts, thread_runner

ROWS_PER_THREAD = 256  # so few are not worth another thread


class RowAnswers(NamedTuple):
    """The most probable component of each row, by position, and its log density, nats; (n_rows,) both."""

    best: NDArray[np.int64]
    density: NDArray[np.float64]


def answers_for(index: ScoreIndex, block: RowBlock, n_threads: int = 1) -> RowAnswers:
    """Look each row up; O(n_components + matches) a row."""
    answers = RowAnswers(np.empty(block.n_rows, np.int64), np.empty(block.n_rows))

    def answer(part: tuple[int, int]) -> None:
        work = np.empty(index.base.size)
        scoring_kernels.answer_rows(block.indptr, block.columns, *part, index, work, *answers)

    _share(block, n_threads, answer)
    return answers


def responsibilities_for(index: ScoreIndex, block: RowBlock, n_threads: int = 1) -> NDArray[np.float64]:
    """Posterior of the components for each row, (n_rows, n_components)."""
    found = np.empty((block.n_rows, index.base.size))

    def score(part: tuple[int, int]) -> None:
        scoring_kernels.score_rows(block.indptr, block.columns, *part, index, found)

    _share(block, n_threads, score)
    return found


def _share(block: RowBlock, n_threads: int, work: Callable[[tuple[int, int]], None]) -> None:
    n_threads = min(n_threads, 1 + block.n_rows // ROWS_PER_THREAD)
    with thread_runner(n_threads) as run:
        run(work, row_parts(block.indptr, n_threads))
