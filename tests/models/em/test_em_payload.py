"""The state goes into a file and comes back to the bit; a damaged one is an error, never a crash."""

import copy
from contextlib import suppress
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from mixture_cases import LETTERS, MIXTURES, N_ROWS, draw_shares, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_array_equal
from sklearn.exceptions import ConvergenceWarning

from sparsemix import load_model, save_model
from sparsemix.foundation.errors import ModelFileError, ParameterError
from sparsemix.persistence.payload import check_payload

SEEDED = {"seed_words": {0: [0, 3], np.int64(2): np.array([1])}}


def table(name):
    return pd.DataFrame(table_of(name)[0], columns=LETTERS)


def interrupted(name):
    with pytest.warns(ConvergenceWarning):
        return new_model(name, max_iter=1, init="random").fit(table_of(name)[0])


PHASES = {
    "numbered": lambda name: new_model(name).fit(table_of(name)[0]),
    "named": lambda name: new_model(name).fit(table(name)),
    "labelled": lambda name: new_model(name, n_components=5, unlabeled_weight=0.5).fit(
        table(name), some_labels(table_of(name)[1])
    ),
    "all labelled": lambda name: new_model(name, n_components=5).fit(*table_of(name)),
    "seeded": lambda name: new_model(name, **SEEDED).fit(table_of(name)[0]),
    "hard, without smoothing": lambda name: new_model(name, algorithm="hard", smoothing=0.0).fit(table(name)),
    "one component": lambda name: new_model(name, n_components=1, class_weight_prior=2.0).fit(table(name)),
    "after one epoch": interrupted,
    "in batches": lambda name: new_model(name).fit_batches(lambda: [table(name)[:20], table(name)[20:]]),
}


@pytest.fixture(scope="module")
def models():
    return {(name, phase): build(name) for name in MIXTURES for phase, build in PHASES.items()}


@pytest.fixture(params=PHASES)
def model(request, name, models):
    return copy.deepcopy(models[name, request.param])


def assert_same_answers(twin, model, rows):
    for ask in ("predict", "predict_proba", "score_samples", "score", "score_per_token", "bic", "aic", "icl"):
        assert_array_equal(getattr(twin, ask)(rows), getattr(model, ask)(rows), err_msg=ask)
    for attribute in ("weights_", "profiles_", "trace_", "component_ids_"):
        assert_array_equal(getattr(twin, attribute), getattr(model, attribute), err_msg=attribute)
    for attribute in (
        "objective_", "log_likelihood_", "n_iter_", "converged_", "n_impossible_", "n_features_in_",
        "n_rows_seen_",
    ):  # fmt: skip
        assert getattr(twin, attribute) == getattr(model, attribute), attribute
    assert hasattr(twin, "feature_names_in_") == hasattr(model, "feature_names_in_")
    assert twin.top_features(3) == model.top_features(3)
    assert twin.distinctive_words(4) == model.distinctive_words(4)
    assert_array_equal(twin.credible_interval(), model.credible_interval())
    feature, other = ("a", "b") if hasattr(model, "feature_names_in_") else (0, 1)
    assert twin.suggest([feature], [other]) == model.suggest([feature], [other])
    drawn, expected = (each.sample(9, random_state=1) for each in (twin, model))
    assert (drawn[0] != expected[0]).nnz == 0
    assert_array_equal(drawn[1], expected[1])


@pytest.mark.parametrize("mmap", [True, False])
def test_a_round_trip_is_exact(model, name, tmp_path, mmap):
    path = tmp_path / "model.smx"
    save_model(model, path)
    for twin in (type(model).from_payload(model.to_payload()), load_model(path, mmap=mmap)):
        assert type(twin) is type(model)
        assert hash_of(twin) == hash_of(model)
        assert_same_answers(twin, model, table_of(name)[0])
        assert not hasattr(twin, "labels_")


def test_parameters_come_back(model):
    stored, given = type(model).from_payload(model.to_payload()).get_params(), model.get_params()
    words = stored.pop("seed_words"), given.pop("seed_words")
    assert stored == given
    if words[1] is not None:
        assert words[0] == {0: [0, 3], 2: [1]}


def test_generators_and_responsibilities_are_not_kept(name):
    rows = table_of(name)[0]
    model = new_model(name, random_state=np.random.RandomState(0), init=draw_shares(N_ROWS)).fit(rows)
    parameters = type(model).from_payload(model.to_payload()).get_params()
    assert (parameters["random_state"], parameters["init"]) == (None, "repaired")
    assert new_model(name, random_state=np.int64(5)).fit(rows).to_payload().parameters["random_state"] == 5
    assert model.get_params()["init"].shape == (N_ROWS, 3)


def test_a_loaded_model_goes_on_as_if_it_had_never_stopped(name, tmp_path):
    rows = np.random.default_rng(3).integers(2, size=(400, 9))
    model = new_model(name, warm_start=True, tol=0.0, max_iter=2, init="random")
    with pytest.warns(ConvergenceWarning):
        model.fit(rows)
    save_model(model, tmp_path / "m.smx")
    twin = load_model(tmp_path / "m.smx")
    for each in (model, twin):
        with pytest.warns(ConvergenceWarning):
            each.set_params(max_iter=3).fit(rows)
    assert hash_of(twin) == hash_of(model)


def test_a_model_does_not_keep_the_arrays_that_it_was_built_from(model):
    payload = copy.deepcopy(model).to_payload()
    twin = type(model).from_payload(payload)
    for array in payload.arrays.values():
        array[...] = 0
    assert hash_of(twin) == hash_of(model)


@pytest.mark.parametrize("words", ["spam", {0: 3}, {0: {1.5: np.arange(3)}}, np.arange(3), {(1, 2): ["a"]}])
def test_parameters_that_were_set_to_nonsense_meanwhile(name, words, models):
    """The model is what it was; its payload must be one that a file can hold, or say what is wrong."""
    model = copy.deepcopy(models[name, "numbered"]).set_params(seed_words=words)
    with pytest.raises(ValueError, match=r"'seed_words' of .* must be a mapping from components"):
        model.to_payload()


def refuses(payload, name):
    with pytest.raises(ModelFileError):
        MIXTURES[name].from_payload(payload)


def with_array(payload, name, array):
    return replace(payload, arrays=payload.arrays | {name: array})


def use_if_it_loads(payload, name):
    """A payload that is changed must be refused, or be a model that works."""
    try:
        model = MIXTURES[name].from_payload(payload)
    except ModelFileError:
        return
    rows = table_of(name)[0][:5]
    with np.errstate(all="ignore"):
        shares = model.predict_proba(rows)
        assert shares.shape == (5, model.component_ids_.size)
        assert not np.isnan(shares).any()
        assert not np.isnan(model.score_samples(rows)).any()
        model.top_features(), model.suggest([]), model.credible_interval()
        with suppress(ParameterError):  # of rows that are too long
            model.sample(2)
        check_payload(model.to_payload())


def test_missing_and_foreign_arrays(model, name):
    payload = model.to_payload()
    for array in payload.arrays:
        refuses(replace(payload, arrays={k: v for k, v in payload.arrays.items() if k != array}), name)
    refuses(with_array(payload, "spare", np.zeros(3)), name)


def test_wrong_types_and_shapes(model, name):
    payload = model.to_payload()
    for which, array in payload.arrays.items():
        other = np.float32 if array.dtype.kind == "f" else np.int16
        for wrong in (
            array.astype(other), array.astype(np.complex128), array[None], array.astype(">f8"), array[..., None],
            np.zeros((), array.dtype),
        ):  # fmt: skip
            refuses(with_array(payload, which, wrong), name)
        refuses(with_array(payload, which, np.full(array.shape, "x")), name)


def test_wrong_lengths(models, name):
    payload = models[name, "seeded"].to_payload()
    for which, array in payload.arrays.items():
        refuses(with_array(payload, which, array[:0]), name)
        longer = np.concatenate([array, np.ones((1, *array.shape[1:]), array.dtype)])
        for wrong in () if which == "trace" else (longer, array[:-1]):
            refuses(with_array(payload, which, wrong), name)


def test_numbers_that_cannot_be(model, name):
    payload = model.to_payload()
    for which, array in payload.arrays.items():
        if not array.size:
            continue
        values = (np.nan, np.inf) if array.dtype.kind == "f" else (-1, 9, 2**40)
        for value in (*values, *(() if which in {"trace", "log_likelihood"} else (-1,))):
            for place in (0, -1):
                wrong = array.copy()
                wrong.flat[place] = value
                refuses(with_array(payload, which, wrong), name)


def test_other_numbers_load_or_are_refused(model, name):
    payload = model.to_payload()
    for which, array in payload.arrays.items():
        for value in (-1, 0, 1, 5, *((-np.inf, 1e-300, 1e300, 1.7e308) if array.dtype.kind == "f" else ())):
            use_if_it_loads(with_array(payload, which, np.full_like(array, value)), name)
            if array.size:
                wrong = array.copy()
                wrong.flat[0] = value
                use_if_it_loads(with_array(payload, which, wrong), name)


NONSENSE = [
    None,
    -1,
    0,
    1,
    1.5,
    "x",
    [],
    {},
    [1],
    True,
    10**400,
    -(10**400),
    float("nan"),
    float("inf"),
    -0.5,
]


@pytest.mark.parametrize("phase", ["named", "seeded"])
def test_hostile_metadata(models, name, phase):
    payload = models[name, phase].to_payload()
    refuses(replace(payload, metadata={}), name)
    refuses(replace(payload, metadata=payload.metadata | {"spare": 1}), name)
    for key in payload.metadata:
        refuses(
            replace(payload, metadata={k: v for k, v in payload.metadata.items() if k != key}),
            name,
        )
        for value in NONSENSE:
            use_if_it_loads(replace(payload, metadata=payload.metadata | {key: value}), name)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("n_features", 8), ("n_features", 10**18), ("n_features", 9.0), ("n_features", True), ("n_features", 0),
        ("n_components", 0), ("n_components", 2), ("n_components", 4), ("n_components", 10**400),
        ("smoothing", -0.1), ("smoothing", 1), ("smoothing", float("nan")), ("smoothing", "0.1"),
        ("class_weight", -1.0), ("class_weight", float("inf")), ("n_impossible", -1), ("n_impossible", 0.0),
        ("converged", 1), ("converged", "yes"), ("converged", None), ("hard", 1), ("hard", None),
    ],
)  # fmt: skip
def test_metadata_out_of_range(models, name, key, value):
    payload = models[name, "named"].to_payload()
    refuses(replace(payload, metadata=payload.metadata | {key: value}), name)


def test_hostile_parameters_and_names(models, name):
    payload = models[name, "named"].to_payload()
    refuses(replace(payload, parameters={}), name)
    refuses(replace(payload, parameters=payload.parameters | {"spare": 1}), name)
    for kind in (
        "text-mixture",
        "online-bernoulli-mixture",
        *(MIXTURES[n].model_kind for n in MIXTURES if n != name),
    ):
        refuses(replace(payload, kind=kind), name)
    names = payload.feature_names
    refuses(replace(payload, feature_names=names[:-1]), name)
    refuses(replace(payload, feature_names=np.array([*names[:-1], names[0]], dtype=object)), name)
    unnamed = MIXTURES[name].from_payload(replace(payload, feature_names=None))
    assert unnamed.n_features_in_ == 9
    for words in ("x", [], 3, {"a": ["b"]}, {"-1": ["b"]}, {"1.5": []}, {"": []}, {"²": ["b"]}):
        refuses(replace(payload, parameters=payload.parameters | {"seed_words": words}), name)
    for init in ([], {}, -1, None):
        refuses(replace(payload, parameters=payload.parameters | {"init": init}), name)


@pytest.mark.parametrize("key", ["n_components", "algorithm", "smoothing", "random_state"])
def test_parameters_are_only_for_the_next_fit(models, name, key):
    """Nonsense among them does not hurt what the model has learnt; the next fit names it, as `load_model` does."""
    payload, rows = models[name, "numbered"].to_payload(), table_of(name)[0]
    for value in ([], {}, -1, "x"):
        loaded = MIXTURES[name].from_payload(replace(payload, parameters=payload.parameters | {key: value}))
        assert_array_equal(loaded.predict(rows), models[name, "numbered"].predict(rows))
        with pytest.raises(ValueError, match=f"'{key}' of "):
            loaded.fit(rows)


def test_seeds_that_stand_twice(models, name):
    payload = models[name, "seeded"].to_payload()
    arrays = dict(payload.arrays)
    for which in ("seed_feature", "seed_component", "seed_count"):
        arrays[which] = np.concatenate([arrays[which], arrays[which][:1]])
    use_if_it_loads(replace(payload, arrays=arrays), name)
