"""Starts and the best of them, chains and what they say together."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.gamma_poisson import engine, sampling
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Factors, Prior, normalised


class Progress(NamedTuple):
    """Where a fit stands: start or chain, sweep of it, from 1 on, and objective or log likelihood, nats."""

    start: int
    sweep: int
    objective: float


OnSweep = Callable[[Progress], None]


class Settings(NamedTuple):
    """Checked parameters.

    seed : of starts and chains; loop and plan : how EM and chains run.
    """

    solver: str
    n_components: int
    prior: Prior
    n_init: int
    n_chains: int
    loop: engine.Loop
    plan: sampling.Plan
    seed: int


def learn(table: Table, features: FeatureNames, settings: Settings, on_sweep: OnSweep) -> Solution:
    """Fit by the solver that is asked for."""
    return (_sample if settings.solver == "gibbs" else _climb)(table, features, settings, on_sweep)


def some_start(table: Table, n_components: int, rng: np.random.Generator) -> Factors:
    """Random factors about the average: rates that add up to each user's events."""
    users = rng.uniform(0.5, 1.5, (table.n_rows, n_components))
    users *= (table.totals() / users.sum(axis=1))[:, None]
    features = rng.uniform(0.5, 1.5, (table.n_features, n_components))
    return Factors(users, normalised(features))


def _follower(start: int, on_sweep: OnSweep) -> Callable[[float], None]:
    sweep = 0

    def follow(objective: float) -> None:
        nonlocal sweep
        sweep += 1
        on_sweep(Progress(start, sweep, objective))

    return follow


def _climb(table: Table, features: FeatureNames, settings: Settings, on_sweep: OnSweep) -> Solution:
    fits = (
        engine.run(
            table,
            some_start(table, settings.n_components, np.random.default_rng([settings.seed, start])),
            settings.prior,
            settings.loop,
            _follower(start, on_sweep),
        )
        for start in range(settings.n_init)
    )
    best = next(fits)
    for fit in fits:
        best = fit if fit.trace[-1] > best.trace[-1] else best
    if not best.is_converged:
        warnings.warn(
            f"{settings.loop.max_iter} sweeps were not enough: the last one still raised the objective by more than "
            f"tol={settings.loop.tol} nats an event. Allow more (max_iter) or a larger tol.",
            ConvergenceWarning,
            stacklevel=5,
        )
    return Solution(
        settings.solver,
        settings.prior,
        best.factors,
        best.component_counts,
        np.array(best.trace),
        best.is_converged,
        features,
    )


def _sample(table: Table, features: FeatureNames, settings: Settings, on_sweep: OnSweep) -> Solution:
    traces = []
    for chain in range(settings.n_chains):
        seed = (settings.seed, chain)
        start = some_start(table, settings.n_components, np.random.default_rng(seed))
        one = sampling.Chain(table, start, settings.prior, seed)
        traces.append(sampling.sample(one, settings.plan, _follower(chain, on_sweep)))
    trace = sampling.pooled(traces)
    return Solution(
        settings.solver,
        settings.prior,
        trace.mean,
        trace.component_counts,
        trace.log_likelihood,
        True,
        features,
        trace.draws,
        trace.total_rate,
    )
