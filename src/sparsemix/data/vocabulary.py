"""Names to consecutive numbers, in order of first appearance."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.data.arrow_numpy import one_array, to_numpy
from sparsemix.data.object_arrays import object_array


class Vocabulary:
    """Growing table of names.

    Examples
    --------
    >>> import pyarrow as pa
    >>> vocabulary = Vocabulary()
    >>> vocabulary.encode(pa.array(["red", "blue"])).tolist()
    [0, 1]
    >>> vocabulary.encode(pa.array(["green", "red"])).tolist()
    [2, 0]
    >>> vocabulary.names().tolist()
    ['red', 'blue', 'green']
    """

    def __init__(self) -> None:
        self._codes: dict[str, int] = {}

    def __len__(self) -> int:
        return len(self._codes)

    def encode(self, values: Any) -> NDArray[np.int64]:
        """Return the number of each name; new names get the next numbers."""
        codes = self._codes
        return np.array([codes.setdefault(name, len(codes)) for name in values.to_pylist()], dtype=np.int64)

    def encode_column(self, values: Any) -> NDArray[np.int64]:
        """Return the number of each value of a column of text, -1 for a null."""
        encoded = one_array(values).dictionary_encode()
        codes = np.append(self.encode(encoded.dictionary), -1)
        found: NDArray[np.int64] = codes[to_numpy(encoded.indices, -1)]
        return found

    def names(self) -> NDArray[Any]:
        """Return the names as an object array, the first one first."""
        return object_array(self._codes)
