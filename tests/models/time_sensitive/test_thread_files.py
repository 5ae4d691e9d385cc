"""Model files of `TimeSensitiveMixture`: one that loads for ever, and what cannot be a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from thread_payloads import small_payload

from sparsemix import TimeSensitiveMixture, load_model, save_model
from sparsemix.persistence import state_hash, write_payload

GOLDEN = Path(__file__).parent / "golden" / "time_sensitive_mixture_1.smx"


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert state_hash(model.to_payload()) == state_hash(small_payload())
    assert isinstance(model, TimeSensitiveMixture)
    assert model.feature_names_in_.tolist() == ["cat", "dog", "eel"]
    # One cat more at 12 seconds: exp(-6) + exp(-1) of the first cluster, exp(-14) of the second, which comes later.
    weights = np.array([np.exp(-6.0) + np.exp(-1.0), np.exp(-14.0), 1.0])
    joint = weights * [3.5 / 5.5, 0.5 / 3.5, 1 / 3]
    assert_allclose(model.predict_proba([[1, 0, 0]], times=[12.0])[0], joint[:2] / joint[:2].sum())
    assert_allclose(model.new_cluster_probability([[1, 0, 0]], times=[12.0]), joint[2] / joint.sum())
    assert_allclose(model.score([[1, 0, 0]], times=[12.0]), np.log(joint.sum() / weights.sum()))
    assert model.suggest(["cat"], n=1)[0].feature == "dog"
    assert [thread.n_rows for thread in model.threads()] == [2, 1]


def test_a_file_of_today_has_the_state_of_the_golden_one(tmp_path):
    save_model(load_model(GOLDEN).set_params(init=[0, 0, 1]), tmp_path / "again.smx")
    assert state_hash(load_model(tmp_path / "again.smx").to_payload()) == state_hash(small_payload())


@pytest.mark.parametrize(("array", "values"), [
    ("times", [0.0, 10.0]), ("times", [0.0, 50.0, 40.0]), ("times", [0.0, np.nan, 40.0]), ("times", [0, 10, 40]),
    ("times", [0.0, 10.0, 1e60]), ("labels", [0, 0]), ("labels", [0, 0, 2]), ("labels", [0, 0, -1]),
    ("labels", [0, 1, 1]),
    ("labels", [0, 0, 3]), ("indptr", [0, 1, 3]), ("indptr", [0, 3, 1, 4]), ("indptr", [0, 1, 3, 9]),
    ("columns", [0, 0, 3, 1]), ("columns", [0, 1, 0, 1]), ("columns", [0, 1, 1, 1]), ("columns", [0, 0, -1, 1]),
    ("counts", [2, 1, 0, 2]), ("counts", [2, 1, 1]), ("counts", [2.0, 1.0, 1.0, 2.0]), ("counts", [2, 2**31, 1, 2]),
    ("counts", [2**31 - 1, 1, 1, 2]), ("spare", [1]), ("counts", None),
])  # fmt: skip
def test_arrays_that_make_no_clusters(refused, array, values):
    payload = small_payload()
    arrays = {name: each for name, each in payload.arrays.items() if name != array}
    if values is not None:
        arrays[array] = np.array(values)
    assert "cannot read the model file" in refused(replace(payload, arrays=arrays))


@pytest.mark.parametrize(("key", "value"), [
    ("kind", "gaussian"), ("kind", "function"), ("kind", None), ("kind", ["step"]), ("rate", -1.0), ("rate", "1"),
    ("rate", float("nan")), ("rate", 1e60), ("support", -1.0), ("support", float("inf")), ("family", "poisson"),
    ("family", None), ("concentration", 0.0), ("concentration", "1"), ("a", 0.0), ("b", float("inf")), ("strict", 1),
    ("n_features", 2), ("n_features", 2**31), ("n_features", True), ("n_rows", 0), ("n_rows", 2), ("n_rows", 10**9),
    ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(refused, key, value):
    payload = small_payload()
    if key == "n_features" and value == 2:
        payload = replace(
            payload, feature_names=None, arrays=payload.arrays | {"columns": np.array([0, 0, 2, 1])}
        )
    changed = replace(payload, metadata=payload.metadata | {key: value})
    assert "cannot read the model file" in refused(changed)


@pytest.mark.parametrize(("changes", "reason"), [
    ({"kind": "window", "rate": 0.0, "support": 5.0}, "rules out"), ({"kind": "periodic"}, "no period"),
    ({"kind": "step"}, "numbers that cannot be"), ({"rate": 0.0}, "numbers that cannot be"),
    ({"family": "bernoulli"}, "presence"),
])  # fmt: skip
def test_kernels_and_families_that_do_not_fit_the_rows(refused, changes, reason):
    payload = small_payload()
    assert reason in refused(replace(payload, metadata=payload.metadata | changes))


def test_parameters_that_a_file_does_not_know_have_their_defaults(tmp_path):
    payload = small_payload()
    older = {name: each for name, each in payload.parameters.items() if name != "learn"}
    write_payload(tmp_path / "older.smx", replace(payload, parameters=older))
    assert load_model(tmp_path / "older.smx").learn is False
