"""Keeping the posterior sparse: which features stop being explicit (ADS, section 4.1).

By the chain rule the divergence of the responsibilities, averaged over rows, is at most that of the joint model:

    sum_k weight_k KL(Bernoulli(mu_kd) || Bernoulli(what replaces mu_kd))

Both of the paper's criteria bound it. (i) A feature whose mean is nearly the same in all components tells nothing
about them: it becomes *common*, with one Beta for all, so that predictions keep its mean. (ii) A feature that its
component's default predicts nearly as well is folded into that default, which stays the average belief about one
feature.
"""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import culling_kernels
from sparsemix.models.online_profiles.equations import bernoulli_divergence
from sparsemix.models.online_profiles.state import (
    Entries,
    Posterior,
    common_of,
    with_common,
    with_room,
)
from sparsemix.models.online_profiles.sums import feature_sums
from sparsemix.numeric.threads import run_tasks, thread_parts, thread_runner

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ROWS_PER_COMPONENT = 5.0  # how often a feature is seen, a component, before it may become common


class Fates(NamedTuple):
    """What becomes of explicit features.

    fate : (n_slots,) `KEPT`, `COMMON` or `FOLDED`.
    n_kept, n_folded : (n_components,) how many stay explicit, and how many are folded into the default.
    alpha, beta : (n_components,) summed pseudo-counts of the latter.
    """

    fate: NDArray[np.int8]
    n_kept: IntVector
    n_folded: IntVector
    alpha: FloatVector
    beta: FloatVector


def cull_features(posterior: Posterior, n_features: int, threshold: float, n_threads: int = 1) -> Posterior:
    """Drop explicit features whose loss changes responsibilities by less than `threshold` nats a row.

    Parameters
    ----------
    posterior : Posterior
    n_features : int
        All features seen.
    threshold : float
        In nats; 0 drops nothing.
    n_threads : int, default=1

    Returns
    -------
    Posterior
        Each component has as many slots as before. O(explicit features).
    """
    if threshold <= 0.0:
        return posterior
    common = np.zeros(n_features, bool)

    def find_common() -> None:
        common[:] = _uninformative(posterior, n_features, threshold)

    # What is common to a single component is all there is to say of it.
    beside = [find_common] if posterior.n_components > 1 else []
    return _reduced(posterior, common, threshold, n_threads, beside)


def _uninformative(posterior: Posterior, n_features: int, threshold: float) -> NDArray[np.bool_]:
    """Features seen often that tell less than `threshold` nats about the component, (n_features,).

    The estimate is corrected by ``(K - 1)/(2 N)``, what an independent feature shows by chance.
    """
    n_rows = posterior.weight_concentration.sum()
    weights = posterior.weight_concentration / n_rows
    rest = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    seen, explicit_weight, held = feature_sums(posterior, weights, rest, n_features)
    often = seen * n_rows >= ROWS_PER_COMPONENT * posterior.n_components
    rest_weight = np.maximum(1.0 - explicit_weight, 0.0)
    missing = np.maximum((weights * rest).sum() - held, 0.0)
    rest_mean = np.where(rest_weight > 1e-12, missing / np.maximum(rest_weight, 1e-12), 0.0)
    overall = np.where(often, seen + rest_weight * rest_mean, 0.5)
    information, asked = np.zeros(n_features), np.flatnonzero(often & (rest_weight > 0))
    information[asked] = rest_weight[asked] * bernoulli_divergence(rest_mean[asked], overall[asked])
    culling_kernels.add_information(posterior, weights, overall, often, information)
    return np.asarray(often & (information - (posterior.n_components - 1) / (2 * n_rows) < threshold))


def _reduced(
    posterior: Posterior,
    common: NDArray[np.bool_],
    threshold: float,
    n_threads: int = 1,
    beside: Sequence[Callable[[], None]] = (),
) -> Posterior:
    """Make the chosen features, (n_features,), common, and fold others into their defaults.

    The functions `beside`, which choose, are called while others are told.
    """
    n_components, n_slots = posterior.n_components, posterior.feature.size
    counts, sums = np.empty((2, n_components), np.int64), np.empty((2, n_components))
    fates = Fates(np.zeros(n_slots, np.int8), *counts, *sums)
    parts = thread_parts(np.asarray(posterior.size + 1.0, np.float64), n_threads)
    find = partial(culling_kernels.find_predicted, posterior, threshold, fates.fate)
    with thread_runner(n_threads) as run:
        run_tasks(run, [*beside, *(partial(find, *part) for part in parts)])
        run(lambda part: culling_kernels.find_fates(posterior, common, *part, fates), parts)
        n_own = common.size - posterior.common_feature.size - int(common.sum())
        alpha, beta = _with_folded(posterior, fates, n_own)
        target = posterior._replace(
            default_alpha=alpha,
            default_beta=beta,
            size=fates.n_kept,
            feature=np.empty(n_slots, np.int32),
            alpha=np.empty(n_slots),
            beta=np.empty(n_slots),
        )
        columns: Entries

        def gather() -> None:
            nonlocal columns
            columns = _with_common(posterior, np.flatnonzero(common), fates.fate)

        copy = partial(culling_kernels.copy_kept, posterior, fates.fate, target)
        run_tasks(run, [gather, *(partial(copy, *part) for part in parts)])
    return with_common(target, columns)


def with_restored(posterior: Posterior, restored: NDArray[np.bool_], rest: float, clutter: int) -> Posterior:
    """Settled posterior in which common features are explicit again; the opposite of becoming common.

    Parameters
    ----------
    posterior : Posterior
    restored : (n_common,) bool
    rest : float
        Least pseudo-count of a Beta that a component gets.
    clutter : int
        Position of the clutter, which has no explicit features; -1 where there is none.

    Returns
    -------
    Posterior
        Each component has a share of the common Beta by its weight, O(explicit features).
    """
    common = common_of(posterior)
    back, n_restored = common.taken(restored), int(restored.sum())
    weights = posterior.weight_concentration.copy()
    weights[clutter] = 0.0 if clutter >= 0 else weights[clutter]
    owners = np.flatnonzero(weights > 0)
    shares = weights[owners, None] / weights.sum()
    room = np.zeros(posterior.n_components, np.int64)
    room[owners] = n_restored
    roomy = with_room(posterior, room)
    at = (roomy.start + roomy.size)[owners, None] + np.arange(n_restored)
    roomy.feature[at] = back.feature
    roomy.alpha[at] = np.maximum(back.alpha * shares, rest)
    roomy.beta[at] = np.maximum(back.beta * shares, rest)
    return with_common(roomy._replace(size=roomy.size + room), common.taken(~restored))


def _with_common(posterior: Posterior, features: IntVector, fate: NDArray[np.int8]) -> Entries:
    """The common features and, after them, those that become so: each gets the sum of its Betas in all components."""
    if not features.size:
        return common_of(posterior)
    moving = np.flatnonzero(fate == culling_kernels.COMMON)
    owner = np.searchsorted(posterior.start, moving, side="right") - 1
    moved = Entries(posterior.feature, posterior.alpha, posterior.beta).taken(moving)
    sums = []
    for own, default in ((moved.alpha, posterior.default_alpha), (moved.beta, posterior.default_beta)):
        explicit = np.bincount(moved.feature, weights=own, minlength=features.max(initial=-1) + 1)
        replaced = np.bincount(moved.feature, weights=default[owner], minlength=features.max(initial=-1) + 1)
        sums.append((explicit + default.sum() - replaced)[features])
    before = common_of(posterior)
    return Entries(
        np.append(before.feature, features.astype(np.int32)),
        np.append(before.alpha, sums[0]),
        np.append(before.beta, sums[1]),
    )


def _with_folded(posterior: Posterior, fates: Fates, n_own: int) -> tuple[FloatVector, FloatVector]:
    """The defaults, (n_components,) alpha and beta, averaged with the Betas of features that are folded into them."""
    n_default = n_own - fates.n_kept - fates.n_folded
    folded = []
    for evidence, tied in ((fates.alpha, posterior.default_alpha), (fates.beta, posterior.default_beta)):
        averaged = (n_default * tied + evidence) / np.maximum(n_default + fates.n_folded, 1)
        folded.append(np.where(fates.n_folded > 0, averaged, tied))
    return folded[0], folded[1]
