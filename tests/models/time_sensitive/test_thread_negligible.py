"""How far back clusters are looked at: `negligible` is a share of the weight of a new cluster."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

import sparsemix as sm

TEXTS = np.zeros((4, 300), int)
TEXTS[:3, :15] = 1  # three times the same rare words
TEXTS[3, 100:115] = 1
TIMES = np.array([0.0, 1.0, 42.0, 42.5])  # the third 41 half-lives after the second
FIT = {"half_life": 1.0, "n_sweeps": 40, "burn_in": 20, "random_state": 0}


@pytest.mark.parametrize(
    "model", [sm.TimeSensitiveMixture(**FIT), sm.StreamingTimeSensitiveMixture(half_life=1.0)]
)
def test_words_speak_for_old_clusters_as_far_as_is_asked(model):
    assert_array_equal(model.fit(TEXTS, times=TIMES).labels_, [0, 0, 1, 2])
    assert_array_equal(model.set_params(negligible=1e-60).fit(TEXTS, times=TIMES).labels_, [0, 0, 0, 1])


def test_questions_look_as_far_back(tmp_path):
    model = sm.TimeSensitiveMixture(**FIT, negligible=1e-60).fit(TEXTS[[0, 1, 3]], times=[0.0, 1.0, 1.5])
    sm.save_model(model, tmp_path / "far.smx")
    for each in (model, sm.load_model(tmp_path / "far.smx")):
        late = {"times": [42.0, 60.0]}
        assert_array_equal(each.predict(TEXTS[[2, 2]], **late), [0, 0])
        assert np.all(each.new_cluster_probability(TEXTS[[2, 2]], **late) < [1e-2, 1.0])
    near = sm.TimeSensitiveMixture(**FIT).fit(TEXTS[[0, 1, 3]], times=[0.0, 1.0, 1.5])
    assert near.new_cluster_probability(TEXTS[[2]], times=[42.0]) > 0.9


def test_what_shows_within_reach_does_not_depend_on_it():
    within = TIMES / 2
    wide, narrow = (sm.TimeSensitiveMixture(**FIT, negligible=share) for share in (1e-200, 1e-12))
    assert_array_equal(wide.fit(TEXTS, times=within).draws_, narrow.fit(TEXTS, times=within).draws_)


@pytest.mark.parametrize("share", [0.0, -1.0, 1.1, np.nan, 1e-301, "1e-12", None])
def test_shares_that_make_no_sense(share):
    with pytest.raises(
        sm.ParameterError, match=r"'negligible' of TimeSensitiveMixture must be a number from 1e-300 to 1"
    ):
        sm.TimeSensitiveMixture(negligible=share).fit(TEXTS, times=TIMES)


def test_a_fit_goes_on_with_the_same_share_only():
    def stop(_):
        raise KeyboardInterrupt

    model = sm.TimeSensitiveMixture(**FIT)
    with pytest.raises(KeyboardInterrupt):
        model.fit(TEXTS, times=TIMES, on_sweep=stop)
    with pytest.raises(sm.ParameterError, match="'negligible' is 1e-12 as in the fit that was interrupted"):
        model.set_params(warm_start=True, negligible=1e-13).fit(TEXTS, times=TIMES)
