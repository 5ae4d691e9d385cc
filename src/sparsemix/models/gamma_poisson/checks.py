"""Rules of the estimator's parameters, checked before anything is learnt."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from sparsemix.foundation.checks import (
    LARGEST,
    SMALLEST,
    at_least,
    burn_in,
    inside,
    n_threads,
    one_of,
    pseudo_count,
    truth_value,
)
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.gamma_poisson.engine import WALKS, Loop, Table
from sparsemix.models.gamma_poisson.runs import Rows, Run, Settings, differing
from sparsemix.models.gamma_poisson.sampling import Plan
from sparsemix.models.gamma_poisson.state import FloatVector, Prior
from sparsemix.numeric.seeds import seed_of

SOLVERS = ("ml", "map", "gibbs")
MOST_COMPONENTS, MOST_SWEEPS = 100_000, 10_000_000
MOST_CELLS = 1_000_000_000  # of draws that a fit keeps
START_ANEW = "Or set warm_start=False to start anew."
MOST_COUNT = 2**31 - 1  # that is split at random


def settings_of(model: Any) -> Settings:
    """Check all parameters that do not need the data."""
    owner = type(model).__name__
    one_of("solver", owner, model.solver, SOLVERS)
    at_least("n_components", owner, model.n_components, 1, most=MOST_COMPONENTS)
    at_least("n_init", owner, model.n_init, 1)
    truth_value("warm_start", owner, model.warm_start)
    truth_value("users_on_disk", owner, model.users_on_disk)
    if model.users_on_disk and model.solver == "gibbs":
        remedy = "Draws hold all users; keep few of them (thin)."
        raise parameter_error("users_on_disk", owner, "False with solver='gibbs'", True, remedy)
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    threads = n_threads(model.n_jobs, owner)
    loop, plan = _loop(model, owner, threads), plan_of(model, owner, threads)
    return Settings(
        model.solver,
        int(model.n_components),
        _prior(model, owner),
        int(model.n_init),
        int(model.n_chains),
        loop,
        plan,
        seed_of(model.random_state, owner),
        bool(model.users_on_disk),
    )


def _loop(model: Any, owner: str, n_threads: int) -> Loop:
    one_of("algorithm", owner, model.algorithm, tuple(WALKS))
    at_least("max_iter", owner, model.max_iter, 1)
    inside("tol", owner, model.tol, "a number >= 0", 0.0, LARGEST)
    return Loop(model.algorithm, int(model.max_iter), float(model.tol), n_threads)


def plan_of(model: Any, owner: str, n_threads: int) -> Plan:
    """Check how much is sampled."""
    at_least("n_sweeps", owner, model.n_sweeps, 1, most=MOST_SWEEPS)
    burn_in(owner, model.burn_in, int(model.n_sweeps))
    at_least("thin", owner, model.thin, 1)
    at_least("n_chains", owner, model.n_chains, 1, "an integer from 1 to 1000", most=1000)
    return Plan(int(model.n_sweeps), int(model.burn_in), min(int(model.thin), MOST_SWEEPS), n_threads)


def _prior(model: Any, owner: str) -> Prior:
    n_components = int(model.n_components)
    shape = _for_each("shape", owner, model.shape, n_components, SMALLEST)
    rate = _for_each("rate", owner, model.rate, n_components, 0.0)
    pseudo_count("feature_concentration", owner, model.feature_concentration)
    rule = "a number >= 0, at most 1e50"
    inside("feature_smoothing", owner, model.feature_smoothing, rule, 0.0, np.nextafter(LARGEST, np.inf))
    smoothing = float(model.feature_smoothing) if model.solver == "map" else 0.0
    if model.solver == "ml":
        shape, rate = np.ones(n_components), np.zeros(n_components)
    return Prior(shape, rate, float(model.feature_concentration), smoothing)


def _for_each(name: str, owner: str, value: Any, n_components: int, least: float) -> FloatVector:
    """The parameter for each component, (n_components,)."""
    rule = f"a number {'>= 0' if least == 0.0 else '> 0'}, or one for each of {n_components} components"
    values = value.tolist() if isinstance(value, np.ndarray) else value
    values = list(values) if isinstance(values, list | tuple) else [values] * n_components
    if len(values) != n_components:
        raise parameter_error(name, owner, rule, value)
    for each in values:
        inside(name, owner, each, rule, least, np.nextafter(LARGEST, np.inf))
    return np.array(values, float)


def run_of(model: Any, run: Run | None, settings: Settings, table: Table) -> Run:
    """A new run; with a warm start that of the fit that was interrupted, with the threads and `max_iter` of today.

    ParameterError or DataError unless all else that it depends on is the same.
    """
    owner, rows = type(model).__name__, Rows.of(table)
    if run is None or not model.warm_start:
        return Run(settings, rows)
    if run.rows != rows:
        raise DataError(
            f"'X' of {owner} must be the {run.rows.n_rows} rows of the fit that was interrupted. {START_ANEW}"
        )
    found = differing(run.settings, settings)
    if found is not None:
        same(*found, owner)
    return replace(run, settings=settings._replace(seed=run.settings.seed))


def same(name: str, was: object, now: object, owner: str) -> None:
    """Raise ParameterError unless a parameter is what it was in the fit that goes on."""
    if not np.array_equal(np.asarray(was), np.asarray(now)):
        rule = f"such that {name!r} is {was!r} as in the fit that was interrupted"
        raise parameter_error("warm_start", owner, rule, now, START_ANEW)


def fits_memory(settings: Settings, table: Table, owner: str) -> None:
    """Raise ParameterError if draws fit no memory, or DataError if counts cannot be split at random."""
    if settings.solver != "gibbs":
        return
    if np.any(table.rows.values != np.floor(table.rows.values)) or np.any(table.rows.values > MOST_COUNT):
        raise DataError(
            f"'X' of {owner} must hold whole numbers up to {MOST_COUNT} with solver='gibbs'. Round the values, or take "
            f"solver='map'."
        )
    cells = (table.n_rows + table.n_features) * settings.n_components
    draws_fit(settings.plan.n_draws * settings.n_chains, cells, settings.plan.thin, owner)


def draws_fit(n_draws: int, cells: int, thin: int, owner: str) -> None:
    """Raise ParameterError if so many draws of so many numbers fit no memory."""
    if n_draws * cells > MOST_CELLS:
        rule = f"so large that {MOST_CELLS // cells} draws of {cells:,} factors are kept at most"
        raise parameter_error("thin", owner, rule, thin, "Or set fewer sweeps or chains.")
