"""Compiled sums over the explicit features that culling asks for."""

import numpy as np

from sparsemix.numeric.jit import kernel


@kernel
def divergence(mean, off, other):
    """Kullback-Leibler divergence of Bernoulli(`other`) from Bernoulli(`mean`), nats; `off` is 1 - mean, not 0."""
    return mean * np.log(mean / other) + off * np.log(off / (1.0 - other))


@kernel
def add_feature_sums(
    posterior,  # IN  Posterior, settled
    weights,  # IN  (n_components,) float64
    rest,  # IN  (n_components,) float64: mean of a feature that is not explicit
    seen_out,  # IN/OUT (n_features,) float64: sum of weight times mean
    weight_out,  # IN/OUT (n_features,) float64: sum of weights
    rest_out,  # IN/OUT (n_features,) float64: sum of weight times rest
):
    """Sums over the components in which each feature is explicit."""
    for k in range(posterior.size.shape[0]):
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            feature = posterior.feature[e]
            seen_out[feature] += weights[k] * (posterior.alpha[e] / (posterior.alpha[e] + posterior.beta[e]))
            weight_out[feature] += weights[k]
            rest_out[feature] += weights[k] * rest[k]


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
def find_foldable(
    posterior,  # IN  Posterior, settled
    moved,  # IN  (n_features,) bool: features that become common
    threshold,  # nats
    fate_out,  # OUT (n_slots,) int8: 0 stays, 1 becomes common, 2 is folded into its default
):
    """What becomes of each explicit feature."""
    for k in range(posterior.size.shape[0]):
        default = posterior.default_alpha[k] / (posterior.default_alpha[k] + posterior.default_beta[k])
        for e in range(posterior.start[k], posterior.start[k] + posterior.size[k]):
            if moved[posterior.feature[e]]:
                fate_out[e] = 1
            else:
                n = posterior.alpha[e] + posterior.beta[e]
                gap = divergence(posterior.alpha[e] / n, posterior.beta[e] / n, default)
                fate_out[e] = 2 if gap < threshold else 0
