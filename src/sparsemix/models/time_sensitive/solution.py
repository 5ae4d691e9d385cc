"""Clusters as they are after sampling: who is in them and when, and what they say about rows and features."""

from collections.abc import Iterator
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from scipy.special import logsumexp

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.time_sensitive import building
from sparsemix.models.time_sensitive.answer_kernels import score_new_rows
from sparsemix.models.time_sensitive.rate_kernels import climb_rates
from sparsemix.models.time_sensitive.state import FloatMatrix, FloatVector, IntVector
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

MOST_CLIMBS = 100  # times that the rates of all clusters are set
CELLS = 4_000_000  # rows times clusters that are scored at a time


class Hyperparameters(NamedTuple):
    """Family and pseudo-counts, as numbers that a file can hold.

    a, b : see `state.Prior`. strict : whether rows of equal times know nothing of each other.
    negligible : share of a new cluster's weight below which a history takes no rows.
    """

    family: str
    concentration: float
    a: float
    b: float
    strict: bool
    negligible: float = building.NEGLIGIBLE

    @property
    def rules(self) -> dict[str, Any]:
        """Which members of a cluster count, as `building.timing_of` takes it."""
        return {"strict": self.strict, "negligible": self.negligible}


class Solution(NamedTuple):
    """A partition, its clusters numbered from the largest down.

    times : (n_rows,) seconds since 1970, ascending; labels : (n_rows,) cluster of each of these rows.
    matrix : (n_rows, n_features) CSR of int64, the same rows. counts : (K, n_features) their sums in each cluster.
    rate : (K,) which of the kernel's rates each cluster has, 0 unless there are several.
    """

    hyper: Hyperparameters
    kernel: TimeKernel
    times: FloatVector
    labels: IntVector
    matrix: Any
    counts: Any
    features: FeatureNames
    rate: IntVector

    @property
    def sizes(self) -> IntVector:
        """Rows of each cluster, (K,)."""
        return np.bincount(self.labels)


class Profiles(Protocol):
    """What clusters are made of, whoever has learnt them.

    counts : (K, n_features) CSR, sums of the rows of each cluster. sizes : (K,) its rows, or parts of rows.
    """

    @property
    def hyper(self) -> Hyperparameters:
        """Family and pseudo-counts."""
        ...

    @property
    def counts(self) -> Any:
        """Sums of the rows of each cluster."""
        ...

    @property
    def sizes(self) -> Any:
        """Rows of each cluster."""
        ...

    @property
    def features(self) -> FeatureNames:
        """The columns."""
        ...


class Scores(NamedTuple):
    """What is known of some new rows.

    log_joint : (n, K + 1) log prior weight plus log predictive of each cluster, and of a new one.
    log_weight : (n,) log of the sum of the prior weights.
    """

    log_joint: FloatMatrix
    log_weight: FloatVector


def sums_of(matrix: Any, labels: IntVector) -> Any:
    """Sums of the rows of each cluster, (K, n_features) CSR; O(nnz log nnz), and nothing for features without rows."""
    shape = int(labels.max(initial=-1)) + 1, matrix.shape[1]
    owners = np.repeat(labels, np.diff(matrix.indptr))
    return sparse.coo_array((matrix.data, (owners, matrix.indices)), shape).tocsr()


def log_weights(solution: Profiles) -> FloatVector:
    """Log share of each cluster where nothing is known of the time; the rest is for new ones."""
    sizes = solution.sizes
    return np.asarray(np.log(sizes) - np.log(sizes.sum() + solution.hyper.concentration))


def history_weights(solution: Solution, time: float) -> FloatVector:
    """Weight of the history of each cluster at a time, (K,); O(n_rows)."""
    is_past = solution.times <= time
    labels, ages = solution.labels[is_past], time - solution.times[is_past]
    if solution.kernel.rates:
        weights = np.exp(-np.array(solution.kernel.rates)[solution.rate[labels]] * ages)
    else:
        weights = solution.kernel.weights(ages)
    found = np.bincount(labels, weights, minlength=solution.counts.shape[0])
    return np.asarray(found, np.float64)


def with_partition(solution: Solution, labels: IntVector) -> Solution:
    """The same with another partition; where clusters have rates of their own, they are the most probable ones."""
    n_clusters = int(labels.max()) + 1
    rate = np.zeros(n_clusters, np.int64)
    hyper, kernel = solution.hyper, solution.kernel
    if kernel.rates:
        timing = building.timing_of(kernel, solution.times, hyper.concentration, **hyper.rules)
        chains = building.no_clusters(labels.size)
        building.fill(chains, timing, labels)
        climb_rates(timing, chains, hyper.concentration, MOST_CLIMBS)
        rate = chains.rate[:n_clusters].copy()
    return solution._replace(labels=labels, counts=sums_of(solution.matrix, labels), rate=rate)


def scores(solution: Solution, matrix: Any, times: FloatVector) -> Iterator[Scores]:
    """Ask about rows part by part, in their order.

    The prior weight of a cluster is that of its history, and of what the row would do to the members after it.
    Cost of a part: O(nnz of all rows + cells of the lists of the features of new ones).
    """
    step = max(1, CELLS // (solution.counts.shape[0] + 1))
    for first in range(0, matrix.shape[0], step):
        part = slice(first, first + step)
        yield _scores(solution, matrix[part], times[part], solution.kernel)


def responsibilities(solution: Solution, found: Scores, matrix: Any) -> FloatMatrix:
    """Posterior probabilities of the clusters; rows sum to one.

    Where the time rules out all of them it is left out, as with a step kernel.
    """
    joint = found.log_joint[:, :-1]
    lost = np.flatnonzero(np.isneginf(joint.max(axis=1)))
    if lost.size:
        timeless = _scores(solution, matrix[lost], np.full(lost.size, solution.times[-1]), TimeKernel.step())
        joint = joint.copy()
        joint[lost] = timeless.log_joint[:, :-1]
    shares = np.exp(joint - joint.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def new_share(found: Scores) -> FloatVector:
    """Probability that a row is in a cluster of its own."""
    return np.asarray(np.exp(found.log_joint[:, -1] - logsumexp(found.log_joint, axis=1)))


def log_evidence(found: Scores) -> FloatVector:
    """Log probability of each row, given its time and all rows that were learnt."""
    return np.asarray(logsumexp(found.log_joint, axis=1) - found.log_weight)


def _scores(solution: Solution, matrix: Any, times: FloatVector, kernel: TimeKernel) -> Scores:
    n_old, n_new, n_clusters = solution.times.size, times.size, solution.counts.shape[0]
    all_times = np.concatenate([solution.times, times])
    order = np.argsort(all_times, kind="stable")  # new rows stand after old ones of the same time
    rows = building.rows_of(sparse.vstack([solution.matrix, matrix], format="csr"), order)
    hyper = solution.hyper
    prior = building.prior_of(
        rows, solution.features.n_features, hyper.family, hyper.concentration, hyper.a, hyper.b
    )
    timing = building.timing_of(
        kernel,
        all_times[order],
        hyper.concentration,
        strict=hyper.strict and kernel.kind != "step",
        negligible=hyper.negligible,
    )
    chains, window = building.no_clusters(order.size), building.window_of(rows, prior, timing.rates.size)
    rate = solution.rate if kernel.rates else None
    building.fill(chains, timing, np.concatenate([solution.labels, np.full(n_new, -1)])[order], rate)
    found = Scores(np.full((n_new, n_clusters + 1), -np.inf), np.empty(n_new))
    score_new_rows(rows, prior, timing, chains, window, order - n_old, *found)
    return found
