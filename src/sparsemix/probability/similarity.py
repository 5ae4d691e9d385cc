"""How alike sparse rows are."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import equal_parts, parts_for, thread_runner
from sparsemix.probability.entries import owners, sum_by_owner
from sparsemix.probability.kernels import add_products

FloatVector = NDArray[np.float64]


def unit_rows(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows of Euclidean length one; empty ones stay empty. O(nnz).

    Examples
    --------
    >>> unit_rows(sparse.csr_array([[3.0, 4.0], [0.0, 0.0]])).toarray().tolist()
    [[0.6, 0.8], [0.0, 0.0]]
    """
    owner = owners(rows)
    lengths = np.sqrt(sum_by_owner(np.square(rows.data, dtype=np.float64), owner, rows.shape[0]))
    scale = 1.0 / np.maximum(lengths, 1e-150)
    return sparse.csr_array((rows.data * scale[owner], rows.indices, rows.indptr), shape=rows.shape)


def cosines(rows: sparse.csr_array, others: sparse.csr_array, n_threads: int = 1) -> NDArray[np.float64]:
    """Cosine of each row with each of the others, (n_rows, n_others), 0 for empty ones.

    Costs O(n_rows n_others) and, for each feature, the rows times the others that hold it. The threads share the rows.

    Parameters
    ----------
    rows : (n_rows, n_features) CSR
    others : (n_others, n_features) CSR
    n_threads : int, default=1
        They change no bit.

    Examples
    --------
    >>> cosines(sparse.csr_array([[1.0, 0.0], [3.0, 4.0]]), sparse.csr_array([[5.0, 0.0]])).tolist()
    [[1.0], [0.6000000000000001]]
    """
    units, by_feature = unit_rows(rows), unit_rows(others).tocsc()
    found = np.zeros((rows.shape[0], others.shape[0]))

    def fill(part: tuple[int, int]) -> None:
        add_products(
            units.indptr,
            units.indices,
            units.data,
            *part,
            by_feature.indptr,
            by_feature.indices,
            by_feature.data,
            found,
        )

    with thread_runner(n_threads) as run:
        run(fill, equal_parts(1.0 + np.diff(units.indptr), parts_for(n_threads)))
    return found
