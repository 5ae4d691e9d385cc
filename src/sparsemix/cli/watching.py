"""Look at batches of rows on their way to a model: how many, and how many hold nothing that it knows."""

from collections.abc import Iterable, Iterator
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import DataError, listed
from sparsemix.foundation.wording import counted


class Seen(Protocol):
    """What was seen of rows so far; `WatchedBatches` says what the numbers are."""

    @property
    def n_rows(self) -> int:
        """Rows."""
        ...

    @property
    def n_unknown_rows(self) -> int:
        """Rows of which the model knows nothing."""
        ...


class WatchedBatches:
    """Batches that pass once, and what was seen of them so far.

    Parameters
    ----------
    batches : iterable of Dataset
    model : fitted mixture or None
        Whether it knows the rows is looked at only where it is given.

    Attributes
    ----------
    n_rows : int
        Rows so far.
    n_unknown_rows : int
        Those that hold keywords, but none that the model knows.
    names : (n_features,) array of str or None
        Keywords of the last batch.
    """

    def __init__(self, batches: Iterable[Any], model: Any = None) -> None:
        self._batches = batches
        self._model = model
        self.n_rows = self.n_unknown_rows = 0
        self.names: NDArray[np.object_] | None = None

    def __iter__(self) -> Iterator[Any]:
        for batch in self._batches:
            if self._model is not None:
                if self.n_rows == 0:
                    check_any_known(self._model, batch.feature_names)
                self.n_unknown_rows += int(self._model.unknown_rows(batch).sum())
            self.n_rows += len(batch)
            self.names = batch.feature_names
            yield batch


def knows_any(model: Any, names: NDArray[np.object_] | None) -> bool:
    """Whether a model knows some of the keywords of a table, or nothing says that it does not."""
    known = getattr(model, "feature_names_in_", None)
    return known is None or names is None or not len(names) or not set(known).isdisjoint(names)


def check_any_known(model: Any, names: NDArray[np.object_] | None) -> None:
    """Raise DataError if a model knows none of the keywords of a table."""
    if names is None or knows_any(model, names):
        return
    shown = listed(list(names), most=3)
    raise DataError(
        f"the model knows none of {counted(len(names), 'keyword')} of the table: {shown}. "
        f"Check that feature= is the column that the model has learnt."
    )
