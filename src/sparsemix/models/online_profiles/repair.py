"""Rows that wait become components, others merge to make room; which rows are left over is told."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import births
from sparsemix.models.online_profiles.culling import with_restored
from sparsemix.models.online_profiles.equations import bernoulli_divergence
from sparsemix.models.online_profiles.indexing import index_anew
from sparsemix.models.online_profiles.merging import Prior, effective_counts, merged, with_births
from sparsemix.models.online_profiles.reservoir import rows_of
from sparsemix.models.online_profiles.row_answers import answers_for
from sparsemix.models.online_profiles.stream import LineageEvent, Settings, Stream, prior_of
from sparsemix.numeric.threads import run_tasks, thread_runner
from sparsemix.probability.beta_bernoulli import BetaBernoulli

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

SURPRISE = 10.0  # nats by which strange rows tell that a common feature is not common to them


def repair(stream: Stream, rows: RowBlock, settings: Settings) -> NDArray[np.bool_]:
    """Give rows that fit no component components of their own, if that gains evidence.

    Parameters
    ----------
    stream : Stream
        Settled, with an index that is not stale; the posterior is changed.
    rows : RowBlock
    settings : Settings

    Returns
    -------
    (n_rows,) bool
        Rows that nobody has learnt yet.
    """
    left = np.ones(rows.n_rows, bool)
    density, strange = _compared(stream, rows)
    if strange.any() and _restore(stream, rows_of(rows, np.flatnonzero(strange))):
        index_anew(stream, settings)
        density, strange = _compared(stream, rows)
    at = np.flatnonzero(strange)
    if at.size < 2:
        return left
    prior = prior_of(stream, settings)
    parts, moves = _plan(stream, rows_of(rows, at), density[at], settings, prior)
    _merge(stream, moves, prior)
    _give_birth(stream, parts.sizes[moves.births], sparse.csr_array(parts.counts[moves.births]), prior)
    left[at[np.isin(parts.labels, moves.births)]] = False
    return left


def _plan(
    stream: Stream, rows: RowBlock, density: FloatVector, settings: Settings, prior: Prior
) -> tuple[births.Parts, births.Moves]:
    """Parts of strange rows, and the moves that gain evidence; common features, alike everywhere, are left out."""
    is_own = np.ones(stream.n_features, bool)
    is_own[stream.posterior.common_feature] = False
    own = np.flatnonzero(is_own)
    family = BetaBernoulli(stream.prior, own.size, settings.weight_concentration)
    parts: births.Parts
    components: births.Components

    def cut() -> None:
        nonlocal parts
        rng = np.random.default_rng([settings.seed, stream.n_rows])
        narrow = sparse.csr_array(rows.to_csr(stream.n_features)[:, own])
        parts = births.cut(narrow, family, settings.min_responsibility, rng)

    def weigh() -> None:
        nonlocal components
        components = _components(stream, is_own, family, settings, prior)

    with thread_runner(stream.threads()) as run:
        run_tasks(run, [cut, weigh])
    without = density + stream.index.log_total[0]
    moves = births.choose(parts, without, components, shrink=settings.finds_number)
    held = parts.counts
    shape = (held.shape[0], stream.n_features)
    return parts._replace(
        counts=sparse.csr_array((held.data, own[held.indices], held.indptr), shape=shape)
    ), moves


def _components(
    stream: Stream, is_own: NDArray[np.bool_], family: BetaBernoulli, settings: Settings, prior: Prior
) -> births.Components:
    """The components with the features that are not common, `is_own`."""
    sizes, counts = effective_counts(stream.posterior, prior, stream.n_features)
    place = np.cumsum(is_own) - 1
    shape = (sizes.size, family.n_features)
    return births.Components(
        sizes,
        sparse.csr_array((counts.data, place[counts.indices], counts.indptr), shape=shape),
        _movable(stream, settings),
        settings.n_components - int((stream.component_ids >= 0).sum()),
        family,
        stream.n_threads,
    )


def _compared(stream: Stream, rows: RowBlock) -> tuple[FloatVector, NDArray[np.bool_]]:
    """Log density of each row, and whether it fits no component."""
    density = answers_for(stream.index, rows, stream.n_threads).density
    return density, density < stream.background.rival(rows)


def _restore(stream: Stream, rows: RowBlock) -> bool:
    """Give components back the common features that strange rows hold far more or less often than others do."""
    posterior = stream.posterior
    seen = np.bincount(rows.columns, minlength=stream.n_features)[posterior.common_feature] / rows.n_rows
    mean = posterior.common_alpha / (posterior.common_alpha + posterior.common_beta)
    surprising = rows.n_rows * bernoulli_divergence(seen, mean) > SURPRISE
    if not surprising.any():
        return False
    least = min(stream.prior)
    stream.posterior = with_restored(posterior, surprising, least, stream.clutter)
    return True


def _movable(stream: Stream, settings: Settings) -> NDArray[np.bool_]:
    """Components that may merge: not the clutter, nor, once there are labels, those that labels may name."""
    lowest = 0
    if stream.named_ids.size:
        lowest = max(settings.first_components, int(stream.named_ids.max()) + 1)
    return np.asarray(stream.component_ids >= lowest)


def _merge(stream: Stream, moves: births.Moves, prior: Prior) -> None:
    """The larger of two components keeps its id."""
    ids = stream.component_ids
    for move in moves.merges:
        pair = np.flatnonzero(np.isin(stream.component_ids, ids[[move.first, move.second]]))
        weights = stream.posterior.weight_concentration[pair]
        keeper, goer = (
            (int(pair[0]), int(pair[1])) if weights[0] >= weights[1] else (int(pair[1]), int(pair[0]))
        )
        stream.posterior = merged(stream.posterior, keeper, goer, prior)
        detail = f"into component {stream.component_ids[keeper]}, to make room"
        stream.lineage.append(LineageEvent(stream.n_rows, "merged", int(stream.component_ids[goer]), detail))
        stream.component_ids = np.delete(stream.component_ids, goer)


def _give_birth(stream: Stream, sizes: FloatVector, counts: sparse.csr_array, prior: Prior) -> None:
    stream.posterior = with_births(stream.posterior, sizes, counts, prior)
    for size in sizes:
        detail = f"from {int(size)} rows that fitted no component"
        stream.lineage.append(LineageEvent(stream.n_rows, "born", stream.next_id, detail))
        stream.component_ids = np.append(stream.component_ids, stream.next_id)
        stream.next_id += 1
