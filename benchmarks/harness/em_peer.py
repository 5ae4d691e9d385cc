"""Bernoulli EM on dense answers, beside StepMix where that is installed."""

import importlib.util
import warnings
from dataclasses import dataclass
from functools import partial

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from threadpoolctl import threadpool_limits

import sparsemix
from harness import machine

PEER = "StepMix"
MOST_EPOCHS = 1_000  # StepMix's own default
INITS = ("k-means++", "random", "repaired")
CLOSE = 1e-3  # nats a row below the best is as good as the best


@dataclass(frozen=True)
class Start:
    """What one start of EM ended with: seconds by the clock and of the processor, nats a row, epochs."""

    clock: float
    seconds: float
    log_likelihood: float
    n_epochs: int


def is_installed() -> bool:
    """Return whether StepMix can be imported."""
    return importlib.util.find_spec("stepmix") is not None


def run_peer(rows: np.ndarray, n_components: int, tol: float, seed: int, n_threads: int = 1) -> Start:
    """Fit StepMix's binary model from one start of its own."""
    from stepmix.stepmix import StepMix

    model = StepMix(
        n_components,
        measurement="binary",
        n_init=1,
        abs_tol=tol,
        max_iter=MOST_EPOCHS,
        random_state=seed,
        progress_bar=0,
    )
    return Start(*seconds_of(model, rows, n_threads), float(model.score(rows)), int(model.n_iter_))


def run_ours(
    rows: np.ndarray, n_components: int, tol: float, seed: int, init: str, n_threads: int = 1
) -> Start:
    """Fit `BernoulliMixture` from one start, in leaps, without smoothing: StepMix maximises the likelihood too."""
    model = sparsemix.BernoulliMixture(
        n_components,
        init=init,
        accelerate=True,
        tol=tol,
        max_iter=MOST_EPOCHS,
        smoothing=0.0,
        random_state=seed,
        n_jobs=n_threads,
    )
    return Start(*seconds_of(model, rows, n_threads), float(model.score(rows)), model.n_iter_)


def seconds_of(model: object, rows: np.ndarray, n_threads: int) -> tuple[float, float]:
    """Fit; return seconds by the clock and of the processor."""
    watch = machine.Stopwatch()
    with threadpool_limits(n_threads), warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows)
    return watch.read()


def in_turn(rows: np.ndarray, n_components: int, tol: float, seeds: int) -> dict[str, list[Start]]:
    """Run one start of each method for every seed, the methods in turn."""
    runs = {PEER: run_peer} | {init: partial(run_ours, init=init) for init in INITS}
    runs[f"{PEER}, two threads"] = partial(run_peer, n_threads=2)
    runs |= {f"{init}, two threads": partial(run_ours, init=init, n_threads=2) for init in INITS[:2]}
    for init in INITS:
        run_ours(rows[:2000], 2, 1e-3, 0, init)  # compiles
    found: dict[str, list[Start]] = {name: [] for name in runs}
    for seed in range(seeds):
        for name, run in runs.items():
            found[name].append(run(rows, n_components, tol, seed))
            print(f"{name}: {found[name][-1]}", flush=True)
    return found
