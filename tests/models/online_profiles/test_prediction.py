"""Predictions equal the dense equations, are pure, and treat every row by itself."""

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import (
    block_of,
    dense_state,
    exact_settings,
    random_posterior,
    stream_of,
    topic_rows,
    view_of,
)
from scipy.special import logit

from sparsemix import OnlineBernoulliMixture
from sparsemix.models.online_profiles import engine, equations, prediction, row_answers

posteriors = {
    "seed": st.integers(0, 10_000),
    "n_components": st.integers(1, 9),
    "explicit": st.sampled_from([0.0, 0.1, 0.5, 1.0]),
    "common": st.integers(0, 3),
}


@given(**posteriors)
def test_predictions_equal_the_equations(seed, n_components, explicit, common):
    posterior = random_posterior(seed, n_components, 8, explicit=explicit, common=common)
    state, view = dense_state(posterior, 8), view_of(posterior, 8, np.arange(n_components) + 5)
    rows = np.random.default_rng(seed).integers(2, size=(5, 8)).astype(float)
    share = np.array([equations.responsibilities(state, row) for row in rows])
    block = block_of(rows)
    assert_allclose(view.responsibilities(block), share, atol=1e-12)
    assert_allclose(view.log_density(block), [equations.log_predictive(state, row) for row in rows])
    assert_array_equal(view.assignments(block), share.argmax(axis=1) + 5)
    assert_allclose(view.weights(), state.weight_concentration / state.weight_concentration.sum())


@given(**posteriors)
def test_log_odds_of_each_feature(seed, n_components, explicit, common):
    posterior = random_posterior(seed, n_components, 8, explicit=explicit, common=common)
    state, view = dense_state(posterior, 8), view_of(posterior, 8)
    mean = state.alpha / (state.alpha + state.beta)
    for feature in range(8):
        assert_allclose(view.log_odds(feature), logit(mean[:, feature]), rtol=1e-9, atol=1e-12)
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    assert_allclose(view.log_odds(99), logit(default), rtol=1e-9, atol=1e-12)
    assert_allclose(view.default_means(), default)


@given(**posteriors, completeness=st.floats(0.0, 1.0))
def test_log_silence(seed, n_components, explicit, common, completeness):
    posterior = random_posterior(seed, n_components, 8, explicit=explicit, common=common)
    state, view = dense_state(posterior, 8), view_of(posterior, 8)
    mean = (state.alpha / (state.alpha + state.beta))[:, : 8 - common]
    expected = np.log1p(-completeness * mean).sum(axis=1)
    assert_allclose(view.log_silence(completeness), expected, rtol=1e-9)


def test_log_not_listed_of_a_sure_feature_is_finite():
    assert np.isfinite(prediction.log_not_listed(np.array([1.0]), 1.0)[0])
    assert prediction.log_not_listed(np.array([0.3]), 0.0)[0] == 0.0


def test_the_view_includes_what_waits_to_be_added():
    """Certain rows and common features are added to the Betas late; a view has them at once."""
    stream = stream_of(random_posterior(0, common=1), 7)
    expected = dense_state(stream.posterior, 7)
    rows = np.array([[1, 0, 0, 0, 0, 1, 1], [0, 1, 0, 0, 0, 1, 0]])
    stream.next_index = stream.next_cull = 10
    engine.learn(stream, block_of(rows), np.array([0, 0]), 7, exact_settings())
    assert stream.posterior.certain[0] == 2.0
    alpha, beta = expected.alpha.copy(), expected.beta.copy()
    alpha[0, :6] += rows[:, :6].sum(axis=0)
    beta[0, :6] += 2 - rows[:, :6].sum(axis=0)
    alpha[:, 6] += 1
    beta[:, 6] += 1
    view = prediction.View.of(stream, 7, 1.0)
    after = dense_state(view.posterior, 7)
    assert_allclose(after.alpha, alpha)
    assert_allclose(after.beta, beta)
    assert stream.posterior.certain[0] == 2.0  # the stream itself is left alone


def test_rows_are_scored_by_themselves(monkeypatch):
    rows, _ = topic_rows(200, 3, 9)
    model = OnlineBernoulliMixture(3, priming_rows=100, random_state=0).fit(rows)
    scores, share, labels = model.score_samples(rows), model.predict_proba(rows), model.predict(rows)
    assert_array_equal(labels, model.component_ids_[share.argmax(axis=1)])
    monkeypatch.setattr(row_answers, "ROWS_PER_THREAD", 7)
    several = copy.deepcopy(model).set_params(n_jobs=3)
    assert_array_equal(several.score_samples(rows), scores)
    assert_array_equal(several.predict_proba(rows), share)
    assert_array_equal(several.predict(rows), labels)
    for i in (0, 17, 199):
        assert model.score_samples(rows[i : i + 1])[0] == scores[i]
        assert_array_equal(model.predict_proba(rows[i : i + 1])[0], share[i])
        assert model.predict(rows[i : i + 1])[0] == labels[i]
    backwards = np.arange(200)[::-1]
    assert_array_equal(model.score_samples(rows[backwards]), scores[backwards])
    assert model.score(rows) == pytest.approx(scores.mean())


def test_scores_are_log_probabilities_of_all_rows():
    rows, _ = topic_rows(200, 3, 6)
    model = OnlineBernoulliMixture(3, priming_rows=100, random_state=0).fit(rows)
    every = (np.arange(64)[:, None] >> np.arange(6)) & 1
    assert np.exp(model.score_samples(every)).sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n_components", [1, 3])
def test_a_column_that_is_not_known_counts_where_it_is_on(n_components):
    """With the default's probability; where it is off it is as if it were not there."""
    pd = pytest.importorskip("pandas")
    rows, _ = topic_rows(200, 3, 6, on=0.9, off=0.7)
    table = pd.DataFrame(rows, columns=list("abcdef"))
    model = OnlineBernoulliMixture(n_components, priming_rows=100, random_state=0).fit(table)
    wider = table.assign(z=np.arange(200) % 2)
    assert_array_equal(model.score_samples(wider)[::2], model.score_samples(table)[::2])
    share, default = model.predict_proba(table), model._view.default_means()
    assert_allclose(
        model.score_samples(wider)[1::2], model.score_samples(table)[1::2] + np.log(share @ default)[1::2]
    )
    assert np.all(model.score_samples(wider) <= 0)
    expected = share * default
    assert_allclose(
        model.predict_proba(wider)[1::2],
        (expected / expected.sum(axis=1, keepdims=True))[1::2],
        atol=1e-9,
    )
