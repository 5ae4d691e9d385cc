"""Breaking the symmetry: solve a buffer of first rows before the stream begins (ADS, section 4.2).

From identical components the updates keep them identical. The buffer is clustered by a few sweeps of batch
expectation maximisation from diverse seeds, repaired by split and merge moves on the collapsed evidence, and its
expected counts become the posterior from which streaming goes on.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.optimize import minimize_scalar

from sparsemix.models.online_profiles.batch import (
    Buffer,
    Expected,
    hard_labels,
    hard_statistics,
    partition_evidence,
    posterior_from,
    sweeps,
)
from sparsemix.models.online_profiles.state import Posterior
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.evidence import log_evidence
from sparsemix.probability.partition_moves import merge_round, repair_round
from sparsemix.probability.similarity import products, unit_rows

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

ROWS_PER_SEED = 40
SWEEPS_BEFORE_REPAIR = 8
SWEEPS_PER_ROUND = 2
SWEEPS_AT_THE_END = 6
MAX_ROUNDS = 8
FEW_MOVES = 0.02  # moves per component below which repair ends
LEAST_STRENGTH = 0.5  # pseudo-counts from which the strength of the prior is sought
MOST_SWEEPS = 30
HARDLY_MOVES = 0.002  # share of the rows below which a sweep moves too little for another one
WORK_OF_SWEEPS = 3e7  # entries times components that a start may touch until it settles ...
WORK_OF_STARTS = 6e7  # ... and that all starts together may touch in one sweep
MOST_STARTS = 60
SHORT_SWEEPS = 4  # of every start, by which the best are chosen
SHARE_SETTLED = 0.1  # of the starts, which are swept until they settle
TIMES_FOUND = 3  # after which a partition is unlikely to be the wrong one
SAME = 1e-9  # relative difference of two evidences that is rounding
ROWS_PER_BLOCK = 4_096


class Solution(NamedTuple):
    """A solved buffer; slots : (n_components,) the components among those that there were in between."""

    prior: BetaPrior
    posterior: Posterior
    log_evidence: float
    n_moves: int
    slots: IntVector


def solve(
    buffer: Buffer, rng: np.random.Generator, *, fit_strength: bool, most: int | None = None
) -> Solution:
    """Cluster the buffer: seeds, sweeps, rounds of repair, sweeps; about 50 passes of O(nnz) and more.

    With `fit_strength` the prior's strength is the one of highest evidence, found anew before each round of repair.
    With `most` above the number of components of the buffer, that number follows the evidence, up to `most`.
    """
    expected = _best_start(buffer, rng)
    most = buffer.n_components if most is None else most
    finds_number = most > buffer.n_components
    n_moves = 0
    for _ in range(MAX_ROUNDS):
        labels = hard_labels(buffer, expected)
        if fit_strength:
            buffer = _with_best_strength(buffer, hard_statistics(buffer, labels))
        if finds_number:
            buffer = replace(buffer, n_components=min(most, 2 * buffer.n_components))
        labels, n_round = _repaired(buffer, labels, rng, merge=finds_number)
        n_moves += n_round
        expected = sweeps(buffer, hard_statistics(buffer, labels), SWEEPS_PER_ROUND)
        if n_round <= FEW_MOVES * np.unique(labels).size:
            break
    slots = np.arange(buffer.n_components)
    if finds_number:
        buffer, expected, slots = _without_dead(buffer, hard_labels(buffer, expected))
    expected = settled(buffer, expected, SWEEPS_AT_THE_END)
    evidence = _rated(buffer, expected).evidence
    return Solution(buffer.family.prior, posterior_from(buffer, expected), evidence, n_moves, slots)


def _without_dead(buffer: Buffer, labels: IntVector) -> tuple[Buffer, Expected, IntVector]:
    """The buffer with the components that have rows or a name; their statistics, and which those were."""
    slots = np.union1d(labels, buffer.labels)
    slots = slots[slots >= 0]
    place = np.full(buffer.n_components + 1, -1)
    place[slots] = np.arange(slots.size)
    left = replace(buffer, n_components=slots.size, labels=place[buffer.labels])
    return left, hard_statistics(left, place[labels]), slots


def _repaired(
    buffer: Buffer, labels: IntVector, rng: np.random.Generator, *, merge: bool
) -> tuple[IntVector, int]:
    """One round of moves, with all merges that gain evidence by themselves if `merge`; components of labels stay."""
    movable = np.ones(buffer.n_components, bool)
    movable[buffer.labels[buffer.labels >= 0]] = False
    n_merges = 0
    if merge:
        labels, n_merges = merge_round(
            buffer.rows, labels, buffer.n_components, buffer.family, movable, buffer.n_threads
        )
    labels, n_moves = repair_round(
        buffer.rows, labels, buffer.n_components, buffer.family, rng, movable, buffer.n_threads
    )
    return labels, n_merges + n_moves


def _with_best_strength(buffer: Buffer, partition: Expected) -> Buffer:
    """Choose the prior's strength by evidence (type II maximum likelihood), its mean kept.

    The prior never outweighs the rows of an average component: where most rows tell nothing, evidence alone would
    end with a prior that makes all components the same.
    """
    mean = buffer.family.prior.alpha / (buffer.family.prior.alpha + buffer.family.prior.beta)

    def family_of(log_strength: float) -> BetaBernoulli:
        return replace(buffer.family, prior=BetaPrior.from_mean(mean, float(np.exp(log_strength))))

    def cost(log_strength: float) -> float:
        family = family_of(log_strength)
        return -float(log_evidence(family, partition.sizes, partition.counts, buffer.n_threads).sum())

    most = buffer.rows.shape[0] / buffer.n_components
    bounds = (np.log(LEAST_STRENGTH), np.log(max(most, 2 * LEAST_STRENGTH)))
    best = minimize_scalar(cost, bounds=bounds, method="bounded", options={"xatol": 0.15})
    return replace(buffer, family=family_of(float(best.x)))


def _best_start(buffer: Buffer, rng: np.random.Generator) -> Expected:
    """Short runs from several seedings, of which the best settle; the one of highest evidence."""
    short = sorted(_short_runs(buffer, rng), key=lambda run: -run.evidence)
    least = SWEEPS_BEFORE_REPAIR - SHORT_SWEEPS
    best = short[: int(np.ceil(SHARE_SETTLED * len(short)))]
    runs = [_rated(buffer, settled(buffer, run.expected, least)) for run in best]
    return max(runs, key=lambda run: run.evidence).expected


class Rated(NamedTuple):
    """Expected statistics, and the evidence of the partition that they make most probable."""

    expected: Expected
    evidence: float


def _rated(buffer: Buffer, expected: Expected) -> Rated:
    labels = hard_labels(buffer, expected)
    return Rated(expected, partition_evidence(buffer, hard_statistics(buffer, labels)))


def _short_runs(buffer: Buffer, rng: np.random.Generator) -> list[Rated]:
    """A few sweeps from each seeding: more seedings where a sweep is cheap, fewer where the best comes again."""
    runs: list[Rated] = []
    for _ in range(min(_affordable(buffer, 1, WORK_OF_STARTS), MOST_STARTS)):
        seeded = hard_statistics(buffer, _first_labels(buffer, rng))
        runs.append(_rated(buffer, sweeps(buffer, seeded, SHORT_SWEEPS)))
        evidence = np.array([run.evidence for run in runs])
        if np.isclose(evidence, evidence.max(), rtol=SAME, atol=0.0).sum() >= TIMES_FOUND:
            break
    return runs


def settled(buffer: Buffer, expected: Expected, least: int, work: float = WORK_OF_SWEEPS) -> Expected:
    """At least so many sweeps, and more where they are cheap, until next to no rows change their component.

    All together touch at most `work` entries times components, if the least do.
    """
    expected = sweeps(buffer, expected, least - 1)
    for _ in range(min(_affordable(buffer, least, work), MOST_SWEEPS) - least + 1):
        before, expected = expected.sizes, sweeps(buffer, expected, 1)
        if np.abs(expected.sizes - before).sum() < HARDLY_MOVES * buffer.rows.shape[0]:
            break
    return expected


def _affordable(buffer: Buffer, least: int, work: float) -> int:
    return max(least, int(work // max(buffer.rows.nnz * buffer.n_components, 1)))


def _first_labels(buffer: Buffer, rng: np.random.Generator) -> IntVector:
    """Each row to its most similar seed; O(n_components nnz). Known rows seed their own component as well."""
    n_rows, n_components = buffer.rows.shape[0], buffer.n_components
    sample = np.sort(rng.choice(n_rows, min(n_rows, ROWS_PER_SEED * n_components), replace=False))
    seeds = sample[diverse_rows(buffer.rows[sample], n_components, rng, buffer.n_threads)]
    seed_of = np.where(np.isin(np.arange(n_rows), seeds), -1, buffer.labels)
    free = np.setdiff1d(np.arange(n_components), buffer.labels)[: seeds.size]
    seed_of[seeds[: free.size]] = free
    profiles = unit_rows(cluster_counts(buffer.rows, seed_of, n_components))
    labels = np.empty(n_rows, np.int64)
    for first in range(0, n_rows, ROWS_PER_BLOCK):
        block = buffer.rows[first : first + ROWS_PER_BLOCK]
        similarity = products(block, profiles, buffer.n_threads)
        labels[first : first + ROWS_PER_BLOCK] = similarity.argmax(axis=1)
    return np.where(buffer.labels >= 0, buffer.labels, labels)


def diverse_rows(
    rows: sparse.csr_array, n_wanted: int, rng: np.random.Generator, n_threads: int = 1
) -> IntVector:
    """Pick rows far from each other by greedy k-means++ on cosine distance; O(n_wanted nnz)."""
    units = unit_rows(rows)
    distance = np.where(np.diff(rows.indptr) > 0, 1.0, 1e-12)
    n_tries = 2 + int(np.log(n_wanted))
    chosen = np.empty(min(n_wanted, rows.shape[0]), np.int64)
    for s in range(chosen.size):
        cumulative = np.cumsum(distance)
        tries = np.searchsorted(cumulative, rng.random(n_tries) * cumulative[-1])
        tries = np.minimum(tries, distance.size - 1)
        gap = np.maximum(1.0 - products(units, units[tries], n_threads), 1e-12)
        left = np.minimum(distance[:, None], gap)
        best = int(left.sum(axis=0).argmin())
        chosen[s], distance = tries[best], left[:, best]
    return chosen
