"""A chain of Bayesian NMF (Schmidt, Winther, Hansen 2009): normal counts, exponential factors, inverse-gamma noise.

The likelihood looks at all cells, but only through ``X V``, ``V' V`` and the sum of squares: a sweep costs
O(nnz x n_components + (n_rows + n_features) x n_components^2), and the product of the factors is never made.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy.special import log_ndtr, ndtri_exp

from sparsemix.models.gamma_poisson.sampling import Plan, Trace
from sparsemix.models.gamma_poisson.state import Draws, Factors, FloatMatrix, FloatVector

FAR_TAIL = 1e4  # standard deviations beyond which the tail of a normal is an exponential, to eight digits


class NMFPrior(NamedTuple):
    """Rates of the exponential priors of both factors; shape and scale of the inverse gamma prior of the noise."""

    user_rate: float
    feature_rate: float
    noise_shape: float
    noise_scale: float


def rectified_normal(mean: FloatVector, deviation: float, rng: np.random.Generator) -> FloatVector:
    """Draws of normals given that they are positive, (n,)."""
    uniform = 1.0 - rng.random(mean.size)  # never zero
    start = -mean / deviation
    near = np.minimum(start, FAR_TAIL)
    z = -ndtri_exp(np.log(uniform) + log_ndtr(-near))
    in_tail = -np.log(uniform) * deviation / np.maximum(start, FAR_TAIL)
    return np.asarray(np.where(start > FAR_TAIL, in_tail, np.maximum(mean + deviation * z, 0.0)))


def draw_factor(
    factor: FloatMatrix,
    other: FloatMatrix,
    product: FloatMatrix,
    noise: float,
    rate: float,
    rng: np.random.Generator,
) -> None:
    """Draw one factor anew, column by column, in place; `product` is the data times the other factor."""
    lengths = other.T @ other
    for k in range(factor.shape[1]):
        length = lengths[k, k]
        if length <= 0.0:
            factor[:, k] = rng.standard_exponential(len(factor)) / rate
            continue
        rest = product[:, k] - factor @ lengths[:, k] + factor[:, k] * length
        mean = (rest - rate * noise) / length
        factor[:, k] = rectified_normal(mean, float(np.sqrt(noise / length)), rng)


class NMFChain:
    """Factors and noise that a sweep draws anew.

    Parameters
    ----------
    matrix : (n_rows, n_features) CSR
    start : Factors
    prior : NMFPrior
    rng : Generator
    """

    def __init__(self, matrix: Any, start: Factors, prior: NMFPrior, rng: np.random.Generator) -> None:
        self.matrix, self.transposed, self.prior, self.rng = matrix, matrix.T.tocsr(), prior, rng
        self.factors = Factors(*(each.copy() for each in start))
        self.squares = float((matrix.data**2).sum())
        self.n_cells = float(matrix.shape[0]) * matrix.shape[1]
        self.noise = max(self._error(matrix @ start.features) / self.n_cells, np.finfo(float).tiny)

    def _error(self, product: FloatMatrix) -> float:
        """Sum of squared errors over all cells; `product` is the data times the feature factors."""
        users, features = self.factors
        fitted = float(((users.T @ users) * (features.T @ features)).sum())
        return max(self.squares - 2.0 * float((users * product).sum()) + fitted, 0.0)

    def sweep(self) -> float:
        """Draw users, features and noise; returns the log likelihood of what was drawn, nats."""
        users, features = self.factors
        draw_factor(users, features, self.matrix @ features, self.noise, self.prior.user_rate, self.rng)
        draw_factor(features, users, self.transposed @ users, self.noise, self.prior.feature_rate, self.rng)
        error = self._error(self.matrix @ features)
        shape, scale = self.prior.noise_shape + 0.5 * self.n_cells, self.prior.noise_scale + 0.5 * error
        self.noise = max(scale / self.rng.standard_gamma(shape), np.finfo(float).tiny)
        return float(-0.5 * (self.n_cells * float(np.log(2.0 * np.pi * self.noise)) + error / self.noise))


def sample_nmf(chain: NMFChain, plan: Plan, on_sweep: Callable[[float], None] = lambda _: None) -> Trace:
    """Run a chain; its trace has the noise in the place of the total rate, and no component counts."""
    users, features = chain.factors
    draws = Draws(np.empty((plan.n_draws, *users.shape)), np.empty((plan.n_draws, *features.shape)))
    mean, log_likelihood, noise = Factors(np.zeros_like(users), np.zeros_like(features)), [], []
    for sweep in range(plan.n_sweeps):
        log_likelihood.append(chain.sweep())
        noise.append(chain.noise)
        if sweep >= plan.burn_in:
            mean = Factors(*(total + now for total, now in zip(mean, chain.factors, strict=True)))
            draw, rest = divmod(sweep - plan.burn_in, plan.thin)
            if rest == 0:
                draws.users[draw], draws.features[draw] = chain.factors
        on_sweep(log_likelihood[-1])
    mean = Factors(*(total / (plan.n_sweeps - plan.burn_in) for total in mean))
    return Trace(mean, np.zeros(users.shape[1]), draws, np.array(log_likelihood), np.array(noise))
