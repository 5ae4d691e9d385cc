"""Object arrays of names."""

from typing import Any

import numpy as np
from numpy.typing import NDArray


def object_array(values: Any) -> NDArray[Any]:
    """Return any collection as a one-dimensional object array.

    Examples
    --------
    >>> object_array(["a", None]).tolist()
    ['a', None]
    """
    array = np.empty(len(values), dtype=object)
    array[:] = list(values)
    return array
