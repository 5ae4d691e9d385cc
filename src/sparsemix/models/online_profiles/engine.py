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
from sparsemix.models.online_profiles.batch import Buffer, stacked
from sparsemix.models.online_profiles.culling import cull_features
from sparsemix.models.online_profiles.forgetting import forget, share_kept
from sparsemix.models.online_profiles.indexing import CULL_EVERY, index_anew
from sparsemix.models.online_profiles.priming import solve
from sparsemix.models.online_profiles.removal import remove_components
from sparsemix.models.online_profiles.repair import repair
from sparsemix.models.online_profiles.reservoir import Reservoir, rows_of
from sparsemix.models.online_profiles.state import build_index, copied
from sparsemix.models.online_profiles.steps import learn_common, learn_rows, learn_surely, named
from sparsemix.models.online_profiles.stream import LineageEvent, Settings, Stream, prior_of
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior
from sparsemix.probability.evidence import threads_for

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

# Of an average component's rows, the most that the prior weighs before its strength is sought.
STARTING_SHARE = 0.1
CULL_GROWTH = 0.2  # culling happens when the stream has grown by this share ...
STEPS_PER_PASS = 20
# Where components overlap, many small differences tell which of them a row is of: the share of `cull_threshold` then.
DETAIL_OF_OVERLAPS = 0.1


def prime(
    blocks: list[RowBlock], labels: IntVector, n_features: int, settings: Settings, n_threads: int = 1
) -> Stream:
    """Solve the buffered rows and open the stream.

    Parameters
    ----------
    blocks : list of RowBlock
        The first rows; none at all gives the prior.
    labels : (n_rows,)
        Component id known for a row, or -1.
    n_features : int
    settings : Settings
    n_threads : int, default=1
        They change no bit.
    """
    rows = stacked(blocks, n_features)
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
        threads_for(rows.nnz, n_threads),
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
        named_ids=named(labels),
        n_features=n_features,
        n_rows=rows.shape[0],
        next_index=rows.shape[0],
        next_cull=rows.shape[0],
        next_id=int(ids.max(initial=-1)) + 1,
        n_rows_faded=rows.shape[0],
        log_evidence=solution.log_evidence,
        lineage=[LineageEvent(rows.shape[0], "born", int(k), born) for k in ids],
    )
    keep_house(stream, settings)
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
        keep_house(stream, settings)
        last = min(block.n_rows, first + stream.next_index - stream.n_rows)
        part, own = block.slice(first, last), log_evidence[first:last]
        n_learnt = learn_rows(stream, part, labels[first:last], settings, own)
        stream.log_evidence = summed(stream.log_evidence, own[:n_learnt])
        first += n_learnt
        if stream.waiting.is_full:
            settle_waiting(stream, settings)
    return log_evidence


def summed(log_evidence: float, of_rows: FloatVector) -> float:
    """The evidence with that of further rows, one after the other: the same bits however they are cut."""
    return float(np.cumsum(np.append(log_evidence, of_rows))[-1])


def settle_waiting(stream: Stream, settings: Settings) -> None:
    """Let the rows that wait become components where that gains evidence; the others learn what is left.

    Where that is broken off, the stream is as it was.

    Costs some 30 passes over the rows that wait, and a few over the explicit features. They wait until they are
    `reservoir_rows`, so that it is rare where components explain most rows.
    """
    if not stream.waiting.rows.n_rows:
        return
    before = replace(
        stream,
        posterior=copied(stream.posterior),
        waiting=replace(stream.waiting),
        lineage=list(stream.lineage),
    )
    try:
        _settle(stream, stream.waiting.take(), settings)
    except BaseException:
        vars(stream).update(vars(before))
        raise


def _settle(stream: Stream, rows: RowBlock, settings: Settings) -> None:
    index_anew(stream, settings)
    left = repair(stream, rows, settings)
    learn_common(stream, rows_of(rows, np.flatnonzero(~left)))
    index_kernels.settle(stream.posterior)
    index_anew(stream, settings)
    learn_surely(stream, rows_of(rows, np.flatnonzero(left)), settings)


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
        n_events = len(stream.lineage)
        learn(stream, block.slice(first, last), labels[first:last], n_features, settings)
        stream.n_rows = stream.n_rows_faded = n_rows
        stream.lineage[n_events:] = [event._replace(row=n_rows) for event in stream.lineage[n_events:]]
        scale_back(stream, settings)
    stream.log_evidence = before


def scale_back(stream: Stream, settings: Settings) -> None:
    """Scale all evidence so that it weighs as the rows that were seen, without those that wait."""
    prior = prior_of(stream, settings)
    index_kernels.settle(stream.posterior)
    mass = float((stream.posterior.weight_concentration - prior.weight_concentration).sum())
    kept = (stream.n_rows - stream.waiting.rows.n_rows) / mass
    if kept < 1.0:
        stream.posterior = forget(stream.posterior, prior, kept)
    index_anew(stream, settings)


def with_waiting_learnt(stream: Stream, settings: Settings) -> Stream:
    """The stream if no row waits, else a copy that has learnt those rows without moving components."""
    if not stream.waiting.rows.n_rows:
        return stream
    twin = replace(stream, posterior=copied(stream.posterior), waiting=Reservoir(0))
    learn_surely(twin, stream.waiting.rows, settings)
    return twin


def keep_house(stream: Stream, settings: Settings) -> None:
    """Index the posterior anew when it is time, and before that forget, and cull now and then."""
    if stream.n_rows < stream.next_index:
        return
    index_kernels.settle(stream.posterior)
    if settings.half_life_rows is not None:
        kept = share_kept(stream.n_rows - stream.n_rows_faded, settings.half_life_rows)
        stream.posterior = forget(stream.posterior, prior_of(stream, settings), kept)
    stream.n_rows_faded = stream.n_rows
    if stream.n_rows >= stream.next_cull:
        _cull(stream, settings)
        stream.next_cull = stream.n_rows + max(1, min(CULL_EVERY, int(CULL_GROWTH * stream.n_rows)))
    index_anew(stream, settings)


def _cull(stream: Stream, settings: Settings) -> None:
    tiny = _tiny_components(stream, settings)
    if tiny.any():
        stream.posterior = remove_components(
            stream.posterior,
            tiny,
            settings.weight_concentration,
            stream.n_features,
            stream.clutter,
            stream.threads(),
        )
        for component in stream.component_ids[tiny]:
            detail = "too few rows; its evidence went to the others"
            stream.lineage.append(LineageEvent(stream.n_rows, "removed", int(component), detail))
        stream.component_ids = stream.component_ids[~tiny]
    threshold = settings.cull_threshold * (DETAIL_OF_OVERLAPS if stream.overlaps else 1.0)
    stream.posterior = cull_features(stream.posterior, stream.n_features, threshold, stream.threads())


def _tiny_components(stream: Stream, settings: Settings) -> NDArray[np.bool_]:
    """Components with next to no rows; the clutter, those that labels have named and the largest stay."""
    mass = stream.posterior.weight_concentration - settings.weight_concentration
    least = settings.min_component_share * mass.sum() / max(settings.first_components, mass.size)
    tiny = np.asarray(mass < least)
    tiny[stream.clutter] = False if stream.clutter >= 0 else tiny[stream.clutter]
    tiny[int(mass.argmax())] = False
    tiny[np.isin(stream.component_ids, stream.named_ids)] = False
    return tiny
