"""Taking a payload apart: names, numbers and arrays are checked before a model is built from them."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import ModelFileError, listed, shorten
from sparsemix.persistence.payload import Payload

FLOAT, INT, SMALL = np.dtype("<f8"), np.dtype("<i8"), np.dtype("<i4")
MOST_FEATURES, MOST_ROWS = 2**31 - 1, 2**62
LATER = (
    "accelerate", "feature_smoothing", "half_life_rows", "learn", "n_jobs", "n_passes", "n_shards", "negligible",
    "reservoir_rows", "split_merge", "users_on_disk", "warm_start",
)  # fmt: skip
"""Parameters that came after the first files of their models, which lack them."""


def plain_parameters(parameters: dict[str, Any]) -> dict[str, Any]:
    """Constructor arguments as JSON has them; a random generator cannot be kept and becomes None."""
    plain = {name: _plain(value) for name, value in parameters.items()}
    if not isinstance(plain["random_state"], int | None):
        plain["random_state"] = None
    return plain


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def parameters_of(stored: Payload, model_class: Any) -> dict[str, Any]:
    """The constructor's arguments; ModelFileError if they are not those of the class.

    Those of `LATER` may be missing and have their defaults then.
    """
    if stored.kind != model_class.model_kind:
        raise ModelFileError(
            f"it holds a model of the kind {shorten(stored.kind)}, not {model_class.model_kind!r}"
        )
    defaults: dict[str, Any] = model_class().get_params()
    found = {name: defaults[name] for name in LATER if name in defaults} | stored.parameters
    check_names(found, set(defaults), "parameters")
    if not isinstance(found.get("init", ""), str):
        raise ModelFileError(f"its parameter 'init' is {shorten(found['init'])}, not a word")
    return found


def check_names(found: dict[str, Any], expected: set[str], what: str) -> None:
    """Raise ModelFileError unless exactly the expected names are there."""
    if set(found) != expected:
        raise ModelFileError(f"its {what} do not fit the model: {listed(sorted(set(found) ^ expected))}")


def names_of(stored: Payload, n_features: int) -> NDArray[np.object_] | None:
    """The names of the features, as many as there are, all different; None if they have none."""
    names = stored.feature_names
    if names is not None and (names.size != n_features or len(set(names)) != n_features):
        raise ModelFileError(f"it has {n_features} features, but not as many different names")
    return names


def whole_number(metadata: dict[str, Any], name: str, most: int = MOST_ROWS) -> int:
    """A count in the metadata, from 0 to `most`."""
    value = metadata.get(name)
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value <= most:
        raise ModelFileError(f"its {name!r} is {shorten(value)}, not a count")
    return value


def finite_number(metadata: dict[str, Any], name: str) -> float:
    """A float in the metadata that is not infinite nor NaN."""
    value = metadata.get(name)
    if not isinstance(value, float) or not np.isfinite(value):
        raise ModelFileError(f"its {name!r} is {shorten(value)}")
    return value


class ArrayReader:
    """Takes arrays out of a payload, each checked once, and knows what is left over."""

    def __init__(self, arrays: dict[str, NDArray[Any]]) -> None:
        self._left = dict(arrays)

    def take(self, name: str, dtype: np.dtype[Any], *shape: int | None) -> NDArray[Any]:
        """A writable copy of an array of that type and shape; None is any length."""
        array = self._left.pop(name, None)
        if array is None:
            raise ModelFileError(f"the array {name!r} is missing")
        fits = array.ndim == len(shape) and all(
            s is None or s == n for s, n in zip(shape, array.shape, strict=True)
        )
        if array.dtype != dtype or not fits:
            raise ModelFileError(f"the array {name!r} has type {array.dtype} and shape {array.shape}")
        return np.array(array)

    def positive(self, name: str, *shape: int | None, zero: bool = False) -> NDArray[np.float64]:
        """A float array of finite numbers above zero, or from zero."""
        array = self.take(name, FLOAT, *shape)
        if not (np.all(np.isfinite(array)) and np.all(array >= 0 if zero else array > 0)):
            raise ModelFileError(f"the array {name!r} holds numbers that cannot be")
        return array

    def finite(self, name: str, *shape: int | None) -> NDArray[np.float64]:
        """A float array without NaN and infinity."""
        array = self.take(name, FLOAT, *shape)
        if not np.all(np.isfinite(array)):
            raise ModelFileError(f"the array {name!r} holds numbers that are not finite")
        return array

    def inside(
        self, name: str, dtype: np.dtype[Any], low: int, high: int, *shape: int | None
    ) -> NDArray[Any]:
        """An integer array with values from `low` to ``high - 1``."""
        array = self.take(name, dtype, *shape)
        if array.size and (array.min() < low or array.max() >= high):
            raise ModelFileError(f"the array {name!r} holds numbers outside {low} to {high - 1}")
        return array

    def pointers(self, name: str, length: int | None = None) -> NDArray[np.int64]:
        """A CSR row pointer: starts at 0 and never falls."""
        array = self.take(name, INT, length)
        if not array.size or array[0] != 0 or np.any(np.diff(array) < 0):
            raise ModelFileError(f"the array {name!r} is no row pointer")
        return array

    def close(self) -> None:
        """Complain of arrays that nobody has asked for."""
        if self._left:
            raise ModelFileError(f"it holds arrays that do not belong there: {listed(sorted(self._left))}")
