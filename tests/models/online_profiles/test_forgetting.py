"""Old rows lose weight, and a pass over rows that were learnt before renews the evidence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from profile_cases import dense_state, random_posterior, settled, topic_rows

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.foundation.errors import ParameterError
from sparsemix.metrics import adjusted_rand
from sparsemix.models.online_profiles import equations
from sparsemix.models.online_profiles.forgetting import forget, share_kept
from sparsemix.models.online_profiles.merging import Prior
from sparsemix.persistence import state_hash
from sparsemix.probability.beta_bernoulli import BetaPrior

PRIOR = Prior(BetaPrior(0.3, 0.9), 0.5)


def small_model(**changes):
    usual = {"n_components": 3, "priming_rows": 40, "random_state": 0}
    return OnlineBernoulliMixture(**usual | changes)


@given(seed=st.integers(0, 1_000), n_rows=st.integers(0, 10**9), half_life=st.floats(1.0, 1e6))
def test_forgetting_is_the_equation(seed, n_rows, half_life):
    posterior = settled(random_posterior(seed))
    found = dense_state(forget(posterior, PRIOR, share_kept(n_rows, half_life)), 7)
    expected = equations.forget(dense_state(posterior, 7), (0.3, 0.9, 0.5), n_rows, half_life)
    for one, other in zip(found, expected, strict=True):
        assert_allclose(one, other, rtol=1e-12)


def test_old_rows_are_forgotten_to_the_prior():
    state = dense_state(forget(settled(random_posterior(0)), PRIOR, share_kept(10**12, 100.0)), 7)
    assert_allclose(state.alpha, 0.3)
    assert_allclose(state.beta, 0.9)
    assert_allclose(state.weight_concentration, 0.5)


def test_the_evidence_of_a_long_stream_is_that_of_the_last_rows():
    rows, _ = topic_rows(4_000, 3, 9)
    model = small_model(half_life_rows=200).partial_fit(rows)
    mass = model._view.sizes().sum()
    assert mass == pytest.approx(200 / np.log(2), abs=60)  # up to 50 rows wait


def test_a_feature_that_goes_out_of_use_is_unlearnt():
    rows, topics = topic_rows(3_000, 3, 12)
    later = rows.copy()
    later[1_000:, :3] = False
    known, fading = small_model().fit(later), small_model(half_life_rows=100).fit(later)
    for model, bound in ((known, (0.1, 1.0)), (fading, (0.0, 0.05))):
        mean = model._view.overall_means()[:3]
        assert np.all((bound[0] < mean) & (mean < bound[1]))
    assert adjusted_rand(topics, fading.labels_) > 0.7


def test_a_forgetting_stream_goes_on_after_a_file_to_the_same_bits(tmp_path):
    rows, _ = topic_rows(600, 3, 9)
    whole = small_model(half_life_rows=50.5).fit(rows)
    model = small_model(half_life_rows=50.5).partial_fit(rows[:333])
    save_model(model, tmp_path / "model.smx")
    twin = load_model(tmp_path / "model.smx").partial_fit(rows[333:]).prime()
    assert state_hash(twin.to_payload()) == state_hash(whole.to_payload())


def test_more_passes_keep_the_number_of_rows():
    rows, topics = topic_rows(900, 3, 9, on=0.6)
    once, thrice = small_model(priming_rows=60).fit(rows), small_model(priming_rows=60, n_passes=3).fit(rows)
    assert thrice._view.sizes().sum() == pytest.approx(900)
    assert thrice.n_rows_seen_ == 900
    assert thrice.log_evidence_ == once.log_evidence_
    assert adjusted_rand(topics, thrice.labels_) > 0.9 * adjusted_rand(topics, once.labels_)


def test_what_happens_in_later_passes_is_told_with_the_rows_seen():
    rows = np.sort(np.random.default_rng(1).random((200, 30)) < 0.2, axis=0)
    usual = {"n_components": 6, "priming_rows": 20, "reservoir_rows": 10, "min_component_share": 0.5}
    once, thrice = small_model(**usual).fit(rows), small_model(**usual, n_passes=3).fit(rows)
    assert {event.row for event in thrice.lineage_[len(once.lineage_) :]} == {200}


@pytest.mark.parametrize(
    "wrong",
    [{"half_life_rows": 0.5}, {"half_life_rows": np.inf}, {"half_life_rows": "1d"}, {"n_passes": 0},
     {"reservoir_rows": -1}, {"reservoir_rows": "some"}, {"n_components": "many"}],
)  # fmt: skip
def test_parameters_break_their_rules(wrong):
    with pytest.raises(ParameterError, match=next(iter(wrong))):
        small_model(**wrong).fit(np.eye(5))
