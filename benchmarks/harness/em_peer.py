"""Bernoulli EM on dense answers, beside StepMix where that is installed."""

import importlib.util
import time
import warnings
from dataclasses import dataclass

import numpy as np
from sklearn.exceptions import ConvergenceWarning

import sparsemix

PEER = "StepMix"
MOST_EPOCHS = 1_000  # StepMix's own default
CLOSE = 1e-3  # nats a row below the best is as good as the best


@dataclass(frozen=True)
class Start:
    """What one start of EM ended with: CPU seconds, nats a row, epochs."""

    seconds: float
    log_likelihood: float
    n_epochs: int


def is_installed() -> bool:
    """Return whether StepMix can be imported."""
    return importlib.util.find_spec("stepmix") is not None


def run_peer(rows: np.ndarray, n_components: int, tol: float, seed: int) -> Start:
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
    start = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows)
    seconds = time.thread_time() - start
    return Start(seconds, float(model.score(rows)), int(model.n_iter_))


def run_ours(rows: np.ndarray, n_components: int, tol: float, seed: int, **options: object) -> Start:
    """Fit `BernoulliMixture` from one start, without smoothing: StepMix maximises the likelihood too."""
    model = sparsemix.BernoulliMixture(
        n_components, tol=tol, max_iter=MOST_EPOCHS, smoothing=0.0, random_state=seed, **options
    )
    start = time.thread_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model.fit(rows)
    seconds = time.thread_time() - start
    return Start(seconds, float(model.score(rows)), model.n_iter_)


OURS = {
    "k-means++, in leaps": {"init": "k-means++", "accelerate": True},
    "k-means++": {"init": "k-means++"},
    "repaired, in leaps": {"init": "repaired", "accelerate": True},
}


def in_turn(rows: np.ndarray, n_components: int, tol: float, seeds: int) -> dict[str, list[Start]]:
    """Run one start of each method for every seed, the methods in turn."""
    few = rows[:200]
    for options in OURS.values():
        run_ours(few, 2, 1e-3, 0, **options)
    found: dict[str, list[Start]] = {name: [] for name in (PEER, *OURS)}
    for seed in range(seeds):
        found[PEER].append(run_peer(rows, n_components, tol, seed))
        for name, options in OURS.items():
            found[name].append(run_ours(rows, n_components, tol, seed, **options))
        for name, starts in found.items():
            print(f"{name}: {starts[-1]}", flush=True)
    return found
