"""A fit that was stopped keeps what was drawn, also on file, and goes on to the bits of one that was not.

Some ways to fit run with `pytest -m slow tests/models/time_sensitive/test_thread_resume.py` only.
"""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sparsemix as sm
from sparsemix import TimeKernel
from sparsemix.persistence import state_hash

DAY = 86400.0
N_ROWS = 40
TRACES = ("log_joint_", "n_clusters_", "moves_", "split_merges_")
DRAWN = ("draws_", "labels_", "learning_", *TRACES)
FEW = {"n_sweeps": 5, "burn_in": 2, "thin": 2, "random_state": 3, "split_merge": 0.5}
RATES = {"time_kernel": TimeKernel.each_cluster(["6h", "3d", "20d"])}
WAYS = {
    "exponential": {"half_life": "4d"},
    "several chains": {"half_life": "4d", "n_chains": 2},
    "learnt": {"half_life": "1d", "learn": True, "n_chains": 2},
    "a rate for each": {**RATES, "n_chains": 2},
    "a rate for each, learnt": {**RATES, "learn": True},
    "step": {"time_kernel": "step", "learn": True},
    "window": {"time_kernel": TimeKernel.window("6d"), "learn": True},
    "strict": {"half_life": "4d", "strict": True},
    "presence": {"half_life": "4d", "family": "bernoulli", "binarize": 0.0},
}
EVERY = ("exponential", "several chains", "learnt", "a rate for each")  # moment; of the others one is enough
FAST = ("exponential", "a rate for each", "a rate for each, learnt")


class StopError(Exception):
    """What the tests stop with."""


@pytest.fixture(scope="module")
def stream():
    """Rows about three stories, in no order of time, some at the same time."""
    rng = np.random.default_rng(1)
    story, times = rng.integers(3, size=N_ROWS), np.floor(rng.uniform(0.0, 30.0, N_ROWS)) * DAY
    return rng.poisson(np.where(np.arange(9) % 3 == story[:, None], 1.5, 0.1)), times


def new_model(**changes):
    return sm.TimeSensitiveMixture(**FEW | changes)


def stop_after(model, stream, n_sweeps):
    """Fit until the onlooker has seen so many sweeps."""
    seen = []

    def look(progress):
        seen.append(progress)
        if len(seen) == n_sweeps:
            raise StopError

    rows, times = stream
    with pytest.raises(StopError):
        model.fit(rows, times=times, on_sweep=look)
    return model


def through_file(model, folder):
    sm.save_model(model, folder / "stopped.smx")
    return sm.load_model(folder / "stopped.smx")


def assert_same(model, expected):
    for name in DRAWN:
        assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)
    assert model.concentration_ == expected.concentration_
    assert model.time_kernel_ == expected.time_kernel_
    if expected.time_kernel_.kind in ("exponential", "each_cluster"):
        assert_array_equal(model.decay_rates_, expected.decay_rates_)
    assert model.is_complete_
    found = [state_hash(each.set_params(warm_start=False).to_payload()) for each in (model, expected)]
    assert found[0] == found[1]


@pytest.mark.parametrize(
    "way", [way if way in FAST else pytest.param(way, marks=pytest.mark.slow) for way in WAYS]
)
def test_interrupted_saved_and_resumed_is_as_if_nothing_had_been(way, stream, tmp_path):
    options = WAYS[way]
    expected = new_model(**options).fit(stream[0], times=stream[1])
    n_in_all = expected.n_sweeps_in_all
    for n_sweeps in range(1, n_in_all + 1) if way in EVERY else (n_in_all - 2,):
        stopped = stop_after(new_model(**options), stream, n_sweeps)
        assert not stopped.is_complete_
        loaded = through_file(stopped, tmp_path)
        for name in DRAWN:
            assert_array_equal(getattr(loaded, name), getattr(stopped, name), err_msg=name)
        assert state_hash(loaded.to_payload()) == state_hash(stopped.to_payload())
        for each in (loaded, stopped):
            each.set_params(warm_start=True).fit(stream[0], times=stream[1])
            assert_same(each, expected)


def test_a_kernel_that_is_a_function_goes_on_in_memory(stream):
    options = {"time_kernel": TimeKernel.of_function(lambda age: np.exp(-age / DAY), support=8 * DAY)}
    stopped = stop_after(new_model(**options), stream, 3)
    stopped.set_params(warm_start=True).fit(stream[0], times=stream[1])
    expected = new_model(**options).fit(stream[0], times=stream[1])
    for name in DRAWN:
        assert_array_equal(getattr(stopped, name), getattr(expected, name), err_msg=name)


def test_many_stops_and_threads_change_nothing(stream, tmp_path):
    options = {**RATES, "learn": True, "n_chains": 3}
    model, n_stops = new_model(**options, warm_start=True), 0
    while n_stops < 30:
        try:
            stop_after(model, stream, 2)
        except pytest.fail.Exception:
            break
        n_stops += 1
        model = through_file(model, tmp_path).set_params(n_jobs=1 + n_stops % 2)
    assert n_stops > 5
    expected = new_model(**options).fit(stream[0], times=stream[1])
    assert_same(model.set_params(n_jobs=None), expected)


def test_what_an_interrupted_model_shows_and_answers(stream):
    rows, times = stream
    stopped = stop_after(new_model(half_life="4d", n_chains=3), stream, 8)
    assert stopped.draws_.shape == (2 + 1, N_ROWS)  # sweeps 2 and 4 are kept
    assert_array_equal(np.isnan(stopped.log_joint_), [[False] * 5, [False] * 3 + [True] * 2, [True] * 5])
    for name in TRACES[1:]:
        assert_array_equal(getattr(stopped, name) < 0, np.isnan(stopped.log_joint_))
    now = [stopped.log_joint_[0, 4], stopped.log_joint_[1, 2]]
    assert stopped.labels_.max() + 1 == stopped.n_clusters_[[0, 1], [4, 2]][int(np.argmax(now))]
    assert stopped.n_rows_seen_ == N_ROWS
    assert stopped.predict(rows, times=times).shape == (N_ROWS,)
    assert_array_equal(np.bincount(stopped.labels_), [each.n_rows for each in stopped.top_features(1)])


def test_what_a_model_knows_that_was_interrupted_while_it_learnt(stream):
    told = []
    stopped = stop_after(new_model(half_life="4d", learn=True), stream, 4)
    assert stopped.draws_.shape == (0, N_ROWS)
    assert stopped.learning_.shape == (4, 2)
    assert_array_equal(stopped.learning_[-1], [stopped.concentration_, stopped.time_kernel_.rate])
    assert np.isnan(stopped.log_joint_).all()
    assert stopped.predict(stream[0], times=stream[1]).shape == (N_ROWS,)
    stopped.set_params(warm_start=True).fit(stream[0], times=stream[1], on_sweep=told.append)
    chains = [(progress.chain, progress.sweep) for progress in told]
    assert chains == [*((-1, step) for step in range(4, 10)), *((0, sweep) for sweep in range(5))]
    assert stopped.n_sweeps_in_all == 15


def test_nothing_is_kept_before_the_first_sweep_has_ended(stream, monkeypatch):
    def stop(*_):
        raise KeyboardInterrupt

    fitted = new_model(half_life="4d").fit(stream[0], times=stream[1])
    before, labels = state_hash(fitted.to_payload()), fitted.labels_
    monkeypatch.setattr("sparsemix.models.time_sensitive.engine.Chain.sweep", stop)
    with pytest.raises(KeyboardInterrupt):
        fitted.fit(stream[0][::-1], times=stream[1])
    assert state_hash(fitted.to_payload()) == before
    assert fitted.labels_ is labels
    assert fitted.is_complete_


def test_a_start_that_was_given_is_kept_for_chains_that_have_not_begun(stream, tmp_path):
    options = {"init": np.where(np.arange(N_ROWS) % 2, -1, np.arange(N_ROWS) % 3), "half_life": "4d"}
    stopped = stop_after(new_model(**options, n_chains=2), stream, 2)
    resumed = through_file(stopped, tmp_path).set_params(warm_start=True).fit(stream[0], times=stream[1])
    expected = new_model(**options, n_chains=2).fit(stream[0], times=stream[1])
    assert_array_equal(resumed.draws_, expected.draws_)
    assert_array_equal(resumed.log_joint_, expected.log_joint_)


def test_without_warm_start_a_fit_begins_anew(stream):
    rows, times = stream
    stopped = stop_after(new_model(half_life="4d"), stream, 2)
    other = new_model(half_life="4d").fit(rows[:-3], times=times[:-3])
    assert_same(stopped.fit(rows[:-3], times=times[:-3]), other)
    assert_same(new_model(half_life="4d", warm_start=True).fit(rows[:-3], times=times[:-3]), other)


@pytest.mark.parametrize("other", [
    lambda rows, times: (rows[:-1], times[:-1]), lambda rows, times: (rows[:, :-1], times),
    lambda rows, times: (rows[::-1], times[::-1]), lambda rows, times: (rows, times + 1.0),
    lambda rows, times: (np.where(rows, rows + 1, 0), times),
    lambda rows, times: (sm.Dataset.from_matrix(rows, feature_names=list("abcdefghi")), times),
])  # fmt: skip
def test_other_rows_are_refused(other, stream):
    stopped = stop_after(new_model(half_life="4d"), stream, 2)
    before = state_hash(stopped.to_payload())
    rows, times = other(*stream)
    with pytest.raises(sm.DataError, match="the 40 rows of the fit that was interrupted, in the same order"):
        stopped.set_params(warm_start=True).fit(rows, times=times)
    assert state_hash(stopped.set_params(warm_start=False).to_payload()) == before


@pytest.mark.parametrize("changes", [
    {"n_sweeps": 9}, {"burn_in": 1}, {"thin": 1}, {"n_chains": 2}, {"smoothing": 0.2}, {"concentration": 2.0},
    {"half_life": "5d"}, {"learn": True}, {"strict": True}, {"family": "bernoulli", "binarize": 0.0},
])  # fmt: skip
def test_other_parameters_are_refused(changes, stream):
    rows, times = stream[0] > 0, stream[1]
    stopped = stop_after(new_model(half_life="4d"), (rows, times), 2).set_params(warm_start=True, **changes)
    [name] = [each for each in changes if each != "binarize"]
    named = "time_kernel" if name == "half_life" else name
    was = "False" if name == "learn" else ".*"
    with pytest.raises(sm.ParameterError, match=f"'{named}' is {was} as in the fit that was interrupted"):
        stopped.fit(rows, times=times)
