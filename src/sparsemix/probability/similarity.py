"""How alike sparse rows are."""

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.numeric.threads import row_parts, thread_runner
from sparsemix.probability.entries import owners, sum_by_owner
from sparsemix.probability.kernels import add_products

FloatVector = NDArray[np.float64]


def unit_rows(rows: sparse.csr_array) -> sparse.csr_array:
    """Rows of Euclidean length one; empty ones stay empty. O(nnz).

    Examples
    --------
    >>> unit_rows(sparse.csr_array([[0.0, 4.0], [0.0, 0.0]])).toarray().tolist()
    [[0.0, 1.0], [0.0, 0.0]]
    """
    owner = owners(rows)
    lengths = np.sqrt(sum_by_owner(np.square(rows.data, dtype=np.float64), owner, rows.shape[0]))
    scale = 1.0 / np.maximum(lengths, 1e-150)
    return sparse.csr_array((rows.data * scale[owner], rows.indices, rows.indptr), shape=rows.shape)


def cosines(rows: sparse.csr_array, others: sparse.csr_array, n_threads: int = 1) -> NDArray[np.float64]:
    """Cosine of each row with each of the others, (n_rows, n_others), 0 for empty ones; see `products`.

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
    return products(unit_rows(rows), unit_rows(others), n_threads)


def products(rows: sparse.csr_array, others: sparse.csr_array, n_threads: int = 1) -> NDArray[np.float64]:
    """Inner product of each row with each of the others, (n_rows, n_others).

    Costs O(n_rows n_others + n_features) and, for each feature, the rows times the others that hold it. The threads
    share the rows.

    Examples
    --------
    >>> products(sparse.csr_array([[1.0, 0.0], [3.0, 4.0]]), sparse.csr_array([[5.0, 1.0]])).tolist()
    [[5.0], [19.0]]
    """
    by_feature = others.tocsc()
    found = np.zeros((rows.shape[0], others.shape[0]))

    def fill(part: tuple[int, int]) -> None:
        add_products(
            rows.indptr, rows.indices, rows.data, *part,
            by_feature.indptr, by_feature.indices, by_feature.data, found,
        )  # fmt: skip

    with thread_runner(n_threads) as run:
        run(fill, row_parts(rows.indptr, n_threads))
    return found
