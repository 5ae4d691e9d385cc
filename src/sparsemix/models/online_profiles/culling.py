"""Keeping the posterior sparse: which features stop being explicit (ADS, section 4.1).

By the chain rule the divergence of the responsibilities, averaged over rows, is at most that of the joint model:

    sum_k weight_k KL(Bernoulli(mu_kd) || Bernoulli(what replaces mu_kd))

Both of the paper's criteria bound it. (i) A feature whose mean is nearly the same in all components tells nothing
about them: it becomes *common*, with one Beta for all, so that predictions keep its mean. (ii) A feature that its
component's default predicts nearly as well is folded into that default, which stays the average belief about one
feature.
"""

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.online_profiles import culling_kernels
from sparsemix.models.online_profiles.equations import bernoulli_divergence
from sparsemix.models.online_profiles.state import Entries, Posterior, common_of, entries_of, packed

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ROWS_PER_COMPONENT = 5.0  # how often a feature is seen, a component, before it may become common


def cull_features(posterior: Posterior, n_features: int, threshold: float) -> Posterior:
    """Drop explicit features whose loss changes responsibilities by less than `threshold` nats a row.

    Parameters
    ----------
    posterior : Posterior
    n_features : int
        All features seen.
    threshold : float
        In nats; 0 drops nothing.

    Returns
    -------
    Posterior
        Without slack. O(explicit features).
    """
    if threshold <= 0.0:
        return posterior
    common = np.zeros(n_features, bool)
    if posterior.n_components > 1:  # what is common to a single component is all there is to say of it
        common = _uninformative(posterior, n_features, threshold)
    return _reduced(posterior, common, threshold)


def _uninformative(posterior: Posterior, n_features: int, threshold: float) -> NDArray[np.bool_]:
    """Features seen often that tell less than `threshold` nats about the component, (n_features,).

    The estimate is corrected by ``(K - 1)/(2 N)``, what an independent feature shows by chance.
    """
    n_rows = posterior.weight_concentration.sum()
    weights = posterior.weight_concentration / n_rows
    rest = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    seen, explicit_weight, held = np.zeros((3, n_features))
    culling_kernels.add_feature_sums(posterior, weights, rest, seen, explicit_weight, held)
    often = seen * n_rows >= ROWS_PER_COMPONENT * posterior.n_components
    rest_weight = np.maximum(1.0 - explicit_weight, 0.0)
    missing = np.maximum((weights * rest).sum() - held, 0.0)
    rest_mean = np.where(rest_weight > 1e-12, missing / np.maximum(rest_weight, 1e-12), 0.0)
    overall = np.where(often, seen + rest_weight * rest_mean, 0.5)
    information = rest_weight * bernoulli_divergence(rest_mean, overall)
    culling_kernels.add_information(posterior, weights, overall, often, information)
    return np.asarray(often & (information - (posterior.n_components - 1) / (2 * n_rows) < threshold))


def _reduced(posterior: Posterior, common: NDArray[np.bool_], threshold: float) -> Posterior:
    """Make the chosen features, (n_features,), common, and fold others into their defaults."""
    fate = np.empty(posterior.feature.size, np.int8)
    culling_kernels.find_foldable(posterior, common, threshold, fate)
    fate = fate[posterior.used()]
    entries, owner = entries_of(posterior), posterior.owner()
    now_common, dropped = fate == 1, fate == 2
    n_own = common.size - posterior.common_feature.size - int(common.sum())
    sizes = np.bincount(owner[fate != 1], minlength=posterior.n_components)
    defaults = _with_folded(posterior, entries.taken(dropped), owner[dropped], n_own - sizes)
    kept = fate == 0
    return packed(
        posterior.weight_concentration,
        defaults,
        np.bincount(owner[kept], minlength=posterior.n_components),
        entries.taken(kept),
        _with_common(posterior, np.flatnonzero(common), entries.taken(now_common), owner[now_common]),
    )


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
    common, n_restored = common_of(posterior), int(restored.sum())
    weights = posterior.weight_concentration.copy()
    weights[clutter] = 0.0 if clutter >= 0 else weights[clutter]
    owners = np.flatnonzero(weights > 0)
    shares = np.repeat(weights[owners] / weights.sum(), n_restored)
    added = common.taken(restored)
    parts = [np.tile(column, owners.size) for column in added]
    new_owner = np.repeat(owners, n_restored)
    entries, owner = entries_of(posterior), np.append(posterior.owner(), new_owner)
    order = np.argsort(owner, kind="stable")
    whole = Entries(
        np.append(entries.feature, parts[0].astype(np.int32)),
        np.append(entries.alpha, np.maximum(parts[1] * shares, rest)),
        np.append(entries.beta, np.maximum(parts[2] * shares, rest)),
    )
    return packed(
        posterior.weight_concentration,
        (posterior.default_alpha, posterior.default_beta),
        np.bincount(owner, minlength=posterior.n_components),
        whole.taken(order),
        common.taken(~restored),
    )


def _with_common(posterior: Posterior, features: IntVector, moved: Entries, owner: IntVector) -> Entries:
    """The common features and, after them, those that become so: each gets the sum of its Betas in all components."""
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


def _with_folded(
    posterior: Posterior, dropped: Entries, owner: IntVector, n_default: IntVector
) -> tuple[FloatVector, FloatVector]:
    """The defaults, (n_components,) alpha and beta, averaged with the Betas of features that are folded into them."""
    n_dropped = np.bincount(owner, minlength=posterior.n_components)
    folded = []
    for own, tied in ((dropped.alpha, posterior.default_alpha), (dropped.beta, posterior.default_beta)):
        evidence = np.bincount(owner, weights=own, minlength=posterior.n_components)
        averaged = (n_default * tied + evidence) / np.maximum(n_default + n_dropped, 1)
        folded.append(np.where(n_dropped > 0, averaged, tied))
    return folded[0], folded[1]
