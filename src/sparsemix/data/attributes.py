"""Groups, times and labels of rows, collected block by block: the first value of a row stays."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.clean import Attribute
from sparsemix.data.ids import natural_ids
from sparsemix.data.object_arrays import object_array
from sparsemix.data.vocabulary import Vocabulary


class AttributeColumn:
    """One attribute of all rows so far.

    Parameters
    ----------
    role : str
        ``"group"``, ``"time"`` or ``"label"``.

    Attributes
    ----------
    numbers : ndarray (n_rows,)
        Codes with -1 = missing, or seconds with NaN = missing.
    conflicts : ndarray of bool (n_rows,)
        Rows that had several values.
    """

    def __init__(self, role: str) -> None:
        self.role = role
        self.numbers: NDArray[Any] = np.empty(0, dtype=np.float64 if role == "time" else np.int64)
        self.conflicts = np.empty(0, dtype=np.bool_)
        self._names = Vocabulary()
        self._is_text = False

    def update(self, rows: NDArray[np.int64], n_rows: int, attribute: Attribute) -> None:
        """Take the values of some rows, all different, out of `n_rows` that are known by now."""
        self._grow(n_rows)
        new = attribute.numbers
        if attribute.values is not None:
            new = np.append(self._names.encode(attribute.values), -1)[new]
        self._is_text |= attribute.is_text
        old = self.numbers[rows]
        self.numbers[rows] = np.where(_is_missing(old), new, old)
        differs = ~_is_missing(old) & ~_is_missing(new) & (old != new)
        self.conflicts[rows] |= attribute.conflicts | differs

    def fields(self) -> dict[str, NDArray[Any]]:
        """Return the values as fields of a `Dataset`."""
        if self.role == "time":
            return {"times": self.numbers}
        names = self._names.names()
        if self.role == "group":
            texts = np.append(names, [None])[self.numbers]
            return {"groups": object_array(natural_ids(texts, self._is_text).tolist())}
        used, first = np.unique(self.numbers, return_index=True)
        order = [code for code in used[np.argsort(first)] if code >= 0]
        new_code = np.full(len(names) + 1, -1, dtype=np.int64)
        new_code[order] = np.arange(len(order))
        return {"labels": new_code[self.numbers], "label_names": names[order]}

    def _grow(self, n_rows: int) -> None:
        n_new = n_rows - self.numbers.size
        missing = np.nan if self.role == "time" else -1
        self.numbers = np.append(self.numbers, np.full(n_new, missing, dtype=self.numbers.dtype))
        self.conflicts = np.append(self.conflicts, np.zeros(n_new, dtype=np.bool_))


def _is_missing(numbers: NDArray[Any]) -> NDArray[np.bool_]:
    return np.isnan(numbers) if numbers.dtype.kind == "f" else numbers < 0
