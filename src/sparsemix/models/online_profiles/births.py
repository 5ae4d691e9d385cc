"""Which rows that wait are a topic of their own, and which components make room for it.

The rows are cut in two, and their parts again, as long as the evidence of the parts is higher. A part becomes a
component if its evidence is higher than what the components make of its rows one by one, and if no component would
rather have it whole; where no slot is free, if that and the cheapest merge gain together.
"""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.models.online_profiles.batch import Buffer, hard_labels, hard_statistics, sweeps
from sparsemix.probability.beta_bernoulli import BetaBernoulli
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.evidence import log_evidence
from sparsemix.probability.partition_moves import Merge, best_merges, gaining, repair_round
from sparsemix.probability.similarity import cosines

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

MOST_PARTS = 32
MAX_ROUNDS = 8
LIKELY_TAKERS = 4  # components that are asked whether they would rather have a part whole
SWEEPS_PER_ROUND = 2


class Parts(NamedTuple):
    """Parts of the rows that wait.

    labels : (n_rows,) part of each row; sizes : (n_parts,); counts : (n_parts, n_features) CSR.
    """

    labels: IntVector
    sizes: FloatVector
    counts: sparse.csr_array


@dataclass(frozen=True)
class Components:
    """The components as evidence has them.

    sizes : (n_components,); counts : (n_components, n_features) CSR; allowed : (n_components,) bool, which may merge.
    n_free : components that may still come.
    """

    sizes: FloatVector
    counts: sparse.csr_array
    allowed: NDArray[np.bool_]
    n_free: int
    family: BetaBernoulli
    n_threads: int = 1


class Moves(NamedTuple):
    """What is to happen: merges of components, disjoint pairs, and the parts that are born."""

    merges: list[Merge]
    births: IntVector


def cut(rows: sparse.csr_array, family: BetaBernoulli, least: float, rng: np.random.Generator) -> Parts:
    """Cut rows as long as that gains evidence; a round costs a few passes of O(nnz), the first is often the last."""
    labels = np.zeros(rows.shape[0], np.int64)
    buffer = Buffer(rows, np.full(rows.shape[0], -1), family, MOST_PARTS, clutter=False, least=least)
    movable = np.ones(MOST_PARTS, bool)
    for _ in range(MAX_ROUNDS):
        labels, n_moves = repair_round(rows, labels, MOST_PARTS, family, rng, movable)
        if not n_moves:
            break
        labels = hard_labels(buffer, sweeps(buffer, hard_statistics(buffer, labels), SWEEPS_PER_ROUND))
    labels = np.unique(labels, return_inverse=True)[1]
    n_parts = int(labels.max()) + 1
    sizes = np.bincount(labels, minlength=n_parts).astype(float)
    return Parts(labels, sizes, cluster_counts(rows, labels, n_parts))


def choose(parts: Parts, without: FloatVector, components: Components, *, shrink: bool) -> Moves:
    """Find the births that gain evidence, and a merge for each for which no slot is free.

    Parameters
    ----------
    parts : Parts
    without : (n_rows,)
        What the components make of each row: log of the summed weights times likelihoods.
    components : Components
    shrink : bool
        Whether components also merge for no other reason than that it gains evidence.
    """
    family, n_threads = components.family, components.n_threads
    own = log_evidence(family, parts.sizes, parts.counts, n_threads)
    gains = own - np.bincount(parts.labels, weights=without, minlength=parts.sizes.size)
    if not (shrink or np.any(gains > 0)):
        return Moves([], np.empty(0, np.int64))
    _leave_wanted(gains, parts, own, components)
    merges: list[Merge] = []
    if shrink or np.count_nonzero(gains > 0) > components.n_free:
        sizes, counts = components.sizes, components.counts
        alone = log_evidence(family, sizes, counts, n_threads)
        merges = best_merges(sizes, counts, alone, family, components.allowed, n_threads)
    given = gaining(merges) if shrink else []
    return _paired(gains, given, merges, components.n_free + len(given))


def _leave_wanted(gains: FloatVector, parts: Parts, own: FloatVector, components: Components) -> None:
    """Strike out the gains of parts that one of the most similar components would rather have whole."""
    sizes, counts, n_threads = components.sizes, components.counts, components.n_threads
    those = np.flatnonzero(components.allowed & (sizes > 0))
    born = np.flatnonzero(gains > 0)
    if not those.size or not born.size:
        return
    similarity = cosines(parts.counts[born], counts[those], n_threads)
    near = np.argsort(-similarity, axis=1, kind="stable")[:, :LIKELY_TAKERS]
    part, taker = np.repeat(born, near.shape[1]), those[near.ravel()]
    taking = sparse.csr_array(counts[taker])
    alone = log_evidence(components.family, sizes[taker], taking, n_threads)
    joined = (parts.sizes[part] + sizes[taker], parts.counts[part] + taking)
    whole = log_evidence(components.family, *joined, n_threads)
    gains[part[whole > own[part] + alone]] = -np.inf


def _paired(gains: FloatVector, given: list[Merge], merges: list[Merge], n_free: int) -> Moves:
    """The best births first, each with the cheapest merge of two components where no slot is free."""
    chosen, births = list(given), []
    used = {k for merge in given for k in (merge.first, merge.second)}
    for part in np.argsort(-gains, kind="stable"):
        if n_free <= 0:
            cheapest = next((m for m in merges if not {m.first, m.second} & used), None)
            if cheapest is None or cheapest.gain + gains[part] <= 0:
                break
            chosen.append(cheapest)
            used |= {cheapest.first, cheapest.second}
            n_free += 1
        if gains[part] <= 0:
            break
        births.append(int(part))
        n_free -= 1
    return Moves(chosen, np.array(births, np.int64))
