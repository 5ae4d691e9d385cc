"""Where EM starts: statistics of a first guess, from seeds, at random, or from what is given.

A guess is made from some of the rows, so that its cost does not grow with the table; rows with a known component are
always among them.
"""

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from sparsemix.foundation.errors import parameter_error
from sparsemix.models.em import engine
from sparsemix.models.em.families import Family
from sparsemix.models.em.state import FloatMatrix, FloatVector, IntVector, Prior, Rows, Statistics, joined
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.partition_moves import repair_round

FEWEST_ROWS, ROWS_PER_COMPONENT = 20_000, 100
OWN_SHARE = 0.5  # of a seed in its first profile; the rest is the average row
POSITIVE = 1e-6  # pseudo-count that keeps average profiles off zero and one
REPAIR_ROUNDS, SWEEPS_PER_ROUND = 10, 3
FEW_MOVES = 0.02  # moves per component below which another round is not worth it
NOISE = 0.1
MOST_WAITING = 4  # times the wanted rows are kept before some are put back


class Ground(NamedTuple):
    """What every start needs to know.

    rows : the rows of the guess; n_features, n_components : sizes of the mixture; family; prior.
    """

    rows: Rows
    n_features: int
    n_components: int
    family: Family
    prior: Prior

    def matrix(self) -> sparse.csr_array:
        """The rows, (n_rows, n_features)."""
        return self.rows.to_csr(self.n_features)


def some_rows(blocks: Iterable[Rows], n_components: int, rng: np.random.Generator) -> Rows:
    """As many rows as a guess takes, drawn without replacement, and all with a label; their order is kept."""
    n_wanted = rows_wanted(n_components)
    kept, tickets, n_kept = [], [], 0
    for block in blocks:
        kept.append(block)
        tickets.append(drawn_tickets(block, rng))
        n_kept += block.n_rows
        if n_kept > MOST_WAITING * n_wanted:
            kept, tickets = with_lowest_tickets(kept, tickets, n_wanted)
            n_kept = kept[0].n_rows
    if n_kept > n_wanted:
        kept, _ = with_lowest_tickets(kept, tickets, n_wanted)
    return joined(kept)


def rows_wanted(n_components: int) -> int:
    """Rows without a label that a guess takes, if there are so many."""
    return max(FEWEST_ROWS, ROWS_PER_COMPONENT * n_components)


def drawn_tickets(rows: Rows, rng: np.random.Generator) -> FloatVector:
    """A number for each row, (n_rows,); the lowest are taken, and those of rows with a label are below all others."""
    return np.where(rows.labels >= 0, -1.0, rng.random(rows.n_rows))


def with_lowest_tickets(
    blocks: list[Rows], tickets: list[FloatVector], n_wanted: int
) -> tuple[list[Rows], list[FloatVector]]:
    """The rows with the lowest tickets, in their order, and all with a label; and their tickets."""
    rows, ticket = joined(blocks), np.concatenate(tickets)
    unknown = ticket[ticket >= 0.0]
    last = np.partition(unknown, n_wanted - 1)[n_wanted - 1] if unknown.size > n_wanted else np.inf
    chosen = np.flatnonzero(ticket <= last)
    return [rows.taken(chosen)], [ticket[chosen]]


def from_given(blocks: Iterable[Rows], given: Any, n_components: int, n_features: int) -> Statistics:
    """Expected counts under given responsibilities; ParameterError unless they are (n_rows, n_components) shares."""
    rule = f"a (n_rows, {n_components}) array of shares >= 0 that sum to one in each row"
    try:
        shares = np.asarray(given, np.float64)
    except (TypeError, ValueError, OverflowError) as error:
        raise parameter_error("init", "fit", rule, given) from error
    good = shares.ndim == 2 and shares.shape[1] == n_components and bool(np.all(shares >= 0.0))
    if not good or not np.allclose(shares.sum(axis=1), 1.0):
        raise parameter_error("init", "fit", rule, given)
    total, first = Statistics.zeros(n_components, n_features), 0
    for block in blocks:
        part = shares[first : first + block.n_rows]
        if part.shape[0] < block.n_rows:
            raise parameter_error("init", "fit", rule, given, "It has too few rows.")
        total += from_responsibilities(block, part, n_features)
        first += block.n_rows
    if first != shares.shape[0]:
        raise parameter_error("init", "fit", rule, given, f"There are {first} rows.")
    return total


def from_responsibilities(rows: Rows, responsibilities: FloatMatrix, n_features: int) -> Statistics:
    """Expected counts under responsibilities, (n_rows, n_components); known labels overrule them. O(nnz x K)."""
    shares = responsibilities.copy()
    known = np.flatnonzero(rows.labels >= 0)
    shares[known] = 0.0
    shares[known, rows.labels[known]] = 1.0
    total = Statistics.zeros(shares.shape[1], n_features)
    engine.add_expected(total, rows, shares)
    return total


def at_random(ground: Ground, rng: np.random.Generator) -> Statistics:
    """Responsibilities drawn uniformly from the simplex, all components nearly alike."""
    draws = rng.standard_exponential((ground.rows.n_rows, ground.n_components))
    draws /= draws.sum(axis=1, keepdims=True)
    return from_responsibilities(ground.rows, draws, ground.n_features)


def from_seeds(ground: Ground, rng: np.random.Generator) -> Statistics:
    """Rows far from one another as first profiles: greedy k-means++ in the family's own divergence.

    Components with labelled rows start from those. O(n_components x log n_components x nnz of the rows).
    """
    rows, weight = ground.matrix(), ground.rows.row_weights
    average = (rows.T @ weight) / weight.sum()
    known = _known(ground)
    profiles = np.zeros((ground.n_features, ground.n_components))
    highest, nearest = ground.family.highest(rows), np.full(rows.shape[0], np.inf)
    n_tries = 2 + int(np.log(ground.n_components))
    for k in np.argsort(known.sizes == 0.0, kind="stable"):
        if known.sizes[k] > 0.0:
            tries = (known.counts[:, [k]] / known.sizes[k]).T
        else:
            masses = np.where(np.isfinite(nearest), nearest, 1.0) * weight
            tries = rows[_drawn(masses, n_tries, rng)].toarray()
        blends = OWN_SHARE * tries + (1.0 - OWN_SHARE) * average
        left = np.minimum(nearest[:, None], _divergences(ground, highest, blends))
        best = int(np.argmin(weight @ left))
        profiles[:, k], nearest = blends[best], left[:, best]
    size = weight.sum() / ground.n_components
    return Statistics(np.full(ground.n_components, size), size * profiles)


def _known(ground: Ground) -> Statistics:
    """What labels and seed words tell about the components; a seed word counts as that many rows with it alone."""
    known = _of_partition(ground, ground.rows.labels)
    if ground.prior.seeds is not None:
        seeds = ground.prior.seeds
        known.counts += seeds.toarray()
        known.sizes += np.asarray(seeds.max(axis=0).toarray()).ravel()
    return known


def _drawn(masses: FloatVector, n: int, rng: np.random.Generator) -> IntVector:
    """`n` positions, each with a probability proportional to its mass; any of them where no mass is left."""
    cumulative = np.cumsum(masses if masses.any() else np.ones_like(masses))
    found = np.searchsorted(cumulative, rng.random(n) * cumulative[-1], side="right")
    return np.asarray(np.minimum(found, masses.size - 1), np.int64)


def _divergences(ground: Ground, highest: FloatVector, blends: FloatMatrix) -> FloatMatrix:
    """How far each row is from each of the profiles, nats, the family's Bregman divergence; (n_rows, n_blends).

    That is what the row's probability falls short of `highest`.
    """
    n_blends = blends.shape[0]
    parameters = ground.family.maximize(Statistics(np.ones(n_blends), blends.T.copy()), Prior(POSITIVE, 0.0))
    log_likelihoods = np.empty((ground.rows.n_rows, n_blends))
    engine.log_joint(ground.rows, parameters, log_likelihoods)
    log_likelihoods -= parameters.log_weights
    return np.maximum(highest[:, None] - log_likelihoods, 0.0)


def repaired(ground: Ground, rng: np.random.Generator) -> Statistics:
    """Seeds, a few epochs, then splits and merges that raise the collapsed evidence of the partition.

    About ten rounds of O(nnz x n_components); see `probability.partition_moves`.
    """
    statistics = from_seeds(ground, rng)
    rows = ground.matrix()
    collapsed = ground.family.collapsed(np.asarray(rows.mean(axis=0)).ravel())
    movable = np.ones(ground.n_components, bool)
    movable[ground.rows.labels[ground.rows.labels >= 0]] = False
    loop = engine.Loop(max_iter=SWEEPS_PER_ROUND)
    for _ in range(REPAIR_ROUNDS):
        fit = engine.run(lambda: [ground.rows], statistics, ground.family, ground.prior, loop)
        labels = engine.assignments([ground.rows], fit.parameters)
        labels, n_moves = repair_round(rows, labels, ground.n_components, collapsed, rng, movable)
        statistics = _of_partition(ground, labels)
        if n_moves <= FEW_MOVES * ground.n_components:
            break
    return statistics


def _of_partition(ground: Ground, labels: IntVector) -> Statistics:
    """Statistics of rows that are in one component each, -1 in none."""
    weights = ground.rows.row_weights
    sizes = np.bincount(labels[labels >= 0], weights[labels >= 0], ground.n_components).astype(np.float64)
    weighted = sparse.csr_array(sparse.diags_array(weights) @ ground.matrix())
    counts = cluster_counts(weighted, labels, ground.n_components)
    return Statistics(sizes, np.ascontiguousarray(counts.toarray().T))


def alike(statistics: Statistics) -> bool:
    """Whether two components are the same: EM would keep them so for ever (TEXT, question 8). O(K x D)."""
    live = np.flatnonzero(statistics.sizes > 0.0)
    profiles = statistics.counts[:, live] / statistics.sizes[live]
    return len({profile.tobytes() for profile in np.round(profiles, 12).T + 0.0}) < live.size


def shaken(statistics: Statistics, rng: np.random.Generator) -> Statistics:
    """The statistics with noise of a tenth, so that no two components stay alike."""
    noise = 1.0 + NOISE * (rng.random(statistics.counts.shape) - 0.5)
    return Statistics(statistics.sizes, statistics.counts * noise)


STARTS: dict[str, Callable[[Ground, np.random.Generator], Statistics]] = {
    "repaired": repaired,
    "k-means++": from_seeds,
    "random": at_random,
}
