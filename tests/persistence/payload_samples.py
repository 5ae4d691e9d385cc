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


def hashed_gibbs_payload() -> Payload:
    """Return two clusters of rows of counts: the first has two rows, {cat x3, dog} in all, the second one, {dog x2}."""
    parameters = {
        "n_components": 4, "family": "multinomial", "proposal": "auto", "process": "finite",
        "weight_concentration": 1.0, "concentration": 1.0, "discount": 0.0, "smoothing": 0.5,
        "prior_mean": "empirical", "prior_strength": 1.0, "n_sweeps": 6, "burn_in": 2, "thin": 2, "n_chains": 1,
        "init": "sequential", "n_bits": 256, "raw": False, "miss": None, "tempering": 1.0, "index_budget": 512,
        "n_shards": 1, "binarize": None, "random_state": 0, "warm_start": False, "n_jobs": None, "verbose": 0,
    }  # fmt: skip
    prior = {
        "family": "multinomial",
        "process": "finite",
        "concentration": 1.0,
        "discount": 0.0,
        "a": 0.5,
        "b": 1.0,
    }
    arrays = {
        "sizes": np.array([2, 1]),
        "indptr": np.array([0, 1, 3, 3]),
        "clusters": np.array([0, 0, 1]),
        "counts": np.array([3, 1, 2]),
    }
    names = np.array(["cat", "dog", "eel"], dtype=object)
    return Payload(
        "hashed-gibbs-mixture", parameters, prior | {"n_features": 3, "n_clusters": 2}, arrays, names
    )


def gaussian_gibbs_payload() -> Payload:
    """Return two clusters of rows of one real number: {0, 2} and {10}; sums are taken from 4."""
    counts = hashed_gibbs_payload()
    metadata = counts.metadata | {"family": "gaussian", "a": 0.5, "b": 2.0, "n_features": 1}
    arrays = {
        "sizes": np.array([2, 1]),
        "centre": np.array([4.0]),
        "spread": np.array([1.0]),
        "sums": np.array([[-6.0], [6.0]]),
        "sums_low": np.zeros((2, 1)),
        "squares": np.array([[20.0], [36.0]]),
        "squares_low": np.zeros((2, 1)),
    }
    parameters = counts.parameters | {"family": "gaussian"}
    return Payload(counts.kind, parameters, metadata, arrays, np.array(["price"], dtype=object))


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
