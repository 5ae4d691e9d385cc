"""Model files of interrupted fits of `TimeSensitiveMixture`: one that loads for ever, and what cannot be a run."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from scipy import sparse
from thread_payloads import interrupted_payload

from sparsemix import load_model
from sparsemix.data.digests import digest_of
from sparsemix.persistence import state_hash, write_payload

GOLDEN = Path(__file__).parent / "golden" / "time_sensitive_mixture_run_1.smx"
ROWS, TIMES = np.array([[1, 1, 0], [0, 2, 0], [2, 0, 0]]), np.array([10.0, 40.0, 0.0])


def test_golden_file_loads_for_ever():
    model = load_model(GOLDEN)
    assert state_hash(model.to_payload()) == state_hash(interrupted_payload())
    assert not model.is_complete_
    assert model.labels_.tolist() == [0, 1, 0]
    assert model.draws_.tolist() == [[1, 0, 1]]
    assert model.moves_.tolist() == [[3, 2, 1, 0, -1, -1], [3, -1, -1, -1, -1, -1]]
    assert_array_equal(model.learning_, np.tile([2.0, 0.25], (10, 1)))
    assert (model.concentration_, model.time_kernel_.rate) == (2.0, 0.25)


def test_a_run_from_a_file_goes_on(tmp_path):
    payload = interrupted_payload()
    run = payload.metadata["run"] | {"rows": digest_of(sparse.csr_array(ROWS), TIMES)}
    write_payload(tmp_path / "run.smx", replace(payload, metadata=payload.metadata | {"run": run}))
    model = load_model(tmp_path / "run.smx").set_params(warm_start=True)
    model.fit(pd.DataFrame(ROWS, columns=["cat", "dog", "eel"]), times=TIMES)
    assert model.is_complete_
    assert model.draws_.shape == (4, 3)
    assert model.draws_[0].tolist() == [1, 0, 1]
    assert model.log_joint_[0, :4].tolist() == [-9.0, -8.0, -7.0, -6.0]
    assert model.time_kernel_.rate == pytest.approx(0.25)


CHANGES = {
    "n_done": [
        [10, 4],
        [10, 7, 1],
        [9, 4, 1],
        [11, 4, 1],
        [0, 0, 0],
        [10, -1, 1],
        [[10, 4, 1]],
        [10.0, 4.0, 1.0],
    ],
    "order": [[2, 0], [2, 0, 0], [2, 0, 3], [2, 0, -1], [2.0, 0.0, 1.0]],
    "start": [[0, -1], [1, -1, -1], [3, -1, -1], [-2, 0, 0], [0.0, -1.0, -1.0]],
    "assigned": [[[0, 0, 0]], [[0, 0, 0], [1, 1, 0], [0, 3, 1]], [[0, 0, 0], [1, 1, 0], [0, -1, 1]]],
    "rate": [[[0, 0, 0]] * 3, [[]]],
    "state": [
        [[0] * 6] * 2,
        [[0] * 5] * 3,
        [[2**32] + [0] * 5] * 3,
        [[-1] + [0] * 5] * 3,
        [[0, 0, 0, 0, 2, 0]] * 3,
    ],
    "draws": [[[1, 1]], [[1, 1, 3]], [[1, 1, -1]], [[1, 1, 0], [1, 1, 0]]],
    "learning": [
        [[2.0, 0.25]] * 9,
        [[2.0, -1.0]] * 10,
        [[2.0, np.nan]] * 10,
        [[2.0, 1e60]] * 10,
        [[0.0, 0.25]] * 10,
        [2.0] * 10,
    ],
    "log_joint": [[-1e30] * 5, [-9.0] * 4, [np.nan] * 5, [np.inf] * 5, [-9] * 5],
    "n_moved": [[3] * 4, [-1] * 5, [4] * 5, [2**40] * 5, [3.0] * 5],
    "n_clusters": [[3] * 6, [-1] * 5, [0] * 5, [4] * 5],
    "n_split_merge": [[3] * 6, [-1] * 5, [2**40] * 5],
    "spare": [[1]],
}


@pytest.mark.parametrize("name", CHANGES)
def test_arrays_that_are_no_run(refused, name):
    payload = interrupted_payload()
    key = f"run_{name}"
    for values in CHANGES[name]:
        changed = np.array(
            values, payload.arrays[key].dtype if name in ("assigned", "rate", "draws") else None
        )
        assert "cannot read the model file" in refused(
            replace(payload, arrays=payload.arrays | {key: changed})
        )
    if name != "spare":
        kept = {other: array for other, array in payload.arrays.items() if other != key}
        assert "is missing" in refused(replace(payload, arrays=kept))


@pytest.mark.parametrize(("key", "value"), [
    ("n_learning", -1), ("n_learning", 9), ("n_learning", 10**12), ("n_sweeps", 0), ("n_sweeps", 3),
    ("n_sweeps", 10**12), ("n_sweeps", 10**7 + 1),
    ("burn_in", 6), ("burn_in", -1), ("burn_in", 3.0), ("thin", 0), ("thin", 1), ("n_chains", 0), ("n_chains", 3),
    ("n_chains", 10**6), ("n_threads", 0), ("n_threads", 10**6), ("seed", -1), ("seed", 1.5), ("concentration", 0.0),
    ("concentration", 1e60), ("concentration", "1"), ("concentration", float("nan")), ("rate", 0.0), ("rate", -1.0),
    ("rate", float("inf")), ("rate", None), ("rows", 3), ("rows", "0" * 65), ("spare", 1),
])  # fmt: skip
def test_numbers_that_are_no_run(refused, key, value):
    payload = interrupted_payload()
    run = payload.metadata["run"] | {key: value}
    changed = replace(payload, metadata=payload.metadata | {"run": run})
    assert "cannot read the model file" in refused(changed)


@pytest.mark.parametrize("run", [None, 3, "run", {}, [1]])
def test_a_run_that_is_none(refused, run):
    payload = interrupted_payload()
    assert "cannot read" in refused(replace(payload, metadata=payload.metadata | {"run": run}))
    kept = {name: value for name, value in payload.metadata.items() if name != "run"}
    assert "cannot read" in refused(replace(payload, metadata=kept))


def test_chains_that_the_kernel_rules_out(refused):
    payload = interrupted_payload()
    window = {"kind": "window", "rate": 0.0, "support": 11.0}
    run = payload.metadata["run"] | {"rate": 0.0}
    arrays = payload.arrays | {"run_assigned": np.array([[0, 0, 1], [1, 1, 0], [0, 2, 0]], np.int32)}
    changed = replace(payload, metadata=payload.metadata | window | {"run": run}, arrays=arrays)
    assert "a chain that its time kernel rules out" in refused(changed)


def test_rates_of_clusters_that_are_none(refused):
    payload = interrupted_payload()
    arrays = payload.arrays | {
        "rates": np.array([0.25, 0.5]),
        "shares": np.array([0.5, 0.5]),
        "rate": np.array([0, 1]),
        "run_rate": np.zeros((3, 3), np.int32),
    }
    run = payload.metadata["run"] | {"rate": 0.25}
    changed = payload.metadata | {"kind": "each_cluster", "rate": 0.25, "run": run}
    for rates in ([[0, 0, 2]] * 3, [[0, 0, -1]] * 3, [[0, 0]] * 3):
        odd = arrays | {"run_rate": np.array(rates, np.int32)}
        assert "'rate'" in refused(replace(payload, metadata=changed, arrays=odd))


def test_traces_that_fit_no_memory(refused):
    payload = interrupted_payload()
    run = payload.metadata["run"] | {"n_sweeps": 10**7, "thin": 10**7, "n_chains": 1000}
    assert "cannot be" in refused(replace(payload, metadata=payload.metadata | {"run": run}))
