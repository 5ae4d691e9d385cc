"""An interrupted run as plain arrays beside the clusters, and back, with every size and range checked."""

from typing import Any

import numpy as np

from sparsemix.chains.unfinished import n_kept
from sparsemix.foundation.errors import ModelFileError, shorten
from sparsemix.models.hashed_gibbs.checks import AT_RANDOM, MOST_CELLS, MOST_COMPONENTS, MOST_SWEEPS
from sparsemix.models.hashed_gibbs.engine import AUTO, PROPOSALS, Position, cycle_of
from sparsemix.models.hashed_gibbs.runs import Run, Settings, Start, new_run
from sparsemix.models.hashed_gibbs.signatures import Frame
from sparsemix.models.hashed_gibbs.solution import AnySolution
from sparsemix.models.hashed_gibbs.state import FloatMatrix, IntVector
from sparsemix.persistence import Payload
from sparsemix.persistence.unfinished import Arrays, run_in, with_run
from sparsemix.persistence.unpacking import (
    FLOAT,
    INT,
    SMALL,
    ArrayReader,
    check_names,
    finite_number,
    whole_number,
)

MOST_NAMES = 10_000  # characters of the names of a chain's proposals
MOST_NATS = 1e20  # of a log joint
MOST_PARAMETER = 1e120  # of clusters, in their signatures; its square is a number, too
DIGEST = 64  # characters at most

_TRACES = ("n_proposed", "n_moved", "n_clusters")


def added(stored: Payload, run: Run, labels: IntVector) -> Payload:
    """The payload of a model with the run that is to go on: positions, draws so far and what the sweeps did."""
    positions = [position for position in run.positions if position is not None]
    frames = [position.frame for position in positions if position.frame is not None]
    done = np.arange(run.settings.n_sweeps) < np.array(run.n_done())[:, None]
    is_given = bool(np.any(run.start.assigned >= 0))
    arrays: Arrays = {
        "n_done": np.array(run.n_done(), np.int64),
        "labels": labels.astype(np.int64),
        "start": run.start.assigned.astype(np.int64) if is_given else np.empty(0, np.int64),
        "assigned": np.array([position.assigned for position in positions], np.int32),
        "framed": np.array([position.framed for position in positions], np.int64),
        "draws": run.kept(),
        "log_joint": run.log_joint[done],
        "scale": np.vstack([frame.scale for frame in frames]) if frames else np.empty((0, 0)),
        "centre": np.vstack([frame.centre for frame in frames]) if frames else np.empty((0, 0)),
    }
    arrays |= {name: getattr(run, name)[done] for name in _TRACES}
    cycles = [",".join(position.cycle) for position in positions]
    of_start = {"at_random": run.start.at_random, "leads": run.start.leads, "rows": run.start.rows}
    metadata = run.settings._asdict() | of_start | {"proposals": cycles}
    return with_run(stored, metadata, arrays)


def unpack(stored: Payload, solution: AnySolution) -> tuple[Run, IntVector] | None:
    """The run and the labels that `added` has put there, None if there are none; ModelFileError if they do not fit."""
    parts = run_in(stored)
    if parts is None:
        return None
    cycles = _cycles(parts[0])
    settings, at_random, leads = _settings(parts[0])
    reader, n_rows = ArrayReader(parts[1]), int(solution.sizes.sum())
    labels = reader.inside("labels", INT, 0, solution.sizes.size, n_rows)
    if not np.array_equal(np.bincount(labels, minlength=solution.sizes.size), solution.sizes):
        raise ModelFileError("its rows are not as many in each cluster as it says")
    start = reader.inside("start", INT, -1, settings.n_components, None)
    if start.size not in (0, n_rows) or settings.n_chains * len(settings.kept) * n_rows > MOST_CELLS:
        raise ModelFileError("it holds a start or draws of another number of rows")
    begun = Start(start if start.size else np.full(n_rows, -1), at_random, leads, _rows(parts[0]))
    run = new_run(settings, begun)
    _fill(run, reader, n_rows, solution.n_parameters, cycles)
    reader.close()
    return run, labels


def _cycles(found: dict[str, Any]) -> list[tuple[str, ...]] | None:
    """Which proposals each chain has chosen; None in a file of a version that did not say so."""
    told = found.get("proposals")
    if told is None:
        return None
    if not isinstance(told, list) or not all(
        isinstance(each, str) and len(each) <= MOST_NAMES for each in told
    ):
        raise ModelFileError("its 'proposals' are no list of names")
    cycles = [cycle_of(each) if each else () for each in told]
    known = set(PROPOSALS) - {AUTO}
    if not all(set(cycle) <= known or cycle == (AUTO,) for cycle in cycles):
        raise ModelFileError(f"it holds proposals of an unknown kind: {shorten(told)}")
    return cycles


def _rows(found: dict[str, Any]) -> str:
    """Digest of the rows; empty in a file of a version that did not store it."""
    rows = found.get("rows", "")
    if not isinstance(rows, str) or len(rows) > DIGEST:
        raise ModelFileError(f"its digest of rows is {shorten(rows)}")
    return rows


def _settings(found: dict[str, Any]) -> tuple[Settings, float, bool]:
    check_names(
        found, {*Settings._fields, "at_random", *({"proposals", "rows", "leads"} & set(found))}, "run"
    )
    most = {"n_components": MOST_COMPONENTS, "n_chains": 1000, "n_threads": 256, "seed": 2**32 - 1}
    settings = Settings(
        *(whole_number(found, name, most.get(name, MOST_SWEEPS)) for name in Settings._fields)
    )
    at_random = finite_number(found, "at_random")
    is_sound = min(settings.n_components, settings.thin, settings.n_chains, settings.n_threads) > 0
    is_short = settings.n_chains * settings.n_sweeps <= MOST_CELLS
    if not is_sound or not is_short or settings.burn_in >= settings.n_sweeps:
        raise ModelFileError("it holds a run that cannot be")
    if at_random not in AT_RANDOM.values():
        raise ModelFileError(f"its 'at_random' is {shorten(at_random)}")
    leads = found.get("leads", False)
    if not isinstance(leads, bool):
        raise ModelFileError(f"its 'leads' is {shorten(leads)}")
    return settings, at_random, leads


def _fill(
    run: Run, reader: ArrayReader, n_rows: int, n_parameters: int, cycles: list[tuple[str, ...]] | None
) -> None:
    """Put what was stored into a run that has not begun."""
    settings = run.settings
    n_done = reader.inside("n_done", INT, 0, settings.n_sweeps + 1, settings.n_chains)
    if not n_done.any():
        raise ModelFileError("it holds a run that has not begun")
    done, total = np.arange(settings.n_sweeps) < n_done[:, None], int(n_done.sum())
    run.log_joint[done] = _bounded(reader.finite("log_joint", total), "log_joint", MOST_NATS)
    for name in _TRACES:
        most = settings.n_components if name == "n_clusters" else n_rows
        getattr(run, name)[done] = reader.inside(name, INT, 0, most + 1, total)
    kept = n_kept(settings.kept, n_done)
    draws = reader.inside("draws", SMALL, 0, settings.n_components, int(kept.sum()), n_rows)
    for own, part in zip(run.draws, np.split(draws, np.cumsum(kept)[:-1]), strict=True):
        own[: len(part)] = part
    begun = np.flatnonzero(n_done)
    assigned = reader.inside("assigned", SMALL, 0, settings.n_components, begun.size, n_rows)
    frames = _frames(reader, begun.size, n_parameters)
    framed = reader.inside("framed", INT, 0, settings.n_sweeps, begun.size)
    cycles = [()] * begun.size if cycles is None else cycles
    if len(cycles) != begun.size:
        raise ModelFileError("it holds proposals of another number of chains")
    for chain, rows, frame, sweep, cycle in zip(begun, assigned, frames, framed, cycles, strict=True):
        run.positions[chain] = Position(int(n_done[chain]), rows, frame, int(sweep), cycle)


def _bounded(values: FloatMatrix, name: str, most: float) -> FloatMatrix:
    if np.any(np.abs(values) > most):
        raise ModelFileError(f"the array {name!r} holds numbers that cannot be")
    return values


def _frames(reader: ArrayReader, n_chains: int, n_parameters: int) -> list[Frame | None]:
    centre = reader.take("centre", FLOAT, None, None)
    if not len(centre):
        reader.take("scale", FLOAT, 0, 0)
        return [None] * n_chains
    scale = reader.positive("scale", n_chains, n_parameters)
    if np.any(_bounded(scale, "scale", MOST_PARAMETER) < 1.0 / MOST_PARAMETER):
        raise ModelFileError("the array 'scale' holds numbers that cannot be")
    if centre.shape != scale.shape or not np.all(np.abs(centre) <= MOST_PARAMETER):
        raise ModelFileError("it holds signatures that do not fit its chains")
    return [Frame(*each) for each in zip(scale, centre, strict=True)]
