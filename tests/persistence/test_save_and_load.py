"""Models of every kind go to files and back; what does not fit the model is refused, whatever the checksum says."""

from dataclasses import replace

import numpy as np
import pytest
from payload_samples import sample_payload

import sparsemix as sm
from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.persistence import read_payload, state_hash, write_payload
from sparsemix.registry import model_class, model_kinds


@pytest.fixture(scope="module")
def rows():
    matrix, _assignments = make_bernoulli_mixture(600, 9, 3, sparse=True, random_state=2)
    return sm.Dataset.from_matrix(matrix, feature_names=list("abcdefghi"))


@pytest.fixture(scope="module", params=["held back", "streaming"])
def model(request, rows):
    priming_rows = {"held back": 10_000, "streaming": 300}[request.param]
    model = sm.OnlineBernoulliMixture(3, clutter=True, priming_rows=priming_rows, random_state=0)
    return model.partial_fit(rows[:400])


@pytest.mark.parametrize("mmap", [True, False])
def test_a_loaded_model_answers_and_goes_on_the_same(model, rows, tmp_path, mmap):
    sm.save_model(model, tmp_path / "m.smx")
    loaded = sm.load_model(tmp_path / "m.smx", mmap=mmap)
    before = state_hash(model.to_payload())
    assert state_hash(loaded.to_payload()) == before
    np.testing.assert_array_equal(loaded.predict_proba(rows), model.predict_proba(rows))
    np.testing.assert_array_equal(loaded.score_samples(rows), model.score_samples(rows))
    assert loaded.suggest(["a"], ["b"]) == model.suggest(["a"], ["b"])
    assert loaded.get_params() == model.get_params()
    assert loaded.lineage_ == model.lineage_
    assert state_hash(model.to_payload()) == before
    expected = model_class(model.model_kind).from_payload(model.to_payload()).partial_fit(rows[400:])
    assert state_hash(loaded.partial_fit(rows[400:]).to_payload()) == state_hash(expected.to_payload())


def test_saving_twice_gives_the_same_state_and_the_same_arrays(model, tmp_path):
    for name in ("first.smx", "second.smx"):
        sm.save_model(model, tmp_path / name)
    first, second = (read_payload(tmp_path / name) for name in ("first.smx", "second.smx"))
    assert state_hash(first) == state_hash(second)


def test_every_kind_is_in_the_table_under_its_own_name():
    for kind in model_kinds():
        assert model_class(kind).model_kind == kind


@pytest.mark.parametrize("thing", [42, None, object(), np.zeros(3), {"kind": "online-bernoulli-mixture"}])
def test_what_is_no_model_is_refused(tmp_path, thing):
    with pytest.raises(sm.ParameterError, match="a model of sparsemix"):
        sm.save_model(thing, tmp_path / "m.smx")
    assert list(tmp_path.iterdir()) == []


def test_arguments_the_other_way_round(model, tmp_path):
    with pytest.raises(sm.ParameterError, match=r"other way round: save_model\(model, path\)"):
        sm.save_model(tmp_path / "m.smx", model)
    with pytest.raises(
        sm.ParameterError, match=r"'path' of load_model .* OnlineBernoulliMixture.*a model already"
    ):
        sm.load_model(model)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("path", [None, 3, b"m.smx", "", ["m.smx"]])
def test_what_is_no_path_is_refused(model, path):
    words = "must be the path of a file, as text or Path, but it is"
    with pytest.raises(sm.ParameterError, match=f"'path' of save_model {words}"):
        sm.save_model(model, path)
    with pytest.raises(sm.ParameterError, match=f"'path' of load_model {words}"):
        sm.load_model(path)


@pytest.mark.parametrize("mmap", [None, 0, 1, "no", np.array([1, 2])])
def test_mmap_is_a_truth_value(model, tmp_path, mmap):
    sm.save_model(model, tmp_path / "m.smx")
    with pytest.raises(sm.ParameterError, match="'mmap' of load_model must be True or False, but it is"):
        sm.load_model(tmp_path / "m.smx", mmap=mmap)


def test_a_file_that_is_none_is_told_in_our_own_words(model, tmp_path):
    path = tmp_path / "m.smx"
    sm.save_model(model, path)
    content = path.read_bytes()
    for damaged in (content[:-9], bytes(range(256)) * 9, content[:8] + b"\0" + content[9:]):
        path.write_bytes(damaged)
        with pytest.raises(sm.ModelFileError) as caught:
            sm.load_model(path)
        assert str(caught.value) == (
            f"cannot read the model file {str(path)!r}: it is not a model file, is damaged or cut short. Give a file "
            f"that save_model or `sparsemix fit` has written, or restore it from a copy."
        )
        assert caught.value.__cause__ is not None


@pytest.mark.parametrize(
    "error", [KeyError("alpha"), TypeError("int() argument"), ValueError("cannot reshape")]
)
def test_a_state_that_makes_no_model_is_told_in_our_own_words(model, tmp_path, monkeypatch, error):
    def fail(_payload):
        raise error

    sm.save_model(model, tmp_path / "m.smx")
    monkeypatch.setattr(type(model), "from_payload", fail)
    with pytest.raises(sm.ModelFileError, match=r"its content makes no model of its kind\.$") as caught:
        sm.load_model(tmp_path / "m.smx")
    assert caught.value.__cause__ is error


def test_a_path_that_no_system_takes(model, tmp_path):
    path = f"{tmp_path}/a\0b.smx"
    with pytest.raises(sm.ModelFileError, match="cannot write the model file"):
        sm.save_model(model, path)
    with pytest.raises(sm.ModelFileError, match="no such file"):
        sm.load_model(path)


def refusal(path, payload):
    write_payload(path, payload)
    with pytest.raises(sm.ModelFileError) as caught:
        sm.load_model(path)
    assert str(caught.value).startswith(f"cannot read the model file {str(path)!r}: ")
    return str(caught.value)


def test_an_unknown_kind(tmp_path):
    message = refusal(tmp_path / "m.smx", replace(sample_payload(), kind="os.system"))
    assert "unknown kind of model, 'os.system'. Known kinds: online-bernoulli-mixture" in message


def test_a_payload_of_nothing_the_model_knows(tmp_path):
    refusal(tmp_path / "m.smx", sample_payload())


@pytest.mark.parametrize(
    "change",
    [
        {"n_components": -3},
        {"n_components": "many"},
        {"n_components": 10**400},
        {"__class__": "os"},
        {"run": 1},
        {"clutter": None},
        {"prior_strength": [1]},
    ],
)
def test_parameters_that_break_the_rules(model, tmp_path, change):
    payload = model.to_payload()
    refused = replace(payload, parameters=payload.parameters | change)
    assert next(iter(change)) in refusal(tmp_path / "m.smx", refused)


@pytest.mark.parametrize("value", [None, -1, "text", [], {}, 10**30])
def test_metadata_that_break_the_rules(model, rows, tmp_path, value):
    payload = model.to_payload()
    for name in payload.metadata:
        write_payload(tmp_path / "m.smx", replace(payload, metadata=payload.metadata | {name: value}))
        try:
            loaded = sm.load_model(tmp_path / "m.smx")
        except sm.ModelFileError:
            continue
        assert np.isfinite(loaded.score_samples(rows)).all(), name


def broken_arrays(arrays):
    """Yield a name and arrays in which one is missing, of another type or shape, or full of odd values."""
    yield "an array too many", arrays | {"more": np.zeros(3)}
    for name, array in arrays.items():
        yield f"no {name}", {each: value for each, value in arrays.items() if each != name}
        yield f"{name} longer", arrays | {name: np.concatenate([array, array[:1]])}
        yield f"{name} empty", arrays | {name: array[:0]}
        yield f"{name} deeper", arrays | {name: array[:, None]}
        yield f"{name} of another type", arrays | {name: array.astype(np.float32)}
        odd = [np.nan, np.inf, -1.0, 0.0, 1e308] if array.dtype.kind == "f" else [-1, 0, 2**31 - 1, -(2**31)]
        for value in odd:
            yield f"{name} of {value}", arrays | {name: np.full_like(array, value)}


def test_arrays_that_break_the_rules(model, rows, tmp_path):
    payload = model.to_payload()
    for what, arrays in broken_arrays(payload.arrays):
        write_payload(tmp_path / "m.smx", replace(payload, arrays=arrays))
        try:
            loaded = sm.load_model(tmp_path / "m.smx")
        except sm.ModelFileError:
            continue
        with np.errstate(all="ignore"):
            assert loaded.predict(rows).shape == (600,), what
