"""A fit that was stopped keeps what was drawn, also on file, and goes on to the bits of one that was not."""

from dataclasses import replace

import numpy as np
import pytest
from gibbs_models import FAMILIES, LETTERS, N_ROWS, hash_of, new_model, table_of
from numpy.testing import assert_array_equal

import sparsemix as sm
from sparsemix.persistence import write_payload

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

DRAWN = ("draws_", "labels_", "log_joint_", "n_clusters_", "moves_")
SOLID = {"n_components": 30, "n_chains": 2, "concentration": 3.0}


class StopError(Exception):
    """What the tests stop with."""


def stop_at(model, rows, chain, sweep):
    """Fit until the onlooker has seen that sweep."""

    def look(progress):
        if (progress.chain, progress.sweep) == (chain, sweep):
            raise StopError

    with pytest.raises(StopError):
        model.fit(rows, on_sweep=look)
    return model


def through_file(model, tmp_path):
    sm.save_model(model, tmp_path / "interrupted.smx")
    return sm.load_model(tmp_path / "interrupted.smx")


def assert_same(model, expected):
    for name in DRAWN:
        assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)
    assert model.acceptance_rate_ == expected.acceptance_rate_
    assert model.is_complete_
    assert hash_of(model.set_params(warm_start=False)) == hash_of(expected)


# Before and after the first draw, at the end of a chain, in the second chain, and after all sweeps.
@pytest.mark.parametrize(("chain", "sweep"), [(0, 0), (0, 3), (0, 8), (0, 11), (1, 6), (1, 11)])
@pytest.mark.parametrize("proposal", ["exact", "index", "hash"])
@pytest.mark.parametrize("family", FAMILIES)
def test_interrupted_saved_and_resumed_is_as_if_nothing_had_been(family, proposal, chain, sweep, tmp_path):
    rows, _ = table_of(family)
    options = {"family": family, "proposal": proposal, "process": "dp", "init": "random", **SOLID}
    stopped = stop_at(new_model(**options), rows, chain, sweep)
    assert not stopped.is_complete_
    loaded = through_file(stopped, tmp_path)
    for name in DRAWN:
        assert_array_equal(getattr(loaded, name), getattr(stopped, name), err_msg=name)
    assert hash_of(loaded) == hash_of(stopped)
    expected = new_model(**options).fit(rows)
    assert_same(loaded.set_params(warm_start=True).fit(rows), expected)
    assert_same(stopped.set_params(warm_start=True).fit(rows), expected)


@pytest.mark.parametrize("options", [{"n_bits": 64, "raw": True}, {"burn_in": 0}, {"process": "finite"}])
def test_signatures_go_on_too(options, tmp_path):
    rows, _ = table_of("multinomial", mean=4.0)
    options = {"proposal": "hash", **SOLID, **options}
    loaded = through_file(stop_at(new_model(**options), rows, 0, 7), tmp_path)
    assert_same(loaded.set_params(warm_start=True).fit(rows), new_model(**options).fit(rows))


@pytest.mark.parametrize("family", FAMILIES)
def test_uncollapsed_chains_go_on_too(family, tmp_path):
    rows, _ = table_of(family)
    options = {
        "n_components": 5,
        "family": family,
        "n_sweeps": 9,
        "burn_in": 3,
        "n_chains": 2,
        "random_state": 0,
    }
    stopped = stop_at(sm.UncollapsedGibbsMixture(**options), rows, 1, 2)
    loaded = through_file(stopped, tmp_path).set_params(warm_start=True).fit(rows)
    assert_same(loaded, sm.UncollapsedGibbsMixture(**options).fit(rows))


@pytest.mark.parametrize("proposal", ["exact", "hash"])
@pytest.mark.parametrize("family", ["gaussian", "gaussian_full"])
def test_rows_of_real_numbers_go_on_too(family, proposal, tmp_path):
    centres = np.repeat([[-4.0, 0.0], [4.0, 1.0], [0.0, 5.0]], 20, axis=0)
    rows = np.random.default_rng(0).normal(centres)
    options = {"family": family, "proposal": proposal, "n_chains": 2}
    loaded = through_file(stop_at(new_model(**options), rows, 1, 7), tmp_path)
    assert_same(loaded.set_params(warm_start=True).fit(rows), new_model(**options).fit(rows))


def test_many_stops_and_threads_change_nothing(tmp_path):
    rows, _ = table_of()
    model, n_stops = new_model(**SOLID, warm_start=True), 0
    while n_stops < 30:
        seen = []

        def look(progress, seen=seen):
            seen.append(progress)
            if len(seen) == 2:
                raise StopError

        try:
            model.fit(rows, on_sweep=look)
            break
        except StopError:
            n_stops += 1
            model = through_file(model, tmp_path).set_params(n_jobs=1 + n_stops % 2)
    assert n_stops > 5
    assert_same(model.set_params(n_jobs=None), new_model(**SOLID).fit(rows))


def test_what_an_interrupted_model_shows_and_answers():
    rows, _ = table_of()
    stopped = stop_at(new_model(n_chains=3), sm.Dataset.from_matrix(rows, feature_names=LETTERS), 1, 7)
    assert stopped.draws_.shape == (3 + 1, N_ROWS)  # sweeps 7, 9 and 11 are kept
    assert_array_equal(np.isnan(stopped.log_joint_), [[False] * 12, [False] * 8 + [True] * 4, [True] * 12])
    assert_array_equal(stopped.moves_ < 0, np.isnan(stopped.log_joint_))
    assert_array_equal(stopped.n_clusters_ < 0, np.isnan(stopped.log_joint_))
    now = [stopped.log_joint_[0, 11], stopped.log_joint_[1, 7]]
    assert stopped.labels_.max() + 1 == stopped.n_clusters_[[0, 1], [11, 7]][int(np.argmax(now))]
    assert_array_equal(np.bincount(stopped.labels_), [each.n_rows for each in stopped.top_features(1)])
    assert stopped.predict(rows).shape == (N_ROWS,)
    assert 0.0 <= stopped.acceptance_rate_ <= 1.0


def test_a_start_that_was_given_is_kept_for_chains_that_have_not_begun(tmp_path):
    rows, topics = table_of()
    options = {"init": np.where(np.arange(N_ROWS) % 2, -1, topics), "n_chains": 2}
    loaded = through_file(stop_at(new_model(**options), rows, 0, 4), tmp_path)
    resumed, expected = loaded.set_params(warm_start=True).fit(rows), new_model(**options).fit(rows)
    assert_array_equal(resumed.draws_, expected.draws_)
    assert_array_equal(resumed.log_joint_, expected.log_joint_)


def test_without_warm_start_a_fit_begins_anew():
    rows, _ = table_of()
    stopped = stop_at(new_model(), rows, 0, 4)
    assert_same(stopped.fit(rows[::-1]), new_model().fit(rows[::-1]))
    assert_same(new_model(warm_start=True).fit(rows), new_model().fit(rows))


def test_a_complete_model_learns_new_rows_as_if_never_stopped():
    rows, _ = table_of()
    stopped = stop_at(new_model(), rows, 0, 4)
    stopped.partial_fit(rows)
    assert stopped.is_complete_
    assert stopped.n_rows_seen_ == 2 * N_ROWS


@pytest.mark.parametrize("other", [
    lambda rows: rows[:-1], lambda rows: rows[:, :-1], lambda rows: np.where(rows, rows + 1, 0),
    lambda rows: sm.Dataset.from_matrix(rows, feature_names=LETTERS[::-1]), lambda rows: rows,
])  # fmt: skip
def test_other_rows_are_refused(other):
    rows, _ = table_of()
    stopped = stop_at(new_model(), sm.Dataset.from_matrix(rows, feature_names=LETTERS), 0, 4)
    before = hash_of(stopped)
    with pytest.raises(sm.DataError, match="the 60 rows of the fit that was interrupted"):
        stopped.set_params(warm_start=True).fit(other(rows))
    assert hash_of(stopped.set_params(warm_start=False)) == before


@pytest.mark.parametrize("changes", [
    {"n_components": 9}, {"n_sweeps": 13}, {"burn_in": 5}, {"thin": 1}, {"n_chains": 2}, {"smoothing": 0.2},
    {"process": "dp"}, {"family": "poisson"}, {"weight_concentration": 2.0},
])  # fmt: skip
def test_other_parameters_are_refused(changes):
    rows, _ = table_of()
    stopped = stop_at(new_model(), rows, 0, 4).set_params(warm_start=True, **changes)
    with pytest.raises(sm.ParameterError, match="as in the fit that was interrupted"):
        stopped.fit(rows)


@pytest.fixture(scope="module")
def interrupted():
    rows, topics = table_of("bernoulli")
    options = {
        "family": "bernoulli",
        "proposal": "hash",
        "n_chains": 2,
        "init": np.where(topics == 1, -1, topics),
    }
    return stop_at(new_model(**options), rows, 1, 7).to_payload()


def refused(payload, tmp_path):
    write_payload(tmp_path / "odd.smx", payload)
    with pytest.raises(sm.ModelFileError):
        sm.load_model(tmp_path / "odd.smx")
    return True


def test_hostile_arrays_of_a_run(interrupted, tmp_path):
    names = [name for name in interrupted.arrays if name.startswith("run_")]
    assert len(names) == 12
    for name in names:
        array = interrupted.arrays[name]
        low, high = (np.nan, 1e300) if array.dtype.kind == "f" else (-2, 2**30)
        odd = [
            array[:-1],
            array.astype(np.float32),
            np.append(array, array[-1:], axis=0),
            np.full_like(array, low),
            np.full_like(array, high),
        ]
        for each in (None, *odd):
            arrays = {key: value for key, value in interrupted.arrays.items() if key != name}
            arrays |= {} if each is None else {name: each}
            assert refused(replace(interrupted, arrays=arrays), tmp_path)
    spare = interrupted.arrays | {"run_spare": np.zeros(1)}
    assert refused(replace(interrupted, arrays=spare), tmp_path)


@pytest.mark.parametrize(("key", "value"), [
    ("n_components", 2), ("n_components", 0), ("n_sweeps", 0), ("n_sweeps", 10**12), ("n_sweeps", 7), ("burn_in", 12),
    ("burn_in", -1), ("thin", 0), ("thin", 1), ("n_chains", 0), ("n_chains", 3), ("n_chains", 10**6),
    ("n_threads", 0), ("n_threads", 10**6), ("seed", -1), ("seed", 1.5), ("at_random", 0.3), ("at_random", None),
    ("leads", 3), ("spare", 1),
])  # fmt: skip
def test_hostile_numbers_of_a_run(interrupted, key, value, tmp_path):
    run = interrupted.metadata["run"] | {key: value}
    assert refused(replace(interrupted, metadata=interrupted.metadata | {"run": run}), tmp_path)


@pytest.mark.parametrize("run", [None, 3, "run", {}, [1]])
def test_a_run_that_is_none(interrupted, run, tmp_path):
    assert refused(replace(interrupted, metadata=interrupted.metadata | {"run": run}), tmp_path)
    kept = {name: value for name, value in interrupted.metadata.items() if name != "run"}
    assert refused(replace(interrupted, metadata=kept), tmp_path)
