"""One partition that stands for all draws: the one at the smallest expected distance from them.

The distance is the variation of information (M. Meilă: Comparing clusterings - an information based distance. Journal
of Multivariate Analysis 98, 2007), which its posterior expectation makes a loss (S. Wade, Z. Ghahramani: Bayesian
cluster analysis: point estimation and credible balls. Bayesian Analysis 13(2), 2018). Of n rows, n_k in cluster k of
the partition, m_l in cluster l of a draw and n_kl in both, it is

    (sum_k n_k log n_k + sum_l m_l log m_l - 2 sum_kl n_kl log n_kl) / n.

Rows that are together in every draw move as one: taking t of them from one cluster to another makes the expectation a
concave function of t, because n_kl <= n_k, so that a best partition never parts them.
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import xlogy

from sparsemix.chains import kernels
from sparsemix.chains.grouping import Atoms, atoms, cluster_bounds
from sparsemix.chains.inputs import CodeMatrix, as_draws, by_first_appearance
from sparsemix.foundation.checks import at_least
from sparsemix.foundation.errors import DataError
from sparsemix.numeric.seeds import generator
from sparsemix.numeric.sorting import stable_order

MOST_CANDIDATES = 50
ROUNDING = 1e-12
OWNER = "point_estimate"


class PointEstimate(NamedTuple):
    """A partition and how far the draws are from it.

    labels : (n_rows,) int32, 0, 1, ... in order of first appearance.
    expected_distance : float, mean variation of information to the draws, nats; 0 if all draws are equal.
    """

    labels: NDArray[np.int32]
    expected_distance: float


class _Target(NamedTuple):
    """What partitions are compared with: atoms of the draws, and a table of x log x up to the number of rows."""

    atoms: Atoms
    x_log_x: NDArray[np.float64]
    of_draws: float  # sum of m log m over the clusters of all draws


def point_estimate(
    draws: ArrayLike,
    *,
    max_iter: int = 100,
    random_state: int | np.random.Generator | None = None,
) -> PointEstimate:
    """Return the partition with the smallest mean variation of information to the draws that a search finds.

    The search starts at the best draw, of 50 that are evenly spaced if there are more, and moves rows one by one to
    another cluster or a new one, each to where the mean distance falls most, until no row moves. Rows that are
    together in every draw move together.

    Parameters
    ----------
    draws : array_like of int, (n_draws, n_rows)
        Labels of the rows in each draw; any integers, also negative ones, which are clusters like any other.
        Draws of several chains stand one below the other.
    max_iter : int >= 0, default=100
        Most passes over the rows; 0 returns the best draw.
    random_state : int, Generator or None
        In which order rows are asked.

    Returns
    -------
    PointEstimate
        `labels` and `expected_distance`, in nats.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    DataError
        If the draws differ in length, are empty, hold labels that are no integers, or more than 2**31 of them.

    Notes
    -----
    Cost is O(50 n_draws n_rows) for the start, and in each pass O(n_draws n_rows) times the number of clusters that
    meet one cluster of a draw. Memory is O(n_draws n_rows). The answer is never worse than the draw that it starts
    from, but need not be the best of all partitions.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1], [3, 3, 8, 8], [0, 0, 0, 1]]
    >>> estimate = point_estimate(draws, random_state=0)
    >>> estimate.labels
    array([0, 0, 1, 1], dtype=int32)
    >>> round(estimate.expected_distance, 3)
    0.275
    """
    at_least("max_iter", OWNER, max_iter, 0)
    random = generator(random_state, OWNER)
    codes = as_draws(draws, OWNER)
    if codes.size > np.iinfo(np.int32).max:
        raise DataError(
            f"'draws' of {OWNER} must hold at most 2**31 labels, but there are {codes.size:,}. Keep every second draw, "
            "or fewer."
        )
    target = _target(codes)
    clusters, distance = _best_draw(target)
    if max_iter:
        _improve(clusters, target, max_iter, random)
        distance = _expected_distance(clusters, target)
    return PointEstimate(by_first_appearance(clusters[target.atoms.of_row]), distance)


def _target(codes: CodeMatrix) -> _Target:
    numbers = np.arange(codes.shape[1] + 1)
    x_log_x = np.asarray(xlogy(numbers, numbers), np.float64)
    of_draws = sum(float(x_log_x[np.bincount(own)].sum()) for own in codes)
    return _Target(atoms(codes), x_log_x, of_draws)


def _best_draw(target: _Target) -> tuple[NDArray[np.int32], float]:
    """Copy of the draw nearest to all others, and its mean distance to them; the first of equals."""
    codes = target.atoms.codes
    n_draws = codes.shape[0]
    chosen = np.linspace(0, n_draws - 1, min(n_draws, MOST_CANDIDATES)).round().astype(np.int64)
    candidates = [codes[d].copy() for d in chosen]
    distances = [_expected_distance(candidate, target) for candidate in candidates]
    best = int(np.argmin(distances))
    return candidates[best], distances[best]


def _expected_distance(clusters: NDArray[np.int32], target: _Target) -> float:
    """Mean variation of information to the draws, nats; rounding never makes it negative."""
    _, weights, codes = target.atoms
    members = stable_order(clusters, int(clusters.max()) + 1)
    bounds = cluster_bounds(clusters[None])[0]
    n_rows, (n_draws, n_atoms) = target.x_log_x.size - 1, codes.shape
    scratch = (np.zeros(n_atoms, np.int64), np.empty(n_atoms, np.int32))
    joint = kernels.joint_terms(members, bounds, codes, weights, target.x_log_x, *scratch)
    own = float(target.x_log_x[np.bincount(clusters, weights).astype(np.int64)].sum())
    distance: float = (n_draws * own + target.of_draws - 2.0 * joint) / (n_rows * n_draws)
    return max(distance, 0.0)


def _improve(
    clusters: NDArray[np.int32], target: _Target, max_iter: int, random: np.random.Generator
) -> None:
    """Move atoms, in place, until none moves or `max_iter` passes are over."""
    _, weights, codes = target.atoms
    n_draws, n_atoms = codes.shape
    draws = np.ascontiguousarray(codes.T)
    starts = cluster_bounds(codes) + np.arange(n_draws)[:, None] * n_atoms
    n_cells = np.zeros((n_draws, starts.shape[1] - 1), np.int32)
    cells = (starts, n_cells, np.empty(draws.size, np.int32), np.empty(draws.size, np.int32))
    kernels.fill_cells(stable_order(clusters, n_atoms), clusters, draws, weights, *cells)
    sizes = np.bincount(clusters, weights, minlength=n_atoms).astype(np.int64)
    tolerance = ROUNDING * n_draws * target.x_log_x[-1]
    met, free = np.empty((2, n_atoms), np.int32)
    scratch = (np.zeros(n_atoms), met, np.zeros(n_atoms, np.bool_), free)
    for _ in range(max_iter):
        order = random.permutation(n_atoms)
        known = (order, draws, weights, target.x_log_x, tolerance)
        if not kernels.sweep(*known, *cells, sizes, clusters, *scratch):
            break
