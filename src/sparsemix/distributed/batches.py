"""A batch as workers have it: rows, and labels if there are any."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray


class NamedLabels(NamedTuple):
    """Labels of the rows of one file: `codes`, (n_rows,), are positions in `names`, -1 where there is none."""

    codes: NDArray[np.int64]
    names: list[str]

    @classmethod
    def of(cls, rows: Any) -> Self:
        """Those of a data set."""
        return cls(rows.labels, [str(name) for name in rows.label_names])

    def numbered(self, names: list[str]) -> NDArray[np.int64]:
        """Positions of the labels in the names of all files.

        Examples
        --------
        >>> NamedLabels(np.array([0, -1, 1]), ["b", "c"]).numbered(["a", "b", "c"])
        array([ 1, -1,  2])
        """
        position = {name: number for number, name in enumerate(names)}
        return np.array([*(position[name] for name in self.names), -1])[self.codes]


def opened(batch: Any) -> tuple[Any, Any]:
    """Rows and labels of a batch, which is `X` or a pair ``(X, y)``; labels of a file as positions in its own names."""
    rows, labels = batch if isinstance(batch, tuple) and len(batch) == 2 else (batch, None)
    return rows, labels.codes if isinstance(labels, NamedLabels) else labels


def label_names(batch: Any) -> list[str] | None:
    """Names of the labels of a file, None where a batch has no such labels."""
    names = batch[1] if isinstance(batch, tuple) else None
    return names.names if isinstance(names, NamedLabels) else None


def numbered(batch: Any, names: list[str]) -> tuple[Any, Any]:
    """Rows of a file with labels that are positions in `names`, those of all files; runs on a worker."""
    rows, labels = batch
    return rows, labels.numbered(names)


def together(names: list[str], more: list[str]) -> list[str]:
    """Names without repetition, in the order of their appearance."""
    return list(dict.fromkeys([*names, *more]))
