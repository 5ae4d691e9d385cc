"""State goes into a file and comes back to the bit in every phase; a damaged one is an error, never a crash."""

import copy
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from profile_cases import topic_rows

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.foundation.errors import ModelFileError
from sparsemix.persistence import state_hash

NAMES = list("abcdefghi")
ROWS = np.column_stack([topic_rows(400, 3, 8)[0], np.random.default_rng(1).random(400) < 0.5]).astype(int)


def named(rows):
    return pd.DataFrame(rows, columns=NAMES)


def grown():
    model = small_model().partial_fit(named(ROWS)[NAMES[:5]][:100])
    return model.partial_fit(named(ROWS)[100:150])


def small_model(**changes):
    return OnlineBernoulliMixture(**{"n_components": 3, "priming_rows": 60, "random_state": 0} | changes)


PHASES = {
    "rows held back": lambda: small_model().partial_fit(ROWS[:20]).partial_fit(ROWS[20:50]),
    "labelled rows held back": lambda: small_model().partial_fit(ROWS[:50], np.arange(50) % 4 - 1),
    "named rows held back": lambda: small_model(clutter=True).partial_fit(named(ROWS[:50])),
    "just primed": lambda: small_model().partial_fit(ROWS[:60]),
    "in the stream": lambda: small_model().partial_fit(ROWS[:377]),
    "a stream with a stale index": lambda: small_model(staleness=1.0).partial_fit(ROWS[:150]),
    "a stream with names and clutter": lambda: small_model(clutter=True).partial_fit(named(ROWS[:150])),
    "a stream with labels": lambda: small_model().partial_fit(
        ROWS[:150], np.maximum(np.arange(150) % 5 - 2, -1)
    ),
    "a stream that has grown": grown,
    "components removed": lambda: small_model(n_components=9, min_component_share=0.5).partial_fit(
        ROWS[:200]
    ),
    "a stream that forgets": lambda: small_model(half_life_rows=70.0).partial_fit(ROWS[:250]),
    "as many components as there are": lambda: small_model(n_components="auto").partial_fit(ROWS[:250]),
    "no row waits": lambda: small_model(reservoir_rows=0).partial_fit(ROWS[:250]),
    "a single component": lambda: small_model(n_components=1).partial_fit(ROWS[:200]),
    "after fit": lambda: small_model().fit(named(ROWS)),
}


@pytest.fixture(scope="module")
def models():
    return {name: build() for name, build in PHASES.items()}


@pytest.fixture(params=PHASES)
def model(request, models):
    return copy.deepcopy(models[request.param])


def rows_for(model):
    return named(ROWS) if hasattr(model, "feature_names_in_") else ROWS


def test_a_round_trip_is_exact(model, tmp_path):
    path = tmp_path / "model.smx"
    save_model(model, path)
    for twin in (OnlineBernoulliMixture.from_payload(model.to_payload()), load_model(path)):
        assert state_hash(twin.to_payload()) == state_hash(model.to_payload())
        assert twin.get_params() == model.get_params()
        assert twin.n_rows_seen_ == model.n_rows_seen_
        assert twin.n_features_in_ == model.n_features_in_
        assert twin.log_evidence_ == model.log_evidence_
        assert twin.lineage_ == model.lineage_
        rows = rows_for(model)
        assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))
        assert_array_equal(twin.score_samples(rows), model.score_samples(rows))
        assert twin.top_features(3) == model.top_features(3)
        feature = "a" if hasattr(model, "feature_names_in_") else 0
        assert twin.suggest([feature]) == model.suggest([feature])


def test_a_loaded_model_goes_on_as_if_it_had_never_stopped(model):
    twin, rows = OnlineBernoulliMixture.from_payload(model.to_payload()), rows_for(model)
    for first in range(0, 400, 130):
        model.partial_fit(rows[first : first + 130])
        twin.partial_fit(rows[first : first + 130])
    assert state_hash(twin.to_payload()) == state_hash(model.to_payload())
    assert state_hash(twin.prime().to_payload()) == state_hash(model.prime().to_payload())


@pytest.mark.parametrize("n_rows", [50, 250])
def test_a_file_of_before_rows_could_wait_is_read(n_rows):
    """Settings and counters that came later are not in it; the model goes on as it did then."""
    model = small_model(reservoir_rows=0).partial_fit(ROWS[:n_rows])
    payload = model.to_payload()
    later = {"reservoir_rows", "half_life_rows", "first_components"}
    kept = {name: value for name, value in payload.metadata["settings"].items() if name not in later}
    metadata = {k: v for k, v in payload.metadata.items() if k not in {"next_id", "n_rows_faded", "overlaps"}}
    parameters = {k: v for k, v in payload.parameters.items() if k not in later | {"n_passes"}}
    twin = load(payload, metadata=metadata | {"settings": kept}, parameters=parameters)
    for one in (model, twin):
        one.partial_fit(ROWS[n_rows:]).prime()
    assert_array_equal(twin.predict_proba(ROWS), model.predict_proba(ROWS))


def test_growth_by_a_batch_without_rows_is_kept():
    model = small_model().fit(named(ROWS)).partial_fit(named(ROWS)[:0].assign(new=0))
    twin = OnlineBernoulliMixture.from_payload(model.to_payload())
    assert twin.n_features_in_ == 10
    rows = named(ROWS).assign(new=1)
    assert_array_equal(twin.score_samples(rows), model.score_samples(rows))
    assert state_hash(twin.partial_fit(rows).to_payload()) == state_hash(model.partial_fit(rows).to_payload())


def test_packing_shares_nothing_with_the_model(model):
    """What is read from a payload may be written to by the model that learns on."""
    payload = model.to_payload()
    before = {name: array.copy() for name, array in payload.arrays.items()}
    OnlineBernoulliMixture.from_payload(payload).partial_fit(rows_for(model))
    for name, array in payload.arrays.items():
        assert_array_equal(array, before[name], err_msg=name)


def test_generators_become_none():
    payload = small_model(random_state=np.random.RandomState(0)).fit(ROWS).to_payload()
    assert payload.parameters["random_state"] is None
    assert small_model(random_state=np.int64(5)).fit(ROWS).to_payload().parameters["random_state"] == 5


def load(payload, **changes):
    return OnlineBernoulliMixture.from_payload(replace(payload, **changes))


def with_array(payload, name, array):
    return replace(payload, arrays=payload.arrays | {name: array})


def refuses(payload):
    with pytest.raises(ModelFileError):
        OnlineBernoulliMixture.from_payload(payload)


def use_if_it_loads(payload):
    """A payload that is changed must be refused, or be a model that works."""
    try:
        model = OnlineBernoulliMixture.from_payload(payload)
    except ModelFileError:
        return
    rows = rows_for(model)[:30]
    with np.errstate(all="ignore"):
        assert model.predict_proba(rows).shape == (30, model.component_ids_.size)
        model.partial_fit(rows, np.zeros(30, int)).prime().to_payload()
        model.score_samples(rows), model.sample(2), model.top_features()


def test_missing_and_foreign_arrays(model):
    payload = model.to_payload()
    for name in payload.arrays:
        refuses(replace(payload, arrays={k: v for k, v in payload.arrays.items() if k != name}))
    refuses(with_array(payload, "spare", np.zeros(3)))


def test_wrong_types_and_shapes(model):
    payload = model.to_payload()
    for name, array in payload.arrays.items():
        other = np.float32 if array.dtype.kind == "f" else np.int16
        for wrong in (array.astype(other), array.astype(np.complex128), array[None], array.astype(">f8")):
            refuses(with_array(payload, name, wrong))
        refuses(with_array(payload, name, np.float64(3.0).reshape(())))


def test_wrong_lengths(model):
    payload = model.to_payload()
    for name, array in payload.arrays.items():
        if name == "named_ids":
            continue  # any number of components may have been named
        longer = np.concatenate([array, np.ones((1, *array.shape[1:]), array.dtype)])
        refuses(with_array(payload, name, longer))
        if array.shape[0]:
            refuses(with_array(payload, name, array[:-1]))


def places(array):
    return sorted({0, array.size - 1}) if array.size else []


def test_numbers_that_cannot_be(model):
    payload = model.to_payload()
    for name, array in payload.arrays.items():
        for place in places(array):
            wrong = array.copy()
            for value in (np.nan, np.inf, -np.inf) if array.dtype.kind == "f" else (-3, 2**31 - 1):
                wrong.flat[place] = value
                if array.dtype.kind == "f":
                    refuses(with_array(payload, name, wrong))
                else:
                    use_if_it_loads(with_array(payload, name, wrong))


@pytest.mark.parametrize("value", [-2, 0, 5])
@pytest.mark.parametrize(
    "phase",
    ["labelled rows held back", "in the stream", "a stream with names and clutter", "a single component"],
)
def test_any_number_in_the_wrong_place(models, phase, value):
    payload = models[phase].to_payload()
    for name, array in payload.arrays.items():
        for place in places(array):
            wrong = array.copy()
            wrong.flat[place] = value
            use_if_it_loads(with_array(payload, name, wrong))


@pytest.mark.parametrize(
    ("phase", "name", "place", "value"),
    [
        ("in the stream", "alpha", 0, 0.0),
        ("in the stream", "alpha", 0, -1.0),
        ("in the stream", "beta", 0, -1e9),
        ("in the stream", "default_beta", 0, 0.0),
        ("in the stream", "default_beta", 0, 1e-300),
        ("in the stream", "default_alpha", 0, 1e150),
        ("in the stream", "alpha", 0, 1e150),
        ("in the stream", "weight_concentration", 0, -1.0),
        ("in the stream", "certain", 0, -1.0),
        ("in the stream", "certain", 0, 1e300),
        ("in the stream", "common_rows", 0, 1e17),
        ("in the stream", "default_alpha", 0, 9e18),
        ("in the stream", "size", 0, -1),
        ("in the stream", "size", 0, 100),
        ("in the stream", "feature", 0, 9),
        ("in the stream", "feature", 0, -1),
        ("in the stream", "common_feature", 0, 0),
        ("in the stream", "component_ids", 0, 1),
        ("in the stream", "component_ids", 0, -1),
        ("in the stream", "component_ids", 0, 3),
        ("in the stream", "component_ids", 0, 2**62),
        ("a stream with labels", "named_ids", 0, -1),
        ("a stream with labels", "named_ids", 0, 3),
        ("in the stream", "index_indptr", -1, 2**40),
        ("in the stream", "index_indptr", 1, -1),
        ("in the stream", "index_component", 0, 3),
        ("in the stream", "index_component", 0, -3),
        ("in the stream", "index_slot", 0, -1),
        ("in the stream", "index_slot", 0, 10**6),
        ("rows held back", "held_columns", 0, 9),
        ("rows held back", "held_columns", 0, -1),
        ("rows held back", "held_labels", 0, 3),
        ("rows held back", "held_labels", 0, -2),
        ("rows held back", "held_indptr", 1, 10**6),
    ],
)
def test_numbers_out_of_range(models, phase, name, place, value):
    payload = models[phase].to_payload()
    wrong = payload.arrays[name].copy()
    wrong[place] = value
    refuses(with_array(payload, name, wrong))


def test_a_feature_with_an_entry_of_its_own_and_one_for_all(models):
    """A kernel that met the marks of common and dense features among ordinary entries would write outside."""
    payload = models["in the stream"].to_payload()
    indptr, component = payload.arrays["index_indptr"].copy(), payload.arrays["index_component"]
    indptr[1:-1] = indptr[-1]  # the first feature has all entries
    refuses(with_array(payload, "index_indptr", indptr))
    assert (component < 0).any()


def test_features_that_stand_twice(models):
    payload = models["a single component"].to_payload()
    wrong = payload.arrays["feature"].copy()
    wrong[0] = wrong[1]
    refuses(with_array(payload, "feature", wrong))


def test_more_rows_held_back_than_the_priming_takes(models):
    payload = models["rows held back"].to_payload()
    refuses(
        replace(
            payload,
            metadata=payload.metadata | {"settings": payload.metadata["settings"] | {"priming_rows": 50}},
        )
    )


NONSENSE = [None, -1, 0, 1, 1.5, "x", [], {}, [1], True, 10**400, -(10**400), float("nan"), float("inf")]


@pytest.mark.parametrize("phase", ["rows held back", "in the stream"])
def test_hostile_metadata(models, phase):
    payload = models[phase].to_payload()
    refuses(replace(payload, metadata={}))
    refuses(replace(payload, metadata=payload.metadata | {"spare": 1}))
    for name in set(payload.metadata) - {"n_passes", "overlaps"}:  # which files of version 0.1 do not have
        refuses(replace(payload, metadata={k: v for k, v in payload.metadata.items() if k != name}))
        for value in NONSENSE:
            use_if_it_loads(replace(payload, metadata=payload.metadata | {name: value}))


def test_a_pseudo_count_beyond_any_number_of_rows(models):
    payload = models["in the stream"].to_payload()
    payload.arrays["beta"][0] = 1e300
    refuses(payload)


@pytest.mark.parametrize("phase", ["rows held back", "in the stream"])
def test_hostile_settings(models, phase):
    payload = models[phase].to_payload()
    settings = payload.metadata["settings"]
    for name in settings:
        left = {k: v for k, v in settings.items() if k != name}
        refuses(replace(payload, metadata=payload.metadata | {"settings": left}))
        for value in NONSENSE:
            if name == "n_components" and value == 1:
                continue
            use_if_it_loads(replace(payload, metadata=payload.metadata | {"settings": left | {name: value}}))


def test_settings_that_are_whole_numbers_of_any_size(models):
    payload = models["in the stream"].to_payload()
    settings = payload.metadata["settings"] | {"cull_threshold": 10**30}
    model = OnlineBernoulliMixture.from_payload(
        replace(payload, metadata=payload.metadata | {"settings": settings})
    )
    assert np.isfinite(model.partial_fit(ROWS).score(ROWS))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_components", 0), ("n_components", 2), ("weight_concentration", 0.0), ("prior_mean", 1.0),
        ("prior_strength", -1.0), ("priming_rows", 0), ("min_responsibility", 1.0), ("cull_threshold", -1.0),
        ("min_component_share", 1.0), ("staleness", float("nan")), ("staleness", 2.0), ("seed", -1),
        ("explicit_responsibility", -0.1), ("half_life_rows", 0.5), ("first_components", 0),
        ("first_components", 4), ("reservoir_rows", 0), ("reservoir_rows", -1),
        ("explicit_responsibility", float("nan")), ("clutter", 1), ("cull_threshold", 10**400),
    ],
)  # fmt: skip
def test_settings_out_of_range(models, name, value):
    payload = models["in the stream"].to_payload()
    settings = payload.metadata["settings"] | {name: value}
    refuses(replace(payload, metadata=payload.metadata | {"settings": settings}))


@pytest.mark.parametrize(
    "lineage",
    ["abc", 5, None, {"a": 1}, [1], [[1, "born", 0]], [["1", "born", 0, ""]], [[1, "born", 0, None]]],
)
def test_hostile_lineage(models, lineage):
    payload = models["in the stream"].to_payload()
    refuses(replace(payload, metadata=payload.metadata | {"lineage": lineage}))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n_features", 8), ("n_features", 10**18), ("n_features", 9.0), ("n_rows", -1), ("n_rows", 10**400),
        ("log_evidence", "high"), ("log_evidence", float("inf")), ("prior", [1.0]), ("prior", [1.0, -1.0]),
        ("prior", [1.0, float("inf")]), ("prior", [1, 1]), ("next_index", None), ("next_cull", "x"),
        ("next_id", 2), ("n_rows_faded", 10**6),
    ],
)  # fmt: skip
def test_counters_out_of_range(models, name, value):
    payload = models["after fit"].to_payload()
    refuses(replace(payload, metadata=payload.metadata | {name: value}))


def test_hostile_parameters_and_names(models):
    payload = models["after fit"].to_payload()
    refuses(replace(payload, parameters={}))
    refuses(replace(payload, parameters=payload.parameters | {"spare": 1}))
    refuses(replace(payload, kind="text-mixture"))
    names = payload.feature_names
    refuses(replace(payload, feature_names=names[:-1]))
    refuses(replace(payload, feature_names=np.array([*names[:-1], names[0]], dtype=object)))
    assert load(payload, feature_names=None).n_features_in_ == 9


def test_rows_held_back_of_a_model_without_features(models):
    payload = models["rows held back"].to_payload()
    arrays = payload.arrays | {"held_indptr": np.zeros(51, np.int64), "held_columns": np.empty(0, np.int32)}
    assert load(payload, arrays=arrays).n_features_in_ == 9
    refuses(replace(payload, arrays=arrays, metadata=payload.metadata | {"n_features": 0}))
