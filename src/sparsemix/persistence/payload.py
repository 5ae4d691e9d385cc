"""The state of one model as plain values and arrays: what a model file holds."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import parameter_error
from sparsemix.persistence.names import NAME_ARRAYS, encode_names

STORED_DTYPES = {
    "F64": "<f8",
    "F32": "<f4",
    "I64": "<i8",
    "I32": "<i4",
    "I16": "<i2",
    "I8": "|i1",
    "U64": "<u8",
    "U32": "<u4",
    "U16": "<u2",
    "U8": "|u1",
    "BOOL": "|b1",
}
"""The safetensors name and the NumPy name of every element type that a model file may hold."""

_ARRAY_NAME = re.compile(r"[a-z_]+")


@dataclass(frozen=True, eq=False)
class Payload:
    """Everything that makes up one model.

    Attributes
    ----------
    kind : str
        Which model it is, such as ``"online-bernoulli-mixture"``.
    parameters : dict
        Constructor arguments; values that JSON can hold.
    metadata : dict
        Counters, lineage and whatever else is not an array; values that JSON can hold.
    arrays : dict of str to ndarray
        Names of small letters and underscores; numbers or booleans of any shape.
    feature_names : (n_features,) object array of str or None
    """

    kind: str
    parameters: dict[str, Any] = field(default_factory=dict)
    metadata: dict[str, Any] = field(default_factory=dict)
    arrays: dict[str, NDArray[Any]] = field(default_factory=dict)
    feature_names: NDArray[np.object_] | None = None


def check_payload(payload: Payload) -> None:
    """Raise ParameterError for what a model file cannot hold exactly."""
    _check_json(payload.parameters, "parameters")
    _check_json(payload.metadata, "metadata")
    for name, array in payload.arrays.items():
        if not _ARRAY_NAME.fullmatch(name) or name in NAME_ARRAYS:
            rule = f"called with small letters and underscores, and not {' or '.join(NAME_ARRAYS)}"
            raise parameter_error("arrays", "Payload", rule, name, "Rename the array.")
        if array.dtype.newbyteorder("<").str not in STORED_DTYPES.values():
            rule = f"arrays of numbers or booleans ({name!r} is not)"
            raise parameter_error("arrays", "Payload", rule, array.dtype, "Convert it to float64 or int64.")


def stored_arrays(payload: Payload) -> dict[str, NDArray[Any]]:
    """Return the arrays as they go to the file: little-endian, C-contiguous, feature names encoded."""
    arrays = {name: _plain(array) for name, array in payload.arrays.items()}
    if payload.feature_names is not None:
        arrays |= encode_names(payload.feature_names)
    return arrays


def _plain(array: NDArray[Any]) -> NDArray[Any]:
    return np.asarray(array, dtype=array.dtype.newbyteorder("<"), order="C")


def _check_json(value: object, where: str) -> None:
    if value is None or isinstance(value, bool | int | float | str):
        return
    if isinstance(value, Mapping):
        for key, item in value.items():
            if not isinstance(key, str):
                raise parameter_error(where, "Payload", "keyed by text", key, "Turn the key into text.")
            _check_json(item, f"{where}[{key}]")
        return
    if isinstance(value, list | tuple):
        for position, item in enumerate(value):
            _check_json(item, f"{where}[{position}]")
        return
    rule = "a number, text, boolean, None, or a list or dict of these, to fit into a model file"
    remedy = "Arrays belong into 'arrays'; a seed must be an integer."
    raise parameter_error(where, "Payload", rule, value, remedy)
