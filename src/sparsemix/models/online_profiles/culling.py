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
from scipy.special import xlogy

from sparsemix.models.online_profiles.state import Entries, Posterior, common_of, entries_of, packed

FloatVector = NDArray[np.float64]

ROWS_PER_COMPONENT = 5.0  # how often a feature is seen, a component, before it may become common


def bernoulli_divergence(mean: FloatVector, other: FloatVector) -> FloatVector:
    """Kullback-Leibler divergence of Bernoulli(`other`) from Bernoulli(`mean`), nats.

    Examples
    --------
    >>> bernoulli_divergence(np.array([0.5, 1.0]), np.array([0.5, 0.5])) / np.log(2)
    array([0., 1.])
    """
    return np.asarray(xlogy(mean, mean / other) + xlogy(1.0 - mean, (1.0 - mean) / (1.0 - other)))


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
    culled = posterior
    if posterior.n_components > 1:  # what is common to a single component is all there is to say of it
        common = _uninformative(posterior, n_features, threshold)
        culled = _make_common(posterior, common) if common.any() else posterior
    return _fold_into_defaults(culled, n_features, threshold)


def _uninformative(posterior: Posterior, n_features: int, threshold: float) -> NDArray[np.bool_]:
    """Features seen often that tell less than `threshold` nats about the component, (n_features,).

    The estimate is corrected by ``(K - 1)/(2 N)``, what an independent feature shows by chance.
    """
    entries, owner = entries_of(posterior), posterior.owner()
    n_rows = posterior.weight_concentration.sum()
    weights = posterior.weight_concentration / n_rows
    mean = entries.alpha / (entries.alpha + entries.beta)
    seen = np.bincount(entries.feature, weights=weights[owner] * mean, minlength=n_features)
    often = seen * n_rows >= ROWS_PER_COMPONENT * posterior.n_components
    candidates = often[entries.feature]
    entries, owner, mean = entries.taken(candidates), owner[candidates], mean[candidates]
    rest = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    explicit_weight = np.bincount(entries.feature, weights=weights[owner], minlength=n_features)
    rest_weight = np.maximum(1.0 - explicit_weight, 0.0)
    rest_mean = _mean_of_rest(entries, owner, weights, rest, n_features, rest_weight)
    overall = np.where(often, seen + rest_weight * rest_mean, 0.5)
    own = weights[owner] * bernoulli_divergence(mean, overall[entries.feature])
    information = rest_weight * bernoulli_divergence(rest_mean, overall)
    information += np.bincount(entries.feature, weights=own, minlength=n_features)
    return np.asarray(often & (information - (posterior.n_components - 1) / (2 * n_rows) < threshold))


def _mean_of_rest(
    entries: Entries,
    owner: NDArray[np.int64],
    weights: FloatVector,
    rest: FloatVector,
    n_features: int,
    rest_weight: FloatVector,
) -> FloatVector:
    """Weighted mean of the defaults of the components in which a feature is not explicit, (n_features,)."""
    held = np.bincount(entries.feature, weights=(weights * rest)[owner], minlength=n_features)
    missing = np.maximum((weights * rest).sum() - held, 0.0)
    return np.where(rest_weight > 1e-12, missing / np.maximum(rest_weight, 1e-12), 0.0)


def _make_common(posterior: Posterior, chosen: NDArray[np.bool_]) -> Posterior:
    """Give the `chosen` features, (n_features,), one Beta for all components: the sum of their evidence."""
    entries, owner = entries_of(posterior), posterior.owner()
    moved = chosen[entries.feature]
    n_features = chosen.size
    features = np.flatnonzero(chosen)
    sums = []
    for own, default in ((entries.alpha, posterior.default_alpha), (entries.beta, posterior.default_beta)):
        explicit = np.bincount(entries.feature[moved], weights=own[moved], minlength=n_features)
        replaced = np.bincount(entries.feature[moved], weights=default[owner[moved]], minlength=n_features)
        sums.append((explicit + default.sum() - replaced)[features])
    before = common_of(posterior)
    common = Entries(
        np.append(before.feature, features.astype(np.int32)),
        np.append(before.alpha, sums[0]),
        np.append(before.beta, sums[1]),
    )
    sizes = np.bincount(owner[~moved], minlength=posterior.n_components).astype(np.int64)
    defaults = (posterior.default_alpha, posterior.default_beta)
    return packed(posterior.weight_concentration, defaults, sizes, entries.taken(~moved), common)


def _fold_into_defaults(posterior: Posterior, n_features: int, threshold: float) -> Posterior:
    entries, owner = entries_of(posterior), posterior.owner()
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    mean = entries.alpha / (entries.alpha + entries.beta)
    dropped = bernoulli_divergence(mean, default[owner]) < threshold
    n_dropped = np.bincount(owner[dropped], minlength=posterior.n_components)
    n_default = n_features - posterior.common_feature.size - posterior.size
    folded = []
    for own, tied in ((entries.alpha, posterior.default_alpha), (entries.beta, posterior.default_beta)):
        evidence = np.bincount(owner[dropped], weights=own[dropped], minlength=posterior.n_components)
        averaged = (n_default * tied + evidence) / np.maximum(n_default + n_dropped, 1)
        folded.append(np.where(n_dropped > 0, averaged, tied))
    sizes = posterior.size - n_dropped
    return packed(
        posterior.weight_concentration,
        (folded[0], folded[1]),
        sizes,
        entries.taken(~dropped),
        common_of(posterior),
    )
