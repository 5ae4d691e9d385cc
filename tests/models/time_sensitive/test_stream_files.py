"""Model files of `StreamingTimeSensitiveMixture`: one that loads for ever, and what cannot be a stream."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose

from sparsemix import StreamingTimeSensitiveMixture, load_model, save_model
from sparsemix.persistence import Payload, state_hash, write_payload

GOLDEN = Path(__file__).parent / "golden" / "streaming_time_sensitive_mixture_1.smx"
E = np.exp(-1.0)


def small_payload():
    """Four rows at 0, 10, 12 and 40 seconds, the last two of which may move; cluster 1 has ended.

    Cluster 0 holds {cat x3, dog}, of which {cat x2} and {dog} are there to stay, and 2 holds {dog x2}.
    """
    parameters = {
        "concentration": 1.0, "time_kernel": "exponential", "decay_rate": 0.5, "half_life": None,
        "family": "multinomial", "smoothing": 0.5, "prior_mean": 0.01, "prior_strength": 1.0, "assignment": "map",
        "window": 2, "late": "error", "negligible": 1e-12, "binarize": None, "random_state": 0,
    }  # fmt: skip
    metadata = {
        "family": 0, "concentration": 1.0, "a": 0.5, "b": 1.0, "n_features": 3, "rate": 0.5,
        "log_least": float(np.log(1e-12)), "assignment": 0, "is_held": 1, "window": 2, "seed": 7, "n_seen": 4,
        "next_id": 3, "latest": 40.0,
    }  # fmt: skip
    base = np.exp(-5.0) + 1.0
    weight = np.array([base * E + 1.0, 1.0])
    arrays = {
        "ids": np.array([0, 2]), "born": np.array([0.0, 40.0]), "last": np.array([12.0, 40.0]),
        "sizes": np.array([3.0, 1.0]), "totals": np.array([4.0, 2.0]), "weight": weight,
        "log_weight": np.log(weight), "off": np.zeros(2), "base": np.array([base, 0.0]),
        "base_time": np.array([10.0, 40.0]), "indptr": np.array([0, 2, 3]), "columns": np.array([1, 0, 1]),
        "counts": np.array([1.0, 3.0, 2.0]), "recent_indptr": np.array([0, 1, 2]), "recent_columns": np.array([0, 1]),
        "recent_counts": np.array([1, 2]), "recent_times": np.array([12.0, 40.0]), "recent_places": np.array([0, 1]),
    }  # fmt: skip
    names = np.array(["cat", "dog", "eel"], dtype=object)
    return Payload("streaming-time-sensitive-mixture", parameters, metadata, arrays, names)


def bernoulli_payload():
    """Of presence, in parts: cluster 0 with half a row of {cat}, and half of an empty one, and nothing to move."""
    payload = small_payload()
    metadata = {"family": 1, "assignment": 1, "is_held": 0, "window": 0, "next_id": 1, "a": 0.5, "b": 0.5}
    one = {name: array[:1] for name, array in payload.arrays.items()}
    arrays = one | {
        "sizes": np.array([1.0]), "totals": np.array([0.5]), "weight": np.array([0.9]),
        "log_weight": np.log([0.9]), "off": np.zeros(1), "base": np.zeros(1), "indptr": np.array([0, 1]),
        "columns": np.array([0]), "counts": np.array([0.5]), "recent_indptr": np.array([0]),
        "recent_columns": np.empty(0, int), "recent_counts": np.empty(0, int), "recent_times": np.empty(0),
        "recent_places": np.empty(0, int),
    }  # fmt: skip
    return replace(payload, metadata=payload.metadata | metadata, arrays=arrays)


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert state_hash(model.to_payload()) == state_hash(small_payload())
    assert isinstance(model, StreamingTimeSensitiveMixture)
    assert model.component_ids_.tolist() == [0, 2]
    assert model.recent_labels_.tolist() == [0, 2]
    # One cat more at 42 seconds.
    weights = np.array([small_payload().arrays["weight"][0] * np.exp(-15.0), E, 1.0])
    joint = weights * [3.5 / 5.5, 0.5 / 3.5, 1 / 3]
    assert_allclose(model.predict_proba([[1, 0, 0]], times=[42.0])[0], joint[:2] / joint[:2].sum())
    assert_allclose(model.new_cluster_probability([[1, 0, 0]], times=[42.0]), joint[2] / joint.sum())
    assert_allclose(model.score([[1, 0, 0]], times=[42.0]), np.log(joint.sum() / weights.sum()))
    assert model.partial_fit([[0, 0, 9]], times=[42.0]).labels_.tolist() == [3]


@pytest.mark.parametrize("payload", [small_payload(), bernoulli_payload()], ids=["counts", "presence"])
def test_a_file_of_today_has_the_state_of_the_payload(payload, tmp_path):
    write_payload(tmp_path / "one.smx", payload)
    save_model(load_model(tmp_path / "one.smx"), tmp_path / "again.smx")
    assert state_hash(load_model(tmp_path / "again.smx").to_payload()) == state_hash(payload)


@pytest.mark.parametrize(("array", "values"), [
    ("ids", [2, 0]), ("ids", [0, 3]), ("ids", [0]), ("ids", []), ("ids", [0, 0]), ("ids", [-1, 2]),
    ("born", [50.0, 40.0]), ("born", [np.nan, 40.0]), ("last", [12.0, 41.0]), ("base_time", [10.0, 99.0]),
    ("sizes", [0.0, 1.0]), ("sizes", [3.0, 9.0]), ("sizes", [3.5, 1.0]), ("sizes", [2.0, 1.0]), ("sizes", [3, 1]),
    ("totals", [4.0, 3.0]), ("totals", [4.0, -2.0]), ("weight", [9.0, 1.0]), ("weight", [0.0, 1.0]),
    ("log_weight", [0.0, 0.0]), ("log_weight", [-np.inf, 0.0]), ("off", [1.0]), ("off", [np.nan, 0.0]),
    ("off", [1.0, 0.0]), ("base", [0.0, 0.0]), ("base", [1.0, 1.0]), ("base", [-1.0, 0.0]), ("base", [7.0, 0.0]),
    ("indptr", [0, 2]), ("indptr", [0, 3, 2]), ("indptr", [1, 2, 3]), ("columns", [1, 1, 1]), ("columns", [1, 0, 3]),
    ("columns", [-1, 0, 1]), ("counts", [1.0, 3.0, 0.0]), ("counts", [1.0, 3.5, 2.0]), ("counts", [1.0, 3.0]),
    ("counts", [3.0, 0.5, 2.0]), ("counts", [np.inf, 3.0, 2.0]),
    ("recent_indptr", [0, 1]), ("recent_columns", [2, 1]), ("recent_columns", [0, 0]), ("recent_columns", [0, 3]),
    ("recent_counts", [4, 2]), ("recent_counts", [0, 2]), ("recent_counts", [1.0, 2.0]), ("recent_counts", [2**31, 2]),
    ("recent_times", [41.0, 40.0]), ("recent_times", [12.0, 41.0]), ("recent_times", [12.0]),
    ("recent_places", [0, 2]), ("recent_places", [1, 1]), ("recent_places", [0, 0]), ("recent_places", [0]),
    ("spare", [1]), ("counts", None),
])  # fmt: skip
def test_arrays_that_make_no_stream(refused, array, values):
    payload = small_payload()
    arrays = {name: each for name, each in payload.arrays.items() if name != array}
    if values is not None:
        arrays[array] = np.array(values)
    assert "cannot read the model file" in refused(replace(payload, arrays=arrays))


@pytest.mark.parametrize(("key", "value"), [
    ("family", 2), ("family", "multinomial"), ("family", True), ("concentration", 0.0), ("concentration", "1"),
    ("a", 0.0), ("b", float("inf")), ("rate", -1.0), ("rate", 1e60), ("rate", float("nan")), ("log_least", None),
    ("assignment", 1), ("assignment", 2), ("is_held", 0), ("window", 0), ("window", 3), ("window", 10**9),
    ("seed", -1), ("n_seen", 1), ("n_seen", 3), ("next_id", 2), ("next_id", 0), ("latest", 30.0), ("latest", "now"),
    ("n_features", 2), ("n_features", 0), ("n_features", 2**40), ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(refused, key, value):
    payload = small_payload()
    changed = replace(payload, metadata=payload.metadata | {key: value})
    assert "cannot read the model file" in refused(changed)


def test_presence_that_cannot_be(refused):
    payload = bernoulli_payload()
    for changes in ({"counts": np.array([1.5]), "totals": np.array([1.5])}, {"off": np.ones(1)}):
        refused(replace(payload, arrays=payload.arrays | changes))
