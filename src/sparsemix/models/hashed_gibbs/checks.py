"""Rules of the estimator's parameters, checked before anything is learnt."""

from typing import Any

import numpy as np

from sparsemix.foundation import checks
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.hashed_gibbs.engine import PROPOSALS, Plan, plan_of
from sparsemix.models.hashed_gibbs.reading import Table
from sparsemix.models.hashed_gibbs.sampling import Settings
from sparsemix.models.hashed_gibbs.signatures import HashForm
from sparsemix.models.hashed_gibbs.solution import Hyperparameters
from sparsemix.models.hashed_gibbs.state import FAMILIES, PROCESSES, IntVector
from sparsemix.numeric.seeds import seed_of

MOST_COMPONENTS, MOST_SWEEPS, MOST_BITS = 10_000_000, 10_000_000, 4096


def settings_of(model: Any) -> Settings:
    """Check how much is sampled."""
    owner = type(model).__name__
    most = f"an integer >= 1, at most {MOST_COMPONENTS:,}"
    checks.at_least("n_components", owner, model.n_components, 1, most, most=MOST_COMPONENTS)
    checks.at_least("n_sweeps", owner, model.n_sweeps, 1, most=MOST_SWEEPS)
    rule = f"an integer from 0 to n_sweeps - 1, which is {int(model.n_sweeps) - 1}"
    checks.at_least("burn_in", owner, model.burn_in, 0, rule, most=int(model.n_sweeps) - 1)
    checks.at_least("thin", owner, model.thin, 1)
    checks.at_least("n_chains", owner, model.n_chains, 1, "an integer from 1 to 1000", most=1000)
    return Settings(
        int(model.n_components),
        int(model.n_sweeps),
        int(model.burn_in),
        int(model.thin),
        int(model.n_chains),
        _n_threads(model.n_jobs, owner),
        seed_of(model.random_state, owner),
    )


def plan(model: Any) -> Plan:
    """Check how clusters are proposed."""
    owner = type(model).__name__
    _one_of("proposal", owner, model.proposal, PROPOSALS)
    rule = f"64, 128, ... up to {MOST_BITS}, or less than 64"
    checks.at_least("n_bits", owner, model.n_bits, 1, rule, most=MOST_BITS)
    if model.n_bits > 64 and model.n_bits % 64:
        raise parameter_error("n_bits", owner, rule, model.n_bits)
    for name in ("raw",):
        if not isinstance(getattr(model, name), bool | np.bool_):
            raise parameter_error(name, owner, "True or False", getattr(model, name))
    if model.miss is not None:
        checks.inside("miss", owner, model.miss, "None or a number in (0, 1)", 0.0, 1.0, open_low=True)
    rule = "a number in (0, 1]"
    checks.inside("tempering", owner, model.tempering, rule, 0.0, np.nextafter(1.0, 2.0), open_low=True)
    checks.at_least("index_budget", owner, model.index_budget, 1)
    form = HashForm(
        int(model.n_bits),
        bool(model.raw),
        None if model.miss is None else float(model.miss),
        float(model.tempering),
    )
    return plan_of(model.proposal, int(model.n_components), form, int(model.index_budget))


def hyperparameters_alone(model: Any) -> None:
    """Check what can be checked of the priors without the data."""
    owner = type(model).__name__
    _one_of("family", owner, model.family, tuple(FAMILIES))
    _one_of("process", owner, model.process, tuple(PROCESSES))
    for name in ("smoothing", "weight_concentration", "concentration", "prior_strength"):
        checks.pseudo_count(name, owner, getattr(model, name))
    checks.inside("discount", owner, model.discount, "a number in [0, 1)", 0.0, 1.0)


def hyperparameters(model: Any, table: Table) -> Hyperparameters:
    """The priors, with what is taken from the data."""
    a, b = float(model.smoothing), 1.0
    if model.family != "multinomial":
        mean, strength = _prior_mean(model, table), float(model.prior_strength)
        a, b = mean * strength, strength
        if model.family == "bernoulli":
            b = (1.0 - mean) * strength
    is_finite = model.process == "finite"
    concentration = float(model.weight_concentration if is_finite else model.concentration)
    discount = 0.0 if is_finite else float(model.discount)
    return Hyperparameters(model.family, model.process, concentration, discount, a, b)


def start_of(model: Any, n_rows: int) -> IntVector | None:
    """Check where the chains start: None for rows that enter one after another."""
    owner, init = type(model).__name__, model.init
    if isinstance(init, str):
        _one_of("init", owner, init, ("sequential", "random"))
        if init == "sequential":
            return None
        rng = np.random.default_rng(seed_of(model.random_state, owner))
        return rng.integers(0, int(model.n_components), n_rows)
    given = np.asarray(init)
    is_whole = given.dtype.kind in "iu" and given.shape == (n_rows,)
    if not is_whole or np.any(given < -1) or np.any(given >= model.n_components):
        raise DataError(
            f"'init' of {owner} must be 'sequential', 'random' or a cluster for each of {n_rows} rows, from 0 to "
            f"{int(model.n_components) - 1}, or -1, but it has type {given.dtype} and shape {given.shape}"
            f"{_range_of(given)}."
        )
    return given.astype(np.int64)


def _range_of(given: Any) -> str:
    if given.dtype.kind not in "iu" or not given.size:
        return ""
    return f" with numbers from {given.min()} to {given.max()}"


def _prior_mean(model: Any, table: Table) -> float:
    owner = type(model).__name__
    if isinstance(model.prior_mean, str):
        _one_of("prior_mean", owner, model.prior_mean, ("empirical",))
        cells = table.n_rows * table.n_features
        mean = (float(table.matrix.data.sum()) + 1.0) / (cells + 2.0)
        return float(mean if model.family == "poisson" else min(mean, 0.5))
    high = 1.0 if model.family == "bernoulli" else checks.LARGEST
    rule = f"'empirical' or a number in (0, {high:g})"
    checks.inside("prior_mean", owner, model.prior_mean, rule, 0.0, high, open_low=True)
    return float(model.prior_mean)


def _one_of(name: str, owner: str, value: Any, words: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in words:
        raise parameter_error(name, owner, f"one of {', '.join(map(repr, words))}", value)


def _n_threads(n_jobs: Any, owner: str) -> int:
    from joblib import effective_n_jobs

    if n_jobs is not None:
        is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
        if not is_whole or n_jobs == 0:
            raise parameter_error("n_jobs", owner, "None or an integer other than 0", n_jobs)
    return min(int(effective_n_jobs(n_jobs)), 256)
