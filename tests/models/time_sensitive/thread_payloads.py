"""Payloads of `TimeSensitiveMixture`, written by hand."""

from dataclasses import replace

import numpy as np

from sparsemix.persistence import Payload


def small_payload():
    """Two clusters of three rows at 0, 10 and 40 seconds: {cat x3, dog} in all, and {dog x2}."""
    parameters = {
        "concentration": 1.0, "time_kernel": "exponential", "decay_rate": 0.5, "half_life": None, "strict": False,
        "family": "multinomial", "smoothing": 0.5, "prior_mean": "empirical", "prior_strength": 1.0,
        "negligible": 1e-12, "n_sweeps": 6,
        "burn_in": 2, "thin": 2, "split_merge": 0.2, "learn": False, "n_chains": 1, "init": "sequential",
        "binarize": None, "random_state": 0, "warm_start": False, "n_jobs": None, "verbose": 0,
    }  # fmt: skip
    metadata = {
        "n_features": 3, "n_rows": 3, "kind": "exponential", "rate": 0.5, "period": 0.0, "width": 0.0,
        "exponent": 0.0, "support": 1e50, "family": "multinomial", "concentration": 1.0, "a": 0.5, "b": 1.0,
        "strict": False, "negligible": 1e-12,
    }  # fmt: skip
    arrays = {
        "times": np.array([0.0, 10.0, 40.0]),
        "labels": np.array([0, 0, 1]),
        "indptr": np.array([0, 1, 3, 4]),
        "columns": np.array([0, 0, 1, 1]),
        "counts": np.array([2, 1, 1, 2]),
    }
    names = np.array(["cat", "dog", "eel"], dtype=object)
    return Payload("time-sensitive-mixture", parameters, metadata, arrays, names)


def interrupted_payload():
    """The same, given in the order 10, 40 and 0 seconds, while two chains ran: one after 4 of 6 sweeps, one after 1."""
    payload = small_payload()
    parameters = payload.parameters | {"n_chains": 2, "learn": True}
    metadata = payload.metadata | {"rate": 0.25, "concentration": 2.0}
    metadata["run"] = {
        "n_learning": 10, "n_sweeps": 6, "burn_in": 2, "thin": 2, "n_chains": 2, "n_threads": 1, "seed": 5,
        "concentration": 1.0, "rate": 0.5, "rows": "00112233445566778899aabbccddeeff",
    }  # fmt: skip
    run = {
        "n_done": np.array([10, 4, 1]),
        "order": np.array([2, 0, 1]),
        "start": np.array([0, -1, -1]),
        "assigned": np.array([[0, 0, 0], [1, 1, 0], [0, 2, 1]], np.int32),
        "rate": np.empty((3, 0), np.int32),
        "state": np.array([[1, 2, 3, 4, 0, 0], [5, 6, 7, 2**32 - 1, 1, 8], [9, 10, 11, 12, 0, 0]]),
        "draws": np.array([[1, 1, 0]], np.int32),
        "learning": np.array([[2.0, 0.25]] * 10),
        "log_joint": np.array([-9.0, -8.0, -7.0, -6.0, -10.0]),
        "n_moved": np.array([3, 2, 1, 0, 3]),
        "n_clusters": np.array([1, 2, 3, 2, 3]),
        "n_split_merge": np.array([0, 1, 0, 1, 0]),
    }
    arrays = payload.arrays | {f"run_{name}": array for name, array in run.items()}
    return replace(payload, parameters=parameters, metadata=metadata, arrays=arrays)
