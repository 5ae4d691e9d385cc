"""Learn the concentration and the decay by stochastic expectation maximisation (TDPM, section 4).

The E step is a sweep of one chain; the M step sets both to where the prior of its partition is highest (eqs 16 to 25).
Both settle into a distribution about the maximum of the evidence; the mean of their logarithms over the second half of
the steps is what is learnt.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from scipy.optimize import minimize

from sparsemix.models.time_sensitive import building, chain_kernels
from sparsemix.models.time_sensitive.engine import Chain, Position
from sparsemix.models.time_sensitive.runs import LEARNER, Progress, Run
from sparsemix.models.time_sensitive.solution import Hyperparameters
from sparsemix.models.time_sensitive.state import (
    RECURSION,
    Chains,
    FloatVector,
    Prior,
    Rows,
    Timing,
)
from sparsemix.models.time_sensitive.time_kernels import TimeKernel
from sparsemix.numeric.seeds import go_to

LEAST, MOST = 1e-6, 1e6  # of a concentration
FARTHEST = 1e3  # half-lives beyond so many times the span of all rows are not told apart


def learn(
    run: Run,
    rows: Rows,
    prior: Prior,
    times: FloatVector,
    moves_per_row: float,
    follow: Callable[[Progress], None],
) -> None:
    """Make the steps that are left, from which `learnt` follows.

    What `follow` raises, and Ctrl-C, end it; `run`, changed in place, then has all steps that have ended.
    """
    settings, rules = run.settings, run.start.hyper.rules
    rng = np.random.default_rng([settings.seed, settings.n_chains])
    if run.learner is not None:
        go_to(rng, run.learner.state)
    for step in range(run.n_learnt(), settings.n_learning):
        hyper, kernel = _after(run, step)
        prior = prior._replace(concentration=hyper.concentration)
        timing = building.timing_of(kernel, times, hyper.concentration, **rules)
        chain = Chain(rows, prior, timing, moves_per_row, rng)
        _place(chain, run, run.learner)
        sweep = chain.sweep()
        run.learning[step] = most_probable(timing, chain.chains, hyper.concentration)
        run.learner = chain.position()._replace(n_sweeps=step + 1)
        follow(Progress(LEARNER, step, sweep))


def learnt(run: Run) -> tuple[Hyperparameters, TimeKernel]:
    """The priors with the concentration, and the kernel with the rate, that were learnt, or of the last step so far."""
    n_steps = run.n_learnt()
    if n_steps < run.settings.n_learning or not n_steps:
        return _after(run, n_steps)
    late = run.learning[n_steps // 2 :]
    return _with_numbers(run, *(np.exp(np.log(each).mean()) if each[0] else 0.0 for each in late.T))


def _after(run: Run, n_steps: int) -> tuple[Hyperparameters, TimeKernel]:
    """Priors and kernel after so many steps."""
    return _with_numbers(run, *run.learning[n_steps - 1]) if n_steps else (run.start.hyper, run.start.kernel)


def _with_numbers(run: Run, concentration: float, rate: float) -> tuple[Hyperparameters, TimeKernel]:
    hyper, kernel = run.start.hyper, run.start.kernel
    if kernel.kind == "exponential" and not hyper.strict:
        kernel = replace(kernel, rate=float(rate))
    return hyper._replace(concentration=float(concentration)), kernel


def _place(chain: Chain, run: Run, before: Position | None) -> None:
    """Put the rows of a chain where they were after the step before."""
    if before is None:
        chain.start(run.start.assigned)
        return
    slots, labels = np.unique(before.assigned, return_inverse=True)
    chain.start(labels, before.rate[slots].astype(np.int64) if before.rate.size else None)


def most_probable(timing: Timing, chains: Chains, concentration: float) -> tuple[float, float]:
    """Concentration and rate under which a partition is most probable; the rate of exponential kernels only.

    O(n_rows) for each of a few evaluations, but O(pairs within the support) once for kernels without a recursion.
    """
    span = max(float(timing.times[-1]), 1e-12)
    n_new = int(np.sum((chains.before < 0) & (chains.assigned >= 0)))
    bounds = [(np.log(LEAST), np.log(MOST))]
    begun = [float(np.clip(np.log(concentration), *bounds[0]))]
    totals = chains.sums
    if timing.rates.size == 1:
        totals = np.empty(timing.times.size)
        chain_kernels.sums_of_weights(timing, totals)
    if learns_rate(timing):
        gaps = np.diff(timing.times)
        shortest = max(float(gaps[gaps > 0].min(initial=span)), 1e-12 * span)
        bounds.append((-np.log(FARTHEST * span), np.log(100.0 / shortest)))
        begun.append(float(np.clip(np.log(timing.rate), *bounds[1])))

    def loss(logs: FloatVector) -> tuple[float, FloatVector]:
        value, slopes = log_prior_and_slopes(timing, chains, totals, n_new, np.exp(logs))
        return -value, -slopes * np.exp(logs)

    found = np.exp(minimize(loss, begun, jac=True, method="L-BFGS-B", bounds=bounds).x)
    return float(found[0]), float(found[1]) if found.size > 1 else timing.rate


def log_prior_and_slopes(
    timing: Timing, chains: Chains, totals: FloatVector, n_new: int, numbers: FloatVector
) -> tuple[float, FloatVector]:
    """Log prior of a partition and its derivatives by concentration, and by rate if that is given (eqs 22 to 25).

    Of an exponential kernel with a rate all terms, else only those that depend on the concentration.
    """
    concentration = numbers[0]
    if numbers.size == 1:
        value = n_new * np.log(concentration) - np.sum(np.log(totals + concentration))
        return float(value), np.array([n_new / concentration - np.sum(1.0 / (totals + concentration))])
    found = np.empty(3)
    chain_kernels.log_prior_by_rate(timing.times, chains, concentration, numbers[1], found)
    return float(found[0]), found[1:]


def learns_rate(timing: Timing) -> bool:
    """Whether there is one rate, and a recursion for it."""
    return timing.way == RECURSION and timing.rates.size == 1
