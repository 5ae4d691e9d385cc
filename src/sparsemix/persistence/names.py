"""Feature names as two arrays: their UTF-8 bytes one after the other, and where each begins."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.errors import ModelFileError, parameter_error

BYTES, OFFSETS = "feature_names_bytes", "feature_names_offsets"
NAME_ARRAYS = (BYTES, OFFSETS)


def encode_names(names: NDArray[np.object_]) -> dict[str, NDArray[Any]]:
    """Encode text of any script, also what is no valid Unicode, so that it comes back unchanged.

    Parameters
    ----------
    names : (n_features,) object array of str

    Returns
    -------
    dict of str to ndarray
        (n_bytes,) uint8 and (n_features + 1,) int64.

    Raises
    ------
    ParameterError
        When a name is not text.

    Examples
    --------
    >>> encode_names(np.array(["ad", "é"], dtype=object))["feature_names_offsets"].tolist()
    [0, 2, 4]
    """
    for name in names:
        if not isinstance(name, str):
            raise parameter_error("feature_names", "Payload", "text", name, "Turn every name into text.")
    encoded = [name.encode("utf-8", "surrogatepass") for name in names]
    offsets = np.zeros(len(encoded) + 1, dtype=np.int64)
    np.cumsum([len(name) for name in encoded], out=offsets[1:])
    return {BYTES: np.frombuffer(b"".join(encoded), dtype=np.uint8), OFFSETS: offsets}


def decode_names(arrays: Mapping[str, NDArray[Any]]) -> NDArray[np.object_] | None:
    """Return the names that `encode_names` stored in `arrays`, or None when there are none.

    Raises
    ------
    ModelFileError
        When the two arrays do not fit each other.

    Examples
    --------
    >>> decode_names(encode_names(np.array(["ad", "é"], dtype=object))).tolist()
    ['ad', 'é']
    """
    present = [name for name in NAME_ARRAYS if name in arrays]
    if not present:
        return None
    if len(present) == 1 or not _is_sound(arrays[BYTES], arrays[OFFSETS]):
        raise ModelFileError("its feature names are damaged")
    text, bounds = arrays[BYTES].tobytes(), arrays[OFFSETS].tolist()
    names = np.empty(len(bounds) - 1, dtype=object)
    try:
        for index in range(len(names)):
            names[index] = text[bounds[index] : bounds[index + 1]].decode("utf-8", "surrogatepass")
    except UnicodeDecodeError as error:
        raise ModelFileError(f"its feature name {index} is not valid UTF-8") from error
    return names


def _is_sound(text: NDArray[Any], offsets: NDArray[Any]) -> bool:
    if text.dtype != np.uint8 or offsets.dtype != np.int64 or text.ndim != 1 or offsets.ndim != 1:
        return False
    if len(offsets) == 0 or offsets[0] != 0 or offsets[-1] != len(text):
        return False
    return bool((offsets[1:] >= offsets[:-1]).all())
