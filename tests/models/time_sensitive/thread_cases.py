"""Tiny streams, kernels of every kind, and states of the sampler for the tests of time-sensitive mixtures."""

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import logsumexp
from thread_entries import pass_by, score_near

from sparsemix.models.time_sensitive import building, chain_kernels, equations, kernels, state
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

TIMES = np.array([0.0, 1.0, 1.0, 2.5, 6.0])  # a tie, and gaps of several sizes
TINY = np.array([[2, 0, 1, 0], [0, 1, 0, 3], [1, 0, 1, 0], [0, 0, 0, 0], [0, 2, 1, 1]])
# Six rows, two of them at one time twice, and two that are the same.
SIX_TIMES = np.array([0.0, 1.0, 1.0, 2.5, 2.5, 4.0])
SIX = np.vstack([TINY, TINY[:1]])
KERNELS = {
    "step": TimeKernel.step(),
    "exponential": TimeKernel.exponential(0.5),
    "window": TimeKernel.window(3.0),
    "short window": TimeKernel.window(1.7),
    "periodic": TimeKernel.periodic(2.5, 0.4, half_life=4.0),
    "power law": TimeKernel.power_law(0.7, 1.3),
    "function": TimeKernel.of_function(lambda age: np.maximum(1.0 - age / 4.0, 0.0), support=4.5),
}
FAMILIES = ("multinomial", "bernoulli")
# Kernel and whether equal times know nothing of each other.
RULES = [(kernel, False) for kernel in KERNELS] + [
    ("exponential", True),
    ("short window", True),
    ("step", True),
]


class Setting(NamedTuple):
    """Rows in time order, dense and indexed, their prior and their times; `logs` is the matrix of log weights."""

    dense: Any
    rows: state.Rows
    prior: state.Prior
    timing: state.Timing
    logs: Any


def setting(family="multinomial", kernel="exponential", dense=TINY, times=TIMES, strict=False, **changes):
    """A small stream; counts become presence for Bernoulli rows."""
    dense = np.asarray(dense)
    dense = (dense > 0).astype(int) if family == "bernoulli" else dense
    rows = building.rows_of(sparse.csr_array(dense), np.arange(dense.shape[0]))
    numbers = {"concentration": 0.7, "a": 0.3, "b": 0.8} | changes
    prior = building.prior_of(rows, dense.shape[1], family, **numbers)
    kernel = KERNELS[kernel] if isinstance(kernel, str) else kernel
    timing = building.timing_of(kernel, times, prior.concentration, strict=strict)
    return Setting(dense, rows, prior, timing, equations.log_weight_matrix(kernel, times, strict=strict))


def chains_of(case, labels):
    """The chains of a partition."""
    labels = np.asarray(labels)
    chains = building.no_clusters(labels.size)
    assert chain_kernels.link_all(case.timing, chains, labels)
    free = np.setdiff1d(np.arange(labels.size), labels)
    chains.free[: free.size] = free
    chains.n_free[0] = free.size
    return chains


def all_partitions(n_rows):
    """Every partition as labels in the order of first appearance."""
    found = [[0]]
    for _ in range(n_rows - 1):
        found = [[*labels, k] for labels in found for k in range(max(labels) + 2)]
    return [np.array(labels) for labels in found]


def compiled_conditional(case, labels, row):
    """Log probabilities of the candidates of a row from the kernels, in the order of their first members."""
    chains, window = chains_of(case, labels), building.window_of(case.rows, case.prior)
    approach(case, chains, window, row)
    own, falls_apart = kernels.take_out(case.rows, row, case.prior, case.timing, chains, window)
    if falls_apart:  # a sweep puts the row back without a question
        return np.array([own, -1]), np.array([0.0, -np.inf])
    n = score_near(case.rows, row, case.prior, case.timing, chains, window, np.inf)
    scores = window.scores[:n].copy()
    return np.append(window.active[: n - 1], -1), scores - logsumexp(scores)


def approach(case, chains, window, row):
    """Move the window to a row, as a sweep does; all rows before it stay in their clusters."""
    for earlier in range(row + 1):
        kernels.look_ahead(case.rows, case.prior, case.timing, chains, window, earlier)
        kernels.drop_past(case.rows, case.prior, case.timing, chains, window, earlier)
        if earlier < row:
            chains.cursor[chains.assigned[earlier]] = earlier
            pass_by(case.timing, chains, earlier)
