"""The loop of the online learner: hold a buffer, prime, then learn row after row, culling now and then.

Responsibilities are computed with an index of the posterior that is at most a share `staleness` of the stream old;
every Beta is updated row by row. All moments at which something happens (priming, a new index, culling) are
functions of the number of rows seen, so that the same rows in any batching lead to the same bits.
"""

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import index_kernels, kernels
from sparsemix.models.online_profiles.background import NO_BACKGROUND
from sparsemix.models.online_profiles.batch import Buffer
from sparsemix.models.online_profiles.culling import cull_features
from sparsemix.models.online_profiles.forgetting import forget, share_kept
from sparsemix.models.online_profiles.indexing import CULL_EVERY, index_anew
from sparsemix.models.online_profiles.merging import Prior
from sparsemix.models.online_profiles.priming import solve
from sparsemix.models.online_profiles.removal import remove_components
from sparsemix.models.online_profiles.repair import repair
from sparsemix.models.online_profiles.reservoir import Reservoir, rows_of
from sparsemix.models.online_profiles.state import Posterior, build_index, with_room
from sparsemix.models.online_profiles.stream import LineageEvent, Settings, Stream
from sparsemix.numeric.sorting import stable_order
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

# Of an average component's rows, the most that the prior weighs before its strength is sought.
STARTING_SHARE = 0.1
ROWS_PER_STEP = 32_768
LEARNERS_PER_ROW = 4
CULL_GROWTH = 0.2  # culling happens when the stream has grown by this share ...
STEPS_PER_PASS = 20


def prime(blocks: list[RowBlock], labels: IntVector, n_features: int, settings: Settings) -> Stream:
    """Solve the buffered rows and open the stream.

    Parameters
    ----------
    blocks : list of RowBlock
        The first rows; none at all gives the prior.
    labels : (n_rows,)
        Component id known for a row, or -1.
    n_features : int
    settings : Settings
    """
    rows = sparse.csr_array(sparse.vstack([b.to_csr(n_features) for b in blocks], format="csr"))
    mean = _prior_mean(rows, settings)
    strength = settings.prior_strength
    prior = BetaPrior.from_mean(
        mean, _starting_strength(rows, mean, settings) if strength is None else strength
    )
    family = BetaBernoulli(prior, n_features, settings.weight_concentration)
    buffer = Buffer(
        rows,
        labels,
        family,
        max(settings.first_components, int(labels.max(initial=-1)) + 1),
        settings.clutter,
        settings.min_responsibility,
    )
    solution = solve(
        buffer,
        np.random.default_rng(settings.seed),
        fit_strength=strength is None,
        most=settings.n_components,
    )
    clutter = np.full(int(settings.clutter), kernels.CLUTTER_ID)
    ids = np.append(solution.slots, clutter).astype(np.int64)
    born = f"primed with {rows.shape[0]} rows, {solution.n_moves} repairs"
    stream = Stream(
        prior=solution.prior,
        posterior=solution.posterior,
        index=build_index(solution.posterior, n_features),
        background=NO_BACKGROUND,
        waiting=Reservoir(settings.reservoir_rows),
        component_ids=ids,
        named_ids=_named(labels),
        n_features=n_features,
        n_rows=rows.shape[0],
        next_index=rows.shape[0],
        next_cull=rows.shape[0],
        next_id=int(ids.max(initial=-1)) + 1,
        n_rows_faded=rows.shape[0],
        log_evidence=solution.log_evidence,
        lineage=[LineageEvent(rows.shape[0], "born", int(k), born) for k in ids],
    )
    _keep_house(stream, settings)
    return stream


def _starting_strength(rows: sparse.csr_array, mean: float, settings: Settings) -> float:
    """A weak prior: at most a tenth of the weight of an average component's rows."""
    return STARTING_SHARE * min(rows.shape[0] / settings.first_components, 1.0 / mean)


def _prior_mean(rows: sparse.csr_array, settings: Settings) -> float:
    if settings.prior_mean is not None:
        return settings.prior_mean
    return (rows.nnz + 1) / (rows.shape[0] * rows.shape[1] + 2)


def learn(
    stream: Stream, block: RowBlock, labels: IntVector, n_features: int, settings: Settings
) -> FloatVector:
    """Learn a block of rows; return the log density of each before it was learnt, nats.

    Cost a row: O(n_components + matches) to score; to learn, O(nnz) where one component is certain of it and
    O(explicit features) for each component otherwise.
    """
    stream.n_features = max(stream.n_features, n_features)
    log_evidence = np.empty(block.n_rows)
    first = 0
    while first < block.n_rows:
        if stream.n_rows >= stream.next_index:
            _keep_house(stream, settings)
        last = min(block.n_rows, first + min(ROWS_PER_STEP, stream.next_index - stream.n_rows))
        part = block.slice(first, last)
        n_seen = _learn_part(stream, part, labels[first:last], settings, log_evidence[first:last])
        stream.n_rows += n_seen
        first += n_seen
        if stream.waiting.capacity and not stream.waiting.room:
            settle_waiting(stream, settings)
    stream.log_evidence = float(np.cumsum(np.append(stream.log_evidence, log_evidence))[-1])
    return log_evidence


def settle_waiting(stream: Stream, settings: Settings) -> None:
    """Let the rows that wait become components where that gains evidence; the others learn what is left.

    Costs some 30 passes over the rows that wait, and a few over the explicit features. They wait until they are
    `reservoir_rows`, so that it is rare where components explain most rows.
    """
    rows = stream.waiting.take()
    if not rows.n_rows:
        return
    index_anew(stream, settings)
    left = repair(stream, rows, settings)
    _learn_common(stream, rows_of(rows, np.flatnonzero(~left)))
    index_kernels.settle(stream.posterior)
    index_anew(stream, settings)
    _learn_surely(stream, rows_of(rows, np.flatnonzero(left)), settings)


def learn_again(
    stream: Stream, block: RowBlock, labels: IntVector, n_features: int, settings: Settings
) -> None:
    """Learn rows that were learnt before, in short steps, after each of which all evidence is scaled back.

    It stays that of the rows seen: a whole pass renews 63 % of it. The log evidence is that of the first pass.
    """
    before, n_rows = stream.log_evidence, stream.n_rows
    step = max(1, n_rows // STEPS_PER_PASS)
    for first in range(0, block.n_rows, step):
        last = min(block.n_rows, first + step)
        learn(stream, block.slice(first, last), labels[first:last], n_features, settings)
        stream.n_rows = stream.n_rows_faded = n_rows
        scale_back(stream, settings)
    stream.log_evidence = before


def scale_back(stream: Stream, settings: Settings) -> None:
    """Scale all evidence so that it weighs as the rows that were seen, without those that wait."""
    prior = _prior(stream, settings)
    index_kernels.settle(stream.posterior)
    mass = float((stream.posterior.weight_concentration - prior.weight_concentration).sum())
    kept = (stream.n_rows - stream.waiting.rows.n_rows) / mass
    if kept < 1.0:
        stream.posterior = forget(stream.posterior, prior, kept)
    index_anew(stream, settings)


def _prior(stream: Stream, settings: Settings) -> Prior:
    return Prior(stream.prior, settings.weight_concentration)


def with_waiting_learnt(stream: Stream, settings: Settings) -> Stream:
    """The stream if no row waits, else a copy that has learnt those rows without moving components."""
    if not stream.waiting.rows.n_rows:
        return stream
    posterior = Posterior._make(column.copy() for column in stream.posterior)
    twin = replace(stream, posterior=posterior, waiting=Reservoir(0))
    _learn_surely(twin, stream.waiting.rows, settings)
    return twin


def _learn_surely(stream: Stream, rows: RowBlock, settings: Settings) -> None:
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
    known = _positions(stream.component_ids, labels)
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
        slot_of = _learn_common(stream, block.slice(start, first))
        if n_waiting:
            _learn_common(stream, stream.waiting.add(block, waiting[:n_waiting]), -1.0)
        order = stable_order(components[:n_learners], n_components)
        bounds = np.searchsorted(components[order], np.arange(n_components + 1))
        lengths = np.diff(block.indptr)[rows[order]]
        room = np.diff(np.append(0, np.cumsum(lengths))[bounds])
        stream.posterior = with_room(stream.posterior, room)
        kernels.learn_block(
            block.indptr, block.columns, bounds, rows[order], shares[order], stream.n_features, stream.clutter,
            settings.explicit_responsibility, stream.posterior, slot_of,
        )  # fmt: skip
        if stream.waiting.capacity and not stream.waiting.room:
            last = first
    stream.named_ids = np.union1d(stream.named_ids, _named(labels[:last]))
    return last


def _rival(stream: Stream, block: RowBlock, labels: IntVector) -> FloatVector:
    """Log density below which a row waits; rows with a label never do."""
    if not stream.waiting.capacity:
        return np.full(block.n_rows, -np.inf)
    return np.where(labels < 0, stream.background.rival(block), -np.inf)


def _learn_common(stream: Stream, rows: RowBlock, sign: float = 1.0) -> NDArray[np.int32]:
    """Count common features of rows; return, (n_features,), which features are common, as the kernels read it."""
    slot_of = np.full(stream.n_features, kernels.NOT_EXPLICIT, np.int32)
    kernels.learn_common(rows.columns, rows.n_rows, sign, slot_of, stream.posterior)
    return slot_of


def _named(labels: IntVector) -> IntVector:
    return np.unique(labels[labels >= 0]).astype(np.int64)


def _positions(component_ids: IntVector, labels: IntVector) -> IntVector:
    """Position of each labelled component, -1 where the label is unknown or its component is gone."""
    position = np.full(max(int(component_ids.max(initial=-1)), int(labels.max(initial=-1))) + 2, -1)
    position[component_ids] = np.arange(component_ids.size)
    position[-1] = -1
    return position[labels]


def _keep_house(stream: Stream, settings: Settings) -> None:
    """Cull when it is time, then index the posterior anew."""
    index_kernels.settle(stream.posterior)
    if settings.half_life_rows is not None:
        kept = share_kept(stream.n_rows - stream.n_rows_faded, settings.half_life_rows)
        stream.posterior = forget(stream.posterior, _prior(stream, settings), kept)
    stream.n_rows_faded = stream.n_rows
    if stream.n_rows >= stream.next_cull:
        _cull(stream, settings)
        stream.next_cull = stream.n_rows + max(1, min(CULL_EVERY, int(CULL_GROWTH * stream.n_rows)))
    index_anew(stream, settings)


def _cull(stream: Stream, settings: Settings) -> None:
    tiny = _tiny_components(stream, settings)
    if tiny.any():
        stream.posterior = remove_components(
            stream.posterior, tiny, settings.weight_concentration, stream.n_features, stream.clutter
        )
        for component in stream.component_ids[tiny]:
            detail = "too few rows; its evidence went to the others"
            stream.lineage.append(LineageEvent(stream.n_rows, "removed", int(component), detail))
        stream.component_ids = stream.component_ids[~tiny]
    stream.posterior = cull_features(stream.posterior, stream.n_features, settings.cull_threshold)


def _tiny_components(stream: Stream, settings: Settings) -> NDArray[np.bool_]:
    """Components with next to no rows; the clutter, those that labels have named and the largest stay."""
    mass = stream.posterior.weight_concentration - settings.weight_concentration
    least = settings.min_component_share * mass.sum() / max(settings.first_components, mass.size)
    tiny = np.asarray(mass < least)
    tiny[stream.clutter] = False if stream.clutter >= 0 else tiny[stream.clutter]
    tiny[int(mass.argmax())] = False
    tiny[np.isin(stream.component_ids, stream.named_ids)] = False
    return tiny
