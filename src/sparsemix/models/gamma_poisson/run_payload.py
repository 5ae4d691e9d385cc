"""An interrupted fit as plain arrays beside the factors, and back, with every size and range checked."""

from typing import Any

import numpy as np

from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import ModelFileError
from sparsemix.models.gamma_poisson import engine, payload, sampling
from sparsemix.models.gamma_poisson.checks import MOST_SWEEPS
from sparsemix.models.gamma_poisson.payload import Sizes
from sparsemix.models.gamma_poisson.runs import Rows, Run, Settings
from sparsemix.models.gamma_poisson.solution import Solution
from sparsemix.models.gamma_poisson.state import Draws, Factors
from sparsemix.numeric.leaps import SHORTEST_LIMIT
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import Arrays, run_in, with_run
from sparsemix.persistence.unpacking import MOST_ROWS, ArrayReader, check_names, finite_number, whole_number

_NUMBERS = {"seed": 2**32 - 1, "n_ended": MOST_SWEEPS, "n_before": MOST_ROWS, "n_sweeps": MOST_SWEEPS}
_COUNTS = {"n_rows": MOST_ROWS, "n_features": MOST_ROWS, "n_entries": MOST_ROWS}
_FLAGS = ("has_begun", "has_best", "best_is_converged", "may_leap", "is_converged")


def added(stored: Payload, run: Run) -> Payload:
    """The payload of a model with the run that is to go on."""
    standing, best = run.standing, run.best
    metadata = {
        **run.rows._asdict(),
        "seed": run.settings.seed,
        "n_ended": run.n_ended,
        "n_before": run.n_before,
        "n_sweeps": 0 if standing is None else standing.n_sweeps,
        "limit": float(getattr(standing, "limit", SHORTEST_LIMIT)),
        "has_begun": standing is not None,
        "has_best": best is not None,
        "best_is_converged": best is not None and bool(best.is_converged),
        "may_leap": getattr(standing, "before", None) is not None,
        "is_converged": bool(getattr(standing, "is_converged", False)),
    }
    arrays: Arrays = {}
    if best is not None:
        arrays |= _of_factors("best_", best.factors) | {
            "best_counts": best.component_counts,
            "best_trace": np.array(best.trace),
        }
    if run.n_ended and run.settings.is_sampled:
        arrays |= _of_chains(run.traces[: run.n_ended])
    if standing is not None:
        arrays |= _of_factors("", standing.factors) | _of_standing(standing, run.settings)
    return with_run(stored, metadata, arrays)


def _of_factors(prefix: str, factors: Factors) -> Arrays:
    return {f"{prefix}users": factors.users, f"{prefix}features": factors.features}


def _of_chains(traces: list[sampling.Trace]) -> Arrays:
    """Chains that have ended, one after another."""
    parts = {
        "users": [trace.mean.users for trace in traces],
        "features": [trace.mean.features for trace in traces],
        "counts": [trace.component_counts for trace in traces],
        "user_draws": [trace.draws.users for trace in traces],
        "feature_draws": [trace.draws.features for trace in traces],
        "log_likelihood": [trace.log_likelihood for trace in traces],
        "total_rate": [trace.total_rate for trace in traces],
    }
    return {f"chains_{name}": np.array(each) for name, each in parts.items()}


def _of_standing(standing: engine.Standing | sampling.Standing, settings: Settings) -> Arrays:
    n = standing.n_sweeps
    if isinstance(standing, engine.Standing):
        before = {} if standing.before is None else _of_factors("before_", standing.before)
        return {"trace": np.array(standing.trace[: n + 1]), **before}
    n_kept = standing.n_kept(settings.plan)
    return {
        "user_sums": standing.user_counts,
        "feature_sums": standing.features,
        "user_draws": standing.draws.users[:n_kept],
        "feature_draws": standing.draws.features[:n_kept],
        "log_likelihood": np.array(standing.log_likelihood[:n]),
        "total_rate": np.array(standing.total_rate[:n]),
    }


def unpack(stored: Payload, settings: Settings, solution: Solution) -> Run | None:
    """The run that `added` has put there, None if there is none; ModelFileError if it does not fit."""
    parts = run_in(stored)
    if parts is None:
        return None
    found, arrays = parts
    check_names(found, {*_NUMBERS, *_COUNTS, *_FLAGS, "n_events", "limit"}, "run")
    numbers = {name: whole_number(found, name, most) for name, most in _NUMBERS.items()}
    n_rows, n_features, n_entries = (whole_number(found, name, most) for name, most in _COUNTS.items())
    rows = Rows(n_rows, n_features, n_entries, finite_number(found, "n_events"))
    limit = finite_number(found, "limit")
    if any(not isinstance(found[name], bool) for name in _FLAGS) or not SHORTEST_LIMIT <= limit <= LARGEST:
        raise ModelFileError("its run does not say how it stands")
    run = Run(
        settings._replace(seed=numbers["seed"]),
        rows,
        n_ended=numbers["n_ended"],
        n_before=numbers["n_before"],
    )
    _check(run, found, solution)
    reader = ArrayReader(arrays)
    _fill(run, reader, found, numbers["n_sweeps"])
    reader.close()
    return run


def _check(run: Run, found: dict[str, Any], solution: Solution) -> None:
    """Raise ModelFileError unless the run can be one of the model."""
    settings = run.settings
    shapes = (len(solution.factors.users), len(solution.factors.features), solution.factors.users.shape[1])
    fits = shapes == (run.rows.n_rows, run.rows.n_features, settings.n_components)
    n_all = settings.n_chains if settings.is_sampled else settings.n_init
    begins = found["has_begun"] or run.n_ended > 0
    has_best = found["has_best"] == (run.n_ended > 0 and not settings.is_sampled)
    if not fits or settings.solver != solution.solver or run.n_ended > n_all or not begins or not has_best:
        raise ModelFileError("it holds a run that cannot be")


def _fill(run: Run, reader: ArrayReader, found: dict[str, Any], n_sweeps: int) -> None:
    """Put what was stored into a run that has not begun."""
    settings, n_components = run.settings, run.settings.n_components
    if found["has_best"]:
        counts = reader.positive("best_counts", n_components, zero=True)
        trace = reader.finite("best_trace", None)
        if not trace.size:
            raise ModelFileError("it holds a start without an objective")
        run.best = engine.Fit(
            _factors(reader, "best_", run), counts, trace.tolist(), found["best_is_converged"]
        )
    if run.n_ended and settings.is_sampled:
        run.traces = _chains(reader, run)
    if not found["has_begun"]:
        return
    factors = _factors(reader, "", run)
    if settings.is_sampled:
        run.standing = _sampling(reader, factors, run, n_sweeps)
        return
    limit, trace = finite_number(found, "limit"), reader.finite("trace", n_sweeps + 1)
    before = _factors(reader, "before_", run) if found["may_leap"] else None
    run.standing = engine.Standing(factors, n_sweeps, trace.tolist(), before, limit, found["is_converged"])


def _sizes(run: Run, n_draws: int = 0) -> Sizes:
    return Sizes(run.rows.n_rows, run.rows.n_features, run.settings.n_components, n_draws)


def _factors(reader: ArrayReader, prefix: str, run: Run) -> Factors:
    factors = payload.factors_in(reader, _sizes(run), prefix)
    if any(np.any(each > LARGEST) for each in factors):
        raise ModelFileError("its run holds numbers that cannot be")
    return factors


def _chains(reader: ArrayReader, run: Run) -> list[sampling.Trace]:
    plan, sizes, n = run.settings.plan, _sizes(run), run.n_ended
    numbers = sizes.n_components
    users = reader.positive("chains_users", n, sizes.n_users, numbers, zero=True)
    features = reader.positive("chains_features", n, sizes.n_features, numbers, zero=True)
    counts = reader.positive("chains_counts", n, numbers, zero=True)
    user_draws = reader.positive("chains_user_draws", n, plan.n_draws, sizes.n_users, numbers, zero=True)
    feature_draws = reader.positive(
        "chains_feature_draws", n, plan.n_draws, sizes.n_features, numbers, zero=True
    )
    log_likelihood = reader.finite("chains_log_likelihood", n, plan.n_sweeps)
    total_rate = reader.positive("chains_total_rate", n, plan.n_sweeps, zero=True)
    return [
        sampling.Trace(
            Factors(users[chain], features[chain]),
            counts[chain],
            Draws(user_draws[chain], feature_draws[chain]),
            log_likelihood[chain],
            total_rate[chain],
        )
        for chain in range(n)
    ]


def _sampling(reader: ArrayReader, factors: Factors, run: Run, n_sweeps: int) -> sampling.Standing:
    plan, sizes = run.settings.plan, _sizes(run)
    if not 0 < n_sweeps <= plan.n_sweeps:
        raise ModelFileError("its run has more sweeps than it may have")
    standing = sampling.beginning(factors, plan)._replace(n_sweeps=n_sweeps)
    n_kept = standing.n_kept(plan)
    kept: Draws = payload.draws_in(reader, _sizes(run, n_kept))
    standing.draws.users[:n_kept], standing.draws.features[:n_kept] = kept.users, kept.features
    return standing._replace(
        user_counts=reader.positive("user_sums", sizes.n_users, sizes.n_components, zero=True),
        features=reader.positive("feature_sums", sizes.n_features, sizes.n_components, zero=True),
        log_likelihood=reader.finite("log_likelihood", n_sweeps).tolist(),
        total_rate=reader.positive("total_rate", n_sweeps, zero=True).tolist(),
    )
