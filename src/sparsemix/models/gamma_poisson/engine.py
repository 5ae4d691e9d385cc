"""A sweep of EM over all users, and the loops that repeat it: plain, of Lee and Seung, and in leaps.

Users are cut into parts that depend on the data alone; threads share the parts, and sums are added in their order, so
that the answer does not depend on the number of threads.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import gammaln

from sparsemix.models.gamma_poisson import kernels
from sparsemix.models.gamma_poisson.acceleration import leap, leap_length
from sparsemix.models.gamma_poisson.state import (
    Factors,
    FloatMatrix,
    FloatVector,
    IntVector,
    Prior,
    Rows,
    normalised,
    rows_between,
)
from sparsemix.models.gamma_poisson.user_tables import fill, new_like, release, row_blocks, total
from sparsemix.numeric.leaps import GROWTH, SHORTEST_LIMIT
from sparsemix.numeric.shares import roomy
from sparsemix.numeric.threads import Run, equal_parts, thread_runner

MOST_PARTS = 8
ENTRIES_PER_FEATURE = 16  # of a part, so that its table of features costs less than its rows


class Loop(NamedTuple):
    """How EM runs.

    algorithm : "accelerated", "em" or "multiplicative"; max_iter : most sweeps.
    tol : stop when a sweep raises the objective by less, nats an event; n_threads : of a sweep.
    """

    algorithm: str = "accelerated"
    max_iter: int = 200
    tol: float = 1e-5
    n_threads: int = 1


class Split(NamedTuple):
    """The expected split of all counts, summed, and the log likelihood of the factors that made it, nats.

    user_counts : (n_rows, n_components); feature_counts : (n_features, n_components).
    """

    user_counts: FloatMatrix
    feature_counts: FloatMatrix
    log_likelihood: float


class Table:
    """Rows cut into parts, with what stays the same in all sweeps.

    Parameters
    ----------
    rows : Rows
    n_features : int
    """

    def __init__(self, rows: Rows, n_features: int) -> None:
        self.rows, self.n_features, self.n_rows = rows, n_features, rows.indptr.size - 1
        entries = np.diff(rows.indptr)
        n_parts = min(MOST_PARTS, max(1, rows.values.size // (ENTRIES_PER_FEATURE * n_features)))
        self.parts = equal_parts(entries + 1.0, n_parts)
        self.n_events = float(rows.values.sum())
        self.log_factorials = float(gammaln(rows.values + 1.0).sum())

    def totals(self) -> FloatVector:
        """Events of each row, (n_rows,)."""
        return np.bincount(self.row_numbers(), self.rows.values, minlength=self.n_rows).astype(np.float64)

    def row_numbers(self) -> IntVector:
        """The row of each non-zero, (nnz,)."""
        return np.repeat(np.arange(self.n_rows), np.diff(self.rows.indptr))


def split(table: Table, factors: Factors, run: Run[tuple[int, int]]) -> Split:
    """E step at the factors; O(nnz x n_components), memory for a table of features a part."""
    user_counts, n_components = new_like(factors.users), factors.users.shape[1]
    features = roomy(table.n_features, n_components)
    features[:, :n_components] = factors.features
    ratios = roomy(len(table.parts) * table.n_features, n_components).reshape(-1, *features.shape)
    logs = np.zeros(len(table.parts))

    def one(part: tuple[int, int]) -> None:
        number = table.parts.index(part)
        for block in row_blocks(*part, factors.users.shape[1]):
            rows = rows_between(table.rows, block.start, block.stop)
            rates, own = np.empty(rows.values.size), np.asarray(factors.users[block])
            sums = (rates, np.asarray(user_counts[block]), ratios[number])
            kernels.add_expected_counts(*rows, own, features, *sums)
            # No `@`: threads of BLAS would wait on our cores.
            logs[number] += np.einsum("e,e->", rows.values, np.log(rates, out=rates))
            release(block, factors.users, user_counts)

    run(one, table.parts)
    rest = float(total(np.sum, factors.users)) + table.log_factorials
    feature_counts = ratios.sum(axis=0)[:, :n_components] * factors.features
    return Split(user_counts, feature_counts, float(logs.sum()) - rest)


def users_of(counts: FloatMatrix, prior: Prior) -> FloatMatrix:
    """M step of the user factors, from the split of their counts, which they are themselves if the prior is flat.

    Where the shape is below one, some are clipped at zero. A user of whom nothing would be left keeps the largest.
    """
    may_clip = bool(np.any(prior.shape < 1.0))

    def some(counts: FloatMatrix) -> FloatMatrix:
        users = counts + (prior.shape - 1.0)
        if may_clip:
            np.maximum(users, 0.0, out=users)
            lost = np.flatnonzero(~users.any(axis=1) & counts.any(axis=1))
            best = counts[lost].argmax(axis=1)
            users[lost, best] = counts[lost, best]
        users /= 1.0 + prior.rate
        return users

    return counts if prior.is_flat else fill(new_like(counts), some, counts)


def maximize(found: Split, prior: Prior) -> Factors:
    """M step (`equations.em_step`)."""
    return Factors(users_of(found.user_counts, prior), normalised(found.feature_counts + prior.smoothing))


class Fit(NamedTuple):
    """Where EM stands.

    component_counts : (n_components,) events that the split gives to each.
    trace : objective of the start and after each sweep, nats.
    """

    factors: Factors
    component_counts: FloatVector
    trace: list[float]
    is_converged: bool


class Place(NamedTuple):
    """Factors, the split that they make, and the objective there."""

    factors: Factors
    found: Split
    objective: float


class Standing(NamedTuple):
    """Where a start stands between two sweeps: enough to go on to the same bits.

    n_sweeps : made so far. trace : objective of the start and after each sweep, nats; others may follow.
    before : factors before the last sweep, None unless the next one may leap; limit : of that leap.
    """

    factors: Factors
    n_sweeps: int = 0
    trace: list[float] = []  # noqa: RUF012  # never changed
    before: Factors | None = None
    limit: float = SHORTEST_LIMIT
    is_converged: bool = False


OnSweep = Callable[[Standing], None]


def run(
    table: Table, start: Factors | Standing, prior: Prior, loop: Loop, on_sweep: OnSweep = lambda _: None
) -> Fit:
    """Repeat sweeps from the start until one gains no more than the tolerance; the objective never falls.

    With a shape below one it may, in sweeps that clip factors at zero: the density has no bound there. `on_sweep` is
    told after each sweep where the run stands, from where it can start again; what it raises ends the run.
    """
    standing = start if isinstance(start, Standing) else Standing(start)
    with thread_runner(loop.n_threads) as threads:

        def look(factors: Factors) -> Place:
            found = split(table, factors, threads)
            return Place(factors, found, found.log_likelihood + prior.log_density(factors))

        has_bound = bool(np.all(prior.shape >= 1.0))  # else the objective says nothing about a leap
        walk = (WALKS[loop.algorithm] if has_bound or loop.algorithm != "accelerated" else Plain)(look, prior)
        walk.before, walk.limit = standing.before, standing.limit
        place, is_converged = look(standing.factors), standing.is_converged
        trace = standing.trace[: standing.n_sweeps + 1] or [place.objective]
        while len(trace) <= loop.max_iter and not is_converged:
            place, is_plain = walk.step(place)
            trace.append(place.objective)
            is_converged = is_plain and abs(trace[-1] - trace[-2]) <= loop.tol * table.n_events
            on_sweep(Standing(place.factors, len(trace) - 1, trace, walk.before, walk.limit, is_converged))
    return Fit(place.factors, place.found.feature_counts.sum(axis=0), trace, is_converged)


def fit_at(table: Table, standing: Standing) -> Fit:
    """What a start that was interrupted has so far."""
    with thread_runner(1) as threads:
        counts = split(table, standing.factors, threads).feature_counts
    return Fit(standing.factors, counts.sum(axis=0), standing.trace[: standing.n_sweeps + 1], False)


class Plain:
    """EM: both factors from one split. The place before and the longest leap are for those who leap."""

    def __init__(self, look: Callable[[Factors], Place], prior: Prior) -> None:
        self.look, self.prior = look, prior
        self.before: Factors | None = None
        self.limit = SHORTEST_LIMIT

    def step(self, place: Place) -> tuple[Place, bool]:
        """The next place, and whether it was reached by a plain sweep, whose gain may end the run."""
        return self.look(maximize(place.found, self.prior)), True


class InTurn(Plain):
    """Lee and Seung: users first, then features from a split of their own."""

    def step(self, place: Place) -> tuple[Place, bool]:
        """The next place; without a prior each component's length moves freely, from V over to U."""
        users = users_of(place.found.user_counts, self.prior)
        counts = self.look(Factors(users, place.factors.features)).found.feature_counts
        if self.prior.is_flat:
            sums = total(lambda some: some.sum(axis=0), users)
            scale = np.divide(counts.sum(axis=0), sums, out=np.ones_like(sums), where=sums > 0.0)
            users = fill(new_like(users), lambda some: some * scale, users)
        return self.look(Factors(users, normalised(counts + self.prior.smoothing))), True


class Leaps(Plain):
    """EM in leaps (SQUAREM, Varadhan and Roland, 2008): after two plain sweeps a third goes on along their curve.

    A leap that would lower the objective is taken back and costs a sweep.
    """

    def step(self, place: Place) -> tuple[Place, bool]:
        """The next place, by a leap if the one before was plain."""
        following = maximize(place.found, self.prior)
        before, self.before = self.before, None
        length = 0.0 if before is None else leap_length(before, place.factors, following)
        if before is None or length <= 1.0:
            self.before = place.factors
            return self.look(following), True
        reached = self.look(leap(before, place.factors, following, min(length, self.limit)))
        if reached.objective >= place.objective:
            self.limit *= GROWTH if length > self.limit else 1.0
            return reached, False
        self.limit = max(SHORTEST_LIMIT, self.limit / GROWTH)
        return place, False


WALKS = {"accelerated": Leaps, "em": Plain, "multiplicative": InTurn}
