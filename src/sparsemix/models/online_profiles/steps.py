"""Learning rows while the components stay what they are: scored with one index, then learnt by each component."""

from functools import partial
from itertools import repeat

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import kernels
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.models.online_profiles.scoring import Hands, Scored, Scoring, dealt
from sparsemix.models.online_profiles.sharing import Part, learning_parts
from sparsemix.models.online_profiles.state import with_room
from sparsemix.models.online_profiles.stream import Settings, Stream
from sparsemix.numeric.threads import Run, run_tasks, thread_runner

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ROWS_PER_STEP = 32_768
ROOM_FOR_STEPS = 2  # few features are new, so that it is enough for many more
PER_COMPONENT = ("weight_concentration", "default_alpha", "default_beta", "size", "certain")
ROWS_PER_THREAD = 256  # so few are not worth another thread


def learn_rows(
    stream: Stream, block: RowBlock, labels: IntVector, settings: Settings, log_evidence: FloatVector
) -> int:
    """Learn rows until all are learnt or as many wait as may; return how many were seen.

    The index stays as it is, and no component comes or goes. `log_evidence`, (n_rows,), gets the log density of each
    row before it was learnt, nats. Threads share the rows to score them, then the components to learn them, each
    from all its rows in order: their number changes no bit.
    """
    first = 0
    n_threads = min(stream.n_threads, 1 + block.n_rows // ROWS_PER_THREAD)
    with thread_runner(n_threads) as run:
        while first < block.n_rows and not stream.waiting.is_full:
            last = min(block.n_rows, first + ROWS_PER_STEP)
            known = positions(stream.component_ids, labels[first:last])
            part = block.slice(first, last)
            step = Scoring(stream, part, known, settings, log_evidence[first:last])
            first += _learn_step(step, run, n_threads)
    if labels[:first].max(initial=-1) >= 0:
        stream.named_ids = np.union1d(stream.named_ids, named(labels[:first]))
    stream.n_rows += first
    return first


def learn_surely(stream: Stream, rows: RowBlock, settings: Settings) -> None:
    """Learn rows that have been counted and are not to wait (again)."""
    waiting, n_rows, stream.waiting = stream.waiting, stream.n_rows, Reservoir(0)
    learn_rows(stream, rows, np.full(rows.n_rows, -1), settings, np.empty(rows.n_rows))
    stream.waiting, stream.n_rows = waiting, n_rows


def _learn_step(step: Scoring, run: Run[tuple[int, int]], n_threads: int) -> int:
    """Score rows with the index as it stands, then let each component learn its own; return how many were seen."""
    stream, first = step.stream, 0
    for scored in step.parts(run, n_threads):
        _learn_scored(step, scored, step.block.slice(first, scored.last), run, n_threads)
        first = scored.last
        if stream.waiting.is_full:
            break
    return first


def _learn_scored(
    step: Scoring, scored: Scored, rows: RowBlock, run: Run[tuple[int, int]], n_threads: int
) -> None:
    """Let each component learn its own rows, in their order, while `rows`, all of them, are counted and some wait."""
    stream, block = step.stream, step.block
    hands = dealt(scored, block.indptr, stream.posterior.n_components)
    _make_room(stream, hands)
    posterior = stream.posterior
    before = posterior._replace(**{name: getattr(posterior, name).copy() for name in PER_COMPONENT})
    work = 1.0 + hands.n_held + (1.0 + hands.n_unsure) * posterior.size
    parts = learning_parts(work, posterior.size, n_threads)
    done = np.zeros((len(parts), 1), bool)
    slot_of = np.full(stream.n_features, kernels.NOT_EXPLICIT, np.int32)
    slot_of[posterior.common_feature] = kernels.COMMON
    idle = [slot_of.copy() for _ in range(n_threads)]

    def count() -> None:
        learn_common(stream, rows)
        if scored.waiting.size:
            learn_common(stream, stream.waiting.add(block, scored.waiting), -1.0)

    def learn(part: Part, is_done: NDArray[np.bool_]) -> None:
        own = idle.pop()
        kernels.learn_block(
            block.indptr, block.columns, *part, hands.bounds, hands.rows, hands.shares, stream.n_features,
            stream.clutter, step.settings.explicit_responsibility, before, posterior, own, is_done,
        )  # fmt: skip
        idle.append(own)

    try:
        run_tasks(run, [count, *map(partial, repeat(learn), parts, done)])
    finally:  # where the user interrupts, each component has learnt all or nothing
        for part, is_done in zip(parts, done, strict=True):
            if part.is_piece and not is_done[0]:
                learn(part, is_done)


def _make_room(stream: Stream, hands: Hands) -> None:
    """See to it that each component has a slot for every feature of its rows."""
    size, n_features = stream.posterior.size, stream.n_features
    if np.any(np.minimum(size + hands.n_held, n_features) > stream.posterior.capacity):
        room = np.minimum(size + ROOM_FOR_STEPS * hands.n_held, n_features - size)
        stream.posterior = with_room(stream.posterior, room, stream.threads())


def learn_common(stream: Stream, rows: RowBlock, sign: float = 1.0) -> None:
    """Count common features of rows, which all components hold in common."""
    features = stream.posterior.common_feature
    place = np.full(stream.n_features, kernels.NOT_EXPLICIT, np.int32)
    place[features] = np.arange(features.size)
    kernels.learn_common(rows.columns, rows.n_rows, sign, place, stream.posterior)


def named(labels: IntVector) -> IntVector:
    """Ids that labels name, sorted."""
    return np.unique(labels[labels >= 0]).astype(np.int64)


def positions(component_ids: IntVector, labels: IntVector) -> IntVector:
    """Position of each labelled component, -1 where the label is unknown or its component is gone."""
    position = np.full(max(int(component_ids.max(initial=-1)), int(labels.max(initial=-1))) + 2, -1)
    position[component_ids] = np.arange(component_ids.size)
    position[-1] = -1
    return position[labels]
