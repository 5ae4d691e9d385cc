"""Learning rows while the components stay what they are: scored with one index, then learnt by each component."""

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import kernels
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.models.online_profiles.state import with_room
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.numeric.sorting import stable_order

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ROWS_PER_STEP = 32_768
LEARNERS_PER_ROW = 4


def learn_rows(
    stream: Stream, block: RowBlock, labels: IntVector, settings: Settings, log_evidence: FloatVector
) -> int:
    """Learn rows until all are learnt or as many wait as may; return how many were seen.

    The index stays as it is, and no component comes or goes. `log_evidence`, (n_rows,), gets the log density of each
    row before it was learnt, nats.
    """
    first = 0
    while first < block.n_rows:
        last = min(block.n_rows, first + ROWS_PER_STEP)
        part = block.slice(first, last)
        first += _learn_part(stream, part, labels[first:last], settings, log_evidence[first:last])
        if stream.waiting.is_full:
            break
    stream.n_rows += first
    return first


def learn_surely(stream: Stream, rows: RowBlock, settings: Settings) -> None:
    """Learn rows that have been counted and are not to wait (again)."""
    unknown = np.full(rows.n_rows, -1)
    waiting, stream.waiting = stream.waiting, Reservoir(0)
    _learn_part(stream, rows, unknown, settings, np.empty(rows.n_rows))
    stream.waiting = waiting


def _learn_part(
    stream: Stream, block: RowBlock, labels: IntVector, settings: Settings, log_evidence: FloatVector
) -> int:
    """Score rows with the index as it stands, then let each component learn its own; return how many were seen."""
    n_components = stream.posterior.n_components
    known = positions(stream.component_ids, labels)
    work, rival = np.empty(n_components), _rival(stream, block, labels)
    capacity = LEARNERS_PER_ROW * block.n_rows + n_components
    rows, components, shares = np.empty(capacity, np.int64), np.empty(capacity, np.int32), np.empty(capacity)
    first, last = 0, block.n_rows
    while first < last:
        waiting = np.empty(min(stream.waiting.room, last - first), np.int64)
        start = first
        first, n_learners, n_waiting = kernels.find_learners(
            block.indptr, block.columns, known, first, stream.index, settings.min_responsibility, work, rival,
            log_evidence, rows, components, shares, waiting,
        )  # fmt: skip
        slot_of = learn_common(stream, block.slice(start, first))
        if n_waiting:
            learn_common(stream, stream.waiting.add(block, waiting[:n_waiting]), -1.0)
        order = stable_order(components[:n_learners], n_components)
        bounds = np.searchsorted(components[order], np.arange(n_components + 1))
        lengths = np.diff(block.indptr)[rows[order]]
        room = np.diff(np.append(0, np.cumsum(lengths))[bounds])
        stream.posterior = with_room(stream.posterior, room)
        kernels.learn_block(
            block.indptr, block.columns, bounds, rows[order], shares[order], stream.n_features, stream.clutter,
            settings.explicit_responsibility, stream.posterior, slot_of,
        )  # fmt: skip
        if stream.waiting.is_full:
            last = first
    stream.named_ids = np.union1d(stream.named_ids, named(labels[:last]))
    return last


def _rival(stream: Stream, block: RowBlock, labels: IntVector) -> FloatVector:
    """Log density below which a row waits; rows with a label never do."""
    if not stream.waiting.capacity:
        return np.full(block.n_rows, -np.inf)
    return np.where(labels < 0, stream.background.rival(block), -np.inf)


def learn_common(stream: Stream, rows: RowBlock, sign: float = 1.0) -> NDArray[np.int32]:
    """Count common features of rows; return, (n_features,), which features are common, as the kernels read it."""
    slot_of = np.full(stream.n_features, kernels.NOT_EXPLICIT, np.int32)
    kernels.learn_common(rows.columns, rows.n_rows, sign, slot_of, stream.posterior)
    return slot_of


def named(labels: IntVector) -> IntVector:
    """Ids that labels name, sorted."""
    return np.unique(labels[labels >= 0]).astype(np.int64)


def positions(component_ids: IntVector, labels: IntVector) -> IntVector:
    """Position of each labelled component, -1 where the label is unknown or its component is gone."""
    position = np.full(max(int(component_ids.max(initial=-1)), int(labels.max(initial=-1))) + 2, -1)
    position[component_ids] = np.arange(component_ids.size)
    position[-1] = -1
    return position[labels]
