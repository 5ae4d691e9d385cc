"""A chain of Gibbs sampling (discrete component analysis): split all counts, then draw both factors given the split.

Random numbers come from a generator for each part of the users and each sweep, so that threads change nothing.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment

from sparsemix.models.gamma_poisson import kernels
from sparsemix.models.gamma_poisson.engine import Table, split
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


class Standing(NamedTuple):
    """Where a chain stands between two sweeps: enough to go on to the same bits.

    n_sweeps : made so far. user_counts, features : sums over those after the burn-in. draws : kept, the rest unwritten.
    log_likelihood : of the factors that each sweep began with; total_rate : after each sweep; others may follow.
    """

    factors: Factors
    n_sweeps: int
    user_counts: FloatMatrix
    features: FloatMatrix
    draws: Draws
    log_likelihood: list[float]
    total_rate: list[float]

    def n_kept(self, plan: Plan) -> int:
        """Draws so far."""
        return len(range(plan.burn_in, self.n_sweeps, plan.thin))


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


def beginning(start: Factors, plan: Plan) -> Standing:
    """A chain before its first sweep."""
    users, features = start
    draws = Draws(np.empty((plan.n_draws, *users.shape)), np.empty((plan.n_draws, *features.shape)))
    return Standing(start, 0, np.zeros_like(users), np.zeros_like(features), draws, [], [])


def sample(
    chain: Chain,
    plan: Plan,
    on_sweep: Callable[[Standing], None] = lambda _: None,
    standing: Standing | None = None,
) -> Trace:
    """Run a chain from its factors, or from where it has stood.

    `on_sweep` is told after each sweep where it stands; what it raises ends the run.
    """
    standing = beginning(chain.factors, plan) if standing is None else standing
    chain.factors, chain.n_sweeps = standing.factors, standing.n_sweeps
    log_likelihood = standing.log_likelihood[: standing.n_sweeps]
    total_rate = standing.total_rate[: standing.n_sweeps]
    standing = standing._replace(log_likelihood=log_likelihood, total_rate=total_rate)
    with thread_runner(plan.n_threads) as run:
        for _ in range(standing.n_sweeps, plan.n_sweeps):
            found = chain.sweep(run)
            log_likelihood.append(found.log_likelihood)
            total_rate.append(float(chain.factors.users.sum()))
            standing = _after(standing, found, chain, plan)
            on_sweep(standing)
        log_likelihood.append(chain.sweep(run).log_likelihood)  # of the factors after the last sweep
    return _trace_of(standing, chain.prior, plan, log_likelihood[1:])


def _after(standing: Standing, found: Split, chain: Chain, plan: Plan) -> Standing:
    """Where the chain stands after a sweep.

    After the burn-in sums are taken of expectations given the split, which vary less than draws; some draws are kept.
    """
    number, user_counts, features = standing.n_sweeps, standing.user_counts, standing.features
    if number >= plan.burn_in:
        user_counts = user_counts + found.user_counts
        features = features + normalised(found.feature_counts + chain.prior.concentration)
        draw, rest = divmod(number - plan.burn_in, plan.thin)
        if rest == 0:
            standing.draws.users[draw], standing.draws.features[draw] = chain.factors
    return standing._replace(
        factors=chain.factors, n_sweeps=number + 1, user_counts=user_counts, features=features
    )


def _trace_of(standing: Standing, prior: Prior, plan: Plan, log_likelihood: list[float]) -> Trace:
    """Means and draws after the burn-in; before its end the factors of now."""
    n_kept, n_summed = standing.n_kept(plan), standing.n_sweeps - plan.burn_in
    mean, counts = standing.factors, standing.factors.users.sum(axis=0)
    draws = Draws(*(each[None].copy() for each in standing.factors))
    if n_kept:
        draws = Draws(standing.draws.users[:n_kept], standing.draws.features[:n_kept])
        user_counts = standing.user_counts / n_summed
        users, counts = (user_counts + prior.shape) / (1.0 + prior.rate), user_counts.sum(axis=0)
        mean = Factors(users, standing.features / n_summed)
    rates = np.array(standing.total_rate[: standing.n_sweeps])
    return Trace(mean, counts, draws, np.array(log_likelihood), rates)


def so_far(table: Table, standing: Standing, prior: Prior, plan: Plan) -> Trace:
    """What a chain that was interrupted leaves."""
    with thread_runner(1) as run:
        last = split(table, standing.factors, run).log_likelihood
    return _trace_of(standing, prior, plan, [*standing.log_likelihood[1 : standing.n_sweeps], last])


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
