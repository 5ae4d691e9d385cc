"""Batch expectation maximisation on a buffer of rows that are held back."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.special import gammaln, xlog1py, xlogy

from sparsemix.data.inputs import RowBlock
from sparsemix.models.online_profiles import scoring_kernels
from sparsemix.models.online_profiles.state import Entries, Posterior, ScoreIndex, build_index, packed
from sparsemix.numeric.sorting import stable_order
from sparsemix.numeric.threads import row_parts, thread_runner
from sparsemix.probability.beta_bernoulli import BetaBernoulli
from sparsemix.probability.cluster_counts import cluster_counts, weighted_counts
from sparsemix.probability.evidence import log_evidence

FloatVector = NDArray[np.float64]
IntVector = NDArray[np.int64]

LEARNERS_PER_ROW = 4


class Expected(NamedTuple):
    """Expected statistics of the buffer.

    sizes : (n_components,) mass of each component.
    counts : (n_components, n_features) CSR, mass that holds each feature.
    clutter : mass of the clutter, and the sum of its rows' shares of features.
    """

    sizes: FloatVector
    counts: sparse.csr_array
    clutter: tuple[float, float]


@dataclass(frozen=True)
class Buffer:
    """The first rows, and the model that they are to prime.

    rows : (n_rows, n_features) CSR of ones; labels : (n_rows,) component known for a row, or -1.
    clutter : whether one more component, the last, has a single Beta for all features.
    least : responsibility below which a component does not learn from a row.
    n_threads : threads to work with, which change no bit.
    """

    rows: sparse.csr_array
    labels: IntVector
    family: BetaBernoulli
    n_components: int
    clutter: bool
    least: float
    n_threads: int = 1


def stacked(blocks: list[RowBlock], n_features: int) -> sparse.csr_array:
    """The rows of blocks one after the other, as a matrix of ones."""
    return sparse.csr_array(sparse.vstack([block.to_csr(n_features) for block in blocks], format="csr"))


def hard_statistics(buffer: Buffer, labels: IntVector) -> Expected:
    """Statistics of a partition; rows labelled -1 are the clutter's."""
    sizes = np.bincount(labels[labels >= 0], minlength=buffer.n_components).astype(float)
    lengths = np.diff(buffer.rows.indptr)[labels < 0]
    counts = cluster_counts(buffer.rows, labels, buffer.n_components, buffer.n_threads)
    return Expected(sizes, counts, (float(lengths.size), float(lengths.sum()) / buffer.rows.shape[1]))


def posterior_from(buffer: Buffer, expected: Expected) -> Posterior:
    """Prior plus expected statistics; every counted feature becomes explicit."""
    a, b = buffer.family.prior
    sizes, counts = expected.sizes, expected.counts
    per_component = np.diff(counts.indptr).astype(np.int64)
    mass, on = expected.clutter
    extra = int(buffer.clutter)
    off = np.maximum(np.repeat(sizes, per_component) - counts.data, 0.0) + b
    return packed(
        np.append(sizes, [mass] * extra) + buffer.family.weight_concentration,
        (np.append(np.full(sizes.size, a), [a + on] * extra), np.append(sizes + b, [b + mass - on] * extra)),
        np.append(per_component, np.zeros(extra, np.int64)),
        Entries(counts.indices.astype(np.int32), counts.data + a, off),
    )


def sweeps(buffer: Buffer, expected: Expected, n_sweeps: int) -> Expected:
    """Learn the buffer anew so many times from what was expected; a sweep costs O(n_components nnz)."""
    for _ in range(n_sweeps):
        expected = expected_of(buffer, _learners(buffer, expected))
    return expected


class Learners(NamedTuple):
    """Who is responsible for which row: parallel vectors, sorted by component and then by row."""

    rows: IntVector
    components: NDArray[np.int32]
    responsibilities: FloatVector


def _learners(buffer: Buffer, expected: Expected) -> Learners:
    n_features, n_threads = buffer.rows.shape[1], buffer.n_threads
    return learners_of(buffer, build_index(posterior_from(buffer, expected), n_features, n_threads))


def learners_of(buffer: Buffer, index: ScoreIndex) -> Learners:
    """Responsibilities of all rows without the negligible ones; known rows belong to their component.

    O(n_components nnz).
    """
    indptr = buffer.rows.indptr.astype(np.int64)
    parts = row_parts(indptr, buffer.n_threads)
    found: dict[tuple[int, int], list[Learners]] = {}

    def find(part: tuple[int, int]) -> None:
        found[part] = _found(buffer, index, indptr, *part)

    with thread_runner(buffer.n_threads) as run:
        run(find, parts)
    lists = [learners for part in parts for learners in found[part]]
    merged = Learners._make(np.concatenate(columns) for columns in zip(*lists, strict=True))
    order = stable_order(merged.components, index.base.size)
    return Learners._make(column[order] for column in merged)


def _found(buffer: Buffer, index: ScoreIndex, indptr: IntVector, first: int, last: int) -> list[Learners]:
    """Responsibilities of the rows from `first` to the one before `last`, by row, in pieces."""
    n_rows = last - first
    room = LEARNERS_PER_ROW * n_rows + index.base.size
    no_rival = np.full(n_rows, -np.inf)
    pieces: list[Learners] = []
    while first < last:
        found = Learners(np.empty(room, np.int64), np.empty(room, np.int32), np.empty(room))
        first, count, _ = scoring_kernels.find_learners(
            indptr, buffer.rows.indices, buffer.labels[:last], first, index, buffer.least,
            np.empty(index.base.size), no_rival, np.empty(last), *found, np.empty(0, np.int64),
        )  # fmt: skip
        pieces.append(Learners._make(column[:count] for column in found))
    return pieces


def expected_of(buffer: Buffer, learners: Learners) -> Expected:
    """Statistics of rows that are shared so; O(nnz of their rows)."""
    n_components = buffer.n_components + int(buffer.clutter)
    shares = learners.responsibilities
    sizes = np.asarray(np.bincount(learners.components, weights=shares, minlength=n_components), float)
    n_ordinary = int(np.searchsorted(learners.components, buffer.n_components))
    counts = weighted_counts(
        buffer.rows,
        learners.rows[:n_ordinary],
        learners.components[:n_ordinary].astype(np.int64),
        shares[:n_ordinary],
        buffer.n_components,
        buffer.n_threads,
    )
    lengths = np.diff(buffer.rows.indptr)[learners.rows[n_ordinary:]]
    on = float(lengths @ shares[n_ordinary:]) / buffer.rows.shape[1]
    return Expected(sizes[: buffer.n_components], counts, (float(sizes[buffer.n_components :].sum()), on))


def hard_labels(buffer: Buffer, expected: Expected) -> IntVector:
    """Most probable component of each row, -1 for the clutter."""
    learners = _learners(buffer, expected)
    weakest_first = np.argsort(learners.responsibilities, kind="stable")
    labels = np.empty(buffer.rows.shape[0], np.int64)
    labels[learners.rows[weakest_first]] = learners.components[weakest_first]
    return np.where(labels < buffer.n_components, labels, -1)


def partition_evidence(buffer: Buffer, partition: Expected) -> float:
    """Log probability of the buffer and its partition, parameters integrated out (the clutter's at their mean)."""
    family, n_features = buffer.family, buffer.rows.shape[1]
    gamma = family.weight_concentration
    total = float(log_evidence(family, partition.sizes, partition.counts, buffer.n_threads).sum())
    if buffer.clutter:
        mass, on = partition.clutter
        mean = (family.prior.alpha + on) / (family.prior.alpha + family.prior.beta + mass)
        total += n_features * float(xlogy(on, mean) + xlog1py(mass - on, -mean))
        total += float(gammaln(gamma + mass) - gammaln(gamma))
    concentration = gamma * (buffer.n_components + int(buffer.clutter))
    return total + float(gammaln(concentration) - gammaln(concentration + buffer.rows.shape[0]))
