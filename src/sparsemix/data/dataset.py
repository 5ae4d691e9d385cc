"""A table of counts with the names of its rows and features."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.canonical import canonical_counts
from sparsemix.data.filtering import filter_dataset
from sparsemix.data.object_arrays import object_array
from sparsemix.data.profile import DatasetProfile, profile_matrix, shape_in_words
from sparsemix.data.report import ReadReport
from sparsemix.foundation.checks import at_least, inside
from sparsemix.foundation.errors import DataError, parameter_error

ROW_FIELDS = ("row_ids", "groups", "times", "labels")
PREVIEW_ROWS = 3
PREVIEW_FEATURES = 5


@dataclass(frozen=True, eq=False, repr=False)
class Dataset:
    """Rows x features with counts, and what is known about each row.

    Usually made by `read_table` or `iter_batches`; `Dataset.from_matrix` makes one from a matrix.

    Attributes
    ----------
    matrix : csr_array (n_rows, n_features)
        Counts, or ones for mere presence: float32 (float64 when a count exceeds 2**24), column indices
        sorted, no duplicates, no stored zeros.
    row_ids : ndarray (n_rows,)
        int64 (uint64 when an id needs it) if the ids are integers, else object (str).
    feature_names : ndarray of object (n_features,) or None
        Names (str) of the columns; None for matrix files, which have none.
    groups : ndarray of object (n_rows,) or None
        Group of each row; None where it is missing.
    times : ndarray of float64 (n_rows,) or None
        Seconds since 1970-01-01 UTC; NaN where it is missing.
    labels : ndarray of int64 (n_rows,) or None
        Position in `label_names`; -1 where the label is missing.
    label_names : ndarray of object (n_labels,) or None
        Labels as text, in order of first appearance.
    report : ReadReport
        What reading dropped, merged and guessed, and what filtering removed.

    Examples
    --------
    >>> import numpy as np
    >>> ads = Dataset.from_matrix(np.array([[1, 1, 0], [0, 0, 2]]), feature_names=["red", "green", "blue"])
    >>> ads
    Dataset: 2 rows x 3 features, 3 non-zeros
      0: red, green
      1: blue x2
    >>> len(ads[1:])
    1
    """

    matrix: sparse.csr_array
    row_ids: NDArray[Any]
    feature_names: NDArray[Any] | None = None
    groups: NDArray[Any] | None = None
    times: NDArray[np.float64] | None = None
    labels: NDArray[np.int64] | None = None
    label_names: NDArray[Any] | None = None
    report: ReadReport = field(default_factory=ReadReport)

    def __post_init__(self) -> None:
        for name in ROW_FIELDS:
            values = getattr(self, name)
            if values is not None and len(values) != self.n_rows:
                raise DataError(
                    f"{name!r} of Dataset must have {self.n_rows} entries, but has {len(values)}."
                )
        if self.feature_names is not None and len(self.feature_names) != self.n_features:
            raise DataError(
                f"'feature_names' of Dataset must have {self.n_features} entries, "
                f"but has {len(self.feature_names)}."
            )

    @classmethod
    def from_matrix(
        cls,
        matrix: Any,
        *,
        row_ids: Any = None,
        feature_names: Any = None,
        groups: Any = None,
        times: Any = None,
        labels: Any = None,
    ) -> "Dataset":
        """Make a data set from a matrix of counts; the matrix is not changed.

        Parameters
        ----------
        matrix : scipy sparse matrix or array, or ndarray (n_rows, n_features)
            Whole numbers >= 0.
        row_ids, groups, times : array-like (n_rows,), optional
            `row_ids` default to 0, 1, ...
        feature_names : array-like of str (n_features,), optional
            Names of the columns, all different.
        labels : array-like of int (n_rows,), optional
            -1 = unknown.

        Returns
        -------
        Dataset

        Raises
        ------
        DataError
            If a value is no count, a length does not fit, or a feature name occurs twice.
        """
        names = _texts(feature_names)
        if names is not None and len(set(names)) < len(names):
            raise DataError("'feature_names' of Dataset.from_matrix must all be different.")
        counts = canonical_counts(matrix, names)
        return cls(
            matrix=counts,
            row_ids=np.arange(counts.shape[0])
            if row_ids is None
            else _one_axis("row_ids", row_ids, np.asarray),
            feature_names=names,
            groups=None if groups is None else _one_axis("groups", groups, object_array),
            times=None if times is None else _one_axis("times", times, _floats),
            labels=None if labels is None else _one_axis("labels", labels, _integers),
        )

    @property
    def n_rows(self) -> int:
        """Number of rows."""
        return int(self.matrix.shape[0])

    @property
    def n_features(self) -> int:
        """Number of features."""
        return int(self.matrix.shape[1])

    @property
    def n_nonzero(self) -> int:
        """Number of pairs of a row and a feature."""
        return int(self.matrix.nnz)

    def __len__(self) -> int:
        return self.n_rows

    def __getitem__(self, rows: slice | NDArray[Any]) -> "Dataset":
        """Return the rows of a slice, an index array or a mask; the features stay as they are."""
        if not isinstance(rows, slice | np.ndarray):
            raise TypeError("Dataset takes a slice or an array of rows; one row is dataset[i : i + 1].")
        selected = {name: values[rows] for name in ROW_FIELDS if (values := getattr(self, name)) is not None}
        return replace(self, matrix=self.matrix[rows], **selected)

    def head(self, n: int = 5) -> "Dataset":
        """Return the first `n` rows, an integer >= 0."""
        at_least("n", "Dataset.head", n, 0)
        return self[: int(n)]

    def split(self, test_share: float = 0.2, random_state: int | None = None) -> "tuple[Dataset, Dataset]":
        """Set a random share of the rows aside.

        Parameters
        ----------
        test_share : float, default 0.2
            Share of the rows that go to the second part, between 0 and 1.
        random_state : int, Generator or None, optional
            Seed; the same seed gives the same split.

        Returns
        -------
        tuple of Dataset
            (training rows, test rows); both keep the order of the rows.

        Raises
        ------
        ParameterError
            If `test_share` is no such number, or `random_state` no seed.
        """
        is_test = rows_to_set_aside(self.n_rows, test_share, random_state)
        return self[~is_test], self[is_test]

    def profile(self) -> DatasetProfile:
        """Summarise sizes, quantiles, duplicate rows and connected components."""
        return profile_matrix(self.matrix)

    def filter(
        self, min_rows_per_feature: int | None = None, max_features_per_row: int | None = None
    ) -> "Dataset":
        """Remove rare features, then overlong rows, then rows that have no features.

        The cuts are made once and in this order, so a feature may end with fewer rows than the threshold when
        overlong rows had it.

        Parameters
        ----------
        min_rows_per_feature : int >= 1, optional
            Features of fewer rows are removed.
        max_features_per_row : int >= 1, optional
            Rows that have more of the remaining features are removed.

        Returns
        -------
        Dataset
            Its ``report.removed`` says what was removed.

        Examples
        --------
        >>> import numpy as np
        >>> ads = Dataset.from_matrix(np.array([[1, 1, 1], [1, 1, 0], [0, 0, 1], [1, 0, 0]]))
        >>> ads.filter(min_rows_per_feature=3, max_features_per_row=1).matrix.toarray().tolist()
        [[1.0], [1.0], [1.0]]
        """
        return filter_dataset(self, min_rows_per_feature, max_features_per_row)

    def __repr__(self) -> str:
        extras = [name for name in ("groups", "times", "labels") if getattr(self, name) is not None]
        title = f"Dataset: {shape_in_words(self.n_rows, self.n_features, self.n_nonzero)}"
        lines = ["; ".join([title, *([", ".join(extras)] if extras else [])])]
        lines += [self._preview(row) for row in range(min(PREVIEW_ROWS, self.n_rows))]
        if self.n_rows > PREVIEW_ROWS:
            lines.append("  ...")
        return "\n".join(lines)

    def _preview(self, row: int) -> str:
        start, stop = self.matrix.indptr[row], self.matrix.indptr[row + 1]
        shown = slice(start, min(stop, start + PREVIEW_FEATURES))
        words = []
        for column, count in zip(self.matrix.indices[shown], self.matrix.data[shown], strict=True):
            name = str(column) if self.feature_names is None else _cut(self.feature_names[column])
            words.append(name if count == 1 else f"{name} x{count:.0f}")
        if stop - start > PREVIEW_FEATURES:
            words.append(f"and {stop - start - PREVIEW_FEATURES:,} more")
        return f"  {_cut(str(self.row_ids[row]))}: {', '.join(words)}".rstrip()


def rows_to_set_aside(n_rows: int, test_share: float, random_state: int | None) -> NDArray[np.bool_]:
    """Return which rows `Dataset.split` sets aside, and raise as it does."""
    from sparsemix.numeric.seeds import generator  # loads scikit-learn, which reading does not need

    inside("test_share", "Dataset.split", test_share, "a number between 0 and 1", 0.0, 1.0, open_low=True)
    chosen = generator(random_state, "Dataset.split").permutation(n_rows)
    is_test = np.zeros(n_rows, dtype=bool)
    is_test[chosen[: round(test_share * n_rows)]] = True
    return is_test


def concatenate(parts: Sequence[Dataset]) -> Dataset:
    """Join data sets of the same columns, row after row; their reports add up.

    Parameters
    ----------
    parts : sequence of Dataset
        At least one; those with fewer features than the last are taken to lack only its last ones.
    """
    last = parts[-1]
    matrix = sparse.vstack([widen(part.matrix, last.n_features) for part in parts], format="csr")
    joined = {
        name: np.concatenate([getattr(part, name) for part in parts])
        for name in ROW_FIELDS
        if getattr(last, name) is not None
    }
    report = sum((part.report for part in parts[1:]), start=parts[0].report)
    return replace(last, matrix=sparse.csr_array(matrix), report=report, **joined)


def widen(matrix: sparse.csr_array, n_features: int) -> sparse.csr_array:
    """Return the matrix with columns without entries added on the right."""
    return sparse.csr_array((matrix.data, matrix.indices, matrix.indptr), shape=(matrix.shape[0], n_features))


def _one_axis(name: str, values: Any, convert: Callable[[Any], NDArray[Any]]) -> NDArray[Any]:
    rule = {"times": "numbers of seconds", "labels": "integers, -1 for unknown"}.get(name, "values")
    try:
        array = convert(values)
    except (TypeError, ValueError, OverflowError) as error:
        raise parameter_error(name, "Dataset.from_matrix", f"a list of {rule}, one a row", values) from error
    if array.ndim != 1:
        raise parameter_error(name, "Dataset.from_matrix", f"a list of {rule}, one a row", values)
    return array


def _floats(values: Any) -> NDArray[np.float64]:
    return np.asarray(values, dtype=np.float64)


def _integers(values: Any) -> NDArray[np.int64]:
    given = np.asarray(values)
    with np.errstate(invalid="ignore"):
        whole = given.astype(np.int64)
    if not np.array_equal(whole, given):
        raise ValueError(given)
    return whole


def _texts(names: Any) -> NDArray[Any] | None:
    if names is None:
        return None
    if isinstance(names, str) or not np.ndim(names):
        raise parameter_error("feature_names", "Dataset.from_matrix", "a list of names, one a column", names)
    return object_array([str(name) for name in names])


def _cut(text: str, width: int = 30) -> str:
    text = " ".join(text.split())
    return text if len(text) <= width else text[: width - 1] + "…"
