"""When dense rows of zeros and ones are read eight features to a byte, and the tables for that."""

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.em import packed_kernels as kernels
from sparsemix.models.em.state import Rows

BITS, ROWS_OF_BITS = 8, 256
MOST_CELLS = 1 << 19  # of the tables: beyond the processor's cache they cost more than they spare
WORTH = 2.0  # ones in a row for each of its bytes, counting those of the tables


def with_codes(rows: Rows, n_features: int, n_components: int) -> Rows:
    """The rows with their bytes, if they hold nothing but ones and so many that it pays."""
    n_bytes = -(-n_features // BITS)
    is_small = n_bytes * ROWS_OF_BITS * n_components <= MOST_CELLS
    pays = rows.columns.size >= WORTH * n_bytes * (rows.n_rows + ROWS_OF_BITS)
    if not (is_small and pays and np.all(rows.values == 1.0)):
        return rows
    codes = np.zeros((rows.n_rows, n_bytes), np.uint8)
    kernels.pack(rows.indptr, rows.columns, codes)
    return rows._replace(codes=codes)


def tables_of(feature_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the feature weights over the ones of each byte; (n_bytes, 256, n_components)."""
    n_features, n_components = feature_weights.shape
    tables = np.zeros((-(-n_features // BITS), ROWS_OF_BITS, n_components))
    kernels.fill(feature_weights, tables)
    return tables
