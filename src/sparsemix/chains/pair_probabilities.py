"""How probable it is that two rows are in one cluster, for all pairs of rows that ever are."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy import sparse

from sparsemix.chains import kernels
from sparsemix.chains.grouping import IntMatrix, cluster_bounds
from sparsemix.chains.inputs import CodeMatrix, as_draws
from sparsemix.foundation.checks import at_least, share
from sparsemix.foundation.errors import DataError, ParameterError, parameter_error
from sparsemix.numeric.sorting import stable_order

OWNER = "co_clustering"


def co_clustering(
    draws: ArrayLike,
    *,
    min_probability: float = 0.0,
    max_pairs: int = 20_000_000,
    rows: ArrayLike | None = None,
) -> sparse.csr_array:
    """Return the posterior probability that two rows share a cluster, as a sparse matrix.

    Parameters
    ----------
    draws : array_like of int, (n_draws, n_rows)
        Labels of the rows in each draw; any integers, also negative ones, which are clusters like any other.
    min_probability : float in [0, 1], default=0.0
        Pairs below are left out.
    max_pairs : int >= 0, default=20_000_000
        Most pairs of different rows that the result may hold; each takes 24 bytes.
    rows : array_like of int, (n_chosen,), optional
        Only these rows, in this order.

    Returns
    -------
    scipy.sparse.csr_array of float64, (n_rows, n_rows) or (n_chosen, n_chosen)
        Symmetric, with ones on the diagonal and sorted column indices; pairs that never meet are not stored.

    Raises
    ------
    DataError
        If the draws differ in length, are empty or hold labels that are no integers, or `rows` are no row numbers.
    ParameterError
        If a parameter breaks its rule, or there are more than `max_pairs` pairs; that is found out before anything
        of that size is allocated.

    Notes
    -----
    Cost is O(n_draws x pairs that share a cluster in an average draw), which grows with the squares of the cluster
    sizes. It is refused at once if that average is above `max_pairs`, whatever `min_probability` is.

    Examples
    --------
    >>> draws = [[0, 0, 1, 1], [0, 0, 0, 1]]
    >>> co_clustering(draws).toarray()
    array([[1. , 1. , 0.5, 0. ],
           [1. , 1. , 0.5, 0. ],
           [0.5, 0.5, 1. , 0.5],
           [0. , 0. , 0.5, 1. ]])
    >>> co_clustering(draws, min_probability=0.9).nnz
    6
    """
    share("min_probability", OWNER, min_probability)
    at_least("max_pairs", OWNER, max_pairs, 0)
    codes = as_draws(draws, OWNER)
    if rows is not None:
        codes = as_draws(codes[:, _row_numbers(rows, codes.shape[1])], OWNER)
    bounds = cluster_bounds(codes)
    _refuse_too_much_work(bounds, codes.shape[1], max_pairs)
    # A little less, for a probability such as 0.3 times 10 draws is not quite 3.
    fewest = max(int(np.ceil(min_probability * codes.shape[0] - 0.5e-6)), 1)
    return _matrix(codes, bounds, fewest, max_pairs)


def _row_numbers(rows: ArrayLike, n_rows: int) -> NDArray[Any]:
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or numbers.size == 0 or numbers.dtype.kind not in "iu":
        raise DataError(
            f"'rows' of {OWNER} must be a vector of row numbers with at least one, but its shape is {numbers.shape} "
            f"and its type {numbers.dtype}. Pass numpy.flatnonzero(mask) instead of a mask."
        )
    if numbers.min() < 0 or numbers.max() >= n_rows:
        wrong = numbers[(numbers < 0) | (numbers >= n_rows)][0]
        raise DataError(f"'rows' of {OWNER} must be from 0 to {n_rows - 1}, but there is {wrong}.")
    return numbers


def _refuse_too_much_work(bounds: IntMatrix, n_rows: int, max_pairs: int) -> None:
    sizes = np.diff(bounds, axis=1)
    in_average_draw = float((sizes * (sizes - 1) / 2).sum(axis=1).mean())
    if in_average_draw > max_pairs:
        raise _too_many(f"{in_average_draw:,.0f} in an average draw", n_rows, max_pairs)


def _too_many(pairs: str, n_rows: int, max_pairs: int) -> ParameterError:
    return parameter_error(
        "max_pairs",
        OWNER,
        f"at least the number of pairs that share a cluster, and of {n_rows:,} rows there are {pairs}",
        max_pairs,
        "Choose some of the rows with 'rows', raise 'min_probability', or allow more pairs (24 bytes each).",
    )


def _matrix(codes: CodeMatrix, bounds: IntMatrix, fewest: int, max_pairs: int) -> sparse.csr_array:
    n_rows = codes.shape[1]
    draws = np.ascontiguousarray(codes.T)
    members = np.array([stable_order(own, int(own.max()) + 1) for own in codes], np.int32)
    sizes = np.zeros(n_rows, np.int64)
    n_pairs = kernels.count_pairs(draws, bounds, members, fewest, max_pairs, sizes)
    if n_pairs > max_pairs:
        raise _too_many("more", n_rows, max_pairs)
    indptr = np.concatenate([[0], np.cumsum(sizes + 1)])
    columns, shared = np.empty(indptr[-1], np.int32), np.empty(indptr[-1])
    kernels.fill_pairs(draws, bounds, members, fewest, indptr[:-1].copy(), columns, shared)
    shared /= codes.shape[0]
    return sparse.csr_array((shared, columns, indptr), shape=(n_rows, n_rows))
