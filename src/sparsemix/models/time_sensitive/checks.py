"""Rules of the estimator's parameters, checked before anything is learnt."""

from dataclasses import replace
from numbers import Integral
from typing import Any

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation import checks
from sparsemix.foundation.checks import LARGEST, SMALLEST, is_number
from sparsemix.foundation.errors import DataError, parameter_error, shorten
from sparsemix.models.time_sensitive.building import LEAST_NEGLIGIBLE
from sparsemix.models.time_sensitive.reading import Table
from sparsemix.models.time_sensitive.runs import Run, Settings
from sparsemix.models.time_sensitive.solution import Hyperparameters
from sparsemix.models.time_sensitive.state import FAMILIES, IntVector
from sparsemix.models.time_sensitive.time_kernels import TimeKernel, rate_of
from sparsemix.numeric.seeds import seed_of

MOST_SWEEPS = 10_000_000
MOST_CELLS = 1_000_000_000  # of the draws that a fit keeps
MOST_TRACED = 20_000_000  # sweeps of all chains, of each of which a fit keeps some numbers
FEWEST_STEPS = 10  # of learning
HALF_LIFE = "7d"  # where none is given
WORDS = ("exponential", "step")


def without_rows(model: Any) -> tuple[Settings, TimeKernel]:
    """Check all parameters, as far as that goes without rows."""
    settings, kernel = settings_of(model), kernel_of(model)
    hyperparameters_alone(model)
    if isinstance(model.init, str) and model.init != "sequential":
        rule = "'sequential' or an array of clusters, one for each row"
        raise parameter_error("init", type(model).__name__, rule, model.init)
    return settings, kernel


def settings_of(model: Any) -> Settings:
    """Check how much is sampled."""
    owner = type(model).__name__
    checks.at_least("n_sweeps", owner, model.n_sweeps, 1, most=MOST_SWEEPS)
    checks.burn_in(owner, model.burn_in, int(model.n_sweeps))
    checks.at_least("thin", owner, model.thin, 1)
    checks.inside(
        "split_merge", owner, model.split_merge, "a number from 0 to 1000", 0.0, np.nextafter(1e3, np.inf)
    )
    checks.at_least("n_chains", owner, model.n_chains, 1, "an integer from 1 to 1000", most=1000)
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    for name in ("learn", "warm_start"):
        checks.truth_value(name, owner, getattr(model, name))
    return Settings(
        steps_of_learning(model),
        int(model.n_sweeps),
        int(model.burn_in),
        min(int(model.thin), MOST_SWEEPS),
        int(model.n_chains),
        checks.n_threads(model.n_jobs, owner),
        seed_of(model.random_state, owner),
    )


def steps_of_learning(model: Any) -> int:
    """Sweeps of the chain that learns concentration and decay."""
    return max(int(model.burn_in), FEWEST_STEPS) if model.learn else 0


def kernel_of(model: Any) -> TimeKernel:
    """Check the time kernel and its rate."""
    owner, given = type(model).__name__, model.time_kernel
    is_word = isinstance(given, str) and given in WORDS
    if not is_word and not isinstance(given, TimeKernel):
        remedy = "A function becomes one by TimeKernel.of_function(function, support=...)."
        raise parameter_error("time_kernel", owner, "'exponential', 'step' or a TimeKernel", given, remedy)
    if given == "exponential":
        half_life = HALF_LIFE if model.decay_rate is model.half_life is None else model.half_life
        return TimeKernel.exponential(rate_of(model.decay_rate, half_life, owner))
    for name in ("decay_rate", "half_life"):
        if getattr(model, name) is not None:
            raise parameter_error(
                name, owner, "None unless time_kernel is 'exponential'", getattr(model, name)
            )
    return TimeKernel.step() if given == "step" else given


def hyperparameters_alone(model: Any) -> None:
    """Check what can be checked of the priors without the data."""
    owner = type(model).__name__
    checks.one_of("family", owner, model.family, tuple(FAMILIES))
    pseudo_counts(model)
    checks.truth_value("strict", owner, model.strict)
    if model.strict and getattr(model.time_kernel, "rates", ()):
        raise parameter_error("strict", owner, "False where each cluster has a rate of its own", model.strict)
    checks.threshold(owner, model.binarize)
    negligible(model)
    if not checks.is_word(model.prior_mean, "empirical"):
        rule = f"'empirical' or a number from {SMALLEST} to below 1"
        checks.inside("prior_mean", owner, model.prior_mean, rule, SMALLEST, 1.0)


def pseudo_counts(model: Any) -> None:
    """Check the concentration and the strengths of the priors."""
    owner, given = type(model).__name__, model.concentration
    if is_number(given) and given == 0:
        remedy = "Without any, no cluster could begin; a small one, such as 1e-6, makes new clusters rare."
        rule = f"a number > 0, from {SMALLEST} to {LARGEST}"
        raise parameter_error("concentration", owner, rule, given, remedy)
    for name in ("concentration", "smoothing", "prior_strength"):
        checks.pseudo_count(name, owner, getattr(model, name))


def negligible(model: Any) -> None:
    """Check which share of a new cluster's weight is next to nothing."""
    rule = f"a number from {LEAST_NEGLIGIBLE} to 1"
    checks.inside(
        "negligible", type(model).__name__, model.negligible, rule, LEAST_NEGLIGIBLE, np.nextafter(1.0, 2.0)
    )


def hyperparameters(model: Any, table: Table) -> Hyperparameters:
    """The priors, with what is taken from the data."""
    a, b = float(model.smoothing), 1.0
    if model.family == "bernoulli":
        mean, strength = model.prior_mean, float(model.prior_strength)
        if isinstance(mean, str):
            cells = table.n_rows * table.n_features
            mean = min((float(table.matrix.data.sum()) + 1.0) / (cells + 2.0), 0.5)
        a, b = float(mean) * strength, (1.0 - float(mean)) * strength
        if not all(SMALLEST <= each <= LARGEST for each in (a, b)):
            rule = f"such that its parts, {a:.3g} and {b:.3g}, are from {SMALLEST} to {LARGEST}"
            raise parameter_error("prior_strength", type(model).__name__, rule, model.prior_strength)
    return Hyperparameters(
        model.family, float(model.concentration), a, b, bool(model.strict), float(model.negligible)
    )


def start_of(model: Any, n_rows: int) -> IntVector:
    """Where the chains start: clusters 0, 1, ... of the rows, -1 for those that enter one after another; checked."""
    owner, init = type(model).__name__, model.init
    if isinstance(init, str):
        return np.full(n_rows, -1)
    rule = f"'sequential' or a cluster for each of {n_rows} rows, an integer >= 0, or -1"
    try:
        given = np.asarray(init)
    except ValueError:
        given = np.asarray(init, dtype=object)
    if given.dtype.kind not in "iu" or given.shape != (n_rows,):
        raise DataError(
            f"'init' of {owner} must be {rule}, but it has type {given.dtype} and shape {given.shape}."
        )
    if np.any(given < -1):
        row = int(np.argmax(given < -1))
        raise DataError(f"'init' of {owner} must be {rule}, but that of row {row} is {given[row]}.")
    start = given.astype(np.int64)
    known = start >= 0
    start[known] = np.unique(start[known], return_inverse=True)[1]
    return start


def memory(model: Any, settings: Settings, n_rows: int) -> None:
    """Raise ParameterError if draws or traces would fit no memory."""
    if settings.n_chains * len(settings.kept) * n_rows > MOST_CELLS:
        rule = f"so large that {MOST_CELLS // n_rows} draws of {n_rows} rows are kept at most"
        remedy = "Or set fewer sweeps and chains."
        raise parameter_error("thin", type(model).__name__, rule, model.thin, remedy)
    if settings.n_chains * settings.n_sweeps > MOST_TRACED:
        rule = f"at most {MOST_TRACED // settings.n_chains:,} for {settings.n_chains:,} chains"
        raise parameter_error("n_sweeps", type(model).__name__, rule, model.n_sweeps)


def going_on(model: Any, before: Run, run: Run, old: FeatureNames, new: FeatureNames) -> Run:
    """The run that was interrupted, with the threads of today.

    ParameterError or DataError unless all that its chains depend on is as in `run`, which has not begun.
    """
    owner, remedy = type(model).__name__, "Or set warm_start=False to start anew."
    if before.start.rows != run.start.rows or not _are_same(old, new):
        raise DataError(
            f"'X' of {owner} must be the {before.start.order.size} rows of the fit that was interrupted, in the same "
            f"order and with the same times. {remedy}"
        )
    asked, changing = run.settings, ("n_learning", "n_threads", "seed")
    pairs = [
        ("learn", before.settings.n_learning > 0, asked.n_learning > 0),
        *((name, getattr(before.settings, name), getattr(asked, name)) for name in Settings._fields),
        *zip(Hyperparameters._fields, before.start.hyper, run.start.hyper, strict=True),
        ("time_kernel", before.start.kernel, run.start.kernel),
    ]
    for name, was, now in pairs:
        if name not in changing and was != now:
            called = _parameter(name, model)
            rule = f"such that {called!r} is {shorten(was)} as in the fit that was interrupted"
            raise parameter_error("warm_start", owner, rule, now, remedy)
    return replace(before, settings=asked._replace(seed=before.settings.seed))


def _are_same(old: FeatureNames, new: FeatureNames) -> bool:
    names = [None if each.names is None else list(each.names) for each in (old, new)]
    return old.n_features == new.n_features and names[0] == names[1]


def _parameter(name: str, model: Any) -> str:
    """The parameter that a setting or a hyperparameter comes from."""
    if name in ("a", "b"):
        return "smoothing" if model.family == "multinomial" else "prior_strength"
    return name
