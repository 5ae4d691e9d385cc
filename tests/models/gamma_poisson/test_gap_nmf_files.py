"""Model files of `BayesianNMF`: one that loads for ever, round trips, and what cannot be a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from gap_cases import draw_counts, hash_of
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsemix import BayesianNMF, load_model, save_model
from sparsemix.persistence import Payload, state_hash

GOLDEN = Path(__file__).parents[2] / "persistence" / "golden" / "bayesian_nmf_1.smx"
COUNTS = draw_counts()


def golden_payload():
    """Two draws of two users, one component and two features."""
    parameters = {
        "n_components": 1, "user_rate": "empirical", "feature_rate": 2.0, "noise_shape": 0.0, "noise_scale": 0.5,
        "n_sweeps": 3, "burn_in": 1, "thin": 1, "n_chains": 1, "random_state": 0,
    }  # fmt: skip
    metadata = {"n_users": 2, "n_features": 2, "n_components": 1, "n_draws": 2}
    arrays = {
        "users": np.array([[2.0], [1.0]]),
        "features": np.array([[0.5], [3.0]]),
        "user_draws": np.array([[[1.0], [1.5]], [[3.0], [0.5]]]),
        "feature_draws": np.array([[[0.25], [2.0]], [[0.75], [4.0]]]),
        "log_likelihood": np.array([[-9.0, -5.0, -4.0]]),
        "noise_variance": np.array([[1.0, 0.5, 0.25]]),
    }
    return Payload("bayesian-nmf", parameters, metadata, arrays, np.array(["cat", "dog"], dtype=object))


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert isinstance(model, BayesianNMF)
    assert hash_of(model) == state_hash(golden_payload())
    assert model.feature_names_in_.tolist() == ["cat", "dog"]
    assert_allclose(model.rates([0, 1], [0, 1]), [(0.25 + 2.25) / 2, (3.0 + 2.0) / 2])
    assert model.noise_variance_ == 0.375
    assert_array_equal(model.feature_factors_, [[0.5, 3.0]])


@pytest.mark.parametrize("form", [np.asarray, lambda counts: pd.DataFrame(counts).add_prefix("ad")])
def test_round_trip_is_equal_to_the_bit(tmp_path, form):
    plan = {"n_sweeps": 30, "burn_in": 10, "thin": 4, "n_chains": 2}
    model = BayesianNMF(3, user_rate=np.float64(0.3), random_state=0, **plan).fit(form(COUNTS))
    save_model(model, tmp_path / "model.smx")
    again = load_model(tmp_path / "model.smx")
    assert hash_of(again) == hash_of(model)
    assert_array_equal(again.rates([0, 1], [2, 3]), model.rates([0, 1], [2, 3]))
    assert again.diagnostics_ == model.diagnostics_
    assert again.get_params() == model.get_params()
    assert getattr(again, "feature_names_in_", [None])[0] == getattr(model, "feature_names_in_", [None])[0]


def test_a_model_without_factors_cannot_be_saved():
    with pytest.raises(NotFittedError):
        BayesianNMF().to_payload()


@pytest.mark.parametrize(("array", "values"), [
    ("users", [[2.0], [-1.0]]), ("users", [[2.0]]), ("users", [[2], [1]]), ("users", [[1e60], [1.0]]),
    ("features", [[np.inf], [1.0]]), ("user_draws", [[[1.0], [1.5]]]), ("feature_draws", None),
    ("feature_draws", [[[0.25], [np.nan]], [[0.75], [4.0]]]), ("log_likelihood", [[]]), ("log_likelihood", [-9.0]),
    ("log_likelihood", [[np.nan, -5.0, -4.0]]), ("noise_variance", [[1.0, 0.5]]), ("noise_variance", [[1.0, 0.0, 1.0]]),
    ("noise_variance", [[1.0, 0.5, 1e60]]), ("spare", [1.0]),
])  # fmt: skip
def test_arrays_that_make_no_draws(refused, array, values):
    payload = golden_payload()
    arrays = {name: each for name, each in payload.arrays.items() if name != array}
    if values is not None:
        arrays[array] = np.array(values)
    refused(replace(payload, arrays=arrays))


@pytest.mark.parametrize(("key", "value"), [
    ("n_users", 3), ("n_users", 0), ("n_features", 1), ("n_components", 0), ("n_draws", 0), ("n_draws", -1),
    ("n_draws", "2"), ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(refused, key, value):
    payload = golden_payload()
    refused(replace(payload, metadata=payload.metadata | {key: value}))
