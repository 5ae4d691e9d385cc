"""Starts and the best of them, chains and what they say together."""

import warnings
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.gamma_poisson import engine, sampling
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.runs import Run
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Factors, normalised
from sparsemix.models.gamma_poisson.user_tables import new_table, on_disk, release, row_blocks


class Progress(NamedTuple):
    """Where a fit stands: start or chain, sweep of it, from 1 on, and objective or log likelihood, nats."""

    start: int
    sweep: int
    objective: float


OnSweep = Callable[[Progress], None]


def learn(table: Table, features: FeatureNames, run: Run, on_sweep: OnSweep) -> Solution:
    """Fit by the solver that is asked for, or what is left of a fit; `run` is changed in place.

    What `on_sweep` raises, and Ctrl-C, end it; `run` then has all sweeps that have ended.
    """
    (_sample if run.settings.is_sampled else _climb)(table, run, on_sweep)
    return solution_of(table, features, run)


def solution_of(table: Table, features: FeatureNames, run: Run) -> Solution:
    """What a fit leaves to answer with, also one that was interrupted: of chains those that have ended, if any has."""
    settings, standing = run.settings, run.standing
    if settings.is_sampled:
        traces = run.traces[: run.n_ended]
        if not traces:
            assert isinstance(standing, sampling.Standing)
            traces = [sampling.so_far(table, standing, settings.prior, settings.plan)]
        trace = sampling.pooled(traces)
        found = (trace.mean, trace.component_counts, trace.log_likelihood, True)
        return Solution(settings.solver, settings.prior, *found, features, trace.draws, trace.total_rate)
    fits = [] if run.best is None else [run.best]
    if isinstance(standing, engine.Standing):
        fits.append(engine.fit_at(table, standing))
    best = max(fits, key=lambda fit: fit.trace[-1])
    found = (best.factors, best.component_counts, np.array(best.trace), best.is_converged)
    return Solution(settings.solver, settings.prior, *found, features)


def some_start(
    table: Table, n_components: int, rng: np.random.Generator, *, on_disk: bool = False
) -> Factors:
    """Random factors about the average: rates that add up to each user's events."""
    users = new_table(table.n_rows, n_components, on_disk=on_disk)
    totals = table.totals()
    for block in row_blocks(0, *users.shape):
        some = rng.uniform(0.5, 1.5, (block.stop - block.start, n_components))
        users[block] = some * (totals[block] / some.sum(axis=1))[:, None]
        release(block, users)
    features = rng.uniform(0.5, 1.5, (table.n_features, n_components))
    return Factors(users, normalised(features))


def _climb(table: Table, run: Run, on_sweep: OnSweep) -> None:
    settings = run.settings

    def follow(standing: engine.Standing) -> None:
        run.standing = standing
        on_sweep(Progress(run.n_ended, standing.n_sweeps, standing.trace[-1]))

    while run.n_ended < settings.n_init:
        rng, standing = np.random.default_rng([settings.seed, run.n_ended]), run.standing
        assert not isinstance(standing, sampling.Standing)
        if standing is not None and settings.on_disk:
            standing = _on_disk(standing)
        start = standing or some_start(table, settings.n_components, rng, on_disk=settings.on_disk)
        fit = engine.run(table, start, settings.prior, settings.loop, follow)
        run.best = fit if run.best is None or fit.trace[-1] > run.best.trace[-1] else run.best
        run.end_of_one(len(fit.trace) - 1)
    if run.best is not None and not run.best.is_converged:
        warnings.warn(
            f"{settings.loop.max_iter} sweeps were not enough: the last one still raised the objective by more than "
            f"tol={settings.loop.tol} nats an event. Allow more (max_iter) or a larger tol.",
            ConvergenceWarning,
            stacklevel=5,
        )


def _on_disk(standing: engine.Standing) -> engine.Standing:
    """The same with its tables of users in files, as after reading it from a model file they are not."""
    factors, before = standing.factors, standing.before
    if before is not None:
        before = before._replace(users=on_disk(before.users))
    return standing._replace(factors=factors._replace(users=on_disk(factors.users)), before=before)


def _sample(table: Table, run: Run, on_sweep: OnSweep) -> None:
    settings = run.settings

    def follow(standing: sampling.Standing) -> None:
        run.standing = standing
        on_sweep(Progress(run.n_ended, standing.n_sweeps, standing.log_likelihood[-1]))

    while run.n_ended < settings.n_chains:
        seed, standing = (settings.seed, run.n_ended), run.standing
        assert not isinstance(standing, engine.Standing)
        start = some_start(table, settings.n_components, np.random.default_rng(seed))
        chain = sampling.Chain(table, start, settings.prior, seed)
        trace = sampling.sample(chain, settings.plan, follow, standing)
        run.traces = [*run.traces[: run.n_ended], trace]
        run.end_of_one(settings.plan.n_sweeps)
