"""Model files of `HashedGibbsMixture`: one that loads for ever, and what cannot be a model."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from numpy.testing import assert_allclose
from payload_samples import gaussian_gibbs_payload, hashed_gibbs_payload
from scipy.stats import t

from sparsemix import HashedGibbsMixture, UncollapsedGibbsMixture, load_model, save_model
from sparsemix.persistence import state_hash, write_payload

GOLDEN = Path(__file__).parent / "golden" / "hashed_gibbs_mixture_1.smx"
GAUSSIAN = Path(__file__).parent / "golden" / "hashed_gibbs_gaussian_1.smx"


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert state_hash(model.to_payload()) == state_hash(hashed_gibbs_payload())
    assert isinstance(model, HashedGibbsMixture)
    assert model.feature_names_in_.tolist() == ["cat", "dog", "eel"]
    assert_allclose(model.weights_, [3 / 5, 2 / 5])
    # One cat more: (3 + 0.5) / (4 + 1.5) in the first cluster, 0.5 / (2 + 1.5) in the second.
    joint = np.array([3 / 5 * 3.5 / 5.5, 2 / 5 * 0.5 / 3.5])
    assert_allclose(model.predict_proba([[1, 0, 0]]), [joint / joint.sum()])
    assert_allclose(model.score([[1, 0, 0]]), np.log(joint.sum()))
    assert model.suggest(["cat"], n=1)[0].feature == "dog"
    assert [summary.n_rows for summary in model.top_features()] == [2.0, 1.0]


def test_golden_file_of_gaussian_rows_loads_for_ever():
    model = load_model(GAUSSIAN)
    assert state_hash(model.to_payload()) == state_hash(gaussian_gibbs_payload())
    # Strength 0.5 + 2, mean 4 - 6 / 2.5, shape 2 + 1, rate 1 + 2 / 2 + 0.5 * 2 * 3^2 / (2 * 2.5) in the first cluster.
    assert_allclose(model.means_, [[1.6], [8.0]])
    assert_allclose(model.covariances_, [[3.8 / 2.0], [7.0 / 1.5]])
    first = t.pdf(3.0, 6.0, 1.6, np.sqrt(3.8 * 3.5 / (3.0 * 2.5)))
    second = t.pdf(3.0, 5.0, 8.0, np.sqrt(7.0 * 2.5 / (2.5 * 1.5)))
    joint = np.array([3 / 5 * first, 2 / 5 * second])
    assert_allclose(model.predict_proba([[3.0]]), [joint / joint.sum()])
    assert_allclose(model.score([[3.0]]), np.log(joint.sum()))


def test_uncollapsed_sampling_has_no_gaussian_rows(refused):
    payload = replace(gaussian_gibbs_payload(), kind="uncollapsed-gibbs-mixture")
    known = UncollapsedGibbsMixture().get_params()
    kept = {name: value for name, value in payload.parameters.items() if name in known}
    assert "family is 'gaussian'" in refused(replace(payload, parameters=kept | {"init": "random"}))


def test_a_file_of_today_has_the_state_of_the_golden_one(tmp_path):
    rows = [[2, 0, 0], [1, 1, 0], [0, 2, 0]]
    model = load_model(GOLDEN).set_params(init=[0, 0, 1])
    save_model(model, tmp_path / "again.smx")
    golden = hashed_gibbs_payload()
    known = replace(
        golden, parameters=golden.parameters | {"init": "leader"}
    )  # rows are not kept, nor is their start
    assert state_hash(load_model(tmp_path / "again.smx").to_payload()) == state_hash(known)
    assert model.predict(rows).tolist() == [0, 0, 1]


@pytest.mark.parametrize(("array", "values"), [
    ("sizes", [2]), ("sizes", [2, 0]), ("sizes", [2, -1]), ("sizes", [2.0, 1.0]), ("sizes", [[2, 1]]),
    ("sizes", []), ("sizes", [2, 2**62]), ("indptr", [0, 1, 3]), ("indptr", [0, 3, 1, 3]), ("indptr", [1, 1, 3, 3]),
    ("indptr", [0, 1, 3, 4]), ("indptr", [0, -1, 3, 3]), ("clusters", [0, 0, 2]), ("clusters", [0, 0, -1]),
    ("clusters", [0, 0]), ("clusters", [0, 0, 0]), ("clusters", [0, 1, 0]), ("clusters", [0.0, 0.0, 1.0]),
    ("counts", [3, 1, 0]), ("counts", [3, 1, -2]), ("counts", [3, 1, 2**31]), ("counts", [3, 2**31 - 1, 2**31 - 1]),
    ("counts", [3.0, 1.0, 2.0]), ("counts", [3, 1]), ("spare", [1]), ("counts", None),
])  # fmt: skip
def test_arrays_that_make_no_clusters(refused, array, values):
    payload = hashed_gibbs_payload()
    arrays = {name: each for name, each in payload.arrays.items() if name != array}
    if values is not None:
        arrays[array] = np.array(values)
    assert "cannot read the model file" in refused(replace(payload, arrays=arrays))


@pytest.mark.parametrize(("key", "value"), [
    ("family", "gaussian"), ("family", None), ("family", ["poisson"]), ("process", "crp"), ("process", 1),
    ("concentration", 0.0), ("concentration", -1.0), ("concentration", float("nan")), ("concentration", "1"),
    ("concentration", 1e60), ("discount", 1.0), ("discount", -0.1), ("discount", float("nan")), ("a", 0.0),
    ("a", float("inf")), ("b", 1e-60), ("b", None), ("n_features", 2), ("n_features", 2**31), ("n_features", 10**30),
    ("n_features", 3.0), ("n_features", True), ("n_clusters", 0), ("n_clusters", 1), ("n_clusters", 10**9),
    ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(refused, key, value):
    payload = hashed_gibbs_payload()
    assert "cannot read the model file" in refused(replace(payload, metadata=payload.metadata | {key: value}))


def test_a_parameter_that_came_after_the_file_has_its_default(tmp_path):
    payload = hashed_gibbs_payload()
    kept = {
        name: value for name, value in payload.parameters.items() if name not in {"n_shards", "warm_start"}
    }
    write_payload(tmp_path / "old.smx", replace(payload, parameters=kept))
    model = load_model(tmp_path / "old.smx")
    assert (model.n_shards, model.warm_start) == (1, False)
    assert model.smoothing == 0.5


def test_presence_is_held_by_no_more_rows_than_there_are(refused):
    payload = hashed_gibbs_payload()
    assert "more often" in refused(replace(payload, metadata=payload.metadata | {"family": "bernoulli"}))


def test_counts_at_the_limit_cost_no_memory(tmp_path):
    payload = hashed_gibbs_payload()
    arrays = payload.arrays | {"counts": np.array([2**31 - 1, 1, 2])}
    write_payload(tmp_path / "large.smx", replace(payload, arrays=arrays))
    assert load_model(tmp_path / "large.smx").predict([[5, 0, 0], [0, 9, 0]]).tolist() == [0, 1]
