"""What the next epoch needs: statistics that add, and the parameters that they make."""

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

FloatVector = NDArray[np.float64]
FloatMatrix = NDArray[np.float64]
IntVector = NDArray[np.int64]


class Rows(NamedTuple):
    """A block of rows as an E step reads it.

    indptr, columns, values : the rows as CSR.
    labels : (n_rows,) component of a row that is known, else -1.
    row_weights : (n_rows,) how much a row counts.
    codes : (n_rows, n_bytes) the same rows as `packed` reads them, where that is faster, or None.
    """

    indptr: IntVector
    columns: NDArray[np.int32]
    values: FloatVector
    labels: IntVector
    row_weights: FloatVector
    codes: NDArray[np.uint8] | None = None

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return self.indptr.size - 1

    def slice(self, first: int, last: int) -> "Rows":
        """Rows `first` to `last`; views, but for `indptr`."""
        indptr = self.indptr[first : last + 1]
        part = slice(indptr[0], indptr[-1])
        return Rows(
            indptr - indptr[0],
            self.columns[part],
            self.values[part],
            self.labels[first:last],
            self.row_weights[first:last],
            None if self.codes is None else self.codes[first:last],
        )

    def known(self, n_features: int) -> "Rows":
        """The rows without columns from `n_features` on; columns are sorted within rows."""
        is_known = self.columns < n_features
        if is_known.all():
            return self
        indptr = np.concatenate([[0], np.cumsum(is_known)])[self.indptr]
        return Rows(indptr, self.columns[is_known], self.values[is_known], self.labels, self.row_weights)

    def taken(self, which: IntVector) -> "Rows":
        """Copy of the chosen rows, in the order of `which`."""
        part = self.to_csr(int(self.columns.max(initial=-1)) + 1)[which]
        indptr, columns = part.indptr.astype(np.int64), part.indices.astype(np.int32)
        return Rows(indptr, columns, part.data, self.labels[which], self.row_weights[which])

    def to_csr(self, n_features: int) -> sparse.csr_array:
        """The rows as a matrix; shares memory where it can."""
        return sparse.csr_array((self.values, self.columns, self.indptr), shape=(self.n_rows, n_features))


def joined(blocks: list[Rows]) -> Rows:
    """Blocks of rows, one after the other."""
    if len(blocks) == 1:
        return blocks[0]
    lengths = np.concatenate([np.diff(block.indptr) for block in blocks])
    parts = list(zip(*blocks, strict=True))[1:5]
    return Rows(np.concatenate([[0], np.cumsum(lengths)]), *map(np.concatenate, parts))


@dataclass
class Statistics:
    """Expected counts of a set of rows; those of two sets add.

    sizes : (n_components,) expected rows, E[c(k)].
    counts : (n_features, n_components) expected counts, E[c(k, w)]; feature by feature, as kernels read them.
    log_likelihood : sum over rows of weight times log evidence, nats, at the parameters of the E step.
    n_impossible : rows that no component can have made; n_rows : all rows.
    """

    sizes: FloatVector
    counts: FloatMatrix
    log_likelihood: float = 0.0
    n_impossible: int = 0
    n_rows: int = 0

    @classmethod
    def zeros(cls, n_components: int, n_features: int) -> Self:
        """Statistics of no rows."""
        return cls(np.zeros(n_components), np.zeros((n_features, n_components)))

    def __add__(self, other: "Statistics") -> "Statistics":
        return Statistics(
            self.sizes + other.sizes,
            self.counts + other.counts,
            self.log_likelihood + other.log_likelihood,
            self.n_impossible + other.n_impossible,
            self.n_rows + other.n_rows,
        )


class Certain(NamedTuple):
    """Features without which a component makes no row: only Bernoulli profiles with no smoothing have them.

    pattern : (n_features, n_components) CSR of ones; n_required : (n_components,) their number.
    """

    pattern: sparse.csr_array
    n_required: FloatVector


class Parameters(NamedTuple):
    """A mixture as an E step reads it.

    log_weights : (n_components,) log p(k).
    constants : (n_components,) log weight plus log probability of a row without features.
    feature_weights : (n_features, n_components) what one occurrence of a feature adds.
    certain : features that must be there, or None.
    log_negligible : log of the share of a row's largest responsibility below which others count as zero.
    """

    log_weights: FloatVector
    constants: FloatVector
    feature_weights: FloatMatrix
    certain: Certain | None
    log_negligible: float

    def weights(self) -> FloatVector:
        """Mixing weights p(k), (n_components,)."""
        return np.asarray(np.exp(self.log_weights))


class Prior(NamedTuple):
    """Pseudo-counts of the M step.

    smoothing : added to every expected count; 0 is maximum likelihood.
    class_weight : added to every component's expected rows.
    seeds : (n_features, n_components) CSR, more for chosen features in chosen components, or None.
    """

    smoothing: float
    class_weight: float
    seeds: sparse.csr_array | None = None

    @property
    def is_flat(self) -> bool:
        """Whether the objective is the likelihood alone."""
        return not self.smoothing and not self.class_weight and self.seeds is None
