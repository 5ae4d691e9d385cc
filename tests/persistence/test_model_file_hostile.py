"""Damaged, foreign and hostile files raise one clear error, execute nothing and allocate nothing large."""

import json
import os
import pickle
import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from payload_samples import container, sample_payload, write_by_hand
from safetensors.numpy import save_file

from sparsemix import ModelFileError
from sparsemix.persistence import read_payload, write_payload
from sparsemix.persistence.payload import stored_arrays


@pytest.fixture
def model_bytes(tmp_path):
    write_payload(tmp_path / "whole.smx", sample_payload())
    return (tmp_path / "whole.smx").read_bytes()


def error_of(path, content=None, mmap=True):
    """Return the message of the error that reading raises, checked for the path and a remedy."""
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        read_payload(path, mmap=mmap)
    message = str(caught.value)
    assert message.startswith(f"cannot read the model file {str(path)!r}: ")
    assert "\n" not in message
    return message


def peak_of_error(path):
    """Return the most bytes that were held while the file was refused, with whatever else the process did then."""
    tracemalloc.start()
    try:
        error_of(path)
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_cut_short_anywhere(tmp_path, model_bytes):
    for length in range(0, len(model_bytes), 10):
        message = error_of(tmp_path / "cut.smx", model_bytes[:length])
        assert "cut short" in message or "damaged" in message


def test_bytes_added_at_the_end(tmp_path, model_bytes):
    assert "damaged" in error_of(tmp_path / "long.smx", model_bytes + b"\0")


def test_one_flipped_bit_anywhere(tmp_path, model_bytes):
    picks = np.random.default_rng(7).choice(len(model_bytes) * 8, size=600, replace=False)
    for position in picks:
        damaged = bytearray(model_bytes)
        damaged[position // 8] ^= 1 << (position % 8)
        error_of(tmp_path / "flipped.smx", bytes(damaged))


@pytest.mark.parametrize("mmap", [True, False])
def test_one_changed_number_fails_the_checksum(tmp_path, model_bytes, mmap):
    damaged = bytearray(model_bytes)
    damaged[-1] ^= 1
    assert "checksum" in error_of(tmp_path / "flipped.smx", bytes(damaged), mmap)


def test_not_a_file(tmp_path):
    assert "no such file" in error_of(tmp_path / "absent.smx")
    assert "it is a folder, not a file. Give a file that save_model or" in error_of(tmp_path)
    assert "it is empty; " in error_of(tmp_path / "empty.smx", b"")
    os.mkfifo(tmp_path / "pipe.smx")
    assert "a device or a pipe" in error_of(tmp_path / "pipe.smx")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_unreadable_file(tmp_path, model_bytes):
    path = tmp_path / "secret.smx"
    path.write_bytes(model_bytes)
    path.chmod(0)
    assert "rights" in error_of(path)


class Bomb:
    def __init__(self, flag):
        self.flag = flag

    def __reduce__(self):
        return (Path.touch, (self.flag,))


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_pickle_is_refused_and_not_executed(tmp_path, protocol):
    flag = tmp_path / "executed"
    message = error_of(tmp_path / "bomb.smx", pickle.dumps(Bomb(flag), protocol))
    assert "not a model file" in message
    assert ("a Python pickle" in message) == (protocol >= 2)  # the first two are text
    assert not flag.exists()


OTHER_FILES = {
    "csv": (b"ad_id,keyword\n1,window cleaning\n", "a table as text that begins with 'ad_id,keyword'"),
    "csv with a byte-order mark": ("\ufeffad;Wörter\r\n1;ß\r\n".encode(), "begins with 'ad;Wörter'"),
    "two bytes": (b"hi", "a text file that begins with 'hi'"),
    "long line": (b"word " * 9_000, "a text file that begins with 'word word word word word word word …"),
    "letter cut in two": (b"a" * 4095 + "é".encode() * 9, "a text file that begins with 'aaaa"),
    "json": (b'[{"ad": 1}]', "JSON text"),
    "braces": (b"{}" * 30, "JSON text"),
    "web page": (b"<!DOCTYPE html>\n<html><body></body></html>", "a web page"),
    "parquet": (b"PAR1" * 20, "a Parquet table"),
    "arrow": (b"ARROW1\0\0" + b"\xff" * 40, "an Arrow table"),
    "gzip": (b"\x1f\x8b" + b"\0" * 30, "a gzipped file"),
    "zip": (b"PK\x03\x04" + b"\0" * 30, "a zip archive"),
    "numpy": (b"\x93NUMPY\x01\x00v\x00" + b" " * 40, "a NumPy array"),
    "ones": (b"\xff" * 64, None),
    "zeros": (b"\0" * 64, None),
    "blanks": (b"  \n" * 20, None),
}


@pytest.mark.parametrize("kind", OTHER_FILES)
def test_other_files_are_refused_and_described(tmp_path, kind):
    content, looks_like = OTHER_FILES[kind]
    message = error_of(tmp_path / "other.smx", content)
    assert "it is not a model file" in message
    assert "Give a file that save_model or `sparsemix fit` has written" in message
    assert looks_like in message if looks_like else "looks like" not in message
    assert ("tables are for read_table" in message) == (looks_like is not None)


def test_a_safetensors_file_of_another_program(tmp_path):
    save_file({"weights": np.zeros(3)}, tmp_path / "plain.smx")
    assert "another program" in error_of(tmp_path / "plain.smx")
    save_file({"weights": np.zeros(3)}, tmp_path / "pt.smx", metadata={"format": "pt"})
    assert "another program" in error_of(tmp_path / "pt.smx")


@pytest.mark.parametrize(
    "content",
    [
        container({}, length=2**63),
        container({}, length=2**31),
        container(b"{" * 100_000),
        container(b"[" * 100_000 + b"]" * 100_000),
        container(b"not json"),
        container([1, 2]),
        container({"a": 1}),
        container({"__metadata__": {"format": 1}}),
        container({"a": {"dtype": "F64", "shape": [2**62, 2**62], "data_offsets": [0, 8]}}, b"\0" * 8),
        container({"a": {"dtype": "F64", "shape": [10**12], "data_offsets": [0, 8 * 10**12]}}, b"\0" * 8),
        container({"a": {"dtype": "F64", "shape": [1], "data_offsets": [8, 0]}}, b"\0" * 8),
        container({"a": {"dtype": "F64", "shape": [-1], "data_offsets": [0, 8]}}, b"\0" * 8),
        container({"a": {"dtype": "F99", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 8),
        container({"a": {"dtype": "F64", "shape": [1], "data_offsets": [0, 8]}}, b"\0" * 16),
    ],
)
def test_absurd_headers_cost_no_memory(tmp_path, content):
    path = tmp_path / "absurd.smx"
    path.write_bytes(content)
    assert min(peak_of_error(path) for _ in range(3)) < 5_000_000


def _with_entry(entry, body=b""):
    fields = {"format": "sparsemix", "format_version": "1", "kind": "k", "library_version": "0"}
    fields |= {"created_at": "", "parameters": "{}", "metadata": "{}", "sha256": "0"}
    return container({"__metadata__": fields, "a": entry}, body)


def test_element_types_and_shapes_that_no_model_uses(tmp_path):
    bfloat = _with_entry({"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}, b"\0\0")
    assert "element type BF16" in error_of(tmp_path / "bf16.smx", bfloat)
    endless = _with_entry({"dtype": "F64", "shape": [0, 2**62, 2**3], "data_offsets": [0, 0]})
    error_of(tmp_path / "endless.smx", endless)
    many = _with_entry({"dtype": "U8", "shape": [1] * 100, "data_offsets": [0, 1]}, b"\0")
    assert "impossible shape" in error_of(tmp_path / "many.smx", many)
    truth = _with_entry({"dtype": "BOOL", "shape": [1], "data_offsets": [0, 1]}, b"\x07")
    assert "truth value" in error_of(tmp_path / "truth.smx", truth)


def test_a_later_format_says_which_version_to_get(tmp_path):
    write_by_hand(tmp_path / "new.smx", format_version="2", library_version="9.1.0", extra="field")
    message = error_of(tmp_path / "new.smx")
    assert "format version 2" in message
    assert "Install the version of sparsemix that wrote it ('9.1.0') or a later one" in message


@pytest.mark.parametrize("version", ["absent", "0", "-1", "1.0", "", "one", "٣", "1" * 400])
def test_versions_that_are_no_version(tmp_path, version):
    write_by_hand(tmp_path / "odd.smx", format_version=version)
    assert "format_version" in error_of(tmp_path / "odd.smx")


@pytest.mark.parametrize("field", ["kind", "library_version", "created_at", "parameters", "metadata"])
def test_a_missing_field(tmp_path, field):
    write_by_hand(tmp_path / "odd.smx", **{field: "absent"})
    assert f"lacks {field}" in error_of(tmp_path / "odd.smx")


def test_an_unknown_field(tmp_path):
    write_by_hand(tmp_path / "odd.smx", run="rm -rf")
    assert "unknown field 'run'" in error_of(tmp_path / "odd.smx")


@pytest.mark.parametrize("text", ["", "nonsense", "[1]", "7", '{"a": ', "[" * 100_000, '{"a":' * 90_000])
def test_parameters_that_are_no_json_object(tmp_path, text):
    write_by_hand(tmp_path / "odd.smx", parameters=text)
    assert "'parameters' of its header is not" in error_of(tmp_path / "odd.smx")


@pytest.mark.parametrize(
    "change",
    [
        {"feature_names_offsets": np.array([0, 99])},
        {"feature_names_offsets": np.array([1, 3])},
        {"feature_names_offsets": np.array([], dtype=np.int64)},
        {"feature_names_offsets": np.array([0, 2, 1, 3])},
        {"feature_names_offsets": np.array([0, -5, 3])},
        {"feature_names_offsets": np.array([0.0, 3.0])},
        {"feature_names_offsets": np.array([[0], [3]])},
        {"feature_names_offsets": None},
        {"feature_names_bytes": None},
        {"feature_names_bytes": np.array([1, 2, 3], dtype=np.int8)},
        {"feature_names_bytes": np.array([0xFF, 0xFE, 0xFD], dtype=np.uint8)},
    ],
)
def test_feature_names_that_do_not_fit(tmp_path, change):
    names = {
        "feature_names_bytes": np.frombuffer(b"abc", dtype=np.uint8),
        "feature_names_offsets": np.array([0, 3]),
    }
    arrays = {name: array for name, array in (names | change).items() if array is not None}
    write_by_hand(tmp_path / "odd.smx", arrays)
    assert "feature name" in error_of(tmp_path / "odd.smx")


def test_files_by_hand_are_sound_when_nothing_is_wrong(tmp_path):
    write_by_hand(tmp_path / "sound.smx")
    assert read_payload(tmp_path / "sound.smx").kind == sample_payload().kind


def test_unaligned_arrays_are_copied(tmp_path):
    arrays = stored_arrays(sample_payload())
    write_by_hand(tmp_path / "sound.smx", arrays)
    content = (tmp_path / "sound.smx").read_bytes()
    length = int.from_bytes(content[:8], "little")
    header = json.dumps(json.loads(content[8 : 8 + length])).encode()
    header += b" " * (1 - len(header) % 8 + 8)
    (tmp_path / "odd.smx").write_bytes(container(header, content[8 + length :]))
    assert len(header) % 8 == 1
    found = read_payload(tmp_path / "odd.smx").arrays["alpha"]
    assert found.flags.aligned
    np.testing.assert_array_equal(found, sample_payload().arrays["alpha"])
