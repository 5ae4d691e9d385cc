"""The poster in NumPy, dense and obvious: the twin that kernels, engine and chains are tested against.

U is (n_rows, n_components) and V (n_features, n_components); columns of V sum to one where a function says so. Rates of
the Gamma distributions are rates everywhere, not scales.
"""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import gammaln

Matrix = NDArray[np.float64]


def log_likelihood(X: Matrix, U: Matrix, V: Matrix) -> float:
    """Log p(X | U, V) of independent Poisson counts, nats; "Maximum likelihood with EM"."""
    Y = U @ V.T
    held = X > 0
    return float((X[held] * np.log(Y[held])).sum() - Y.sum() - gammaln(X + 1.0).sum())


def divergence(X: Matrix, U: Matrix, V: Matrix) -> float:
    """Kullback-Leibler divergence D(X || U V'), which ML makes small."""
    Y = U @ V.T
    held = X > 0
    return float((X[held] * np.log(X[held] / Y[held])).sum() - X.sum() + Y.sum())


def log_prior(U: Matrix, shape: Any, rate: Any) -> float:
    """Log Gamma density of the positive entries of U, without its constants, nats."""
    logs = np.log(np.where(U > 0, U, 1.0))
    return float(((shape - 1.0) * logs - rate * U).sum())


def allocated(X: Matrix, U: Matrix, V: Matrix) -> NDArray[np.float64]:
    """Expected split of each count over the components, (n_rows, n_features, n_components)."""
    joint = U[:, None, :] * V[None, :, :]
    total = joint.sum(axis=2, keepdims=True)
    return np.asarray(X[:, :, None] * joint / np.where(total > 0, total, 1.0))


def multiplicative_users(X: Matrix, U: Matrix, V: Matrix) -> Matrix:
    """The update of Lee and Seung for U; V need not sum to one."""
    return np.asarray(allocated(X, U, V).sum(axis=1) / V.sum(axis=0))


def multiplicative_features(X: Matrix, U: Matrix, V: Matrix) -> Matrix:
    """The update of Lee and Seung for V."""
    return np.asarray(allocated(X, U, V).sum(axis=0) / U.sum(axis=0))


def posterior_mode_users(X: Matrix, U: Matrix, V: Matrix, shape: Any, rate: Any) -> Matrix:
    """The update of GaP for U (MAP), clipped at zero where the shape is below one."""
    counts = allocated(X, U, V).sum(axis=1)
    return np.asarray(np.maximum(counts + shape - 1.0, 0.0) / (V.sum(axis=0) + rate))


def log_feature_prior(V: Matrix, smoothing: float) -> float:
    """Log Dirichlet density of the columns of V with pseudo-counts 1 + smoothing, without its constants, nats."""
    return smoothing * float(np.log(V[V > 0]).sum())


def em_step(
    X: Matrix, U: Matrix, V: Matrix, shape: Any = 1.0, rate: Any = 0.0, smoothing: float = 0.0
) -> tuple[Matrix, Matrix]:
    """EM with columns of V that sum to one: both factors from one split of the counts.

    Given the split H, the objective falls apart into a part of U and one of V, so that both can move at once and the
    objective still never falls.
    """
    H = allocated(X, U, V)
    counts = H.sum(axis=0) + smoothing
    users = np.maximum(H.sum(axis=1) + shape - 1.0, 0.0) / (1.0 + rate)
    return users, np.asarray(counts / counts.sum(axis=0))


def log_evidence_of_split(H: NDArray[np.int64], shape: Any, rate: Any, concentration: float) -> float:
    """Log p(H) with U and V integrated out, nats; H is (n_rows, n_features, n_components).

    H_ijk is Poisson with mean u_ik v_jk. Gibbs sampling leaves this unchanged over all H that add up to X.
    """
    _, n_features, n_components = H.shape
    shape, rate = np.broadcast_to(shape, n_components), np.broadcast_to(rate, n_components)
    user_counts, feature_counts = H.sum(axis=1), H.sum(axis=0)
    of_users = gammaln(shape + user_counts) - gammaln(shape) + shape * np.log(rate)
    of_users -= (shape + user_counts) * np.log(rate + 1.0)
    of_features = gammaln(concentration + feature_counts).sum() - gammaln(concentration) * feature_counts.size
    of_totals = n_components * gammaln(n_features * concentration)
    of_totals -= gammaln(n_features * concentration + feature_counts.sum(axis=0)).sum()
    return float(of_users.sum() + of_features + of_totals - gammaln(H + 1.0).sum())


def nmf_conditional(
    X: Matrix, U: Matrix, V: Matrix, k: int, noise: float, rate: float
) -> tuple[Matrix, float]:
    """Bayesian NMF: mean and variance of the normal whose part above zero u_.k is drawn from, given all else.

    X is normal with mean U V' and variance `noise`; u_ik is exponential with that rate (Schmidt, Winther, Hansen 2009).
    """
    others = X - U @ V.T + np.outer(U[:, k], V[:, k])
    length = float(V[:, k] @ V[:, k])
    return np.asarray((others @ V[:, k] - rate * noise) / length), noise / length
