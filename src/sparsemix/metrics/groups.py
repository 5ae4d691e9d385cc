"""How far the rows of one group, such as an advertiser, are spread over the clusters."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import xlogy

from sparsemix.foundation.errors import DataError
from sparsemix.metrics.inputs import as_codes, as_responsibilities, check_same_rows


def advertiser_entropy(responsibilities: ArrayLike, groups: ArrayLike | Sequence[object]) -> float:
    """Return the mean entropy of the groups' cluster distributions, weighted by their rows.

    ``S_A = (1/N) sum_a N_a H(p_a)`` in nats, with ``p_a`` the mean responsibilities of the rows of group a:
    0 when every group lies in one cluster.

    Parameters
    ----------
    responsibilities : array_like, shape (n_rows, n_components) or (n_rows,)
        Responsibilities, or labels.
    groups : array_like, shape (n_rows,)
        Group of each row; rows whose group is None are left out.

    Returns
    -------
    float

    Raises
    ------
    DataError
        If the numbers of rows differ or no row has a group.

    Examples
    --------
    >>> advertiser_entropy([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]], ["acme", "acme", "zeta"])
    0.0
    >>> round(advertiser_entropy([0, 1, 1], ["acme", "acme", "zeta"]), 4)  # (2/3) ln 2
    0.4621
    """
    matrix = as_responsibilities(responsibilities, "responsibilities")
    names = np.asarray(groups)
    check_same_rows("responsibilities", len(matrix), "groups", len(names))
    has_group = np.array([name is not None for name in names.tolist()])
    if not has_group.any():
        raise DataError(
            "'groups' must name the group of at least one row, but all are None. Pass other groups."
        )
    codes = as_codes(names[has_group], "groups")
    sums = np.zeros((int(codes.max()) + 1, matrix.shape[1]))
    np.add.at(sums, codes, matrix[has_group])
    sizes = np.bincount(codes)
    shares = sums / sizes[:, None]
    return float(-(sizes[:, None] * xlogy(shares, shares)).sum() / sizes.sum()) + 0.0
