"""The loop: any batching gives the same bits, every row is counted once, components live and end by the rules."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import (
    block_of,
    dense_state,
    exact_settings,
    random_posterior,
    settled,
    stream_of,
    topic_rows,
)
from scipy import sparse

from sparsemix import OnlineBernoulliMixture
from sparsemix.models.online_profiles import engine, scoring, steps
from sparsemix.models.online_profiles.state import entries_of
from sparsemix.persistence import state_hash


def small_model(**changes):
    usual = {"n_components": 3, "priming_rows": 40, "random_state": 0}
    return OnlineBernoulliMixture(**usual | changes)


def in_batches(rows, cuts, labels=None, **changes):
    model = small_model(**changes)
    for first, last in pairwise([0, *sorted(cuts), rows.shape[0]]):
        model.partial_fit(rows[first:last], None if labels is None else labels[first:last])
    return model


def posterior_of(model):
    return model.prime()._view.posterior


@given(
    cuts=st.lists(st.integers(0, 150), max_size=6),
    clutter=st.booleans(),
    staleness=st.sampled_from([0.0, 0.1, 1.0]),
    known=st.booleans(),
)
@settings(max_examples=8)
def test_any_batching_gives_the_same_bits(cuts, clutter, staleness, known):
    rows, topics = topic_rows(150, 3, 9)
    labels = np.where(np.arange(150) % 4 == 0, topics, -1) if known else None
    options = {"clutter": clutter, "staleness": staleness}
    whole = small_model(**options).fit(rows, labels)
    parts = in_batches(rows, cuts, labels, **options).prime()
    assert state_hash(parts.to_payload()) == state_hash(whole.to_payload())


def test_batches_larger_than_a_step_give_the_same_bits(monkeypatch):
    rows, _ = topic_rows(300, 3, 9)
    expected = state_hash(small_model().fit(rows).to_payload())
    monkeypatch.setattr(steps, "ROWS_PER_STEP", 7)
    monkeypatch.setattr(scoring, "LEARNERS_PER_ROW", 0)
    assert state_hash(small_model().fit(rows).to_payload()) == expected


def test_questions_in_between_change_nothing():
    rows, _ = topic_rows(150, 3, 9)
    asked = small_model()
    for first in range(0, 150, 10):
        asked.partial_fit(rows[first : first + 10])
        asked.predict_proba(rows[:5]), asked.weights_, asked.log_evidence_, asked.to_payload()
    assert state_hash(asked.prime().to_payload()) == state_hash(small_model().fit(rows).to_payload())


def test_the_evidence_is_prequential():
    """Its growth is the log density of each row, scored by the model just before it learns the row."""
    rows, _ = topic_rows(70, 3, 9)
    model = small_model(
        staleness=0.0, cull_threshold=0.0, min_component_share=0.0, reservoir_rows=0
    ).partial_fit(rows[:40])
    expected = model.log_evidence_
    for row in rows[40:, None]:
        expected += model.score_samples(row)[0]
        model.partial_fit(row)
        assert model.log_evidence_ == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("clutter", [False, True])
@pytest.mark.parametrize("n_components", [1, 3, 20])
def test_every_row_counts_once(n_components, clutter):
    """The weights hold the prior of each live component and every row, through culling and removal."""
    rows, _ = topic_rows(400, 3, 9, on=0.7)
    model = small_model(n_components=n_components, clutter=clutter, min_component_share=0.5)
    for first in range(0, 400, 50):
        model.partial_fit(rows[first : first + 50])
        weights = model._view.posterior.weight_concentration
        assert weights.sum() == pytest.approx(weights.size * 1.0 + first + 50)
    assert model.weights_.sum() == pytest.approx(1.0, abs=1e-12)


def test_known_rows_make_naive_bayes():
    """Where every row is known, all is counting: prior plus counts, in the buffer as in the stream."""
    rows, topics = topic_rows(120, 3, 9)
    model = small_model(cull_threshold=0.0, min_component_share=0.0, prior_mean=0.25, prior_strength=2.0)
    state = dense_state(posterior_of(model.fit(rows, topics)), 9)
    counts = np.array([rows[topics == k].sum(axis=0) for k in range(3)])
    sizes = np.bincount(topics)
    assert_allclose(state.alpha, 0.5 + counts)
    assert_allclose(state.beta, 1.5 + sizes[:, None] - counts)
    assert_allclose(state.weight_concentration, 1.0 + sizes)


def test_known_rows_teach_their_component_alone():
    posterior = random_posterior(0)
    stream, before = stream_of(posterior, 7), dense_state(posterior, 7)
    row = np.eye(7)[2]
    engine.learn(stream, block_of([row]), np.array([1]), 7, exact_settings())
    after = dense_state(stream.posterior, 7)
    assert_allclose(after.alpha[1], before.alpha[1] + row)
    assert_allclose(after.beta[1], before.beta[1] + 1 - row)
    for other in (0, 2):
        assert_array_equal(after.alpha[other], before.alpha[other])
    assert_array_equal(after.weight_concentration - before.weight_concentration, [0, 1, 0])


def test_labels_are_ids_not_positions():
    """The components 4, -1 and 0 are live: a row of 0 teaches the last one, of 2 nobody in particular."""
    stream = stream_of(random_posterior(0), 7, component_ids=[4, -1, 0])
    assert steps.positions(stream.component_ids, np.array([0, 4, 2, -1, 9])).tolist() == [2, 0, -1, -1, -1]
    weights = stream.posterior.weight_concentration.copy()
    engine.learn(stream, block_of([np.eye(7)[0]]), np.array([0]), 7, exact_settings())
    assert_allclose(stream.posterior.weight_concentration - weights, [0, 0, 1], atol=1e-12)


def test_labels_steer_the_buffer():
    """Two topics, one row of each known: the components have the ids of the labels."""
    rows, topics = topic_rows(200, 2, 12, on=0.8)
    for swapped in (False, True):
        names = 1 - topics if swapped else topics
        labels = np.full(200, -1)
        for k in (0, 1):
            labels[np.flatnonzero(names == k)[:8]] = k
        model = small_model(n_components=2).fit(rows, labels)
        assert np.mean(model.labels_ == names) > 0.97


def test_the_clutter_takes_rows_that_fit_nowhere():
    rows, _ = topic_rows(600, 3, 60, on=0.5, off=0.01)
    rng = np.random.default_rng(1)
    rows[::10] = rng.random((60, 60)) < 0.25
    model = small_model(clutter=True, priming_rows=300).fit(rows)
    assert -1 in model.component_ids_
    strays = np.arange(600) % 10 == 0
    assert np.mean(model.labels_[strays] == -1) > 0.8
    assert np.mean(model.labels_[~strays] == -1) < 0.1
    k = int(np.flatnonzero(model.component_ids_ == -1)[0])
    posterior = posterior_of(model)
    assert posterior.size[k] == 0  # one Beta for all features, nothing else
    mean = posterior.default_alpha[k] / (posterior.default_alpha[k] + posterior.default_beta[k])
    assert mean == pytest.approx(0.25, abs=0.05)


def test_the_clutter_learns_in_the_scale_of_one_feature():
    posterior = random_posterior(0, explicit=0.0)
    stream = stream_of(posterior, 7, component_ids=[0, 1, -1])
    before = settled(posterior)
    engine.learn(stream, block_of([[1, 1, 0, 0, 0, 0, 0]]), np.array([-1]), 7, exact_settings())
    r = stream.posterior.weight_concentration[2] - before.weight_concentration[2]
    assert 0 < r < 1
    assert stream.posterior.default_alpha[2] == pytest.approx(before.default_alpha[2] + r * 2 / 7)
    assert stream.posterior.default_beta[2] == pytest.approx(before.default_beta[2] + r * 5 / 7)


def test_ids_are_never_used_twice():
    rows, _ = topic_rows(900, 3, 12, on=0.8)
    model = small_model(n_components=15, clutter=True, min_component_share=0.3)
    removed, live = [], None
    for first in range(0, 900, 30):
        ids = model.partial_fit(rows[first : first + 30]).component_ids_.tolist()
        if live is not None and first > 40:
            assert set(ids) <= set(live)
        live = ids
    for event in model.lineage_:
        if event.event == "removed":
            assert event.component not in removed
            removed.append(event.component)
    born = [event.component for event in model.lineage_ if event.event == "born"]
    assert len(born) == len(set(born)) == 16
    assert set(born) - set(removed) == set(live)
    assert removed
    assert -1 in live
    assert [e.row for e in model.lineage_] == sorted(e.row for e in model.lineage_)


@pytest.mark.parametrize("priming_rows", [40, 200])
def test_a_component_that_a_label_has_named_stays(priming_rows):
    """However few its rows are: in the buffer, and in the stream."""
    rows, _ = topic_rows(400, 3, 9)
    labels = np.full(400, -1)
    labels[[30, 150]] = [4, 2]
    model = small_model(n_components=9, min_component_share=0.9, priming_rows=priming_rows).fit(rows, labels)
    removed = [event for event in model.lineage_ if event.event == "removed"]
    assert removed
    assert 4 in model.component_ids_
    assert 2 in model.component_ids_ or any(e.component == 2 and e.row <= 150 for e in removed)


def test_one_component_always_stays():
    rows, _ = topic_rows(200, 3, 9)
    model = small_model(n_components=20, min_component_share=0.999).fit(rows)
    assert model.component_ids_.size >= 1
    assert model._view.posterior.weight_concentration.sum() == pytest.approx(model.component_ids_.size + 200)


def test_common_features_keep_their_mean_in_the_stream():
    """A feature that half of all rows hold, whatever their topic, has one Beta that counts every row."""
    rows, _ = topic_rows(3000, 3, 30, on=0.8, off=0.02)
    rows = np.column_stack([rows, np.random.default_rng(5).random(3000) < 0.5])
    model = small_model(priming_rows=500).fit(rows)
    posterior = posterior_of(model)
    assert posterior.common_feature.tolist() == [30]
    assert posterior.common_alpha / (posterior.common_alpha + posterior.common_beta) == pytest.approx(
        rows[:, 30].mean(), abs=0.01
    )
    assert posterior.common_alpha + posterior.common_beta == pytest.approx(3000, rel=0.05)
    feature = {s.feature: s.probability for s in model.suggest([0], n=31)}
    assert feature[30] == pytest.approx(rows[:, 30].mean(), abs=0.01)


def test_a_stale_index_changes_little():
    rows, _ = topic_rows(600, 3, 12)
    scores = [
        small_model(staleness=staleness, cull_threshold=0.0).fit(rows).score(rows) for staleness in (0.0, 0.2)
    ]
    assert scores[0] == pytest.approx(scores[1], rel=0.01)


EXTREMES = {
    "a row of many features": sparse.csr_array(np.ones((1, 2_000))),
    "rows of many features": sparse.csr_array(np.ones((3, 2_000))),
    "long and short rows": sparse.csr_array(np.tri(60, 60)),
    "rows without features": np.zeros((50, 4)),
    "rows with all features": np.ones((50, 4)),
    "one feature": np.arange(50)[:, None] % 2,
    "one row": np.array([[1, 0, 1]]),
    "one row without features": np.zeros((1, 1)),
    "one cell": np.ones((1, 1)),
    "all rows alike": np.tile([1, 0, 1, 0], (50, 1)),
    "features that no row holds": sparse.csr_array(
        (np.ones(50), (np.arange(50), np.arange(50) % 2)), (50, 100_000)
    ),
    "half of the rows empty": np.repeat([[0, 0, 0], [1, 1, 1]], 30, axis=0),
}


@pytest.mark.parametrize(("n_components", "clutter"), [(1, True), (2, False), (70, True)])
@pytest.mark.parametrize("name", EXTREMES)
def test_extreme_rows_give_finite_answers(name, n_components, clutter):
    rows = EXTREMES[name]
    model = small_model(n_components=n_components, clutter=clutter, priming_rows=25).fit(rows)
    posterior = posterior_of(model)
    for part in (*entries_of(posterior)[1:], posterior.default_alpha, posterior.default_beta):
        assert np.all(np.isfinite(part))
        assert np.all(part > 0)
    share = model.predict_proba(rows)
    assert_allclose(share.sum(axis=1), 1.0, atol=1e-12)
    scores = model.score_samples(rows)
    assert np.all(np.isfinite(scores))
    assert np.all(scores <= 0)  # probabilities of discrete rows
    assert np.isfinite(model.log_evidence_)
    assert set(model.predict(rows)) <= set(model.component_ids_)
    drawn, _ = model.sample(2, random_state=0)
    assert drawn.shape == (2, rows.shape[1])
    model.suggest([0]), model.top_features(), model.credible_interval()


def test_rows_of_100000_features():
    rows = sparse.csr_array(np.ones((4, 100_000)))
    model = small_model(n_components=2, priming_rows=2).fit(rows)
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0, atol=1e-12)
    assert np.all(np.isfinite(model.score_samples(rows)))
