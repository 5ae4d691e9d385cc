"""Small payloads, and files made by hand, for the tests of model files."""

import json
from pathlib import Path
from typing import Any

import numpy as np
from safetensors.numpy import save_file

from sparsemix.persistence import Payload
from sparsemix.persistence.digest import file_digest
from sparsemix.persistence.header import header_fields
from sparsemix.persistence.payload import stored_arrays


def sample_payload() -> Payload:
    """Return a payload with a bit of everything."""
    return Payload(
        kind="online-bernoulli-mixture",
        parameters={"n_components": 3, "random_state": 0, "prior_mean": "empirical", "binarize": None},
        metadata={"n_rows_seen": 12_345, "log_evidence": -1.25e6, "lineage": [[0, "born", 1, "primed"]]},
        arrays={
            "alpha": np.arange(6, dtype=np.float64).reshape(2, 3) / 7,
            "indices": np.array([5, 1, 2], dtype=np.int32),
            "alive": np.array([True, False, True]),
            "empty": np.zeros((0, 4)),
            "total": np.array(2.5),
        },
        feature_names=np.array(
            ["window cleaning", "pâtisserie", "窓掃除", "", "a\x00b", "\ud800"], dtype=object
        ),
    )


def write_by_hand(path: Path, arrays: dict[str, Any] | None = None, **fields: str) -> None:
    """Write a file whose checksum is right, with some header fields and arrays exchanged."""
    payload = sample_payload()
    content = stored_arrays(payload) if arrays is None else arrays
    header = {name: text for name, text in (header_fields(payload) | fields).items() if text != "absent"}
    header.setdefault("sha256", file_digest(header, content))
    save_file(content, path, metadata=header)


def container(header: Any, body: bytes = b"", length: int | None = None) -> bytes:
    """Return the bytes of a safetensors file with this header, true or not."""
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return (len(text) if length is None else length).to_bytes(8, "little") + text + body


def assert_same(first: Payload, second: Payload) -> None:
    """Fail unless two payloads are equal to the bit."""
    assert (first.kind, first.parameters, first.metadata) == (second.kind, second.parameters, second.metadata)
    assert first.arrays.keys() == second.arrays.keys()
    for name, array in first.arrays.items():
        other = second.arrays[name]
        assert (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes()), (
            name
        )
    if first.feature_names is None or second.feature_names is None:
        assert first.feature_names is second.feature_names
    else:
        assert first.feature_names.tolist() == second.feature_names.tolist()
