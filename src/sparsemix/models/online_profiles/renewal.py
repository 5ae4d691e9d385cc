"""Looking at the first rows anew where components overlap: what a young stream has learnt is replaced.

A row is learnt by the components as they are when it comes. Where rows are surely of one component that is the last
word on them; where several share most rows, early shares are those of components that were hardly known, and the
stream would keep them for good. Such rows stay at hand. When there are two, four and eight times as many as were
primed with, all of them are shared out anew by sweeps of batch expectation maximisation from where the stream stands,
and their expected counts become the posterior.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import index_kernels, kernels
from sparsemix.models.online_profiles.batch import (
    Buffer,
    expected_of,
    learners_of,
    posterior_from,
    stacked,
)
from sparsemix.models.online_profiles.engine import keep_house, settle_waiting
from sparsemix.models.online_profiles.indexing import index_anew
from sparsemix.models.online_profiles.priming import settled
from sparsemix.models.online_profiles.state import reordered
from sparsemix.models.online_profiles.steps import positions
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.probability.beta_bernoulli import BetaBernoulli
from sparsemix.probability.evidence import threads_for

IntVector = NDArray[np.int64]

TIMES_AT_HAND = 8  # the rows that were primed with: so many stay at hand at most
GROWN = 1.25  # times the rows of the last look, from which another one is worth it at the end
SHARED_ROWS = 0.1  # share of the rows that several components learn from, where components overlap
LEAST_SWEEPS = 6
WORK_OF_SWEEPS = 2e9  # entries times components that may be touched until the components settle


class Held(NamedTuple):
    """Rows at hand, all that the stream has seen: blocks, and labels by component id or -1, in their order."""

    blocks: list[RowBlock]
    labels: list[IntVector]

    def buffer(self, stream: Stream, settings: Settings) -> Buffer:
        """The rows as `batch` reads them, for the components of a stream, of which the clutter is the last."""
        rows = stacked(self.blocks, stream.n_features)
        return Buffer(
            rows,
            positions(stream.component_ids, np.concatenate(self.labels)),
            BetaBernoulli(stream.prior, stream.n_features, settings.weight_concentration),
            int(np.count_nonzero(stream.component_ids != kernels.CLUTTER_ID)),
            bool(stream.clutter >= 0),
            settings.min_responsibility,
            threads_for(rows.nnz, stream.n_threads),
        )


def next_look(n_rows: int, priming_rows: int) -> int:
    """How many rows there are when rows at hand are looked at next: those primed with, doubled until it is more.

    Examples
    --------
    >>> next_look(0, 1_000), next_look(1_000, 1_000), next_look(3_999, 1_000)
    (1000, 2000, 4000)
    """
    look = priming_rows
    while look <= n_rows:
        look *= 2
    return look


def is_due_at_the_end(n_rows: int, priming_rows: int) -> bool:
    """Whether rows at hand have grown enough since the last look for one more, though it is not time yet."""
    return n_rows >= GROWN * next_look(n_rows, priming_rows) / 2


def is_young(stream: Stream, settings: Settings) -> bool:
    """Whether rows may stay at hand."""
    return settings.half_life_rows is None and stream.n_rows < TIMES_AT_HAND * settings.priming_rows


def overlaps(stream: Stream, held: Held, settings: Settings) -> bool:
    """Whether several components share many of the rows, so that another look is worth it; O(n_components nnz)."""
    shares = learners_of(held.buffer(stream, settings), stream.index).responsibilities
    return bool(stream.n_rows - np.count_nonzero(shares == 1.0) > SHARED_ROWS * stream.n_rows)


def renew(stream: Stream, held: Held, settings: Settings) -> None:
    """Share all rows out anew, and let the components know what they then expect, and nothing else.

    Components stay what they are, but for those that come when rows that wait are settled first, and for tiny ones.
    Costs at most 30 sweeps of O(n_components nnz).
    """
    settle_waiting(stream, settings)
    _put_clutter_last(stream)
    index_anew(stream, settings)
    buffer = held.buffer(stream, settings)
    expected = expected_of(buffer, learners_of(buffer, stream.index))
    expected = settled(buffer, expected, LEAST_SWEEPS, WORK_OF_SWEEPS)
    stream.posterior = posterior_from(buffer, expected)
    stream.next_index = stream.next_cull = stream.n_rows
    keep_house(stream, settings)


def _put_clutter_last(stream: Stream) -> None:
    """Put the clutter after components that were born later."""
    index_kernels.settle(stream.posterior)
    order = np.argsort(stream.component_ids == kernels.CLUTTER_ID, kind="stable")
    stream.posterior = reordered(stream.posterior, order)
    stream.component_ids = stream.component_ids[order]
