"""What the next row needs: the sparse posterior and the index that scores rows."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import index_kernels, kernels
from sparsemix.numeric.threads import equal_parts, run_tasks, thread_runner

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]
SlotVector = NDArray[np.int32]

DENSE_SHARE = (
    0.25  # of the components in which a feature is explicit from which a table row is the faster form
)


class Posterior(NamedTuple):
    """Beliefs about the components; component `k` owns slots ``start[k]`` to ``start[k] + size[k]``.

    weight_concentration : (n_components,) Dirichlet pseudo-counts of the mixing weights.
    default_alpha, default_beta : (n_components,) the Beta of every feature that is not explicit.
    start, size, capacity : (n_components,) where a component's explicit features lie.
    feature, alpha, beta : (n_slots,) explicit features and their Betas.
    certain : (n_components,) rows still to be added to every `beta` of a component, see `index_kernels.settle`.
    common_feature, common_alpha, common_beta : (n_common,) features with one Beta for all components.
    common_on, common_rows : (n_common,), (1,) rows with the feature and all rows, still to be added.
    """

    weight_concentration: FloatVector
    default_alpha: FloatVector
    default_beta: FloatVector
    start: IntVector
    size: IntVector
    capacity: IntVector
    feature: SlotVector
    alpha: FloatVector
    beta: FloatVector
    certain: FloatVector
    common_feature: SlotVector
    common_alpha: FloatVector
    common_beta: FloatVector
    common_on: FloatVector
    common_rows: FloatVector

    @property
    def n_components(self) -> int:
        """Number of components, the clutter included."""
        return int(self.size.size)

    def used(self) -> IntVector:
        """Slots in use, by component and then by age; (n_entries,)."""
        ends = np.cumsum(self.size)
        offset = np.repeat(self.start - (ends - self.size), self.size)
        return np.asarray(np.arange(int(ends[-1]) if ends.size else 0) + offset)

    def owner(self) -> IntVector:
        """Component of each slot in use, (n_entries,)."""
        return np.repeat(np.arange(self.n_components), self.size)

    def parts(self, n_parts: int) -> list[tuple[int, int]]:
        """Ranges of components with about as many explicit features each."""
        return equal_parts(np.asarray(self.size + 1.0, np.float64), n_parts)


class ScoreIndex(NamedTuple):
    """The posterior as scoring reads it, from features to components, at one moment of the stream.

    A common feature has a single triple with `kernels.COMMON` for the component; a dense one has a triple with
    `kernels.DENSE` and its row of the table for the slot.

    base : (n_components,) log weight plus log probability that every feature is off.
    default_log_odds : (n_components,) log odds of a feature that is not explicit.
    log_total : (1,) log of the summed weight concentrations.
    indptr : (n_features + 1,); component, slot, correction : (n_entries,), by feature, then component.
    table : (n_dense, n_components) corrections of the dense features, 0 where not explicit.
    """

    base: FloatVector
    default_log_odds: FloatVector
    log_total: FloatVector
    indptr: IntVector
    component: SlotVector
    slot: SlotVector
    correction: FloatVector
    table: FloatVector

    @property
    def n_features(self) -> int:
        """Features known when the index was built."""
        return self.indptr.size - 1


class Entries(NamedTuple):
    """Features with their Betas, three vectors of one length."""

    feature: SlotVector
    alpha: FloatVector
    beta: FloatVector

    def taken(self, which: NDArray[np.bool_] | IntVector) -> "Entries":
        """Copy of the chosen entries."""
        return Entries(self.feature[which], self.alpha[which], self.beta[which])


NO_ENTRIES = Entries(np.empty(0, np.int32), np.empty(0), np.empty(0))


def packed(
    weight_concentration: FloatVector,
    defaults: tuple[FloatVector, FloatVector],
    sizes: IntVector,
    entries: Entries,
    common: Entries = NO_ENTRIES,
) -> Posterior:
    """Build a posterior without slack; `entries` lie in the order of the components."""
    start = (np.cumsum(sizes) - sizes).astype(np.int64)
    return Posterior(
        weight_concentration=weight_concentration,
        default_alpha=defaults[0],
        default_beta=defaults[1],
        start=start,
        size=sizes.copy(),
        capacity=sizes.copy(),
        feature=entries.feature,
        alpha=entries.alpha,
        beta=entries.beta,
        certain=np.zeros(sizes.size),
        common_feature=common.feature,
        common_alpha=common.alpha,
        common_beta=common.beta,
        common_on=np.zeros(common.feature.size),
        common_rows=np.zeros(1),
    )


def with_common(posterior: Posterior, common: Entries) -> Posterior:
    """The same explicit features, not copied, with other common ones."""
    return posterior._replace(
        common_feature=common.feature,
        common_alpha=common.alpha,
        common_beta=common.beta,
        common_on=np.zeros(common.feature.size),
    )


def entries_of(posterior: Posterior) -> Entries:
    """Copy of the explicit features of a settled posterior, in the order of the components."""
    compact = with_room(posterior, np.zeros_like(posterior.size))
    return Entries(compact.feature, compact.alpha, compact.beta)


def entries_of_component(posterior: Posterior, k: int) -> Entries:
    """Explicit features of one component of a settled posterior; views, not copies."""
    part = slice(int(posterior.start[k]), int(posterior.start[k] + posterior.size[k]))
    return Entries(posterior.feature[part], posterior.alpha[part], posterior.beta[part])


def common_of(posterior: Posterior) -> Entries:
    """Copy of the common features."""
    everything = np.ones(posterior.common_feature.size, bool)
    return Entries(posterior.common_feature, posterior.common_alpha, posterior.common_beta).taken(everything)


def with_room(posterior: Posterior, room: IntVector, n_threads: int = 1) -> Posterior:
    """Copy the posterior with `room`, (n_components,), free slots per component; O(explicit features)."""
    capacity = posterior.size + room
    n_slots = int(capacity.sum())
    roomy = posterior._replace(
        start=(np.cumsum(capacity) - capacity).astype(np.int64),
        size=posterior.size.copy(),
        capacity=capacity,
        feature=np.empty(n_slots, np.int32),
        alpha=np.empty(n_slots),
        beta=np.empty(n_slots),
    )
    with thread_runner(n_threads) as run:
        run(lambda part: index_kernels.copy_slots(posterior, roomy, *part), posterior.parts(n_threads))
    return roomy


def copied(posterior: Posterior) -> Posterior:
    """Copy without slack that shares no array; O(explicit features)."""
    compact = with_room(posterior, np.zeros_like(posterior.size))
    return Posterior._make(column.copy() for column in compact)


def without_components(posterior: Posterior, kept: NDArray[np.bool_]) -> Posterior:
    """Copy with only the `kept` components, (n_components,), and without slack."""
    defaults = (posterior.default_alpha[kept], posterior.default_beta[kept])
    entries = entries_of(posterior).taken(kept[posterior.owner()])
    return packed(
        posterior.weight_concentration[kept], defaults, posterior.size[kept], entries, common_of(posterior)
    )


def reordered(posterior: Posterior, order: IntVector) -> Posterior:
    """Settled posterior with its components in another order; O(explicit features log of the same)."""
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    by_place = np.argsort(place[posterior.owner()], kind="stable")
    defaults = (posterior.default_alpha[order], posterior.default_beta[order])
    entries = entries_of(posterior).taken(by_place)
    return packed(
        posterior.weight_concentration[order], defaults, posterior.size[order], entries, common_of(posterior)
    )


def build_index(
    posterior: Posterior, n_features: int, n_threads: int = 1, beside: Sequence[Callable[[], None]] = ()
) -> ScoreIndex:
    """Index a settled posterior for scoring; O(n_features n_threads + explicit features).

    The threads share the components, and call the functions `beside` on the way.
    """
    parts = posterior.parts(n_threads + len(beside) if n_threads > 1 else 1)
    ends = np.empty((len(parts), n_features), np.int64)
    of_part = dict(zip(parts, ends, strict=True))
    with thread_runner(n_threads) as run:
        run(lambda part: index_kernels.count_entries(posterior, *part, of_part[part]), parts)
        index = _empty_index(posterior, ends)
        common = index_kernels.fill_common(posterior, index)
        n_own = n_features - posterior.common_feature.size

        def fill(part: tuple[int, int]) -> None:
            index_kernels.fill_components(posterior, *part, n_own, common, of_part[part], index)

        run_tasks(run, [*beside, *(partial(fill, part) for part in parts)])
    return index


def _empty_index(posterior: Posterior, ends: NDArray[np.int64]) -> ScoreIndex:
    """The form of the index.

    `ends`, (n_parts, n_features), has how often each feature is explicit in each part of the components, and gets
    where its next triple there goes, see `index_kernels.lay_out`.
    """
    n_components = posterior.n_components
    indptr, dense = np.empty(ends.shape[1] + 1, np.int64), np.empty(ends.shape[1], np.int32)
    n_dense = index_kernels.lay_out(
        posterior.common_feature, max(DENSE_SHARE * n_components, 2.0), ends, indptr, dense
    )
    index = ScoreIndex(
        base=np.empty(n_components),
        default_log_odds=np.empty(n_components),
        log_total=np.log(posterior.weight_concentration.sum(keepdims=True)),
        indptr=indptr,
        component=np.empty(indptr[-1], np.int32),
        slot=np.zeros(indptr[-1], np.int32),
        correction=np.empty(indptr[-1]),
        table=np.zeros((n_dense, n_components)),
    )
    for kind, features in ((kernels.DENSE, dense[:n_dense]), (kernels.COMMON, posterior.common_feature)):
        at = indptr[features]
        index.component[at], index.correction[at] = kind, 0.0
        index.slot[at] = np.arange(features.size)
    return index
