"""A first look at a data set: sizes, quantiles, duplicates, connected components."""

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse
from scipy.sparse import csgraph

from sparsemix.foundation.wording import counted

SEEDS = (np.uint64(1), np.uint64(2))
QUANTILES = (0.0, 0.1, 0.25, 0.5, 0.75, 0.9, 0.99, 1.0)


@dataclass(frozen=True)
class DatasetProfile:
    """Summary of a data set.

    Attributes
    ----------
    n_rows, n_features, n_nonzero : int
        Size of the matrix.
    features_per_row, rows_per_feature : dict of str to float
        Quantile (``"0"`` to ``"1"``) to its value.
    n_duplicate_rows : int
        Rows with at least one feature that repeat an earlier row exactly, counts included.
    n_empty_rows, n_empty_features : int
        Rows without a feature, features without a row.
    n_connected_components : int
        Components of the graph that links each row with its features. A row without features is one by
        itself; a feature without rows is none.
    largest_component_share : float
        Share of the rows that lie in the component with the most rows.
    n_single_row_components : int
        Components of exactly one row.
    """

    n_rows: int
    n_features: int
    n_nonzero: int
    features_per_row: dict[str, float]
    rows_per_feature: dict[str, float]
    n_duplicate_rows: int
    n_empty_rows: int
    n_empty_features: int
    n_connected_components: int
    largest_component_share: float
    n_single_row_components: int

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers as a plain dictionary, ready for JSON."""
        return asdict(self)

    def __str__(self) -> str:
        return "\n".join(self._lines())

    def _lines(self) -> Iterator[str]:
        yield shape_in_words(self.n_rows, self.n_features, self.n_nonzero)
        for title, quantiles in (
            ("features per row", self.features_per_row),
            ("rows per feature", self.rows_per_feature),
        ):
            yield f"{title}: " + ", ".join(f"{float(q):.0%} {value:,.6g}" for q, value in quantiles.items())
        yield f"{counted(self.n_duplicate_rows, 'row')} equal to an earlier one"
        empty_rows, empty_features = (
            counted(self.n_empty_rows, "row"),
            counted(self.n_empty_features, "feature"),
        )
        yield f"{empty_rows} without features, {empty_features} without rows"
        yield (
            f"{counted(self.n_connected_components, 'connected component')}: "
            f"{self.largest_component_share:.1%} of the rows in the largest, "
            f"{self.n_single_row_components:,} of a single row"
        )


def shape_in_words(n_rows: int, n_features: int, n_nonzero: int) -> str:
    """Return the sizes of a matrix as a phrase.

    Examples
    --------
    >>> shape_in_words(1, 1200, 3)
    '1 row x 1,200 features, 3 non-zeros'
    """
    return f"{counted(n_rows, 'row')} x {counted(n_features, 'feature')}, {counted(n_nonzero, 'non-zero')}"


def profile_matrix(matrix: sparse.csr_array) -> DatasetProfile:
    """Summarise a canonical matrix of counts.

    Examples
    --------
    >>> profile = profile_matrix(sparse.csr_array([[1, 1, 0], [1, 0, 0], [0, 0, 1]]))
    >>> profile.n_connected_components, round(profile.largest_component_share, 2)
    (2, 0.67)
    """
    n_rows, n_features = matrix.shape
    widths = np.diff(matrix.indptr)
    popularity = np.bincount(matrix.indices, minlength=n_features)
    sizes = component_sizes(matrix)
    return DatasetProfile(
        n_rows=n_rows,
        n_features=n_features,
        n_nonzero=int(matrix.nnz),
        features_per_row=_quantiles(widths),
        rows_per_feature=_quantiles(popularity),
        n_duplicate_rows=count_duplicate_rows(matrix),
        n_empty_rows=int(np.count_nonzero(widths == 0)),
        n_empty_features=int(np.count_nonzero(popularity == 0)),
        n_connected_components=sizes.size,
        largest_component_share=float(sizes.max() / n_rows) if n_rows else 0.0,
        n_single_row_components=int(np.count_nonzero(sizes == 1)),
    )


def component_sizes(matrix: sparse.csr_array) -> NDArray[np.int64]:
    """Count the rows of each connected component of the row-feature graph.

    Two features belong together when a row has both, so it is enough to link the first feature of each row
    with the row's others: a graph over features alone, with as many edges as the matrix has entries.

    Returns
    -------
    ndarray of int64 (n_components,)
        In no particular order; every number is >= 1.
    """
    n_features = matrix.shape[1]
    widths = np.diff(matrix.indptr)
    filled = widths > 0
    first = matrix.indices[matrix.indptr[:-1][filled]]
    links = (np.ones(matrix.nnz, dtype=np.bool_), (np.repeat(first, widths[filled]), matrix.indices))
    graph = sparse.coo_array(links, shape=(n_features, n_features))
    _, component = csgraph.connected_components(graph.tocsr().astype(np.int8), directed=False)
    sizes = np.bincount(component[first])
    empty_rows = np.ones(np.count_nonzero(~filled), dtype=np.int64)
    return np.concatenate([sizes[sizes > 0].astype(np.int64), empty_rows])


def count_duplicate_rows(matrix: sparse.csr_array) -> int:
    """Count rows with at least one entry that equal an earlier row.

    Rows are compared by two independent 64-bit sums of mixed (column, count) words; with 128 bits the chance
    that two different rows of a billion agree is below 1e-20.
    """
    widths = np.diff(matrix.indptr)
    starts = matrix.indptr[:-1][widths > 0]
    if starts.size == 0:
        return 0
    columns = matrix.indices.astype(np.uint64)
    counts = matrix.data.astype(np.float64).view(np.uint64)
    sums = [np.add.reduceat(_mix(columns ^ _mix(counts + seed)), starts) for seed in SEEDS]
    order = np.lexsort(sums)
    repeats = [words[order][1:] == words[order][:-1] for words in sums]
    return int(np.count_nonzero(repeats[0] & repeats[1]))


def _mix(words: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Scramble 64-bit words (the finaliser of SplitMix64)."""
    words = words + np.uint64(0x9E3779B97F4A7C15)
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _quantiles(values: NDArray[Any]) -> dict[str, float]:
    if values.size == 0:
        return {f"{q:g}": 0.0 for q in QUANTILES}
    return {
        f"{q:g}": float(value) for q, value in zip(QUANTILES, np.quantile(values, QUANTILES), strict=True)
    }
