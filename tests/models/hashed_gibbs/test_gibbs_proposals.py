"""Proposals in turns, and which of them "auto" chooses."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
from gibbs_models import hash_of, new_model
from numpy.testing import assert_array_equal

import sparsemix as sm
from sparsemix.persistence import write_payload

N_ROWS, N_COMPONENTS = 900, 510
MANY = {"n_components": N_COMPONENTS, "n_sweeps": 4, "burn_in": 2, "thin": 1, "init": "random"}
DRAWN = ("draws_", "labels_", "log_joint_", "moves_")


def texts(n_words, length=8):
    """Rows of words that are all as common."""
    rng = np.random.default_rng(0)
    rows = np.zeros((N_ROWS, n_words), np.int64)
    np.add.at(rows, (np.repeat(np.arange(N_ROWS), length), rng.integers(n_words, size=N_ROWS * length)), 1)
    return rows


def assert_same(model, expected):
    for name in DRAWN:
        assert_array_equal(getattr(model, name), getattr(expected, name), err_msg=name)


def stopped_after(model, rows, sweep):
    """Fit until so many sweeps are over."""

    class StopError(Exception):
        pass

    def look(progress):
        if progress.sweep == sweep:
            raise StopError

    with pytest.raises(StopError):
        model.fit(rows, on_sweep=look)
    return model


# A word is in about 7,200 / n_words rows, and at most in as many of the 510 clusters; a proposal looks at 512 entries.
@pytest.mark.parametrize(
    ("n_words", "length", "choice"), [(20, 8, "exact"), (400, 8, "index"), (20, 1, "index")]
)
def test_auto_takes_the_index_where_most_rows_find_features_in_it(n_words, length, choice):
    rows = texts(n_words, length)
    assert_same(new_model(**MANY).fit(rows), new_model(**MANY, proposal=choice).fit(rows))


def test_auto_looks_at_all_of_few_clusters():
    rows, few = texts(400), MANY | {"n_components": 100}
    assert_same(new_model(**few).fit(rows), new_model(**few, proposal="exact").fit(rows))


def test_a_choice_stays_in_a_run_that_goes_on_from_a_file(tmp_path):
    rows = texts(20)
    stopped = stopped_after(new_model(**MANY), rows, 1)
    sm.save_model(stopped, tmp_path / "m.smx")
    loaded = sm.load_model(tmp_path / "m.smx").set_params(warm_start=True).fit(rows)
    assert_same(loaded, new_model(**MANY, proposal="exact").fit(rows))


def test_rows_in_another_order_are_refused(tmp_path):
    rows = texts(20)[:30]
    sm.save_model(stopped_after(new_model(), rows, 1), tmp_path / "m.smx")
    loaded = sm.load_model(tmp_path / "m.smx").set_params(warm_start=True)
    with pytest.raises(sm.DataError, match="the 30 rows of the fit that was interrupted"):
        loaded.fit(rows[::-1])
    assert_same(loaded.fit(rows.astype(float)), new_model().fit(rows))


def test_other_proposals_hold_for_sweeps_to_come():
    rows = texts(400)
    exact = MANY | {"proposal": "exact"}
    stopped = stopped_after(new_model(**exact), rows, 1)
    turned = stopped.set_params(warm_start=True, proposal="index").fit(rows)
    whole = new_model(**exact).fit(rows)
    assert_array_equal(turned.log_joint_[0, :2], whole.log_joint_[0, :2])
    assert turned.log_joint_[0, 2] != whole.log_joint_[0, 2]


def test_proposals_take_turns(tmp_path):
    rows = texts(400)
    options = MANY | {"proposal": "exact, index,exact"}
    model = new_model(**options).fit(rows)
    alone = {name: new_model(**MANY | {"proposal": name}).fit(rows) for name in ("exact", "index")}
    assert_array_equal(model.log_joint_[0, :1], alone["exact"].log_joint_[0, :1])
    assert model.log_joint_[0, 1] != alone["exact"].log_joint_[0, 1]
    turned = new_model(**MANY | {"proposal": "index,exact"}).fit(rows)
    assert_array_equal(turned.log_joint_[0, :1], alone["index"].log_joint_[0, :1])
    stopped = stopped_after(new_model(**options), rows, 1)
    sm.save_model(stopped, tmp_path / "m.smx")
    assert_same(sm.load_model(tmp_path / "m.smx").set_params(warm_start=True).fit(rows), model)


def test_new_rows_are_visited_by_the_choice_for_the_clusters_that_there_are_now():
    rows = texts(20)
    learnt = new_model(**MANY, proposal="exact").fit(rows[:600])
    assert learnt.n_clusters_[0, -1] < 100
    auto, index, exact = (
        deepcopy(learnt).set_params(proposal=name).partial_fit(rows[600:], n_sweeps=2)
        for name in ("auto", "index", "exact")
    )
    assert_array_equal(auto.labels_, index.labels_)
    assert not np.array_equal(auto.labels_, exact.labels_)


@pytest.mark.parametrize(
    "proposal", ["auto,index", "", "index,,exact", "index;exact", "table", ("index",), 3, None]
)
def test_other_names_are_refused(proposal):
    with pytest.raises(
        sm.ParameterError, match="'proposal' of HashedGibbsMixture must be one of 'auto', 'exact', "
    ):
        new_model(proposal=proposal).fit(texts(20)[:9])


@pytest.mark.parametrize(
    "told", [["exact", "exact"], [], "exact", [3], ["table"], ["exact,"], ["x" * 20_000]]
)
def test_hostile_choices_in_a_file(told, tmp_path):
    rows = texts(20)[:30]
    payload = stopped_after(new_model(), rows, 1).to_payload()
    assert payload.metadata["run"]["proposals"] == ["exact"]
    odd = replace(payload, metadata=payload.metadata | {"run": payload.metadata["run"] | {"proposals": told}})
    write_payload(tmp_path / "odd.smx", odd)
    with pytest.raises(sm.ModelFileError):
        sm.load_model(tmp_path / "odd.smx")


def test_a_run_of_a_version_that_stored_no_choice_goes_on(tmp_path):
    rows = texts(20)[:30]
    stopped = stopped_after(new_model(), rows, 1)
    payload = stopped.to_payload()
    run = {
        name: value for name, value in payload.metadata["run"].items() if name not in {"proposals", "rows"}
    }
    write_payload(tmp_path / "old.smx", replace(payload, metadata=payload.metadata | {"run": run}))
    loaded = sm.load_model(tmp_path / "old.smx").set_params(warm_start=True).fit(rows)
    assert hash_of(loaded.set_params(warm_start=False)) == hash_of(new_model().fit(rows))
