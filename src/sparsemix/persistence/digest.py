"""Fingerprints: of a model's state, and of everything in a model file."""

import hashlib
import json
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from sparsemix.persistence.payload import Payload, check_payload, stored_arrays


def state_hash(payload: Payload) -> str:
    """Return the SHA-256 of a model's state: kind, parameters, metadata, arrays and feature names.

    Two models with the same hash are equal to the bit. When a file was written, and by which version of
    sparsemix, is no part of it.

    Parameters
    ----------
    payload : Payload

    Returns
    -------
    str
        64 hexadecimal digits.

    Examples
    --------
    >>> first, second = Payload("k", metadata={"a": 1, "b": 2}), Payload("k", metadata={"b": 2, "a": 1})
    >>> state_hash(first) == state_hash(second)
    True
    >>> state_hash(first) == state_hash(Payload("k", metadata={"a": 1, "b": 3}))
    False
    """
    check_payload(payload)
    fields = {
        "kind": payload.kind,
        "parameters": canonical_json(payload.parameters),
        "metadata": canonical_json(payload.metadata),
    }
    return file_digest(fields, stored_arrays(payload))


def file_digest(fields: Mapping[str, str], arrays: Mapping[str, NDArray[Any]]) -> str:
    """Return the SHA-256 over text fields and arrays, whatever their order."""
    digest = hashlib.sha256(canonical_json(fields).encode())
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"\n{name} {array.dtype.str} {array.shape}\n".encode())
        digest.update(array.reshape(-1).view("u1").data)
    return digest.hexdigest()


def canonical_json(value: object) -> str:
    """Return the one JSON text of `value`: keys sorted, no blanks, ASCII."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"))
