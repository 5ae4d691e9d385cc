"""Rules of the estimator's parameters, checked before anything is learnt."""

from numbers import Integral
from typing import Any

import numpy as np

from sparsemix.data.digests import digest_of
from sparsemix.foundation import checks
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.models.hashed_gibbs.engine import AUTO, PROPOSALS, Plan, cycle_of, plan_of
from sparsemix.models.hashed_gibbs.reading import Table
from sparsemix.models.hashed_gibbs.real_building import RealHyperparameters, hyperparameters_of
from sparsemix.models.hashed_gibbs.real_engine import REAL_PROPOSALS
from sparsemix.models.hashed_gibbs.real_reading import RealTable
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.real_state import GAUSSIAN_FULL, REAL_FAMILIES
from sparsemix.models.hashed_gibbs.runs import Run, Settings, Start
from sparsemix.models.hashed_gibbs.signatures import HashForm
from sparsemix.models.hashed_gibbs.solution import (
    AnyHyperparameters,
    AnySolution,
    Hyperparameters,
    Solution,
)
from sparsemix.models.hashed_gibbs.state import PROCESSES, IntVector
from sparsemix.numeric.seeds import seed_of

MOST_COMPONENTS, MOST_SWEEPS, MOST_BITS = 10_000_000, 10_000_000, 4096
AT_RANDOM = {"leader": 0.0, "sequential": 0.0, "mixed": 0.2, "random": 1.0}
MOST_SHARDS = 256
LEAST_SHARE, MOST_SHARE = 1e-10, 1e10  # of the variance of the data inside clusters
LEAST_VARIANCE = 1e-60
AnyTable = Table | RealTable
MOST_CELLS = 1_000_000_000  # of a table that a fit allocates


def settings_of(model: Any) -> Settings:
    """Check how much is sampled."""
    owner = type(model).__name__
    checks.at_least("n_components", owner, model.n_components, 1, most=MOST_COMPONENTS)
    checks.at_least("n_sweeps", owner, model.n_sweeps, 1, most=MOST_SWEEPS)
    checks.burn_in(owner, model.burn_in, int(model.n_sweeps))
    checks.at_least("thin", owner, model.thin, 1)
    if not isinstance(model.verbose, Integral | np.bool_) or model.verbose < 0:
        raise parameter_error("verbose", owner, "an integer >= 0", model.verbose)
    checks.at_least("n_chains", owner, model.n_chains, 1, "an integer from 1 to 1000", most=1000)
    checks.truth_value("warm_start", owner, model.warm_start)
    return Settings(
        int(model.n_components),
        int(model.n_sweeps),
        int(model.burn_in),
        min(int(model.thin), MOST_SWEEPS),
        int(model.n_chains),
        checks.n_threads(model.n_jobs, owner),
        seed_of(model.random_state, owner),
    )


def plan(model: Any, family: str) -> Plan:
    """Check how clusters are proposed for rows of a family."""
    owner, is_real = type(model).__name__, family in REAL_FAMILIES
    has_hash = "hash" in _cycle(model, is_real=is_real)
    rule = f"64, 128, ... up to {MOST_BITS}, or less than 64"
    checks.at_least("n_bits", owner, model.n_bits, 1, rule, most=MOST_BITS)
    if model.n_bits > 64 and model.n_bits % 64:
        raise parameter_error("n_bits", owner, rule, model.n_bits)
    checks.truth_value("raw", owner, model.raw)
    if model.miss is not None:
        checks.inside("miss", owner, model.miss, "None or a number in (0, 1)", 0.0, 1.0, open_low=True)
    rule = "a number in (0, 1]"
    checks.inside("tempering", owner, model.tempering, rule, 0.0, np.nextafter(1.0, 2.0), open_low=True)
    checks.at_least("index_budget", owner, model.index_budget, 1)
    checks.at_least(
        "n_shards", owner, model.n_shards, 1, f"an integer from 1 to {MOST_SHARDS}", most=MOST_SHARDS
    )
    if model.n_shards > 1 and (is_real or has_hash):
        remedy = "Signatures and the sums of Gaussian rows are not copied."
        raise parameter_error(
            "n_shards", owner, "1 with proposal='hash' and for Gaussian rows", model.n_shards, remedy
        )
    form = HashForm(
        int(model.n_bits),
        bool(model.raw),
        None if model.miss is None else float(model.miss),
        float(model.tempering),
    )
    proposal = "exact" if is_real and model.proposal == AUTO else model.proposal
    chosen = plan_of(proposal, int(model.n_components), form, min(int(model.index_budget), MOST_CELLS))
    return chosen._replace(n_shards=int(model.n_shards))


def _cycle(model: Any, *, is_real: bool) -> tuple[str, ...]:
    owner, known = type(model).__name__, REAL_PROPOSALS if is_real else PROPOSALS
    cycle = cycle_of(model.proposal) if isinstance(model.proposal, str) else ()
    if cycle and set(cycle) <= set(known) and (AUTO not in cycle or len(cycle) == 1):
        return cycle
    names = ", ".join(map(repr, known))
    rule = f"one of {names}, or several but {AUTO!r} with commas between them"
    remedy = ""
    if is_real:
        rule, remedy = (
            f"{rule} for Gaussian rows",
            "An index lists clusters by the features that they hold, and Gaussian rows hold all.",
        )
    raise parameter_error("proposal", owner, rule, model.proposal, remedy)


def size(model: Any, settings: Settings, table: AnyTable) -> Settings:
    """Settings for these rows; ParameterError if what they ask for fits no memory.

    A process needs no more clusters than there are rows: whatever is beyond would stay empty.
    """
    owner, n_components = type(model).__name__, settings.n_components
    if model.process == "dp":
        n_components = min(n_components, table.n_rows)
    n_parameters = sums_of(model, n_components, model.family, table.n_features)
    if "hash" in cycle_of(model.proposal):
        bits(model, n_components, n_parameters)
    if model.proposal == "table" and n_components > MOST_CELLS // table.n_features:
        rule = f"at most {MOST_CELLS // table.n_features} for {table.n_features} features"
        remedy = "Or take HashedGibbsMixture, which needs no table."
        raise parameter_error("n_components", owner, rule, n_components, remedy)
    n_draws = settings.n_chains * len(settings.kept)
    if n_draws * table.n_rows > MOST_CELLS:
        rule = f"so large that {MOST_CELLS // table.n_rows} draws of {table.n_rows} rows are kept at most"
        raise parameter_error("thin", owner, rule, model.thin, "Or set fewer sweeps and chains.")
    return settings._replace(n_components=n_components)


def sums_of(model: Any, n_components: int, family: str, n_features: int) -> int:
    """Natural parameters of a cluster; ParameterError if sums of real rows fit no memory."""
    n_parameters = n_features
    if family in REAL_FAMILIES:
        n_parameters += n_features * (n_features + 1) // 2 if family == GAUSSIAN_FULL else n_features
        most = MOST_CELLS // n_parameters
        if n_components > most:
            rule = f"at most {most} for {n_features} features of the family {family!r}"
            raise parameter_error("n_components", type(model).__name__, rule, n_components)
    return n_parameters


def bits(model: Any, n_components: int, n_parameters: int) -> None:
    """ParameterError if signatures of so many clusters and parameters of each fit no memory."""
    most = MOST_CELLS // max(n_components, n_parameters)
    if max(64, model.n_bits) > most:
        rule = f"at most {64 * (most // 64)} for {n_components} clusters of {n_parameters} parameters"
        raise parameter_error("n_bits", type(model).__name__, rule, model.n_bits, "Or set another proposal.")


def hyperparameters_alone(model: Any) -> None:
    """Check what can be checked of the priors without the data."""
    owner = type(model).__name__
    checks.one_of("family", owner, model.family, model.families)
    checks.one_of("process", owner, model.process, tuple(PROCESSES))
    for name in ("smoothing", "weight_concentration", "concentration", "prior_strength"):
        checks.pseudo_count(name, owner, getattr(model, name))
    checks.inside("discount", owner, model.discount, "a number in [0, 1)", 0.0, 1.0)
    if model.family in REAL_FAMILIES:
        rule = f"a number from {LEAST_SHARE} to {MOST_SHARE} for Gaussian rows"
        checks.inside(
            "smoothing", owner, model.smoothing, rule, LEAST_SHARE, np.nextafter(MOST_SHARE, np.inf)
        )
    checks.threshold(owner, model.binarize)
    high = 1.0 if model.family == "bernoulli" else np.nextafter(LARGEST, np.inf)
    if not checks.is_word(model.prior_mean, "empirical"):
        rule = f"'empirical' or a number from {SMALLEST} to {'below 1' if high == 1.0 else LARGEST}"
        checks.inside("prior_mean", owner, model.prior_mean, rule, SMALLEST, high)


def hyperparameters(model: Any, table: AnyTable) -> AnyHyperparameters:
    """The priors, with what is taken from the data."""
    is_finite = model.process == "finite"
    concentration = float(model.weight_concentration if is_finite else model.concentration)
    partition = (model.process, concentration, 0.0 if is_finite else float(model.discount))
    if isinstance(table, RealTable):
        return _of_real_rows(model, table, partition)
    a, b = float(model.smoothing), 1.0
    if model.family != "multinomial":
        mean, strength = _prior_mean(model, table), float(model.prior_strength)
        a, b = mean * strength, strength
        if model.family == "bernoulli":
            b = (1.0 - mean) * strength
        if not all(SMALLEST <= each <= LARGEST for each in (a, b)):
            rule = f"such that its parts, {a:.3g} and {b:.3g}, are from {SMALLEST} to {LARGEST}"
            raise parameter_error("prior_strength", type(model).__name__, rule, model.prior_strength)
    return Hyperparameters(model.family, *partition, a, b)


def _of_real_rows(model: Any, table: RealTable, partition: tuple[str, float, float]) -> RealHyperparameters:
    rows = table.matrix
    narrow = (np.ptp(rows, axis=0) > 0.0) & ~(rows.var(axis=0) > LEAST_VARIANCE)
    if narrow.any():
        column = int(narrow.argmax())
        raise DataError(
            f"'X' of {type(model).__name__} must have features with a variance above {LEAST_VARIANCE}, or the same "
            f"value in all rows, but that of column {column} is {rows[:, column].var()}. Scale the features."
        )
    return hyperparameters_of(rows, model.family, *partition, float(model.smoothing))


def start_word(model: Any) -> None:
    """Check where the chains start, if it is said by a word."""
    if isinstance(model.init, str):
        checks.one_of("init", type(model).__name__, model.init, model.starts)


def start_of(model: Any, n_rows: int) -> Start:
    """Where the chains start; clusters of the rows are checked."""
    owner, init = type(model).__name__, model.init
    if isinstance(init, str):
        return Start(np.full(n_rows, -1), at_random=AT_RANDOM[init], leads=init == "leader")
    try:
        given = np.asarray(init)
    except ValueError:
        given = np.asarray(init, dtype=object)
    words = ", ".join(map(repr, model.starts))
    is_whole = given.dtype.kind in "iu" and given.shape == (n_rows,)
    if not is_whole or np.any(given < -1) or np.any(given >= model.n_components):
        raise DataError(
            f"'init' of {owner} must be {words} or a cluster for each of {n_rows} rows, from 0 to "
            f"{int(model.n_components) - 1}, or -1, but it has type {given.dtype} and shape {given.shape}"
            f"{_range_of(given)}."
        )
    return Start(_from_zero(given.astype(np.int64)) if model.process == "dp" else given.astype(np.int64))


def going_on(
    model: Any,
    run: Run,
    settings: Settings,
    before: AnySolution,
    hyper: AnyHyperparameters,
    table: AnyTable,
) -> Run:
    """The run that was interrupted, with the threads of today.

    ParameterError or DataError unless all that its chains depend on is the same.
    """
    owner, remedy = type(model).__name__, "Or set warm_start=False to start anew."
    old, new = before.features.names, table.names
    is_same = run.start.assigned.size == table.n_rows and before.features.n_features == table.n_features
    if is_same and run.start.rows:
        is_same = run.start.rows == digest_of(table.matrix)
    elif is_same:
        is_same = np.array_equal(_of_columns(before), _of_columns(table))
    if not is_same or (None if old is None else list(old)) != (None if new is None else list(new)):
        raise DataError(
            f"'X' of {owner} must be the {run.start.assigned.size} rows of the fit that was interrupted. {remedy}"
        )
    asked = settings._replace(seed=run.settings.seed)
    for was, now in ((run.settings._replace(n_threads=asked.n_threads), asked), (before.hyper, hyper)):
        for name, value, other in zip(type(was)._fields, was, now, strict=True):
            if not np.array_equal(np.asarray(value), np.asarray(other)):
                rule = (
                    f"such that {_parameter(name, model)!r} is {value!r} as in the fit that was interrupted"
                )
                raise parameter_error("warm_start", owner, rule, other, remedy)
    return run._replace(settings=asked)


def _parameter(name: str, model: Any) -> str:
    """The parameter that a hyperparameter comes from."""
    if name == "concentration" and model.process == "finite":
        return "weight_concentration"
    if name in ("a", "b"):
        return "smoothing" if model.family == "multinomial" else "prior_strength"
    return name


def _of_columns(what: AnySolution | AnyTable) -> Any:
    """Sums of the columns, or means of real ones: of files that hold no digest of their rows."""
    if isinstance(what, RealSolution):
        return what.hyper.centre
    if isinstance(what, RealTable):
        return what.matrix.mean(axis=0)
    return (what.counts if isinstance(what, Solution) else what.matrix).sum(axis=0)


def _from_zero(labels: IntVector) -> IntVector:
    """The same partition with labels without gaps; -1 stays."""
    known = labels >= 0
    labels[known] = np.unique(labels[known], return_inverse=True)[1]
    return labels


def _range_of(given: Any) -> str:
    if given.dtype.kind not in "iu" or not given.size:
        return ""
    return f" with numbers from {given.min()} to {given.max()}"


def _prior_mean(model: Any, table: Table) -> float:
    if not isinstance(model.prior_mean, str):
        return float(model.prior_mean)
    cells = table.n_rows * table.n_features
    mean = (float(table.matrix.data.sum()) + 1.0) / (cells + 2.0)
    return float(mean if model.family == "poisson" else min(mean, 0.5))
