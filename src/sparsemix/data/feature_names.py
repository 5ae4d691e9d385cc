"""Matching columns by name: a reordered table means the same, a new name is a new feature."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import DataError, shorten

Names = NDArray[np.object_]


def check_distinct(names: Names) -> None:
    """Raise DataError if a name stands twice."""
    if len(set(names)) < names.size:
        twice = next(name for name in names if (names == name).sum() > 1)
        raise DataError(
            f"'X' must name each column once, but {shorten(twice)} stands twice. Rename one of them."
        )


def new_features(n_rows: int, n_features: int, names: Names | None, owner: str) -> "FeatureNames":
    """The columns as features of a new model; DataError if there is nothing to learn, or a name stands twice."""
    # scikit-learn looks for these words.
    if not n_rows:
        raise DataError(
            f"'X' of fit must have at least one row, but found array with 0 sample(s) (shape={(n_rows, n_features)}) "
            f"while a minimum of 1 is required by {owner}. Add rows."
        )
    if not n_features:
        raise DataError(
            f"'X' of fit must have at least one feature, but found array with 0 feature(s) "
            f"(shape={(n_rows, n_features)}) while a minimum of 1 is required by {owner}. Add rows that have features; "
            f"counts of zero are none."
        )
    if names is not None:
        check_distinct(names)
    return FeatureNames(n_features, names)


class FeatureNames:
    """The features of a model, named or only numbered.

    Parameters
    ----------
    n_features : int
    names : (n_features,) array of str, or None

    Examples
    --------
    >>> features = FeatureNames(2, np.array(["cat", "dog"], dtype=object))
    >>> features.columns_of(3, np.array(["dog", "owl", "cat"], dtype=object), owner="the model")
    array([1, 2, 0], dtype=int32)
    >>> features.n_features
    2
    """

    def __init__(self, n_features: int, names: Names | None) -> None:
        self.n_features = n_features
        self.names = names
        self._position: dict[Any, int] | None = None

    def show_on(self, model: Any) -> None:
        """Set `n_features_in_` and, where they have names, `feature_names_in_` of an estimator."""
        model.n_features_in_ = self.n_features
        model.__dict__.pop("feature_names_in_", None)
        if self.names is not None:
            model.feature_names_in_ = self.names

    def columns_of(self, n_columns: int, names: Names | None, *, owner: str) -> NDArray[np.int32] | None:
        """Feature of each column; names that are not known get the numbers after the last.

        Returns
        -------
        (n_columns,) int32, or None where columns and features are the same.

        Raises
        ------
        DataError
            If a name stands twice, or columns without names are not as many as the features.
        """
        if names is None or self.names is None:
            if n_columns != self.n_features:
                raise DataError(
                    f"X has {n_columns} features, but {owner} is expecting {self.n_features} features as input. "
                    f"Give the same columns, or named ones: they are matched by name and may be new."
                )
            return None
        known = min(n_columns, self.n_features)
        if names is self.names or (
            n_columns <= self.n_features and bool(np.all(names == self.names[:known]))
        ):
            return None if n_columns == self.n_features else np.arange(n_columns, dtype=np.int32)
        return self._matched(names)

    def known_columns_of(
        self, n_columns: int, names: Names | None, *, owner: str
    ) -> NDArray[np.int32] | None:
        """As `columns_of`, for questions: some columns may be new, but not all of them.

        Raises
        ------
        DataError
            Also if no column is known.
        """
        columns = self.columns_of(n_columns, names, owner=owner)
        if columns is None or not columns.size or columns.min() < self.n_features:
            return columns
        raise DataError(
            f"'X' of {owner} must have columns that the model knows, but none of its {n_columns} is: "
            f"{_beginning(names)}. The model knows {_beginning(self.names)}. Give rows of the same features."
        )

    def _matched(self, names: Names) -> NDArray[np.int32]:
        check_distinct(names)
        position = self.positions()
        columns = np.fromiter((position.get(name, -1) for name in names), np.int64, names.size)
        new = np.flatnonzero(columns < 0)
        columns[new] = self.n_features + np.arange(new.size)
        return columns.astype(np.int32)

    def positions(self) -> dict[Any, int]:
        """Number of each name."""
        if self._position is None:
            names = range(self.n_features) if self.names is None else self.names
            self._position = {name: i for i, name in enumerate(names)}
        return self._position

    def name_of(self, feature: int) -> Any:
        """Name of a feature, its number where it has none."""
        return feature if self.names is None else self.names[feature]

    def extended(self, columns: NDArray[np.int32] | None, names: Names | None) -> "FeatureNames":
        """The same features with the new names that `columns_of` numbered after the last."""
        if columns is None or names is None or self.names is None:
            return self
        new = names[columns >= self.n_features]
        if not new.size:
            return self
        grown = FeatureNames(self.n_features + new.size, np.concatenate([self.names, new]))
        if self._position is not None:
            grown._position = self._position
            grown._position.update((name, self.n_features + i) for i, name in enumerate(new))
        return grown


def _beginning(names: Any) -> str:
    shown = [shorten(name, 40) for name in names[:3]]
    return ", ".join([*shown, *(["…"] if len(names) > 3 else [])])
