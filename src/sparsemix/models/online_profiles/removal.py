"""Ending components that explain next to nothing; their evidence is learnt by the others (ADS, section 4.1).

A removed component becomes a fractional row, the mean of its profile, which the remaining components learn as often
as the component had rows. The total of the weight concentrations keeps every row.
"""

from functools import partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import logsumexp

from sparsemix.models.online_profiles import kernels
from sparsemix.models.online_profiles.state import (
    NO_ENTRIES,
    Entries,
    Posterior,
    common_of,
    entries_of_component,
    packed,
    without_components,
)
from sparsemix.numeric.threads import equal_parts, thread_runner

FloatVector = NDArray[np.float64]

NEGLIGIBLE_SHARE = 1e-3  # responsibilities below it do not learn from a removed component
WORTH_A_BETA = 0.5  # rows' worth of a feature from which a learner makes it explicit


class MeanRow(NamedTuple):
    """A component as a fractional row that was seen `mass` times.

    features : (n,) sorted; on : (n,) shares of "on"; rest : share of every feature that is not listed.
    shares : (n_features,) share of "on" of any feature.
    """

    features: NDArray[np.int32]
    on: FloatVector
    rest: float
    mass: float
    shares: FloatVector


def remove_components(
    posterior: Posterior,
    removed: NDArray[np.bool_],
    weight_concentration: float,
    n_features: int,
    clutter: int = -1,
    n_threads: int = 1,
) -> Posterior:
    """Remove components and let the others learn their mean rows.

    Parameters
    ----------
    posterior : Posterior
    removed : (n_components,) bool
        At least one component must stay.
    weight_concentration : float
        The prior's pseudo-count per component, which is not evidence and not passed on.
    n_features : int
    clutter : int, default=-1
        Position of the clutter, which stays; -1 where there is none.
    n_threads : int, default=1

    Returns
    -------
    Posterior
        Without slack.
    """
    rows = [_mean_row(posterior, int(k), weight_concentration, n_features) for k in np.flatnonzero(removed)]
    left = without_components(posterior, ~removed)
    clutter = int(np.count_nonzero(~removed[:clutter])) if clutter >= 0 else -1
    for row in rows:
        if row.mass > 0:
            left = _learn(left, row, n_features, clutter, n_threads)
    return left


def _mean_row(posterior: Posterior, k: int, weight_concentration: float, n_features: int) -> MeanRow:
    entries = entries_of_component(posterior, k)
    order = np.argsort(entries.feature)
    on = entries.alpha / (entries.alpha + entries.beta)
    rest = float(posterior.default_alpha[k] / (posterior.default_alpha[k] + posterior.default_beta[k]))
    shares = np.full(n_features, rest)
    shares[entries.feature] = on
    mass = float(posterior.weight_concentration[k] - weight_concentration)
    return MeanRow(entries.feature[order], on[order], rest, mass, shares)


def _learn(posterior: Posterior, row: MeanRow, n_features: int, clutter: int, n_threads: int) -> Posterior:
    n_own = n_features - posterior.common_feature.size
    joint = np.empty(posterior.n_components)

    def compare(part: tuple[int, int]) -> None:
        joint[slice(*part)] = [_log_joint(posterior, k, row, n_own) for k in range(*part)]

    with thread_runner(n_threads) as run:
        run(compare, posterior.parts(n_threads))
    share = np.exp(joint - logsumexp(joint))
    share = np.where(share >= NEGLIGIBLE_SHARE, share, 0.0)
    share /= share.sum()
    weights, defaults = (
        posterior.weight_concentration.copy(),
        [posterior.default_alpha, posterior.default_beta],
    )
    defaults = [tied.copy() for tied in defaults]
    learnt = [entries_of_component(posterior, k) for k in range(posterior.n_components)]
    for k in np.flatnonzero(share):
        weights[k] += share[k] * row.mass
        if k == clutter:
            mean = _share_of_default(row, NO_ENTRIES.feature, n_own)
            defaults[0][k] += share[k] * row.mass * mean
            defaults[1][k] += share[k] * row.mass * (1.0 - mean)
            continue
        widened = _widened(learnt[k], row, share[k], defaults[0][k], defaults[1][k])
        rest = _share_of_default(row, widened.feature, n_own)
        alpha, beta = np.append(widened.alpha, defaults[0][k]), np.append(widened.beta, defaults[1][k])
        on = np.append(row.shares[widened.feature], rest)
        with thread_runner(n_threads) as run:
            run(
                partial(kernels.learn_mean_row, alpha, beta, on, share[k], row.mass),
                equal_parts(np.ones(alpha.size), n_threads),
            )
        learnt[k] = Entries(widened.feature, alpha[:-1], beta[:-1])
        defaults[0][k], defaults[1][k] = alpha[-1], beta[-1]
    sizes = np.array([e.feature.size for e in learnt], np.int64)
    columns = (np.concatenate(parts) for parts in zip(*learnt, strict=True))
    return packed(weights, (defaults[0], defaults[1]), sizes, Entries(*columns), common_of(posterior))


def _log_joint(posterior: Posterior, k: int, row: MeanRow, n_own: int) -> float:
    """Log weight and expected log likelihood of a fractional row, as in eq 3."""
    entries = entries_of_component(posterior, k)
    total = entries.alpha + entries.beta
    on = row.shares[entries.feature]
    explicit = on * np.log(entries.alpha / total) + (1 - on) * np.log(entries.beta / total)
    mean = posterior.default_alpha[k] / (posterior.default_alpha[k] + posterior.default_beta[k])
    rest = _share_of_default(row, entries.feature, n_own)
    n_default = n_own - entries.feature.size
    default = n_default * (rest * np.log(mean) + (1 - rest) * np.log1p(-mean))
    return float(np.log(posterior.weight_concentration[k]) + explicit.sum() + default)


def _share_of_default(row: MeanRow, explicit: NDArray[np.int32], n_own: int) -> float:
    """Mean share of "on" of the features that are not `explicit`."""
    n_default = n_own - explicit.size
    if n_default <= 0:
        return 0.0
    total = row.on.sum() + row.rest * (n_own - row.features.size)
    return float(np.clip((total - row.shares[explicit].sum()) / n_default, 0.0, 1.0))


def _widened(
    entries: Entries, row: MeanRow, share: float, default_alpha: float, default_beta: float
) -> Entries:
    """Entries of a learner with the row's weighty features made explicit, from the default."""
    weighty = row.features[row.on * row.mass * share >= WORTH_A_BETA]
    new = np.setdiff1d(weighty, entries.feature).astype(np.int32)
    return Entries(
        np.append(entries.feature, new),
        np.append(entries.alpha, np.full(new.size, default_alpha)),
        np.append(entries.beta, np.full(new.size, default_beta)),
    )
