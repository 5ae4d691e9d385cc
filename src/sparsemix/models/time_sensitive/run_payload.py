"""An interrupted run as plain arrays beside the clusters, and back, with every size and range checked."""

from dataclasses import replace
from typing import Any

import numpy as np

from sparsemix.chains.unfinished import n_kept
from sparsemix.foundation.checks import LARGEST, SMALLEST
from sparsemix.foundation.errors import ModelFileError, ParameterError, shorten
from sparsemix.models.time_sensitive import building, chain_kernels
from sparsemix.models.time_sensitive.checks import MOST_CELLS, MOST_SWEEPS, MOST_TRACED
from sparsemix.models.time_sensitive.engine import Position
from sparsemix.models.time_sensitive.runs import Run, Settings, Start, new_run
from sparsemix.models.time_sensitive.solution import Solution
from sparsemix.models.time_sensitive.state import IntVector, Timing
from sparsemix.numeric.seeds import WORD
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import Arrays, run_in, with_run
from sparsemix.persistence.unpacking import (
    INT,
    SMALL,
    ArrayReader,
    check_names,
    finite_number,
    whole_number,
)

DIGEST = 64  # characters at most
MOST_NATS = 1e20  # of a log joint
MOST_MOVES = 1000  # that cut or join clusters, for each row in a sweep
_MOST = {"n_chains": 1000, "n_threads": 256, "seed": 2**32 - 1}
_LEAST = {"n_sweeps": 1, "thin": 1, "n_chains": 1, "n_threads": 1}
_TRACES = ("n_moved", "n_clusters", "n_split_merge")
_ASKED = ("concentration", "rate")


def added(stored: Payload, run: Run) -> Payload:
    """The payload of a model with the run that is to go on: positions, draws so far and what the sweeps did."""
    positions = [each for each in (run.learner, *run.positions) if each is not None]
    done = np.arange(run.settings.n_sweeps) < np.array(run.n_done())[:, None]
    is_given = bool(np.any(run.start.assigned >= 0))
    arrays: Arrays = {
        "n_done": np.array([run.n_learnt(), *run.n_done()], np.int64),
        "order": run.start.order.astype(np.int64),
        "start": run.start.assigned.astype(np.int64) if is_given else np.empty(0, np.int64),
        "assigned": np.array([position.assigned for position in positions], np.int32),
        "rate": np.array([position.rate for position in positions], np.int32),
        "state": np.array([position.state for position in positions], np.int64),
        "draws": run.kept(),
        "learning": run.learning[: run.n_learnt()],
        "log_joint": run.log_joint[done],
    }
    arrays |= {name: getattr(run, name)[done] for name in _TRACES}
    asked = {"concentration": run.start.hyper.concentration, "rate": run.start.kernel.rate}
    return with_run(stored, run.settings._asdict() | asked | {"rows": run.start.rows}, arrays)


def unpack(stored: Payload, solution: Solution) -> Run | None:
    """The run that `added` has put there, None if there is none; ModelFileError if it does not fit the clusters."""
    found = run_in(stored)
    if found is None:
        return None
    check_names(found[0], {*Settings._fields, *_ASKED, "rows"}, "run")
    settings, reader, n_rows = _settings(found[0]), ArrayReader(found[1]), solution.times.size
    if settings.n_chains * len(settings.kept) * n_rows > MOST_CELLS:
        raise ModelFileError("it holds a run of too many draws")
    run = new_run(settings, _start(found[0], reader, solution))
    n_done = _fill_traces(run, reader, n_rows)
    _fill_positions(run, reader, n_done, solution)
    reader.close()
    return run


def _settings(found: dict[str, Any]) -> Settings:
    settings = Settings(
        *(whole_number(found, name, _MOST.get(name, MOST_SWEEPS)) for name in Settings._fields)
    )
    is_long = settings.n_chains * settings.n_sweeps > MOST_TRACED
    if any(getattr(settings, name) < least for name, least in _LEAST.items()) or is_long:
        raise ModelFileError("it holds a run that cannot be")
    if settings.burn_in >= settings.n_sweeps:
        raise ModelFileError("it holds a run that leaves no draws")
    return settings


def _start(found: dict[str, Any], reader: ArrayReader, solution: Solution) -> Start:
    n_rows, rows = solution.times.size, found["rows"]
    concentration, rate = (finite_number(found, name) for name in _ASKED)
    if not SMALLEST <= concentration <= LARGEST or not isinstance(rows, str) or len(rows) > DIGEST:
        raise ModelFileError(f"its run has the concentration {concentration} and the rows {shorten(rows)}")
    try:
        kernel = replace(solution.kernel, rate=rate)
    except ParameterError as error:
        raise ModelFileError("its run has a rate that cannot be") from error
    order = reader.inside("order", INT, 0, n_rows, n_rows)
    start = reader.inside("start", INT, -1, n_rows, None)
    if np.any(np.bincount(order, minlength=n_rows) != 1) or start.size not in (0, n_rows):
        raise ModelFileError("it holds an order or a start of other rows")
    if np.any(np.bincount(start[start >= 0]) == 0):
        raise ModelFileError("it holds a start with clusters that have no rows")
    hyper = solution.hyper._replace(concentration=concentration)
    return Start(hyper, kernel, start if start.size else np.full(n_rows, -1), order, rows)


def _fill_traces(run: Run, reader: ArrayReader, n_rows: int) -> IntVector:
    """Put what the sweeps did into a run that has not begun; returns how many each chain has made."""
    settings = run.settings
    most = max(settings.n_sweeps, settings.n_learning) + 1
    n_done = reader.inside("n_done", INT, 0, most, 1 + settings.n_chains)
    n_learnt, n_of_chains = int(n_done[0]), n_done[1:]
    if n_learnt > settings.n_learning or n_of_chains.max() > settings.n_sweeps or not n_done.any():
        raise ModelFileError("it holds a run of sweeps that cannot be")
    if n_of_chains.any() and n_learnt < settings.n_learning:
        raise ModelFileError("it holds chains that have begun before all was learnt")
    run.learning[:n_learnt] = reader.finite("learning", n_learnt, 2)
    numbers = run.learning[:n_learnt, : 2 if run.start.kernel.kind == "exponential" else 1]
    if np.any((numbers < SMALLEST) | (numbers > LARGEST)):
        raise ModelFileError("it holds a concentration or a rate that nothing can learn")
    done, total = np.arange(settings.n_sweeps) < n_of_chains[:, None], int(n_of_chains.sum())
    run.log_joint[done] = reader.finite("log_joint", total)
    if np.any(np.abs(run.log_joint[done]) > MOST_NATS):
        raise ModelFileError("it holds a log joint that cannot be")
    limits = {"n_moved": (0, n_rows), "n_clusters": (1, n_rows), "n_split_merge": (0, MOST_MOVES * n_rows)}
    for name, (low, high) in limits.items():
        getattr(run, name)[done] = reader.inside(name, INT, low, high + 1, total)
    kept = n_kept(settings.kept, n_of_chains)
    draws = reader.inside("draws", SMALL, 0, n_rows, int(kept.sum()), n_rows)
    for own, part in zip(run.draws, np.split(draws, np.cumsum(kept)[:-1]), strict=True):
        own[: len(part)] = part
    return n_done


def _fill_positions(run: Run, reader: ArrayReader, n_done: IntVector, solution: Solution) -> None:
    begun, n_rows, n_rates = np.flatnonzero(n_done), solution.times.size, len(solution.kernel.rates)
    assigned = reader.inside("assigned", SMALL, 0, n_rows, begun.size, n_rows)
    rates = reader.inside("rate", SMALL, 0, max(n_rates, 1), begun.size, n_rows if n_rates else 0)
    states = reader.inside("state", INT, 0, 2**WORD, begun.size, 6)
    if np.any(states[:, 4] > 1):
        raise ModelFileError("it holds a generator whose state cannot be")
    hyper = solution.hyper
    timing = building.timing_of(solution.kernel, solution.times, hyper.concentration, **hyper.rules)
    for number, rows, rate, state in zip(begun, assigned, rates, states, strict=True):
        _check_chain(timing, rows)
        position = Position(int(n_done[number]), rows, rate, state)
        if number == 0:
            run.learner = position
        else:
            run.positions[number - 1] = position


def _check_chain(timing: Timing, assigned: Any) -> None:
    chains = building.no_clusters(assigned.size)
    if not chain_kernels.link_all(timing, chains, assigned.astype(np.int64)):
        raise ModelFileError("it holds a chain that its time kernel rules out")
