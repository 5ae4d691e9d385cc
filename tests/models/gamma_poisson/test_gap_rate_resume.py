"""A fit of click rates that was interrupted answers, and goes on to the same bits; what is no such run is refused."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from gap_cases import hash_of
from numpy.testing import assert_array_equal

from sparsemix import ClickRateModel, DataError, ModelFileError, ParameterError, load_model, save_model
from sparsemix.persistence import write_payload

RNG = np.random.default_rng(0)
EVENTS = pd.DataFrame({
    "user": RNG.integers(12, size=300), "ad": RNG.integers(5, size=300),
    "event": RNG.choice(["impression", "click"], 300, p=[0.8, 0.2]), "count": RNG.integers(1, 6, 300),
})  # fmt: skip
MODELS = {
    "map": {"max_iter": 9},
    "given": {"max_iter": 9, "smoothing": 3.0, "solver": "ml"},
    "gibbs": {"solver": "gibbs", "max_iter": 5, "n_sweeps": 6, "burn_in": 2, "thin": 2, "n_chains": 2},
}
pytestmark = pytest.mark.filterwarnings("ignore:.*sweeps were not enough")


class StopError(Exception):
    """Ends a fit."""


def new_rates(name, **changes):
    return ClickRateModel(**{"n_components": 2, "random_state": 0, **MODELS[name], **changes})


def stop_after(model, n, events=EVENTS):
    """The model, whose fit is interrupted after so many sweeps more."""
    left = iter(range(n - 1, -1, -1))

    def stop(_):
        if not next(left):
            raise StopError

    with pytest.raises(StopError):
        model.fit(events, on_sweep=stop)
    return model


def n_sweeps_of(name):
    found = []
    new_rates(name).fit(EVENTS, on_sweep=found.append)
    return len(found)


@pytest.mark.parametrize("through_file", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_an_interrupted_fit_goes_on_to_the_same_bits(tmp_path, name, through_file):
    whole, n_sweeps = new_rates(name).fit(EVENTS), n_sweeps_of(name)
    assert whole.is_complete_
    for after in (1, n_sweeps // 2, n_sweeps) if through_file else (n_sweeps // 2 + 1, n_sweeps - 1):
        model = stop_after(new_rates(name), after)
        assert not model.is_complete_
        assert model.n_sweeps_done_ == after
        rates = model.predict(EVENTS["user"], EVENTS["ad"])
        assert np.all((rates > 0.0) & (rates < 1.0))
        if through_file:
            save_model(model, tmp_path / "m.smx")
            model = load_model(tmp_path / "m.smx")
            assert_array_equal(model.predict(EVENTS["user"], EVENTS["ad"]), rates)
        told = []
        model.set_params(warm_start=True).fit(EVENTS, on_sweep=told.append)
        assert len(told) == n_sweeps - after
        assert model.is_complete_
        assert hash_of(model.set_params(warm_start=False)) == hash_of(whole), after


def test_a_fit_may_be_interrupted_after_every_sweep():
    whole, model = new_rates("gibbs").fit(EVENTS), stop_after(new_rates("gibbs"), 1)
    model.set_params(random_state=None)  # the seed is that of the first call
    for _ in range(n_sweeps_of("gibbs") - 1):
        stop_after(model.set_params(warm_start=True), 1)
    model.fit(EVENTS).set_params(warm_start=False, random_state=0)
    assert hash_of(model) == hash_of(whole)


def test_without_a_warm_start_a_fit_begins_anew():
    model = stop_after(new_rates("map"), 3)
    assert hash_of(model.fit(EVENTS)) == hash_of(new_rates("map").fit(EVENTS))
    with pytest.raises(AttributeError, match="no fit was interrupted"):
        _ = model.n_sweeps_done_
    assert not hasattr(new_rates("map"), "is_complete_")


def test_intervals_begin_with_the_chains():
    model = stop_after(new_rates("gibbs"), 2)
    assert not model.has_intervals_
    with pytest.raises(ParameterError, match="interrupted before its chains"):
        model.predict_interval([0], [0])
    model = stop_after(new_rates("gibbs", smoothing=2.0), 5)
    assert model.has_intervals_
    low, high = model.predict_interval([0], [0])
    assert low < high


@pytest.mark.parametrize(("changes", "words"), [
    ({"shape": 2.0}, "'shape' is 1.1"), ({"smoothing": 2.0}, "'smoothing' is 'held-out'"),
    ({"solver": "ml"}, "'solver' is 'map'"), ({"n_components": 3}, "'n_components' is 2"),
])  # fmt: skip
def test_other_parameters_are_refused(changes, words):
    model = stop_after(new_rates("map"), 3).set_params(warm_start=True, **changes)
    with pytest.raises(ParameterError, match=words):
        model.fit(EVENTS)
    assert model.n_sweeps_done_ == 3


def test_other_events_are_refused():
    model = stop_after(new_rates("map"), 3).set_params(warm_start=True)
    with pytest.raises(DataError, match="12 users and 5 ads of the fit that was interrupted"):
        model.fit(EVENTS[EVENTS["user"] > 0])
    with pytest.raises(DataError, match="of the fit that was interrupted"):
        model.fit(pd.concat([EVENTS, EVENTS[:1]]))
    assert model.n_sweeps_done_ == 3


def test_more_sweeps_may_be_allowed():
    model = stop_after(new_rates("map"), 3).set_params(warm_start=True, max_iter=200, n_jobs=2)
    whole = new_rates("map", max_iter=200).fit(EVENTS)
    assert_array_equal(model.fit(EVENTS).predict([0, 1], [1, 2]), whole.predict([0, 1], [1, 2]))


@pytest.mark.parametrize(("key", "value"), [
    ("seed", -1), ("seed", 2**32), ("n_before", 1.5), ("is_choosing", 0), ("parameters", None), ("metadata", []),
    ("more", 1), ("is_choosing", False),
])  # fmt: skip
def test_runs_that_cannot_be(tmp_path, key, value):
    stored = stop_after(new_rates("gibbs"), 2).to_payload()
    run = stored.metadata["run"] | {key: value}
    write_payload(tmp_path / "m.smx", replace(stored, metadata=stored.metadata | {"run": run}))
    with pytest.raises(ModelFileError):
        load_model(tmp_path / "m.smx")


def test_factors_of_other_users_are_no_run(tmp_path):
    stored = stop_after(new_rates("map"), 2).to_payload()
    other = stop_after(new_rates("map"), 2, EVENTS[EVENTS["user"] > 0]).to_payload()
    runs = {name: array for name, array in other.arrays.items() if name.startswith("run_")}
    mixed = replace(
        stored,
        arrays=stored.arrays | runs,
        metadata=stored.metadata | {"run": other.metadata["run"]},
    )
    write_payload(tmp_path / "m.smx", mixed)
    with pytest.raises(ModelFileError, match="a run that cannot be"):
        load_model(tmp_path / "m.smx")
