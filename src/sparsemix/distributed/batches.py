"""A batch as workers have it: rows, and labels if there are any."""

from typing import Any, NamedTuple, Self

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.dataset import Dataset
from sparsemix.data.report import ReadReport
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.foundation.wording import counted


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


def report(batch: Any) -> ReadReport:
    """What reading a batch did; nothing where it is no data set."""
    rows, _ = opened(batch)
    return rows.report if isinstance(rows, Dataset) else ReadReport()


def numbered(batch: Any, names: list[str]) -> tuple[Any, Any]:
    """Rows of a file with labels that are positions in `names`, those of all files; runs on a worker."""
    rows, labels = batch
    return rows, labels.numbered(names)


def check_labels(names: list[str], n_components: int) -> None:
    """Raise ParameterError if there are more labels than components."""
    if len(names) > n_components:
        rule = f"at least {len(names)}, for the files have as many labels, and each is a component of its own"
        raise parameter_error("n_components", "fit", rule, n_components)


def other_batches(n_rows: int) -> DataError:
    """What to raise where a checkpoint is to go on with batches that it has not learnt."""
    return DataError(
        f"the batches are not those that the checkpoint has learnt {counted(n_rows, 'row')} of. Give the same ones in "
        f"the same order, or start anew without resume."
    )


def together(names: list[str], more: list[str]) -> list[str]:
    """Names without repetition, in the order of their appearance."""
    return list(dict.fromkeys([*names, *more]))
