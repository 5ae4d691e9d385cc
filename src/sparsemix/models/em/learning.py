"""Restarts, and the best of them."""

import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from sparsemix.models.em import acceleration, engine, starts
from sparsemix.models.em.checks import Settings
from sparsemix.models.em.families import Family
from sparsemix.models.em.packed import with_codes
from sparsemix.models.em.state import Prior, Statistics


class Epoch(NamedTuple):
    """Where a fit stands: restart, epoch of it, and the objective, nats."""

    restart: int
    epoch: int
    objective: float


OnEpoch = Callable[[Epoch], None]


class Task(NamedTuple):
    """What is to be learnt.

    blocks : the rows, anew for each epoch, or elsewhere; init : a word of `checks.INITS`, responsibilities
    (n_rows, n_components), or `Statistics` to go on from; trace : that of the fit that goes on.
    """

    blocks: engine.Blocks | engine.Elsewhere
    n_features: int
    settings: Settings
    family: Family
    prior: Prior
    init: Any
    trace: Sequence[float] = ()


def learn(task: Task, keep: Callable[[engine.Fit], None], on_epoch: OnEpoch) -> None:
    """Run EM from every start; `keep` is given each fit that is the best so far, `on_epoch` told of every epoch."""
    best = -np.inf
    n_starts = task.settings.n_init if isinstance(task.init, str) else 1

    for restart in range(n_starts):
        kept = restart == 0

        def follow(fit: engine.Fit, restart: int = restart) -> None:
            nonlocal best, kept
            if kept or fit.trace[-1] > best:
                best, kept = fit.trace[-1], True
                keep(fit)
            on_epoch(Epoch(restart, len(fit.trace), fit.trace[-1]))

        start = _start(task, restart)
        run = acceleration.run if task.settings.loop.leaps else engine.run
        run(task.blocks, start, task.family, task.prior, task.settings.loop, follow, task.trace)


def _start(task: Task, restart: int) -> Statistics:
    n_components = task.settings.n_components
    rng = np.random.default_rng([task.settings.seed, restart])
    if isinstance(task.init, Statistics):
        return task.init
    if isinstance(task.blocks, engine.Elsewhere):
        return task.blocks.guess(task, restart)
    if isinstance(task.init, str):
        rows = with_codes(starts.some_rows(task.blocks(), n_components, rng), task.n_features, n_components)
        ground = starts.Ground(rows, task.n_features, n_components, task.family, task.prior)
        return starts.STARTS[task.init](ground, rng)
    start = starts.from_given(task.blocks(), task.init, n_components, task.n_features)
    if not starts.alike(start):
        return start
    warnings.warn(
        "'init' makes components alike, and EM would keep them so: noise of a tenth was added to tell them apart.",
        UserWarning,
        stacklevel=6,
    )
    return starts.shaken(start, rng)


def warn_about(fit: engine.Fit, owner: str) -> None:
    """Warn if the fit has not converged, or has rows that no component can have made."""
    if fit.n_impossible:
        warnings.warn(
            f"{fit.n_impossible} rows have probability zero under {owner}: they keep the weights for "
            f"responsibilities. Set smoothing above 0.",
            UserWarning,
            stacklevel=5,
        )
    if not fit.is_converged:
        warnings.warn(
            f"{owner} has not converged after {len(fit.trace)} epochs. Raise max_iter or tol, or go on with "
            f"warm_start=True.",
            ConvergenceWarning,
            stacklevel=5,
        )
