"""Compiled sums over the explicit features that culling asks for."""

import numpy as np

from sparsemix.numeric.jit import kernel

KEPT, COMMON, FOLDED = 0, 1, 2  # what becomes of an explicit feature


@kernel
def divergence(mean, off, other):
    """Kullback-Leibler divergence of Bernoulli(`other`) from Bernoulli(`mean`), nats; `off` is 1 - mean, not 0."""
    return mean * np.log(mean / other) + off * np.log(off / (1.0 - other))


@kernel
def add_feature_sums(
    posterior,  # IN  Posterior, settled
    weights,  # IN  (n_components,) float64
    rest,  # IN  (n_components,) float64: mean of a feature that is not explicit
    sums_out,  # IN/OUT (n_features, 3) float64: of weight times mean, of weights, of weight times rest
):
    """Sums over the components in which each feature is explicit."""
    for k in range(posterior.size.shape[0]):
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            feature = posterior.feature[e]
            mean = posterior.alpha[e] / (posterior.alpha[e] + posterior.beta[e])
            sums_out[feature, 0] += weights[k] * mean
            sums_out[feature, 1] += weights[k]
            sums_out[feature, 2] += weights[k] * rest[k]


@kernel
def add_information(
    posterior,  # IN  Posterior, settled
    weights,  # IN  (n_components,) float64
    overall,  # IN  (n_features,) float64: mean over all components
    candidates,  # IN  (n_features,) bool
    information_out,  # IN/OUT (n_features,) float64, nats a row
):
    """What each candidate tells about the components in which it is explicit."""
    for k in range(posterior.size.shape[0]):
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            feature = posterior.feature[e]
            if candidates[feature]:
                n = posterior.alpha[e] + posterior.beta[e]
                gap = divergence(posterior.alpha[e] / n, posterior.beta[e] / n, overall[feature])
                information_out[feature] += weights[k] * gap


@kernel
def find_predicted(
    posterior,  # IN  Posterior, settled
    threshold,  # nats
    fate_out,  # OUT (n_slots,) int8: `FOLDED` or `KEPT`
    first,
    last,  # components `first` to ``last - 1``
):
    """Tell which explicit features the default of their component predicts nearly as well."""
    for k in range(first, last):
        default = posterior.default_alpha[k] / (posterior.default_alpha[k] + posterior.default_beta[k])
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            n = posterior.alpha[e] + posterior.beta[e]
            gap = divergence(posterior.alpha[e] / n, posterior.beta[e] / n, default)
            fate_out[e] = FOLDED if gap < threshold else KEPT


@kernel
def find_fates(
    posterior,  # IN  Posterior, settled
    moved,  # IN  (n_features,) bool: features that become common
    first,
    last,  # components `first` to ``last - 1``
    fates,  # IN/OUT culling.Fates; `fate` is that of `find_predicted`
):
    """Let features become common, count those that stay, and sum those that are folded away."""
    for k in range(first, last):
        n_kept, n_folded, alpha, beta = 0, 0, 0.0, 0.0
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            if moved[posterior.feature[e]]:
                fates.fate[e] = COMMON
            elif fates.fate[e] == FOLDED:
                n_folded += 1
                alpha += posterior.alpha[e]
                beta += posterior.beta[e]
            else:
                n_kept += 1
        fates.n_kept[k], fates.n_folded[k] = n_kept, n_folded
        fates.alpha[k], fates.beta[k] = alpha, beta


@kernel
def copy_kept(
    posterior,  # IN  Posterior, settled
    fate,  # IN  (n_slots,) int8
    target,  # OUT Posterior with slots for those that are kept
    first,
    last,  # components `first` to ``last - 1``
):
    """Copy the explicit features that stay, in their order."""
    for k in range(first, last):
        to = target.start[k]
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            if fate[e] == KEPT:
                target.feature[to] = posterior.feature[e]
                target.alpha[to] = posterior.alpha[e]
                target.beta[to] = posterior.beta[e]
                to += 1
