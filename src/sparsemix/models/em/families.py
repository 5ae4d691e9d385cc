"""The two families: all that the engine does not know about words or keywords."""

from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.models.em.state import Certain, FloatMatrix, FloatVector, Parameters, Prior, Statistics
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior
from sparsemix.probability.dirichlet_multinomial import DirichletMultinomial
from sparsemix.probability.entries import owners, sum_by_owner
from sparsemix.probability.partition_moves import Family as Collapsed

IntVector = NDArray[np.int64]
Entries = tuple[IntVector, IntVector]
LEAST_SMOOTHING = 1e-9  # beside which a count of 1e-20 is lost
REPAIR_STRENGTH = 0.1
RAREST = 1e-6  # mean of features of which there are none, and below one if all rows hold all


class Family(Protocol):
    """What the engine and the answers ask of a family."""

    @property
    def name(self) -> str:
        """Word for the family."""
        ...

    def maximize(self, statistics: Statistics, prior: Prior) -> Parameters:
        """M step: the parameters that maximise the expected log likelihood plus `log_prior`."""
        ...

    def log_prior(self, parameters: Parameters, prior: Prior) -> float:
        """Log density of the feature parameters' prior, up to a constant, nats."""
        ...

    def profiles(self, parameters: Parameters) -> FloatMatrix:
        """Probabilities of the features, (n_components, n_features)."""
        ...

    def betas(self, statistics: Statistics, prior: Prior) -> tuple[FloatMatrix, FloatMatrix]:
        """Beta posterior of each probability given the expected counts, (n_features, n_components) twice."""
        ...

    def n_parameters(self, n_components: int, n_features: int) -> int:
        """Free parameters of a mixture, weights included."""
        ...

    def possible(self, statistics: Statistics, near: Statistics, kept: float) -> Statistics:
        """The statistics, moved towards those `near` where no rows can have them."""
        ...

    def collapsed(self, mean: FloatVector) -> Collapsed:
        """The family with its parameters integrated out, for moves on partitions; `mean` is the average row."""
        ...

    def highest(self, rows: sparse.csr_array) -> FloatVector:
        """Log probability of each row under the profile that suits it best, nats; (n_rows,)."""
        ...

    def n_draws(self, length: float) -> float:
        """How often a row whose counts sum to `length` may draw one feature, where it lacks it."""
        ...

    def draw(
        self, profile: FloatVector, members: IntVector, length: float, rng: np.random.Generator
    ) -> Entries:
        """Rows and columns of the entries of new rows `members` of one component, of about `length` entries each."""
        ...


def _pseudo_counts(statistics: Statistics, prior: Prior) -> FloatMatrix:
    counts = statistics.counts + prior.smoothing
    return counts if prior.seeds is None else np.asarray(counts + prior.seeds)


def _log_negligible(prior: Prior) -> float:
    """1e-20 of a row is lost beside a pseudo-count; alone it keeps a probability from being zero for ever."""
    return -46.0 if prior.smoothing > LEAST_SMOOTHING else -700.0


def _log_weights(statistics: Statistics, prior: Prior) -> FloatVector:
    sizes = statistics.sizes + prior.class_weight
    if not sizes.any():  # weights so small that no row counts
        return np.full(sizes.size, -np.log(sizes.size))
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(sizes) - np.log(sizes.sum()))


@dataclass(frozen=True)
class Multinomial:
    """Rows of counts: p(row | k) = prod_w p(w|k)^count (TEXT, eq 3.2), for the words in their order."""

    name: str = "multinomial"

    def maximize(self, statistics: Statistics, prior: Prior) -> Parameters:
        """p(w|k) = (E[c(k, w)] + smoothing) / sum_w of the same; the chapter's box divides by E[c(k)] in error."""
        counts = _pseudo_counts(statistics, prior)
        totals = counts.sum(axis=0)
        counts[:, totals == 0.0] = 1.0  # a component without words: any will do, its weight or counts decide
        totals[totals == 0.0] = counts.shape[0]
        with np.errstate(divide="ignore"):
            feature_weights = np.log(counts, out=counts)
        feature_weights -= np.log(totals)
        log_weights = _log_weights(statistics, prior)
        return Parameters(log_weights, log_weights.copy(), feature_weights, None, _log_negligible(prior))

    def log_prior(self, parameters: Parameters, prior: Prior) -> float:
        """``sum (smoothing + seeds) log p(w|k)``: Dirichlet(1 + smoothing + seeds) up to a constant."""
        total = prior.smoothing * parameters.feature_weights.sum() if prior.smoothing else 0.0
        if prior.seeds is not None:
            seeds = prior.seeds.tocoo()
            total += float(seeds.data @ parameters.feature_weights[seeds.row, seeds.col])
        return float(total)

    def profiles(self, parameters: Parameters) -> FloatMatrix:
        """p(w|k), rows sum to one."""
        return np.ascontiguousarray(np.exp(parameters.feature_weights).T)

    def betas(self, statistics: Statistics, prior: Prior) -> tuple[FloatMatrix, FloatMatrix]:
        """Marginals of the Dirichlet with the smoothed expected counts; its mean is p(w|k)."""
        alpha = _pseudo_counts(statistics, prior)
        return alpha, alpha.sum(axis=0) - alpha

    def n_parameters(self, n_components: int, n_features: int) -> int:
        """K - 1 weights and D - 1 probabilities a component."""
        return n_components - 1 + n_components * (n_features - 1)

    def possible(self, statistics: Statistics, near: Statistics, kept: float) -> Statistics:  # noqa: ARG002
        """Any counts are."""
        return statistics

    def collapsed(self, mean: FloatVector) -> Collapsed:
        """Dirichlet-multinomial with a weak symmetric prior."""
        return DirichletMultinomial(REPAIR_STRENGTH, mean.size, 1.0)

    def highest(self, rows: sparse.csr_array) -> FloatVector:
        """``sum_w x_w log(x_w / n)`` with n the words of the row; O(nnz)."""
        owner = owners(rows)
        lengths = sum_by_owner(rows.data, owner, rows.shape[0])
        return sum_by_owner(rows.data * np.log(rows.data / lengths[owner]), owner, rows.shape[0])

    def n_draws(self, length: float) -> float:
        """Once a word of the row."""
        return length

    def draw(
        self, profile: FloatVector, members: IntVector, length: float, rng: np.random.Generator
    ) -> Entries:
        """Poisson lengths, then word by word."""
        rows = np.repeat(members, rng.poisson(length, members.size))
        cumulative = np.cumsum(profile)
        found = np.searchsorted(cumulative, rng.random(rows.size) * cumulative[-1], side="right")
        return rows, np.minimum(found, profile.size - 1)


@dataclass(frozen=True)
class Bernoulli:
    """Rows of zeros and ones: p(row | k) = prod_d mu_kd^x (1 - mu_kd)^(1 - x)."""

    name: str = "bernoulli"

    def maximize(self, statistics: Statistics, prior: Prior) -> Parameters:
        """mu_kd = (E[c(k, d)] + smoothing) / (E[c(k)] + 2 smoothing); seeds count as rows that hold the feature."""
        alpha, beta = self.betas(statistics, prior)
        unseen = (alpha == 0.0) & (beta == 0.0)
        if unseen.any():
            alpha[unseen] = beta[unseen] = 1.0
        certain = beta == 0.0
        with np.errstate(divide="ignore"):
            log_on, log_off, log_all = np.log(alpha), np.log(beta), np.log(alpha + beta)
        feature_weights = log_on - log_off
        never = log_off - log_all
        feature_weights[certain] = never[certain] = 0.0
        log_weights = _log_weights(statistics, prior)
        constants = log_weights + never.sum(axis=0)
        return Parameters(
            log_weights, constants, feature_weights, self._certain(certain), _log_negligible(prior)
        )

    def _certain(self, certain: NDArray[np.bool_]) -> Certain | None:
        if not certain.any():
            return None
        return Certain(sparse.csr_array(certain.astype(np.float64)), certain.sum(axis=0).astype(np.float64))

    def log_prior(self, parameters: Parameters, prior: Prior) -> float:
        """``sum (smoothing + seeds) log mu + smoothing log(1 - mu)``: Beta(1 + ..., 1 + ...) up to a constant."""
        total = 0.0
        if prior.smoothing:
            log_off = self._log_off(parameters).sum()
            total = prior.smoothing * (parameters.feature_weights.sum() + 2.0 * log_off)
        if prior.seeds is not None:
            seeds = prior.seeds
            if parameters.certain is not None:  # where log mu is 0
                seeds = seeds - seeds.multiply(parameters.certain.pattern)
            place = seeds.tocoo()
            log_odds = parameters.feature_weights[place.row, place.col]
            total -= float(place.data @ np.logaddexp(0.0, -log_odds))
        return float(total)

    def _log_off(self, parameters: Parameters) -> FloatVector:
        """Log probability of a row without features, (n_components,); also where the weight is zero."""
        dead = np.isneginf(parameters.log_weights)
        log_off = parameters.constants - np.where(dead, 0.0, parameters.log_weights)
        log_off[dead] = -np.logaddexp(0.0, parameters.feature_weights[:, dead]).sum(axis=0)
        return log_off

    def profiles(self, parameters: Parameters) -> FloatMatrix:
        """Probability that a row holds each feature."""
        profiles = np.empty(parameters.feature_weights.shape[::-1])
        with np.errstate(over="ignore"):
            np.divide(1.0, 1.0 + np.exp(-parameters.feature_weights.T), out=profiles)
        if parameters.certain is not None:
            certain = parameters.certain.pattern.tocoo()
            profiles[certain.col, certain.row] = 1.0
        return profiles

    def betas(self, statistics: Statistics, prior: Prior) -> tuple[FloatMatrix, FloatMatrix]:
        """Pseudo-counts of on and off; the mean of their Beta is mu."""
        off = np.maximum(statistics.sizes - statistics.counts, 0.0)
        return _pseudo_counts(statistics, prior), off + prior.smoothing

    def n_parameters(self, n_components: int, n_features: int) -> int:
        """K - 1 weights and D probabilities a component."""
        return n_components - 1 + n_components * n_features

    def possible(self, statistics: Statistics, near: Statistics, kept: float) -> Statistics:
        """At least the share `kept` of the rows without each feature stays without it."""
        most = statistics.sizes - kept * np.maximum(near.sizes - near.counts, 0.0)
        return Statistics(statistics.sizes, np.clip(statistics.counts, 0.0, np.maximum(most, 0.0)))

    def collapsed(self, mean: FloatVector) -> Collapsed:
        """Beta-Bernoulli with the mean of all features."""
        share = float(np.clip(mean.mean(), RAREST, 1.0 - RAREST))
        return BetaBernoulli(BetaPrior.from_mean(share, 1.0), mean.size, 1.0)

    def highest(self, rows: sparse.csr_array) -> FloatVector:
        """The row itself makes it certain."""
        return np.zeros(rows.shape[0])

    def n_draws(self, length: float) -> float:  # noqa: ARG002
        """A feature is there or not."""
        return 1.0

    def draw(
        self,
        profile: FloatVector,
        members: IntVector,
        length: float,  # noqa: ARG002
        rng: np.random.Generator,
    ) -> Entries:
        """Feature by feature: how many rows hold it, then which."""
        times = rng.binomial(members.size, profile)
        holders = [rng.choice(members, times[feature], replace=False) for feature in np.flatnonzero(times)]
        return np.concatenate([members[:0], *holders]), np.repeat(np.arange(times.size), times)


FAMILIES: dict[str, Family] = {"multinomial": Multinomial(), "bernoulli": Bernoulli()}
