"""Learn the concentration and the decay by stochastic expectation maximisation (TDPM, section 4).

The E step is a sweep of one chain; the M step sets both to where the prior of its partition is highest (eqs 16 to 25).
Both settle into a distribution about the maximum of the evidence; the mean of their logarithms over the second half of
the steps is what is learnt.
"""

from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from sparsemix.models.time_sensitive import building, chain_kernels
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.models.time_sensitive.state import (
    RECURSION,
    Chains,
    FloatMatrix,
    FloatVector,
    IntVector,
    Prior,
    Rows,
    Timing,
)
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

LEAST, MOST = 1e-6, 1e6  # of a concentration
FARTHEST = 1e3  # half-lives beyond so many times the span of all rows are not told apart


class Learnt(NamedTuple):
    """What was learnt.

    concentration, rate : the rate of an exponential kernel, else as it was. trace : (n_steps, 2) of both, step by step.
    """

    concentration: float
    rate: float
    trace: FloatMatrix


def learn(
    rows: Rows,
    prior: Prior,
    kernel: TimeKernel,
    times: FloatVector,
    start: IntVector,
    rng: np.random.Generator,
    *,
    n_steps: int,
    strict: bool,
    moves_per_row: float,
) -> Learnt:
    """Learn the concentration, and the rate of an exponential kernel without strict times, in `n_steps` sweeps."""
    timing = building.timing_of(kernel, times, prior.concentration, strict=strict)
    trace = np.empty((n_steps, 2))
    labels, rates = start, None
    for step in range(n_steps):
        chain = Chain(rows, prior, timing, moves_per_row, rng)
        chain.start(labels, rates)
        chain.sweep()
        slots, labels = np.unique(chain.assigned, return_inverse=True)
        rates = chain.chains.rate[slots]
        concentration, rate = most_probable(timing, chain.chains, prior.concentration)
        prior = prior._replace(concentration=concentration)
        if learns_rate(timing):
            kernel = TimeKernel.exponential(rate)
        timing = building.timing_of(kernel, times, concentration, strict=strict)
        trace[step] = concentration, rate
    late = trace[n_steps // 2 :]
    rate = np.exp(np.log(late[:, 1]).mean()) if learns_rate(timing) else kernel.rate
    return Learnt(float(np.exp(np.log(late[:, 0]).mean())), float(rate), trace)


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
