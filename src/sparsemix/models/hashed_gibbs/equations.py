"""The paper in NumPy, dense and obvious: the twin that the kernels are tested against.

Everything follows from the joint probability of rows and assignments, in which weights and parameters of the clusters
are integrated out (FASTEX, section 2; eq 7). The full conditional of one row is the ratio of two such joints.
"""

import numpy as np
from numpy.typing import NDArray
from scipy.special import betaln, gammaln, logsumexp, multigammaln

from sparsemix.models.hashed_gibbs.real_state import Partition, RealPrior
from sparsemix.models.hashed_gibbs.state import BERNOULLI, FINITE, MULTINOMIAL, POISSON, Prior
from sparsemix.probability.gaussian_full_kernels import NormalWishartPrior

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
IntVector = NDArray[np.int64]


def log_evidence(prior: Prior, members: FloatMatrix) -> float:
    """Log evidence of the rows of one cluster (eq 7), (n_members, n_features), up to factors of the rows alone."""
    counts, size = members.sum(axis=0), members.shape[0]
    a, b, n_features = prior.a, prior.b, prior.n_features
    if prior.family == MULTINOMIAL:
        everything = a * n_features
        words = np.sum(gammaln(counts + a) - gammaln(a))
        return float(words + gammaln(everything) - gammaln(everything + counts.sum()))
    if prior.family == BERNOULLI:
        return float(np.sum(betaln(a + counts, b + size - counts) - betaln(a, b)))
    if prior.family == POISSON:
        shape = a + counts
        return float(np.sum(gammaln(shape) - gammaln(a) + a * np.log(b) - shape * np.log(b + size)))
    raise NotImplementedError(f"no evidence is written for the family {prior.family}")


def log_evidence_of_real_rows(prior: RealPrior, members: FloatMatrix) -> float:
    """The same for Gaussian rows: Student's t distributions, of each feature or of all together."""
    n, n_features = members.shape
    own = prior.gaussian
    pull = np.log(own.strength / (own.strength + n))
    mean = members.mean(axis=0) if n else own.mean
    scatter, apart = (members - mean).T @ (members - mean), mean - own.mean
    scatter += own.strength * n / (own.strength + n) * np.outer(apart, apart)
    if not isinstance(own, NormalWishartPrior):
        shape, rates = own.shape + n / 2.0, own.rate + np.diag(scatter) / 2.0
        each = own.shape * np.log(own.rate) - shape * np.log(rates) + gammaln(shape) - gammaln(own.shape)
        return float(np.sum(each + pull / 2.0 - n / 2.0 * np.log(2.0 * np.pi)))
    half, half_prior = (own.degrees + n) / 2.0, own.degrees / 2.0
    gained = multigammaln(half, n_features) - multigammaln(half_prior, n_features)
    spread = half_prior * np.linalg.slogdet(own.scale)[1] - half * np.linalg.slogdet(own.scale + scatter)[1]
    return float(gained + spread + n_features / 2.0 * (pull - n * np.log(np.pi)))


def log_prior(prior: Prior | Partition, sizes: IntVector) -> float:
    """Log prior probability of an assignment with labels, up to a constant; clusters without rows are alike."""
    n_clusters, live = sizes.size, sizes[sizes > 0]
    if prior.process == FINITE:
        return float(np.sum(gammaln(sizes + prior.concentration)))
    d, c = prior.discount, prior.concentration
    tables = np.sum(np.log(c + d * np.arange(live.size)))
    members = np.sum(gammaln(live - d) - gammaln(1.0 - d))
    labels = gammaln(n_clusters + 1) - gammaln(n_clusters - live.size + 1)
    return float(tables + members - labels)


def log_joint(prior: Prior | RealPrior, rows: FloatMatrix, assigned: IntVector, n_clusters: int) -> float:
    """Log probability of rows and assignments together, up to a constant."""
    partition = prior.partition if isinstance(prior, RealPrior) else prior
    total = log_prior(partition, np.bincount(assigned, minlength=n_clusters))
    for k in range(n_clusters):
        members = rows[assigned == k]
        if isinstance(prior, RealPrior):
            total += log_evidence_of_real_rows(prior, members)
        else:
            total += log_evidence(prior, members)
    return total


def log_full_conditional(
    prior: Prior | RealPrior, rows: FloatMatrix, assigned: IntVector, row: int, n_clusters: int
) -> FloatVector:
    """Log probability of each cluster for one row, given all others (section 2.3); (n_clusters,)."""
    joints = np.empty(n_clusters)
    for k in range(n_clusters):
        moved = assigned.copy()
        moved[row] = k
        joints[k] = log_joint(prior, rows, moved, n_clusters)
    return np.asarray(joints - logsumexp(joints))


def parameters(prior: Prior, members: FloatMatrix) -> FloatVector:
    """Natural parameters of a cluster beside those of a cluster without rows, as proposals use them; (n_features,).

    Logarithms of the posterior means of Dirichlet and Gamma, whose common factor is left to the row's length (eq 6).
    """
    return np.asarray(np.log((members.sum(axis=0) + prior.a) / prior.a))


def bits(vector: FloatVector, directions: FloatMatrix) -> NDArray[np.bool_]:
    """Signature of a vector (eq 12): the signs of its products with the directions, (n_features, n_bits)."""
    return np.asarray(vector @ directions >= 0.0)


def approximate_product(
    row: FloatVector, cluster: FloatVector, directions: FloatMatrix, miss_slack: float = 0.0
) -> float:
    """Inner product from the share of differing bits (eqs 12, 14): |row| |cluster| cos(pi z)."""
    differing = np.mean(bits(row, directions) != bits(cluster, directions))
    angle = np.pi * max(differing - miss_slack, 0.0)
    return float(np.linalg.norm(row) * np.linalg.norm(cluster) * np.cos(angle))


def log_acceptance(target: FloatVector, proposal_log_weights: FloatVector, old: int, new: int) -> float:
    """Log acceptance of a move by Metropolis-Hastings (eq 17); the proposal does not depend on `old`."""
    forward = target[new] + proposal_log_weights[old]
    return float(min(0.0, forward - target[old] - proposal_log_weights[new]))


def leaders(
    prior: Prior, rows: FloatMatrix, base: FloatVector, n_places: int, order: IntVector, long_list: int
) -> IntVector:
    """Leader clustering: rows join the best cluster that shares a feature, or lead one; (n_rows,), -1 for none.

    A cluster of counts n_w is a Dirichlet-multinomial with the pseudo-counts `base`, beside a cluster without rows:
    ``sum_w x_w log(1 + n_w / base_w) - |x| log(1 + sum_w n_w / sum_w base_w)``. Features that `long_list` clusters hold
    say nothing any more.
    """
    assigned, sizes = np.full(rows.shape[0], -1), np.zeros(n_places, np.int64)
    counts, n_live = np.zeros((n_places, rows.shape[1])), 0
    for row in order:
        x = np.where((counts > 0).sum(axis=0) < long_list, rows[row], 0.0)
        if not x.any():
            continue
        scores = np.full(n_live + 1, -np.inf)
        if n_live < n_places and prior.process == FINITE:
            scores[n_live] = np.log(prior.concentration * (n_places - n_live))
        elif n_live < n_places:
            scores[n_live] = np.log(prior.concentration + prior.discount * n_live)
        for k in np.flatnonzero((counts[:n_live] * x).any(axis=1)):
            gains = np.log1p(counts[k, x > 0] / base[x > 0]).astype(np.float32)
            spread = x.sum() * np.log1p(counts[k].sum() / base.sum())
            known = prior.concentration if prior.process == FINITE else -prior.discount
            scores[k] = x[x > 0] @ gains.astype(np.float64) - spread + np.log(sizes[k] + known)
        best = int(scores.argmax())
        if np.isneginf(scores[best]):
            continue
        n_live = max(n_live, best + 1)
        assigned[row] = best
        sizes[best] += 1
        counts[best] += x
    return assigned
