"""From rows, times and a time kernel to what the sampler works on."""

from typing import Any

import numpy as np

from sparsemix.foundation.errors import parameter_error
from sparsemix.models.time_sensitive.chain_kernels import link_all
from sparsemix.models.time_sensitive.rate_kernels import weigh_rows
from sparsemix.models.time_sensitive.state import (
    BERNOULLI,
    COUNT,
    FAMILIES,
    RECURSION,
    SUM,
    Chains,
    FloatVector,
    Halves,
    IntVector,
    Prior,
    Rows,
    Timing,
    Window,
)
from sparsemix.models.time_sensitive.time_kernels import KINDS, TimeKernel

NEGLIGIBLE, LEAST_NEGLIGIBLE = 1e-12, 1e-300
MOST_TABLED = 1 << 20  # counts whose logarithms are kept
MOST_PAIRS = 200_000_000  # pairs of rows whose weights are kept, for a kernel that is a function
WAYS = {"exponential": RECURSION, "each_cluster": RECURSION, "step": COUNT}
VANISHING = 700.0  # decay, in nats, after which nothing is left in double precision


def rows_of(matrix: Any, order: IntVector) -> Rows:
    """Rows of a CSR matrix of whole numbers in another order; O(nnz log nnz), whatever the number of features."""
    taken = matrix[order]
    held, columns = np.unique(taken.indices, return_inverse=True)
    counts = taken.data.astype(np.int32)
    sums = np.concatenate([[0], np.cumsum(counts, dtype=np.int64)])
    indptr = taken.indptr.astype(np.int64)
    return Rows(indptr, columns.astype(np.int32), counts, np.diff(sums[indptr]), held.size)


def prior_of(rows: Rows, n_features: int, family: str, concentration: float, a: float, b: float) -> Prior:
    """Hyperparameters with the tables of logarithms that these rows ask for."""
    totals = np.bincount(rows.columns, rows.counts, minlength=1)
    log_a = _logarithms(a, int(totals.max()) + 1)
    return Prior(
        FAMILIES[family], concentration, a, b, n_features, log_a, _logarithms(b, rows.lengths.size + 1)
    )


def timing_of(
    kernel: TimeKernel,
    times: FloatVector,
    concentration: float,
    *,
    strict: bool = False,
    negligible: float = NEGLIGIBLE,
) -> Timing:
    """Times in ascending order and their kernel; `strict` if rows of equal times know nothing of each other.

    Raises
    ------
    ParameterError
        If the kernel is a function that would have to be kept for too many pairs of rows.
    """
    since = times - times[0] if times.size else times
    way = SUM if strict else WAYS.get(kernel.kind, SUM)
    support = kernel.support
    if kernel.kind in ("exponential", "periodic") and kernel.rate > 0.0 and way == SUM:
        support = min(support, VANISHING / kernel.rate)
    rates, log_shares = np.array(kernel.rates or (kernel.rate,)), np.log(np.array(kernel.shares or (1.0,)))
    log_least = -np.inf
    if negligible > 0.0:
        log_least = float(np.log(negligible) + np.log(concentration) + log_shares.min())
    ahead = max(-log_least, 0.0) / kernel.rate if way == RECURSION else support
    table, first = np.empty(0), np.empty(0, np.int64)
    if kernel.kind == "function":
        table, first = _table(kernel, since)
    shape = (KINDS[kernel.kind], kernel.rate, kernel.period, kernel.width, kernel.exponent, support)
    tied = 0.0 if strict else 1.0
    return Timing(since, *shape, way, tied, negligible, log_least, ahead, table, first, rates, log_shares)


def no_clusters(n_rows: int) -> Chains:
    """Rows without clusters."""
    assigned, before, after, head, cursor = np.full((5, n_rows), -1)
    free, rate = np.arange(n_rows - 1, -1, -1), np.zeros(n_rows, np.int64)
    weights, decay, reach, sums = np.zeros((4, n_rows))
    links, slots = (assigned, before, after, weights, decay), (reach, head, cursor, free, np.array([n_rows]))
    return Chains(*links, *slots, rate, sums)


def fill(chains: Chains, timing: Timing, assigned: IntVector, rate: IntVector | None = None) -> bool:
    """Set chains to an assignment of clusters 0, 1, ..., -1 for none; False if a member has no history that weighs.

    `rate` says which of the rates each cluster has; None is one in the middle.
    """
    n_used, n_slots = int(assigned.max(initial=-1)) + 1, chains.head.size
    chains.free[: n_slots - n_used] = np.arange(n_slots - 1, n_used - 1, -1)
    chains.n_free[0] = n_slots - n_used
    chains.rate[:n_used] = timing.rates.size // 2 if rate is None else rate
    is_feasible = bool(link_all(timing, chains, assigned))
    if timing.rates.size > 1:
        weigh_rows(timing, chains)
    return is_feasible


def window_of(rows: Rows, prior: Prior, n_rates: int = 1) -> Window:
    """An empty window, with lists as long as they can get. Memory O(nnz), Bernoulli rows also O(n_rows log n_rows)."""
    n_rows = rows.lengths.size
    lengths = np.bincount(rows.columns, minlength=rows.n_met)
    if prior.family == BERNOULLI:
        times_held = np.arange(1, int(lengths.max(initial=0)) + 1)
        lengths = np.concatenate([lengths, n_rows // times_held])
    start = np.concatenate(
        [[0], np.cumsum(lengths + 1)]
    )  # one more, for a cluster may come before another goes
    n_read = 2 * int(np.diff(rows.indptr).max(initial=0))
    return Window(
        active=np.zeros(n_rows, np.int64),
        n_active=np.zeros(1, np.int64),
        ahead=np.zeros(1, np.int64),
        sizes=np.zeros(n_rows, np.int64),
        totals=np.zeros(n_rows, np.int64),
        n_held=np.zeros(n_rows, np.int64),
        off=np.zeros(n_rows),
        log_size=np.zeros(n_rows),
        bulk=np.zeros(n_rows),
        start=start[:-1],
        n_listed=np.zeros(lengths.size, np.int32),
        keys=np.zeros(start[-1], np.int32),
        cells=np.zeros(start[-1], np.int32),
        before=np.zeros(n_read, np.int32),
        levels=np.zeros(n_read, np.int32),
        changes=np.zeros(n_read, np.int32),
        gain=np.zeros(n_rows),
        factors=np.zeros(n_rows + n_rates),
        scores=np.zeros(n_rows + n_rates),
        crowding=np.zeros(n_rates),
    )


def no_halves(rows: Rows) -> Halves:
    """Room for the halves of a cluster of any of these rows."""
    members, side = np.empty((2, rows.lengths.size), np.int64)
    counts, sums = np.zeros((rows.n_met, 2), np.int64), np.empty((2, 2), np.int64)
    return Halves(members, side, counts, sums, np.empty(2), np.empty(2, np.int64))


def _table(kernel: TimeKernel, times: FloatVector) -> tuple[FloatVector, IntVector]:
    """Weights of all pairs of rows within the support."""
    n_rows = times.size
    reach = np.searchsorted(times, times + kernel.support, side="right") - np.arange(n_rows) - 1
    first = np.concatenate([[0], np.cumsum(reach)])
    if first[-1] > MOST_PAIRS:
        rule = f"so short that at most {MOST_PAIRS:,} pairs of rows are that near"
        remedy = f"Of these rows {first[-1]:,} are. Kernels that are no functions have no such limit."
        raise parameter_error("support", "TimeKernel", rule, kernel.support, remedy)
    earlier = np.repeat(np.arange(n_rows), reach)
    later = np.arange(first[-1]) - first[earlier] + earlier + 1
    return kernel.weights(times[later] - times[earlier]), first[:-1]


def _logarithms(pseudo_count: float, most: int) -> FloatVector:
    return np.log(pseudo_count + np.arange(min(most, MOST_TABLED) + 1, dtype=np.float64))
