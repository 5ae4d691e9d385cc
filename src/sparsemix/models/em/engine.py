"""EM: `summarize` adds expected counts block by block, `maximize` turns them into parameters, `run` alternates.

Every step is a function of rows, parameters and statistics; statistics of different rows add. So the same code
serves rows in memory, tables read batch by batch, threads, and more than one machine.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.em import kernels, packed, packed_kernels
from sparsemix.models.em.families import Family
from sparsemix.models.em.state import (
    FloatMatrix,
    FloatVector,
    IntVector,
    Parameters,
    Prior,
    Rows,
    Statistics,
)
from sparsemix.numeric.threads import Run, equal_parts, thread_runner

CELLS_PER_BLOCK = 1 << 20
ADDITIONS_FOR_THREADS = 1 << 22  # in the E step of a block: below, threads wait longer than they work
Blocks = Callable[[], Iterable[Rows]]
"""Gives rows that are here, anew for each epoch."""


class Elsewhere(ABC):
    """Rows that are not here, but with others who answer for them: sums over all rows, and guesses to start from."""

    @abstractmethod
    def survey(self, features: FeatureNames | None) -> FeatureNames:
        """Features of all rows, after those that are known; DataError if there is nothing to learn from."""

    @abstractmethod
    def summarize(self, parameters: Parameters, loop: "Loop") -> Statistics:
        """What the function `summarize` gives for all rows."""

    @abstractmethod
    def guess(self, task: Any, restart: int) -> Statistics:
        """The start of a `learning.Task`."""


@dataclass(frozen=True)
class Loop:
    """How EM runs.

    is_hard : assign each row to one component; max_iter : most epochs.
    tol : stop when an epoch raises the objective by less, nats per unit of row weight.
    n_threads : of the E step; the answer does not depend on it. leaps : whether soft EM runs in leaps.
    """

    is_hard: bool = False
    max_iter: int = 100
    tol: float = 1e-4
    n_threads: int = 1
    leaps: bool = False


@dataclass
class Fit:
    """Where EM stands.

    statistics : those that made the parameters.
    trace : objective after each epoch, nats; never falls by more than rounding.
    n_impossible : rows that no component can have made, under the parameters; n_rows : all rows.
    is_hard : whether the trace is that of hard EM.
    """

    statistics: Statistics
    parameters: Parameters
    trace: list[float] = field(default_factory=list)
    log_likelihood: float = -np.inf
    n_impossible: int = 0
    n_rows: int = 0
    is_converged: bool = False
    is_hard: bool = False


def responsibilities_of(
    rows: Rows, parameters: Parameters, *, is_hard: bool = False
) -> tuple[FloatMatrix, FloatVector]:
    """E step for a block: responsibilities (n_rows, n_components) and log evidence (n_rows,).

    Rows that no component can have made keep the weights as responsibilities, and their log evidence is -inf.
    O(nnz x n_components); memory for the whole block.
    """
    responsibilities = np.empty((rows.n_rows, parameters.log_weights.size))
    log_evidence = np.empty(rows.n_rows)
    _expect(rows, parameters, is_hard, responsibilities, log_evidence)
    return responsibilities, log_evidence


def _expect(
    rows: Rows, parameters: Parameters, is_hard: bool, shares: FloatMatrix, log_evidence: FloatVector
) -> None:
    """The E step of `responsibilities_of`, written to `shares` and `log_evidence`."""
    log_joint(rows, parameters, shares)
    negligible, totals = parameters.log_negligible, np.empty(rows.n_rows)
    kernels.fall_short(shares, rows.labels, parameters.log_weights, negligible, is_hard, log_evidence)
    np.exp(shares, out=shares)
    kernels.share_out(negligible, shares, totals)
    log_evidence += np.log(totals)


def log_joint(rows: Rows, parameters: Parameters, out: FloatMatrix) -> None:
    """Write log p(component) + log p(row | component) to `out`, (n_rows, n_components)."""
    if rows.codes is not None:
        tables = packed.tables_of(parameters.feature_weights)
        packed_kernels.log_joint(rows.codes, parameters.constants, tables, out)
    else:
        kernels.log_joint(
            rows.indptr, rows.columns, rows.values, parameters.constants, parameters.feature_weights, out
        )
    if parameters.certain is not None:
        held = rows.to_csr(parameters.feature_weights.shape[0]) @ parameters.certain.pattern
        out[held.toarray() < parameters.certain.n_required] = -np.inf


def rows_per_block(n_components: int) -> int:
    """Rows whose responsibilities stay in the processor's cache, or near it."""
    return max(64, CELLS_PER_BLOCK // n_components)


def pieces(block: Rows, n_components: int) -> Iterator[Rows]:
    """The rows of a block, `rows_per_block` at a time."""
    step = rows_per_block(n_components)
    for first in range(0, block.n_rows, step):
        yield block.slice(first, min(block.n_rows, first + step))


def summarize(
    blocks: Iterable[Rows], parameters: Parameters, *, is_hard: bool = False, n_threads: int = 1
) -> Statistics:
    """E step over blocks of rows, at fixed parameters (TEXT, section 3.3).

    O(nnz x n_components); less in the sums where responsibilities are sparse. Threads first share the rows of a
    small block, then the features, so that every sum keeps the order of the rows.
    """
    n_features, n_components = parameters.feature_weights.shape
    total = Statistics.zeros(n_components, n_features)
    with thread_runner(n_threads) as run:
        for block in blocks:
            for part in pieces(block, n_components):
                _add_block(total, part, parameters, is_hard, n_threads, run)
    return total


def _add_block(
    total: Statistics,
    rows: Rows,
    parameters: Parameters,
    is_hard: bool,
    n_threads: int,
    run: Run[tuple[int, int]],
) -> None:
    n_components = parameters.log_weights.size
    responsibilities, log_evidence = np.empty((rows.n_rows, n_components)), np.empty(rows.n_rows)
    looked_at = rows.columns if rows.codes is None else rows.codes
    if looked_at.size * n_components < ADDITIONS_FOR_THREADS:
        n_threads = 1

    def expect(part: tuple[int, int]) -> None:
        place = slice(*part)
        _expect(rows.slice(*part), parameters, is_hard, responsibilities[place], log_evidence[place])

    run(expect, equal_parts(np.diff(rows.indptr) + 1.0, n_threads))
    kernels.add_expected_sizes(responsibilities, rows.row_weights, total.sizes)
    parts = [(part, n_threads) for part in range(n_threads)]
    run(lambda part: _add_expected_counts(total, rows, responsibilities, *part), parts)
    counted = np.where(rows.row_weights > 0.0, log_evidence, 0.0)
    # no `@`: BLAS would wake threads of its own, which then wait for more work on the cores of ours
    total.log_likelihood += float(np.sum(rows.row_weights * counted))
    total.n_rows += rows.n_rows
    total.n_impossible += int(np.count_nonzero(log_evidence == -np.inf))


def add_expected(total: Statistics, rows: Rows, responsibilities: FloatMatrix) -> None:
    """Add expected sizes and counts of the rows to the total, in place."""
    kernels.add_expected_sizes(responsibilities, rows.row_weights, total.sizes)
    _add_expected_counts(total, rows, responsibilities, 0, 1)


def _add_expected_counts(
    total: Statistics, rows: Rows, responsibilities: FloatMatrix, part: int, n_parts: int
) -> None:
    """Add the expected counts of one part of the features."""
    rest = (responsibilities, rows.row_weights, part, n_parts, total.counts)
    if rows.codes is not None:
        packed.add_expected_counts(rows.codes, *rest)
    else:
        kernels.add_expected_counts(rows.indptr, rows.columns, rows.values, *rest)


def assignments(blocks: Iterable[Rows], parameters: Parameters) -> IntVector:
    """Most probable component of each row, the first of equals; (n_rows,)."""
    found = [np.empty(0, np.int64)]
    for block in blocks:
        for part in pieces(block, parameters.log_weights.size):
            found.append(responsibilities_of(part, parameters)[0].argmax(axis=1))
    return np.concatenate(found)


def log_prior(family: Family, parameters: Parameters, prior: Prior) -> float:
    """Log density of the prior at the parameters, up to a constant, nats."""
    of_weights = prior.class_weight * parameters.log_weights.sum() if prior.class_weight else 0.0
    return float(of_weights) + family.log_prior(parameters, prior)


def run(
    blocks: Blocks | Elsewhere,
    start: Statistics,
    family: Family,
    prior: Prior,
    loop: Loop,
    on_epoch: Callable[[Fit], None] = lambda _: None,
    before: Sequence[float] = (),
) -> Fit:
    """Alternate M and E steps from the start's statistics; the objective never falls.

    `blocks` gives the rows anew for each epoch. `on_epoch` is told where EM stands after each one; what it raises
    ends the run. `before` is the trace of the fit that this one goes on from.
    """
    fit = Fit(start, family.maximize(start, prior))
    for epoch in range(1, loop.max_iter + 1):
        statistics = score(blocks, fit, family, prior, loop, fit.trace)
        if epoch == 1:
            fit.trace = continued(before, fit.trace)
        fit.is_converged = has_stopped(fit.trace, loop.tol * statistics.sizes.sum())
        on_epoch(fit)
        if fit.is_converged or epoch == loop.max_iter:
            break
        fit = Fit(statistics, family.maximize(statistics, prior), fit.trace)
    return fit


def score(
    blocks: Blocks | Elsewhere, fit: Fit, family: Family, prior: Prior, loop: Loop, trace: list[float]
) -> Statistics:
    """E step at the fit's parameters: note what the fit is worth, after `trace`, and return the statistics."""
    if isinstance(blocks, Elsewhere):
        statistics = blocks.summarize(fit.parameters, loop)
    else:
        statistics = summarize(blocks(), fit.parameters, is_hard=loop.is_hard, n_threads=loop.n_threads)
    fit.log_likelihood = statistics.log_likelihood
    fit.n_impossible, fit.n_rows = statistics.n_impossible, statistics.n_rows
    fit.is_hard = loop.is_hard
    fit.trace = [*trace, statistics.log_likelihood + log_prior(family, fit.parameters, prior)]
    return statistics


def continued(before: Sequence[float], trace: list[float]) -> list[float]:
    """The trace after a first epoch, which looks at the last one again: with `before`, if the rows are the same."""
    return [*before[:-1], *trace] if list(before[-1:]) == trace else trace


def has_stopped(trace: list[float], least_gain: float) -> bool:
    """Whether the last epoch gained no more than that."""
    return len(trace) > 1 and bool(trace[-1] - trace[-2] <= least_gain)
