"""Clusters as they are after sampling: sizes, counts, and what they say about rows and features."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.special import gammaln, logsumexp

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.hashed_gibbs import building, real_building, real_solution
from sparsemix.models.hashed_gibbs.answer_kernels import score_new_rows
from sparsemix.models.hashed_gibbs.real_building import RealHyperparameters
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.state import FloatMatrix, FloatVector, IntVector

CELLS = 4_000_000  # rows times clusters that are scored at a time


class Hyperparameters(NamedTuple):
    """Family and pseudo-counts, as numbers that a file can hold.

    family, process : names. concentration : per component (finite) or of the process. a, b : see `state.Prior`.
    """

    family: str
    process: str
    concentration: float
    discount: float
    a: float
    b: float


class Solution(NamedTuple):
    """Clusters with rows, those of a fit from the largest down.

    sizes : (K,) rows. counts : (K, n_features) CSR int64, sums of the rows' counts.
    """

    hyper: Hyperparameters
    sizes: IntVector
    counts: Any
    features: FeatureNames

    @property
    def n_parameters(self) -> int:
        """Natural parameters of a cluster."""
        return self.features.n_features


AnySolution = Solution | RealSolution
AnyHyperparameters = Hyperparameters | RealHyperparameters


def material_of(hyper: AnyHyperparameters, matrix: Any) -> tuple[Any, Any]:
    """The rows and the prior as chains want them."""
    if isinstance(hyper, RealHyperparameters):
        return matrix, real_building.prior_of(hyper)
    rows = building.rows_of(matrix.indptr, matrix.indices, matrix.data, matrix.shape[1])
    return rows, building.prior_of(rows, **hyper._asdict())


def solution_of(
    hyper: AnyHyperparameters, matrix: Any, labels: IntVector, features: FeatureNames
) -> AnySolution:
    """Statistics of a partition; O(nnz)."""
    if isinstance(hyper, RealHyperparameters):
        return real_solution.solution_of(hyper, matrix, labels, features)
    none = sparse.csr_array((0, features.n_features), dtype=np.int64)
    return grown(Solution(hyper, np.zeros(0, np.int64), none, features), matrix, labels, features)


def grown(solution: Solution, matrix: Any, labels: IntVector, features: FeatureNames) -> Solution:
    """Statistics with more rows, in clusters that are there or come after those; O(nnz).

    `features` are those of the rows, and begin with those of the solution.
    """
    n_clusters = max(solution.sizes.size, int(labels.max(initial=-1)) + 1)
    ones, numbers = np.ones(labels.size, np.int64), np.arange(labels.size)
    members = sparse.csr_array((ones, (labels, numbers)), shape=(n_clusters, labels.size))
    before = solution.counts.copy()
    before.resize((n_clusters, features.n_features))
    counts = sparse.csr_array(before + members @ matrix)
    counts.sort_indices()
    sizes = np.bincount(labels, minlength=n_clusters)
    sizes[: solution.sizes.size] += solution.sizes
    return Solution(solution.hyper, sizes, counts, features)


def log_weights(solution: AnySolution) -> FloatVector:
    """Log probability that the next row is of each cluster; with a process the rest is for new ones."""
    hyper, sizes = solution.hyper, solution.sizes
    if hyper.process == "finite":
        return np.asarray(np.log(sizes + hyper.concentration) - np.log(np.sum(sizes + hyper.concentration)))
    return np.asarray(np.log(sizes - hyper.discount) - np.log(sizes.sum() + hyper.concentration))


def betas(solution: Solution) -> tuple[Any, FloatVector, FloatVector]:
    """Beta posteriors of feature probabilities.

    Returns
    -------
    counts : (K, n_features) CSR, to be added to the first parameter a and, times -1, to `beta`.
    beta : (K,) second parameter of a feature that the cluster does not hold.
    total : (K,) sum of both.
    """
    hyper, sizes = solution.hyper, solution.sizes.astype(np.float64)
    if hyper.family == "bernoulli":
        total = sizes + hyper.a + hyper.b
    else:
        total = np.asarray(solution.counts.sum(axis=1), np.float64) + hyper.a * solution.features.n_features
    return solution.counts, total - hyper.a, total


def scores(solution: AnySolution, matrix: Any, question: Callable[[FloatMatrix], Any]) -> Iterator[Any]:
    """Ask about the rows of a matrix part by part, given log weight plus log predictive, (n_rows_of_part, K).

    O(K + cells of the row's features) a row; of real rows O(K n_features), with covariances O(K n_features**2).
    """
    step = max(1, CELLS // solution.sizes.size)
    log_total = np.log(solution.sizes.sum() + _prior_rows(solution))
    if isinstance(solution, RealSolution):
        parts = real_solution.raw_scores(solution, matrix, step)
    else:
        parts = _raw_scores(solution, matrix, step)
    for found in parts:
        yield question(found - log_total)


def _raw_scores(solution: Solution, matrix: Any, step: int) -> Iterator[FloatMatrix]:
    sums, n_features = solution.counts, solution.features.n_features
    members = building.rows_of(sums.indptr, sums.indices, sums.data, n_features)
    # Features in an order of the model's own, and not of the rows that are asked about together.
    rows = building.rows_of(
        matrix.indptr, matrix.indices, matrix.data, n_features, n_rows_with=members.n_rows_with
    )
    prior = building.prior_of(members, **solution.hyper._asdict())
    clusters = building.filled_clusters(members, prior, solution.sizes)
    n_rows, n_clusters = matrix.shape[0], solution.sizes.size
    for first in range(0, n_rows, step):
        last = min(n_rows, first + step)
        found = np.empty((last - first, n_clusters))
        score_new_rows(rows, first, last, prior, clusters, found)
        if solution.hyper.family == "poisson":
            ends = rows.indptr[first : last + 1]
            owner = np.repeat(np.arange(last - first), np.diff(ends))
            factorials = gammaln(rows.counts[ends[0] : ends[-1]] + 1.0)
            found -= np.bincount(owner, factorials, minlength=last - first)[:, None]
        yield found


def log_evidence(scores: FloatMatrix) -> FloatVector:
    """Log probability of each row; a new cluster of a process has no part in it."""
    return np.asarray(logsumexp(scores, axis=1))


def responsibilities(scores: FloatMatrix) -> FloatMatrix:
    """Posterior probabilities of the clusters; rows sum to one."""
    shares = np.exp(scores - scores.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _prior_rows(solution: AnySolution) -> float:
    hyper = solution.hyper
    return hyper.concentration * (solution.sizes.size if hyper.process == "finite" else 1)
