"""The paper in NumPy, dense and obvious: the twin that the kernels are tested against.

Rows stand in the order of their times; `log_weights` is the (n_rows, n_rows) matrix of log kappa(t_later - t_earlier),
minus infinity elsewhere. A partition is an array of labels, whose names mean nothing. Numbers are those of TDPM.
"""

import numpy as np
from scipy.special import betaln, gammaln, logsumexp

from sparsemix.models.time_sensitive.state import MULTINOMIAL, FloatMatrix, FloatVector, IntVector, Prior
from sparsemix.models.time_sensitive.time_kernels import TimeKernel


def log_weight_matrix(kernel: TimeKernel, times: FloatVector, *, strict: bool = False) -> FloatMatrix:
    """Log weight of each earlier row (column) for each later one (row); `strict` if equal times weigh nothing."""
    ages = times[:, None] - times[None, :]
    is_earlier = np.tri(times.size, k=-1, dtype=bool)
    if strict:
        is_earlier &= ages > 0.0
    return np.where(is_earlier, kernel.log_weights(np.maximum(ages, 0.0)), -np.inf)


def log_weights_by_cluster(times: FloatVector, labels: IntVector, rates: FloatVector) -> FloatMatrix:
    """The same where each earlier row counts with the rate of its own cluster; `rates` are those of the labels."""
    ages = np.maximum(times[:, None] - times[None, :], 0.0)
    return np.where(np.tri(times.size, k=-1, dtype=bool), -rates[labels] * ages, -np.inf)


def log_sum(logs: FloatVector) -> float:
    """Log of a sum; minus infinity for no terms."""
    return float(np.logaddexp.reduce(logs, initial=-np.inf))


def log_prior(log_weights: FloatMatrix, labels: IntVector, concentration: float) -> float:
    """Log prior probability of a partition (eqs 3 to 5); minus infinity where a member has lost its history.

    The first member of a cluster has the weight of a new one, every other the weight of its own history.
    """
    total = 0.0
    for i in range(labels.size):
        own = np.flatnonzero(labels[:i] == labels[i])
        chosen = log_sum(log_weights[i, own]) if own.size else np.log(concentration)
        total += chosen - np.logaddexp(log_sum(log_weights[i, :i]), np.log(concentration))
    return float(total)


def log_evidence(prior: Prior, members: FloatMatrix) -> float:
    """Log evidence of a cluster's rows, (n_members, n_features); of words in their order."""
    counts, size = members.sum(axis=0), members.shape[0]
    if prior.family == MULTINOMIAL:
        everything = prior.a * prior.n_features
        words = np.sum(gammaln(counts + prior.a) - gammaln(prior.a))
        return float(words + gammaln(everything) - gammaln(everything + counts.sum()))
    return float(np.sum(betaln(prior.a + counts, prior.b + size - counts) - betaln(prior.a, prior.b)))


def log_predictive(prior: Prior, members: FloatMatrix, row: FloatVector) -> float:
    """Log probability of a row given the members of a cluster (eq 12, with the posterior's own normaliser)."""
    return log_evidence(prior, np.vstack([members, row])) - log_evidence(prior, members)


def log_joint(prior: Prior, rows: FloatMatrix, log_weights: FloatMatrix, labels: IntVector) -> float:
    """Log probability of rows and partition together."""
    likelihood = sum(log_evidence(prior, rows[labels == k]) for k in np.unique(labels))
    return log_prior(log_weights, labels, prior.concentration) + likelihood


def log_joint_of_rates(
    prior: Prior,
    rows: FloatMatrix,
    times: FloatVector,
    labels: IntVector,
    which: IntVector,
    kernel: TimeKernel,
) -> float:
    """Log probability of rows, partition and the clusters' rates together.

    `which` says for each label which of the kernel's rates it has. The normalisers of the prior depend on them.
    """
    logs = log_weights_by_cluster(times, labels, np.array(kernel.rates)[which])
    shares = np.log(kernel.shares)[which[np.unique(labels)]].sum()
    return log_joint(prior, rows, logs, labels) + float(shares)


def candidates(labels: IntVector, i: int) -> list[int]:
    """Clusters of all other rows in the order of their first members, and then a new one (Figure 3)."""
    others = np.delete(labels, i)
    _, first = np.unique(others, return_index=True)
    return [*others[np.sort(first)].tolist(), int(labels.max()) + 1]


def log_conditional_by_definition(
    prior: Prior, rows: FloatMatrix, log_weights: FloatMatrix, labels: IntVector, i: int
) -> FloatVector:
    """Log probability of each candidate for row i given all others (eq 6), from the joint."""
    joints = []
    for c in candidates(labels, i):
        moved = labels.copy()
        moved[i] = c
        joints.append(log_joint(prior, rows, log_weights, moved))
    found = np.array(joints)
    return np.asarray(found - logsumexp(found))


def log_time_factor(
    log_weights: FloatMatrix, labels: IntVector, i: int, cluster: int, concentration: float
) -> float:
    """Log prior weight of a cluster for row i: its history, and what that does to later members (eq 7)."""
    is_member = labels == cluster
    is_member[i] = False
    past, later = np.flatnonzero(is_member[:i]), i + 1 + np.flatnonzero(is_member[i + 1 :])
    factor = log_sum(log_weights[i, past]) if past.size else np.log(concentration)
    # A first member has no history, and the weight of a new cluster.
    history = np.logaddexp.reduce(
        log_weights[np.ix_(later, np.flatnonzero(is_member))], axis=1, initial=-np.inf
    )
    is_first = np.arange(later.size) + past.size == 0
    without = np.where(is_first, np.log(concentration), history)
    if np.isneginf(without).any():
        return np.inf  # only this row holds the cluster together
    factor += np.sum(np.logaddexp(history, log_weights[later, i]) - without)
    return float(factor)


def log_conditional(
    prior: Prior, rows: FloatMatrix, log_weights: FloatMatrix, labels: IntVector, i: int
) -> FloatVector:
    """The same, from ratios: O(n) times members for each candidate (Figure 3)."""
    scores = []
    is_other = np.arange(labels.size) != i
    for c in candidates(labels, i):
        factor = log_time_factor(log_weights, labels, i, c, prior.concentration)
        scores.append(factor + log_predictive(prior, rows[(labels == c) & is_other], rows[i]))
    found = np.array(scores)
    if np.isposinf(found).any():
        return np.where(np.isposinf(found), 0.0, -np.inf)
    return np.asarray(found - logsumexp(found))


def sweep(
    prior: Prior, rows: FloatMatrix, log_weights: FloatMatrix, labels: IntVector, uniforms: FloatVector
) -> IntVector:
    """Visit all rows once in the order of time; O(n^2). Returns the new labels."""
    labels = labels.copy()
    for i, uniform in enumerate(uniforms):
        cumulative = np.cumsum(np.exp(log_conditional(prior, rows, log_weights, labels, i)))
        chosen = int(np.searchsorted(cumulative, uniform * cumulative[-1], side="right"))
        labels[i] = candidates(labels, i)[min(chosen, cumulative.size - 1)]
    return labels


def log_predictive_of_shares(prior: Prior, rows: FloatMatrix, shares: FloatVector, row: FloatVector) -> float:
    """The same as `log_predictive` for a cluster that rows belong to in parts, (n_rows,)."""
    counts, size = shares @ rows, float(shares.sum())
    if prior.family == MULTINOMIAL:
        everything, words = prior.a * prior.n_features + counts.sum(), prior.a + counts
        ratios = gammaln(words + row) - gammaln(words)
        return float(ratios.sum() + gammaln(everything) - gammaln(everything + row.sum()))
    on = (prior.a + counts) / (prior.a + prior.b + size)
    return float(np.sum(np.log(np.where(row > 0, on, 1.0 - on))))


def stream(
    prior: Prior,
    rows: FloatMatrix,
    log_weights: FloatMatrix,
    *,
    is_soft: bool = False,
    negligible: float = 0.0,
    least_share: float = 0.0,
) -> FloatMatrix:
    """Put each row where it is most probable given those before it; returns shares, (n_rows, n_clusters).

    A cluster takes rows until its history weighs less than `negligible` of a new one. Soft shares below `least_share`
    are dropped, as is a new cluster that is not the most probable.
    """
    n_rows = rows.shape[0]
    shares, lives = np.zeros((n_rows, n_rows)), np.zeros(n_rows, bool)
    for i in range(n_rows):
        weights = np.exp(log_weights[i, :i]) @ shares[:i]
        lives &= weights >= negligible * prior.concentration
        live, new = np.flatnonzero(lives), int(np.count_nonzero(shares.sum(axis=0)))
        weights[new] = prior.concentration
        found = [
            np.log(weights[k]) + log_predictive_of_shares(prior, rows[:i], shares[:i, k], rows[i])
            for k in [*live, new]
        ]
        best = int(np.argmax(found))
        own = np.exp(np.array(found) - logsumexp(found)) if is_soft else np.eye(len(found))[best]
        is_dropped = (own < least_share) | (np.arange(own.size) == live.size)
        is_dropped[best] = False
        own[is_dropped] = 0.0
        shares[i, [*live, new]] = own / own.sum()
        lives[new] = shares[i, new] > 0.0
    return shares[:, shares.any(axis=0)]
