"""A chain of Gibbs sampling (discrete component analysis): split all counts, then draw both factors given the split.

Random numbers come from a generator for each part of the users and each sweep, so that threads change nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparsemix.models.gamma_poisson import kernels
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.state import (
    Draws,
    Factors,
    FloatMatrix,
    FloatVector,
    IntVector,
    Prior,
    normalised,
    rows_between,
)
from sparsemix.numeric.threads import Run, thread_runner

EVENTS_PER_COMPONENT = 4  # above, a binomial for each component is cheaper than an event at a time


class Plan(NamedTuple):
    """How chains run; `burn_in` sweeps are left out, and of the others every `thin`-th is kept."""

    n_sweeps: int
    burn_in: int
    thin: int
    n_threads: int

    @property
    def n_draws(self) -> int:
        """Draws that a chain keeps."""
        return len(range(self.burn_in, self.n_sweeps, self.thin))


class Part(NamedTuple):
    """Some rows: which, how many uniforms their small counts take, and where the large counts are."""

    first: int
    last: int
    n_uniforms: int
    large: IntVector


class Split(NamedTuple):
    """A drawn split, summed, and the log likelihood of the factors that it was drawn at, nats."""

    user_counts: FloatMatrix
    feature_counts: FloatMatrix
    log_likelihood: float


class Trace(NamedTuple):
    """What a chain leaves.

    mean : posterior means over all sweeps after the burn-in; component_counts : (n_components,) of the same.
    log_likelihood, total_rate : (n_sweeps,) of the factors after each sweep.
    """

    mean: Factors
    component_counts: FloatVector
    draws: Draws
    log_likelihood: FloatVector
    total_rate: FloatVector


class Chain:
    """Factors that a sweep draws anew.

    Parameters
    ----------
    table : Table
    start : Factors
    prior : Prior
    seed : sequence of int
        Of this chain alone.
    """

    def __init__(self, table: Table, start: Factors, prior: Prior, seed: tuple[int, ...]) -> None:
        self.table, self.factors, self.prior, self.seed = table, start, prior, seed
        self.most = EVENTS_PER_COMPONENT * prior.shape.size
        self.row_numbers = table.row_numbers()
        self.parts = [self._part(*part) for part in table.parts]
        self.n_sweeps = 0

    def _part(self, first: int, last: int) -> Part:
        start, end = self.table.rows.indptr[[first, last]]
        values = self.table.rows.values[start:end]
        is_large = values > self.most
        return Part(first, last, int(values[~is_large].sum()), start + np.flatnonzero(is_large))

    def sweep(self, run: Run[tuple[int, int]]) -> Split:
        """Draw a split at the factors, then users and features given it; O(nnz x n_components + counts)."""
        users, features = self.factors
        new_users, user_counts = np.empty_like(users), np.zeros_like(users)
        counts = np.zeros((len(self.parts), *features.shape))
        logs = np.zeros(len(self.parts))

        def one(span: tuple[int, int]) -> None:
            number = span[0]
            part, rng = self.parts[number], self._generator(number)
            place = slice(part.first, part.last)
            logs[number] = self._split(part, rng, user_counts, counts[number])
            new_users[place] = self._users(user_counts[place], rng)

        run(one, [(number, number + 1) for number in range(len(self.parts))])
        feature_counts = counts.sum(axis=0)
        rng = self._generator(len(self.parts))
        self.factors = Factors(
            new_users, normalised(rng.standard_gamma(self.prior.concentration + feature_counts))
        )
        self.n_sweeps += 1
        rest = float(users.sum()) + self.table.log_factorials
        return Split(user_counts, feature_counts, float(logs.sum()) - rest)

    def _generator(self, number: int) -> np.random.Generator:
        return np.random.Generator(np.random.SFC64([*self.seed, self.n_sweeps, number]))

    def _split(
        self, part: Part, rng: np.random.Generator, user_counts: FloatMatrix, feature_counts: FloatMatrix
    ) -> float:
        """Add the split of the rows of a part to the counts; returns the sum of count times log rate."""
        users, features = self.factors
        rows = rows_between(self.table.rows, part.first, part.last)
        rates, place = np.empty(rows.values.size), slice(part.first, part.last)
        sums = (rates, user_counts[place], feature_counts)
        kernels.add_drawn_counts(*rows, users[place], features, self.most, rng.random(part.n_uniforms), *sums)
        if part.large.size:
            row, column = self.row_numbers[part.large], self.table.rows.columns[part.large]
            weights = users[row] * features[column]
            weights /= weights.sum(axis=1, keepdims=True)
            drawn = rng.multinomial(self.table.rows.values[part.large].astype(np.int64), weights)
            np.add.at(user_counts, row, drawn)
            np.add.at(feature_counts, column, drawn)
        return float(np.sum(rows.values * np.log(np.maximum(rates, kernels.LEAST_RATE))))

    def _users(self, counts: FloatMatrix, rng: np.random.Generator) -> FloatMatrix:
        return np.asarray(rng.standard_gamma(self.prior.shape + counts) / (1.0 + self.prior.rate))


class _Kept:
    """Means over all sweeps after the burn-in (of expectations given the split, which vary less), and some draws."""

    def __init__(self, chain: Chain, plan: Plan) -> None:
        users, features = chain.factors
        self.chain, self.plan, self.n_sweeps = chain, plan, 0
        self.draws = Draws(np.empty((plan.n_draws, *users.shape)), np.empty((plan.n_draws, *features.shape)))
        self.user_counts, self.features = np.zeros_like(users), np.zeros_like(features)

    def add(self, found: Split) -> None:
        self.user_counts += found.user_counts
        self.features += normalised(found.feature_counts + self.chain.prior.concentration)
        draw, rest = divmod(self.n_sweeps, self.plan.thin)
        if rest == 0:
            self.draws.users[draw], self.draws.features[draw] = self.chain.factors
        self.n_sweeps += 1

    def mean(self) -> tuple[Factors, FloatVector]:
        counts, prior = self.user_counts / self.n_sweeps, self.chain.prior
        users = (counts + prior.shape) / (1.0 + prior.rate)
        return Factors(users, self.features / self.n_sweeps), counts.sum(axis=0)


def sample(chain: Chain, plan: Plan, on_sweep: Callable[[float], None] = lambda _: None) -> Trace:
    """Run a chain; `on_sweep` is told the log likelihood that each sweep began with; what it raises ends the run."""
    kept, log_likelihood, total_rate = _Kept(chain, plan), [], []
    with thread_runner(plan.n_threads) as run:
        for sweep in range(plan.n_sweeps):
            found = chain.sweep(run)
            log_likelihood.append(found.log_likelihood)
            total_rate.append(float(chain.factors.users.sum()))
            if sweep >= plan.burn_in:
                kept.add(found)
            on_sweep(found.log_likelihood)
        log_likelihood.append(chain.sweep(run).log_likelihood)  # of the factors after the last sweep
    mean, component_counts = kept.mean()
    return Trace(mean, component_counts, kept.draws, np.array(log_likelihood[1:]), np.array(total_rate))


def aligned(trace: Trace, features: FloatMatrix) -> Trace:
    """The same with components in the order that comes nearest to other feature factors."""
    likeness = np.sqrt(features).T @ np.sqrt(trace.mean.features)
    order = linear_sum_assignment(likeness, maximize=True)[1]
    return trace._replace(
        mean=Factors(trace.mean.users[:, order], trace.mean.features[:, order]),
        component_counts=trace.component_counts[order],
        draws=Draws(trace.draws.users[:, :, order], trace.draws.features[:, :, order]),
    )


def pooled(traces: list[Trace]) -> Trace:
    """All chains as one, components aligned to those of the first; traces become (n_chains, n_sweeps)."""
    traces = [traces[0], *(aligned(trace, traces[0].mean.features) for trace in traces[1:])]
    return Trace(
        Factors(*(np.mean([trace.mean[i] for trace in traces], axis=0) for i in range(2))),
        np.mean([trace.component_counts for trace in traces], axis=0),
        Draws(
            np.concatenate([trace.draws.users for trace in traces]),
            np.concatenate([trace.draws.features for trace in traces]),
        ),
        np.array([trace.log_likelihood for trace in traces]),
        np.array([trace.total_rate for trace in traces]),
    )
