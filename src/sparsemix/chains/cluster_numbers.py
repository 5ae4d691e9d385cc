"""How many clusters there are, as a distribution."""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparsemix.chains.inputs import as_draws


class ClusterNumbers(NamedTuple):
    """Posterior distribution of the number of clusters.

    n_clusters : (n_values,) int64, the numbers that occur, ascending.
    probability : (n_values,) float64, the share of the draws with each; sums to one.
    """

    n_clusters: NDArray[np.int64]
    probability: NDArray[np.float64]


def posterior_of_n_clusters(draws: ArrayLike) -> ClusterNumbers:
    """Return the share of the draws that have each number of clusters.

    Parameters
    ----------
    draws : array_like of int, (n_draws, n_rows)
        Labels of the rows in each draw; any integers, also negative ones, which are clusters like any other.

    Returns
    -------
    ClusterNumbers

    Raises
    ------
    DataError
        If the draws differ in length, are empty or hold labels that are no integers.

    Notes
    -----
    Cost is O(n_draws n_rows log n_rows).

    Examples
    --------
    >>> draws = [[0, 0, 1], [5, 5, 5], [2, 2, 1], [0, 1, 2]]
    >>> posterior_of_n_clusters(draws)
    ClusterNumbers(n_clusters=array([1, 2, 3]), probability=array([0.25, 0.5 , 0.25]))
    """
    in_draws = as_draws(draws, "posterior_of_n_clusters").max(axis=1).astype(np.int64) + 1
    n_clusters, n_draws = np.unique(in_draws, return_counts=True)
    return ClusterNumbers(n_clusters, n_draws / in_draws.size)
