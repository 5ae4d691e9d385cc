"""What is written comes back equal to the bit."""

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from payload_samples import assert_same, sample_payload
from safetensors import safe_open

from sparsemix import ParameterError, __version__
from sparsemix.persistence import Payload, read_payload, state_hash, write_payload

GOLDEN = Path(__file__).parent / "golden"

json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
    lambda children: st.lists(children, max_size=3) | st.dictionaries(st.text(), children, max_size=3),
    max_leaves=8,
)
arrays = hnp.arrays(
    dtype=st.sampled_from(["f8", "f4", "i8", "i4", "i2", "i1", "u8", "u4", "u2", "u1", "?", ">f8", ">i4"]),
    shape=hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=4),
)
payloads = st.builds(
    Payload,
    kind=st.text(max_size=20),
    parameters=st.dictionaries(st.text(), json_values, max_size=4),
    metadata=st.dictionaries(st.text(), json_values, max_size=4),
    arrays=st.dictionaries(st.from_regex(r"[a-z_]{1,12}", fullmatch=True), arrays, max_size=4),
    feature_names=st.none()
    | st.lists(st.text(), max_size=5).map(lambda names: np.array(names, dtype=object)),
)


@pytest.mark.parametrize("mmap", [True, False])
def test_everything_comes_back(tmp_path, mmap):
    write_payload(tmp_path / "model.smx", sample_payload())
    assert_same(read_payload(tmp_path / "model.smx", mmap=mmap), sample_payload())


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=100, deadline=None)
@given(payload=payloads)
def test_any_payload_comes_back(tmp_path, payload):
    write_payload(tmp_path / "model.smx", payload)
    found = read_payload(tmp_path / "model.smx")
    native = {name: array.astype(array.dtype.newbyteorder("<")) for name, array in payload.arrays.items()}
    assert_same(found, replace(payload, arrays=native))
    assert state_hash(found) == state_hash(payload)


def test_special_floats_and_tuples(tmp_path):
    payload = Payload(
        "kind", metadata={"infinite": float("inf"), "pair": (1, 2), "big": 10**30, "tiny": 5e-324}
    )
    write_payload(tmp_path / "model.smx", payload)
    expected = {"infinite": float("inf"), "pair": [1, 2], "big": 10**30, "tiny": 5e-324}
    assert read_payload(tmp_path / "model.smx").metadata == expected


def test_arrays_in_any_memory_order(tmp_path):
    grid = np.arange(12.0).reshape(3, 4)
    payload = Payload("kind", arrays={"fortran": np.asfortranarray(grid), "step": grid[::2, ::-1]})
    write_payload(tmp_path / "model.smx", payload)
    found = read_payload(tmp_path / "model.smx").arrays
    np.testing.assert_array_equal(found["fortran"], grid)
    np.testing.assert_array_equal(found["step"], grid[::2, ::-1])


def test_mapped_arrays_are_read_only_and_loaded_ones_are_not(tmp_path):
    write_payload(tmp_path / "model.smx", sample_payload())
    assert not read_payload(tmp_path / "model.smx").arrays["alpha"].flags.writeable
    assert read_payload(tmp_path / "model.smx", mmap=False).arrays["alpha"].flags.writeable


def test_a_mapped_model_survives_its_file_being_replaced(tmp_path):
    path = tmp_path / "model.smx"
    write_payload(path, sample_payload())
    mapped = read_payload(path)
    write_payload(path, replace(mapped, arrays={"alpha": mapped.arrays["alpha"] + 1}))
    np.testing.assert_array_equal(mapped.arrays["alpha"], sample_payload().arrays["alpha"])
    np.testing.assert_array_equal(read_payload(path).arrays["alpha"], sample_payload().arrays["alpha"] + 1)


def test_other_programs_can_read_the_file(tmp_path):
    write_payload(tmp_path / "model.smx", sample_payload())
    with safe_open(tmp_path / "model.smx", framework="numpy") as file:
        assert file.metadata()["format"] == "sparsemix"
        assert file.metadata()["format_version"] == "1"
        assert file.metadata()["library_version"] == __version__
        np.testing.assert_array_equal(file.get_tensor("alpha"), sample_payload().arrays["alpha"])


def test_golden_file_of_version_1_loads_for_ever():
    assert_same(read_payload(GOLDEN / "payload_format_1.smx"), sample_payload())


def test_state_hash_sees_every_part_and_nothing_else(tmp_path):
    payload = sample_payload()
    changed = [
        replace(payload, kind="other"),
        replace(payload, parameters=payload.parameters | {"random_state": 1}),
        replace(payload, metadata=payload.metadata | {"n_rows_seen": 12_346}),
        replace(payload, arrays=payload.arrays | {"total": np.nextafter(payload.arrays["total"], 9)}),
        replace(payload, arrays=payload.arrays | {"empty": np.zeros((4, 0))}),
        replace(payload, arrays=payload.arrays | {"indices": payload.arrays["indices"].astype(np.int64)}),
        replace(payload, feature_names=payload.feature_names[::-1].copy()),
        replace(payload, feature_names=None),
    ]
    assert len({state_hash(each) for each in [payload, *changed]}) == 1 + len(changed)
    write_payload(tmp_path / "first.smx", payload)
    assert state_hash(read_payload(tmp_path / "first.smx")) == state_hash(payload)


def test_state_hash_is_the_same_on_every_machine_and_version():
    expected = "fbf1abeb633cde7dc832ba6bdaae771e0729483759ceca8bed9b55336eb17f63"
    assert state_hash(sample_payload()) == expected
    assert len(expected) == hashlib.sha256().digest_size * 2


@pytest.mark.parametrize(
    ("part", "value", "message"),
    [
        ("parameters", {"random_state": np.random.default_rng(0)}, "parameters[random_state]"),
        ("metadata", {"rows": [1, np.int64(2)]}, "metadata[rows][1]"),
        ("metadata", {"rows": {3: 1}}, "keyed by text"),
        ("arrays", {"Alpha": np.zeros(2)}, "small letters"),
        ("arrays", {"feature_names_bytes": np.zeros(2)}, "small letters"),
        ("arrays", {"alpha": np.array(["text"])}, "numbers or booleans"),
        ("arrays", {"alpha": np.array([object()])}, "numbers or booleans"),
        ("arrays", {"alpha": np.array([1j])}, "numbers or booleans"),
        ("feature_names", np.array(["a", 7], dtype=object), "must be text, but it is 7"),
    ],
)
def test_what_a_file_cannot_hold_is_refused_before_writing(tmp_path, part, value, message):
    with pytest.raises(ParameterError) as caught:
        write_payload(tmp_path / "model.smx", replace(sample_payload(), **{part: value}))
    assert message in str(caught.value)
    assert list(tmp_path.iterdir()) == []
