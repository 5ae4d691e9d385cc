"""When dense rows of zeros and ones are read eight features to a byte, and the tables for that."""

import numpy as np
from numpy.typing import NDArray

from sparsemix.models.em import packed_kernels as kernels
from sparsemix.models.em.state import Rows
from sparsemix.numeric import lanes

BITS, ROWS_OF_BITS = 8, 256
MOST_CELLS = 1 << 19  # of the tables: beyond the processor's cache they cost more than they spare
WORTH = 2.0  # ones in a row for each of its bytes, counting those of the tables


def with_codes(rows: Rows, n_features: int, n_components: int) -> Rows:
    """The rows with their bytes, if they hold nothing but ones and so many that it pays."""
    n_bytes = -(-n_features // BITS)
    is_small = n_bytes * ROWS_OF_BITS * lanes.padded(n_components) <= MOST_CELLS
    pays = rows.columns.size >= WORTH * n_bytes * (rows.n_rows + ROWS_OF_BITS)
    if not (is_small and pays and np.all(rows.values == 1.0)):
        return rows
    codes = np.zeros((rows.n_rows, n_bytes), np.uint8)
    kernels.pack(rows.indptr, rows.columns, codes)
    return rows._replace(codes=codes)


def tables_of(feature_weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sums of the feature weights over the ones of each byte; (n_bytes, 256, n_components and zeros)."""
    n_features, n_components = feature_weights.shape
    tables = lanes.zeros(-(-n_features // BITS), n_components)
    kernels.fill(feature_weights, tables)
    return tables


def add_expected_counts(
    codes: NDArray[np.uint8],
    responsibilities: NDArray[np.float64],
    row_weights: NDArray[np.float64],
    part: int,
    n_parts: int,
    counts: NDArray[np.float64],
) -> None:
    """Add the expected counts of one part of the features, those of every `n_parts`-th byte."""
    tables = lanes.zeros(len(range(part, codes.shape[1], n_parts)), counts.shape[1])
    kernels.add_expected_counts(codes, responsibilities, row_weights, part, n_parts, tables, counts)
