"""The loop of the online learner: hold a buffer, prime, then learn row after row, culling now and then.

Responsibilities are computed with an index of the posterior that is at most a share `staleness` of the stream old;
every Beta is updated row by row. All moments at which something happens (priming, a new index, culling) are
functions of the number of rows seen, so that the same rows in any batching lead to the same bits.
"""

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import index_kernels, kernels
from sparsemix.models.online_profiles.batch import Buffer
from sparsemix.models.online_profiles.culling import cull_features
from sparsemix.models.online_profiles.priming import solve
from sparsemix.models.online_profiles.removal import remove_components
from sparsemix.models.online_profiles.state import (
    Posterior,
    ScoreIndex,
    build_index,
    with_room,
)
from sparsemix.numeric.sorting import stable_order
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

# Of an average component's rows, the most that the prior weighs before its strength is sought.
STARTING_SHARE = 0.1
ROWS_PER_STEP = 32_768
LEARNERS_PER_ROW = 4
CULL_GROWTH = 0.2  # culling happens when the stream has grown by this share ...
CULL_EVERY = 200_000  # ... and at least once in so many rows


@dataclass(frozen=True)
class Settings:
    """Everything that steers learning; the estimator's parameters with their values resolved."""

    n_components: int
    weight_concentration: float
    prior_mean: float | None
    prior_strength: float | None
    priming_rows: int
    clutter: bool
    min_responsibility: float
    explicit_responsibility: float
    cull_threshold: float
    min_component_share: float
    staleness: float
    seed: int


class LineageEvent(NamedTuple):
    """Something that happened to a component.

    row : rows seen when it happened; event : "born" or "removed"; component : its id; detail : in words.
    """

    row: int
    event: str
    component: int
    detail: str


@dataclass
class Stream:
    """A primed model in the middle of its stream.

    component_ids : (n_components,); named_ids : those that labels have named, which are never removed.
    """

    prior: BetaPrior
    posterior: Posterior
    index: ScoreIndex
    component_ids: IntVector
    named_ids: IntVector
    n_features: int
    n_rows: int
    next_index: int
    next_cull: int
    log_evidence: float
    lineage: list[LineageEvent] = field(default_factory=list)

    @property
    def clutter(self) -> int:
        """Position of the clutter among the components, or -1."""
        found = np.flatnonzero(self.component_ids == kernels.CLUTTER_ID)
        return int(found[0]) if found.size else -1


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
        rows, labels, family, settings.n_components, settings.clutter, settings.min_responsibility
    )
    solution = solve(buffer, np.random.default_rng(settings.seed), fit_strength=strength is None)
    ids = np.append(np.arange(settings.n_components), np.full(int(settings.clutter), kernels.CLUTTER_ID))
    born = f"primed with {rows.shape[0]} rows, {solution.n_moves} repairs"
    stream = Stream(
        prior=solution.prior,
        posterior=solution.posterior,
        index=build_index(solution.posterior, n_features),
        component_ids=ids.astype(np.int64),
        named_ids=_named(labels),
        n_features=n_features,
        n_rows=rows.shape[0],
        next_index=rows.shape[0],
        next_cull=rows.shape[0],
        log_evidence=solution.log_evidence,
        lineage=[LineageEvent(rows.shape[0], "born", int(k), born) for k in ids],
    )
    _keep_house(stream, settings)
    return stream


def _starting_strength(rows: sparse.csr_array, mean: float, settings: Settings) -> float:
    """A weak prior: at most a tenth of the weight of an average component's rows."""
    return STARTING_SHARE * min(rows.shape[0] / settings.n_components, 1.0 / mean)


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
        log_evidence[first:last] = _learn_part(stream, part, labels[first:last], settings)
        stream.n_rows += last - first
        first = last
    return log_evidence


def _learn_part(stream: Stream, block: RowBlock, labels: IntVector, settings: Settings) -> FloatVector:
    """Score rows with the index as it stands, then let each component learn its own."""
    n_components = stream.posterior.n_components
    known = _positions(stream.component_ids, labels)
    slot_of = np.full(stream.n_features, kernels.NOT_EXPLICIT, np.int32)
    kernels.learn_common(block.columns, block.n_rows, slot_of, stream.posterior)
    log_evidence, work = np.empty(block.n_rows), np.empty(n_components)
    capacity = LEARNERS_PER_ROW * block.n_rows + n_components
    rows, components, shares = np.empty(capacity, np.int64), np.empty(capacity, np.int32), np.empty(capacity)
    first = 0
    while first < block.n_rows:
        first, n_learners = kernels.find_learners(
            block.indptr, block.columns, known, first, stream.index, settings.min_responsibility,
            work, log_evidence, rows, components, shares,
        )  # fmt: skip
        order = stable_order(components[:n_learners], n_components)
        bounds = np.searchsorted(components[order], np.arange(n_components + 1))
        lengths = np.diff(block.indptr)[rows[order]]
        room = np.diff(np.append(0, np.cumsum(lengths))[bounds])
        stream.posterior = with_room(stream.posterior, room)
        kernels.learn_block(
            block.indptr, block.columns, bounds, rows[order], shares[order], stream.n_features, stream.clutter,
            settings.explicit_responsibility, stream.posterior, slot_of,
        )  # fmt: skip
    stream.named_ids = np.union1d(stream.named_ids, _named(labels))
    stream.log_evidence = float(np.cumsum(np.append(stream.log_evidence, log_evidence))[-1])
    return log_evidence


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
    if stream.n_rows >= stream.next_cull:
        _cull(stream, settings)
        stream.next_cull = stream.n_rows + max(1, min(CULL_EVERY, int(CULL_GROWTH * stream.n_rows)))
    stream.index = build_index(stream.posterior, stream.n_features)
    stream.next_index = stream.n_rows + max(1, min(CULL_EVERY, int(settings.staleness * stream.n_rows)))


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
    least = settings.min_component_share * stream.n_rows / settings.n_components
    tiny = mass < least
    tiny[stream.clutter] = False if stream.clutter >= 0 else tiny[stream.clutter]
    tiny[int(mass.argmax())] = False
    tiny[np.isin(stream.component_ids, stream.named_ids)] = False
    return tiny
