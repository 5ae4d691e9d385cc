"""New rows in clusters that stay: one after another they enter, and no other row moves."""

from typing import Any

import numpy as np

from sparsemix.data.feature_names import FeatureNames
from sparsemix.models.hashed_gibbs import building, real_solution
from sparsemix.models.hashed_gibbs.answer_kernels import enter_rows
from sparsemix.models.hashed_gibbs.engine import Chain, Plan
from sparsemix.models.hashed_gibbs.kernels import add_rows
from sparsemix.models.hashed_gibbs.real_building import prior_of
from sparsemix.models.hashed_gibbs.real_engine import RealChain
from sparsemix.models.hashed_gibbs.real_solution import RealSolution
from sparsemix.models.hashed_gibbs.solution import AnySolution, Solution, grown
from sparsemix.models.hashed_gibbs.state import FloatVector, IntVector

PLACES = 64  # for new clusters, at least, before statistics are made anew


def n_places(solution: AnySolution, n_components: int, n_rows: int) -> int:
    """Clusters that there may be after as many new rows, with those that stay empty.

    A process needs no more places than there are new rows.
    """
    n_live = int(solution.sizes.size)
    if solution.hyper.process == "finite":
        return max(n_live, n_components)
    return n_live + min(n_rows, max(0, n_components - n_live))


def enter(
    solution: AnySolution,
    matrix: Any,
    features: FeatureNames,
    n_clusters: int,
    plan: Plan,
    n_sweeps: int,
    seed: np.random.SeedSequence,
) -> tuple[AnySolution, IntVector]:
    """Let the rows of a CSR matrix enter in their order, then visit them alone.

    Parameters
    ----------
    solution : Solution or RealSolution
        Clusters that keep their numbers and rows.
    matrix : (n_rows, n_features) CSR int64, or dense float64
    features : FeatureNames
        Those of `matrix`, which begin with those of `solution`.
    n_clusters : int
        See `n_places`.
    plan : Plan
        Proposals of the sweeps.
    n_sweeps : int
        Visits to all new rows.
    seed : SeedSequence

    Returns
    -------
    solution : Solution or RealSolution
        With the new rows; new clusters come after the others, in the order in which rows are in them.
    labels : (n_rows,) ndarray of int
    """
    chain: RealChain | JoiningChain
    if isinstance(solution, RealSolution):
        chain = RealChain(matrix, prior_of(solution.hyper), n_clusters, plan, seed, solution.clusters)
    else:
        chain = JoiningChain(solution, matrix, features.n_features, n_clusters, plan, seed)
    chain.enter_in_order(np.random.default_rng(seed).random(chain.assigned.size))
    for _ in range(n_sweeps):
        chain.sweep(adapts=False)
    labels = _numbered(chain.assigned, solution.sizes.size)
    if isinstance(solution, RealSolution):
        return real_solution.grown(solution, matrix, labels), labels
    return grown(solution, matrix, labels, features), labels


class JoiningChain(Chain):
    """A chain of new rows of counts, in clusters that hold old ones and come first.

    Parameters
    ----------
    solution : Solution
    matrix : (n_rows, n_features) CSR int64
    n_features : int
    n_clusters : int
    plan : Plan
    seed : SeedSequence
    """

    def __init__(
        self,
        solution: Solution,
        matrix: Any,
        n_features: int,
        n_clusters: int,
        plan: Plan,
        seed: np.random.SeedSequence,
    ) -> None:
        sums = solution.counts
        members = building.rows_of(sums.indptr, sums.indices, sums.data, n_features)
        rows = building.rows_of(matrix.indptr, matrix.indices, matrix.data, n_features)
        self._members = members._replace(
            n_rows_with=members.n_rows_with + rows.n_rows_with,
            feature_totals=members.feature_totals + rows.feature_totals,
        )
        prior = building.prior_of(self._members, **solution.hyper._asdict())
        self._sizes, self._is_process = solution.sizes, solution.hyper.process == "dp"
        super().__init__(rows, prior, n_clusters, plan, seed)

    def enter_in_order(self, uniforms: FloatVector) -> None:
        """Let all rows enter in their order, each drawn from its full conditional given those before it.

        A process needs few places for new clusters at a time; the others would only take time.
        """
        n_live, entered, n_places = self._sizes.size, 0, self._n_clusters
        while entered < self.assigned.size:
            if self._is_process:
                n_places = min(self._n_clusters, 2 * n_live + PLACES)
            self._make_clusters(n_places)
            if not entered:
                self.take_frame()
            state = (self.rows, self.prior, self.clusters, self._n_clusters)
            entered = enter_rows(*state, entered, self.assigned, uniforms)
            n_live = n_places - int(self.clusters.n_empty[0])
        if n_places != self._n_clusters:
            self._make_clusters(self._n_clusters)
        self.choose_proposals()

    def _make_clusters(self, n_clusters: int) -> None:
        """The statistics of all rows that are in, with places for new clusters."""
        sizes = np.concatenate([self._sizes, np.zeros(n_clusters - self._sizes.size, np.int64)])
        self.clusters = building.filled_clusters(self._members, self.prior, sizes)
        add_rows(self.rows, self.prior, self.clusters, self.assigned)


def _numbered(assigned: IntVector, n_live: int) -> IntVector:
    """The same clusters, but those from `n_live` on numbered without gaps as rows first are in them."""
    is_new = assigned >= n_live
    _, first, of_row = np.unique(assigned[is_new], return_index=True, return_inverse=True)
    rank = np.empty(first.size, np.int64)
    rank[np.argsort(first)] = np.arange(first.size)
    labels = assigned.copy()
    labels[is_new] = n_live + rank[of_row]
    return labels
