"""Model files of `GammaPoissonFactors`: one that loads for ever, round trips, and what cannot be a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gap_cases import draw_counts, hash_of, new_model
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix import GammaPoissonFactors, load_model, save_model
from sparsemix.persistence import Payload, state_hash

GOLDEN = Path(__file__).parents[2] / "persistence" / "golden" / "gamma_poisson_factors_1.smx"
COUNTS = draw_counts()


def golden_payload():
    """Two users, two components, three features; the first component makes cats and dogs, the second eels."""
    parameters = {
        "n_components": 2, "solver": "map", "shape": [1.5, 2.0], "rate": 0.5, "feature_concentration": 0.1,
        "algorithm": "accelerated", "n_init": 1, "max_iter": 200, "tol": 1e-5, "n_sweeps": 200, "burn_in": 100,
        "thin": 10, "n_chains": 1, "random_state": 0, "n_jobs": None, "verbose": 0,
    }  # fmt: skip
    metadata = {
        "solver": "map", "concentration": 0.1, "is_converged": True, "n_users": 2, "n_features": 3,
        "n_components": 2, "n_draws": 0,
    }  # fmt: skip
    arrays = {
        "users": np.array([[3.0, 1.0], [0.5, 4.0]]),
        "features": np.array([[0.75, 0.0], [0.25, 0.0], [0.0, 1.0]]),
        "component_counts": np.array([3.0, 5.0]),
        "trace": np.array([-9.0, -8.0]),
        "shape": np.array([1.5, 2.0]),
        "rate": np.array([0.5, 0.5]),
    }
    names = np.array(["cat", "dog", "eel"], dtype=object)
    return Payload("gamma-poisson-factors", parameters, metadata, arrays, names)


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert isinstance(model, GammaPoissonFactors)
    payload, added = golden_payload(), {"warm_start": False, "users_on_disk": False, "feature_smoothing": 0.0}
    assert hash_of(model) == state_hash(replace(payload, parameters=payload.parameters | added))
    assert model.is_complete_
    assert model.feature_names_in_.tolist() == ["cat", "dog", "eel"]
    # 4 cats can only be of the first component: (4 + 1.5 - 1) / (1 + 0.5); nothing else, (2 - 1) / 1.5.
    assert_allclose(model.transform([[4, 0, 0]]), [[3.0, 2.0 / 3.0]])
    assert model.recommend([[4, 0, 0]], n=1)[0][0][0] == "dog"
    assert_allclose(model.rates([0, 1], [0, 2]), [2.25, 4.0])


@pytest.mark.parametrize("solver", ["ml", "map", "gibbs"])
@pytest.mark.parametrize("form", [np.asarray, lambda counts: pd.DataFrame(counts).add_prefix("ad")])
def test_round_trip_is_equal_to_the_bit(tmp_path, solver, form):
    model = new_model(solver, shape=np.array([1.1, 1.2, 1.3])).fit(form(COUNTS))
    save_model(model, tmp_path / "model.smx")
    again = load_model(tmp_path / "model.smx")
    assert hash_of(again) == hash_of(model)
    assert_array_equal(again.transform(form(COUNTS)), model.transform(form(COUNTS)))
    assert_array_equal(again.rates([0, 1], [2, 3]), model.rates([0, 1], [2, 3]))
    assert again.recommend(form(COUNTS[:5])) == model.recommend(form(COUNTS[:5]))
    if solver == "gibbs":
        assert_array_equal(again.user_draws_, model.user_draws_)
        assert again.diagnostics_ == model.diagnostics_


def test_a_loaded_model_goes_on_as_the_saved_one(tmp_path):
    model = new_model().fit(COUNTS)
    save_model(model, tmp_path / "model.smx")
    again = load_model(tmp_path / "model.smx")
    assert hash_of(again.partial_fit(COUNTS[:9])) == hash_of(model.partial_fit(COUNTS[:9]))


@pytest.mark.parametrize(("array", "values"), [
    ("users", [[3.0, -1.0], [0.5, 4.0]]), ("users", [[3.0, np.nan], [0.5, 4.0]]), ("users", [[3.0, 1.0]]),
    ("users", [[3, 1], [0, 4]]), ("users", [[1e60, 1.0], [0.5, 4.0]]), ("features", [[1.0, 1.0]]),
    ("features", [[np.inf, 0.0]] * 3), ("component_counts", [3.0]), ("component_counts", [-3.0, 1.0]),
    ("trace", []), ("trace", [[-9.0]]), ("trace", [np.nan]), ("shape", [0.0, 1.0]), ("rate", [-1.0, 1.0]),
    ("rate", None), ("spare", [1.0]), ("user_draws", [[[1.0]]]),
])  # fmt: skip
def test_arrays_that_make_no_factors(refused, array, values):
    payload = golden_payload()
    arrays = {name: each for name, each in payload.arrays.items() if name != array}
    if values is not None:
        arrays[array] = np.array(values)
    refused(replace(payload, arrays=arrays))


@pytest.mark.parametrize(("key", "value"), [
    ("solver", "vb"), ("solver", "gibbs"), ("solver", 1), ("concentration", 0.0), ("concentration", "1"),
    ("is_converged", 1), ("n_users", 3), ("n_users", 0), ("n_features", 2), ("n_components", 1), ("n_draws", 1),
    ("n_draws", -1), ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(refused, key, value):
    payload = golden_payload()
    refused(replace(payload, metadata=payload.metadata | {key: value}))
