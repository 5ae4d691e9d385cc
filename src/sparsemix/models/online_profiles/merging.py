"""Moves of whole components: two become one, new ones come in. Pseudo-counts add; none is lost.

The evidence of a component is what its parameters have above the prior. For the Beta(a, b) of the prior, components
i and j become

    alpha = a + (alpha_i - a) + (alpha_j - a),     beta likewise,     gamma_k = gamma + (gamma_i - gamma) + ...

where a feature that is explicit in one of the two stands in the other with its default.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.models.online_profiles.state import (
    Entries,
    Posterior,
    common_of,
    entries_of,
    entries_of_component,
    packed,
)
from sparsemix.probability.beta_bernoulli import BetaPrior

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

LEAST_SHARE = 0.1  # of the smaller pseudo-count that stays where moment matching has lost more than the prior


class Prior(NamedTuple):
    """What a component knows before any row: the Beta of each feature and the pseudo-count of its weight."""

    beta: BetaPrior
    weight_concentration: float


def effective_counts(
    posterior: Posterior, prior: Prior, n_features: int
) -> tuple[FloatVector, sparse.csr_array]:
    """Rows of each component of a settled posterior, and how many hold each feature, as the evidence has them.

    Returns
    -------
    sizes : (n_components,)
    counts : (n_components, n_features) CSR
        Of explicit features.
    """
    sizes = np.maximum(posterior.weight_concentration - prior.weight_concentration, 0.0)
    entries, owner = entries_of(posterior), posterior.owner()
    counts = np.clip(entries.alpha - prior.beta.alpha, 0.0, sizes[owner])
    indptr = np.append(0, np.cumsum(posterior.size))
    shape = (posterior.n_components, n_features)
    return sizes, sparse.csr_array((counts, entries.feature, indptr), shape=shape)


def merged(posterior: Posterior, first: int, second: int, prior: Prior) -> Posterior:
    """Settled posterior in which component `first` has the evidence of `second` as well, which is gone.

    O(explicit features).
    """
    joined = _union(posterior, first, second, prior.beta)
    kept = [k for k in range(posterior.n_components) if k != second]
    parts = [joined if k == first else entries_of_component(posterior, k) for k in kept]
    weights = posterior.weight_concentration.copy()
    weights[first] += weights[second] - prior.weight_concentration
    defaults = [posterior.default_alpha.copy(), posterior.default_beta.copy()]
    for own, base in zip(defaults, prior.beta, strict=True):
        own[first] = _added(own[first], own[second], base)
    sizes = np.array([part.feature.size for part in parts], np.int64)
    columns = (np.concatenate(column) for column in zip(*parts, strict=True))
    tied = (defaults[0][kept], defaults[1][kept])
    return packed(weights[kept], tied, sizes, Entries(*columns), common_of(posterior))


def _union(posterior: Posterior, first: int, second: int, prior: BetaPrior) -> Entries:
    """Features that are explicit in either component, with the evidence of both."""
    both = [entries_of_component(posterior, k) for k in (first, second)]
    held = np.sort(np.concatenate([entries.feature for entries in both]))
    features = held[np.diff(held, prepend=-1) > 0]
    sums = []
    for name, default, base in (
        ("alpha", posterior.default_alpha, prior.alpha),
        ("beta", posterior.default_beta, prior.beta),
    ):
        own = [np.full(features.size, default[k]) for k in (first, second)]
        for column, entries in zip(own, both, strict=True):
            column[np.searchsorted(features, entries.feature)] = getattr(entries, name)
        sums.append(_added(own[0], own[1], base))
    return Entries(features, sums[0], sums[1])


def _added(first: FloatVector, second: FloatVector, base: float) -> FloatVector:
    return np.asarray(np.maximum(first + second - base, LEAST_SHARE * np.minimum(first, second)))


def with_births(
    posterior: Posterior, sizes: FloatVector, counts: sparse.csr_array, prior: Prior
) -> Posterior:
    """Settled posterior with more components, after those that it has; `counts` hold no common features.

    Parameters
    ----------
    sizes : (n_born,)
        Rows of each.
    counts : (n_born, n_features) CSR
        How many of them hold each feature.
    """
    a, b = prior.beta
    entries = entries_of(posterior)
    per_component = np.diff(counts.indptr).astype(np.int64)
    off = np.repeat(sizes, per_component) - counts.data
    return packed(
        np.append(posterior.weight_concentration, sizes + prior.weight_concentration),
        (
            np.append(posterior.default_alpha, np.full(sizes.size, a)),
            np.append(posterior.default_beta, sizes + b),
        ),
        np.append(posterior.size, per_component),
        Entries(
            np.append(entries.feature, counts.indices.astype(np.int32)),
            np.append(entries.alpha, counts.data + a),
            np.append(entries.beta, off + b),
        ),
        common_of(posterior),
    )
