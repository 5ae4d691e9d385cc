"""Streams: any batching gives the same bits, what is answered, and what is refused."""

from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from stream_cases import threads

from sparsemix import (
    DataError,
    Dataset,
    ParameterError,
    StreamingTimeSensitiveMixture,
    TimeKernel,
    UnknownFeaturesWarning,
    load_model,
    save_model,
)
from sparsemix.metrics import adjusted_rand
from sparsemix.persistence import state_hash

FAMILIES = ("multinomial", "bernoulli")
WAYS = ({}, {"assignment": "soft"}, {"window": 10}, {"window": 1}, {"window": 300})


def new_model(**changes):
    few = {"concentration": 0.3, "decay_rate": 0.5, "negligible": 1e-6, "random_state": 0}
    return StreamingTimeSensitiveMixture(**few | changes)


def stream(n_rows=150, family="multinomial"):
    rows, times = threads(n_rows, np.random.default_rng(2))
    return (np.minimum(rows, 1) if family == "bernoulli" else rows), times


@pytest.fixture(scope="module")
def fitted():
    rows, times = stream()
    return new_model().fit(rows, times=times)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("way", WAYS)
def test_any_batching_gives_the_same_bits_also_by_way_of_files(family, way, tmp_path):
    rows, times = stream(family=family)
    settings = {"family": family, "prior_mean": 0.3, "negligible": 0.2, "decay_rate": 1.0} | way
    whole = new_model(**settings).partial_fit(rows, times=times)
    parts, ended, labels = new_model(**settings), [], []
    for first, last in ((0, 1), (1, 2), (2, 40), (40, 40), (40, 97), (97, 150)):
        parts.partial_fit(rows[first:last], times=times[first:last])
        ended += parts.lineage_
        labels += parts.labels_.tolist()
        assert parts.labels_.shape == (last - first,)
        save_model(parts, tmp_path / "part.smx")
        parts = load_model(tmp_path / "part.smx")
    assert state_hash(parts.to_payload()) == state_hash(whole.to_payload())
    assert ended == whole.lineage_
    assert len(ended) > 1 or way.get("window") == 300
    assert_array_equal(parts.predict_proba(rows), whole.predict_proba(rows))
    assert_array_equal(parts.recent_labels_, whole.recent_labels_)
    n_recent = whole.recent_labels_.size
    assert_array_equal(whole.labels_[150 - n_recent :], whole.recent_labels_)
    if "window" not in way:
        assert_array_equal(labels, whole.labels_)
        assert n_recent == 0


def test_the_seed_matters_for_the_window_alone():
    rows, times = stream()
    found = [new_model(window=20, random_state=seed).fit(rows, times=times).labels_ for seed in (0, 0, 1)]
    assert_array_equal(found[0], found[1])
    assert np.any(found[0] != found[2])
    one, other = (new_model(random_state=seed).fit(rows, times=times).labels_ for seed in (0, 1))
    assert_array_equal(one, other)


def test_fit_sorts_by_time_and_labels_rows_as_they_were_given(fitted):
    rows, times = stream()
    order = np.random.default_rng(0).permutation(150)
    order = order[np.argsort(times[order], kind="stable")]  # ties keep their order, so they are not shuffled
    tied = new_model().fit(rows[order][::-1][::-1], times=times[order])
    assert tied.labels_.shape == (150,)
    turned = new_model().fit(rows[:60:-1], times=np.arange(89)[::-1])
    straight = new_model().fit(rows[61:], times=np.arange(89))
    assert_array_equal(turned.labels_, straight.labels_[::-1])
    again = clone(fitted).fit(rows, times=times).fit(rows, times=times)
    assert state_hash(again.to_payload()) == state_hash(fitted.to_payload())


@pytest.mark.parametrize("family", FAMILIES)
def test_stories_are_found_and_end(family):
    rng = np.random.default_rng(0)
    story = np.repeat(np.arange(6), 50)
    times = 300.0 * story + np.sort(rng.uniform(0, 100, (6, 50)), axis=1).ravel()
    rows = rng.poisson(np.where(np.arange(9) % 3 == story[:, None] % 3, 2.0, 0.05))
    rows = np.minimum(rows, 1) if family == "bernoulli" else rows
    model = new_model(family=family, half_life=5.0, prior_mean=0.3, decay_rate=None).fit(rows, times=times)
    assert adjusted_rand(story, model.labels_) > 0.95
    ids = [ending.component for ending in model.lineage_]
    assert sorted([*ids, *model.component_ids_]) == list(range(model.labels_.max() + 1))
    for ending in model.lineage_:
        own = model.labels_ == ending.component
        assert ending[1:] == (times[own].min(), times[own].max(), own.sum(), "expired")


def test_a_window_repairs_early_mistakes():
    """One row alone cannot tell two topics apart from one; those that follow can."""
    rows = np.tile(np.vstack([np.eye(2, dtype=int) * 2 + 1, np.eye(2, dtype=int) * 9]), (10, 1))
    topic = np.tile([0, 1], 20)
    settings = {"concentration": 0.05, "smoothing": 1.0, "time_kernel": "step", "decay_rate": None}
    greedy = new_model(**settings).fit(rows)
    repaired = new_model(window=40, **settings).fit(rows)
    strong = rows.max(axis=1) > 3
    assert adjusted_rand(topic[strong], repaired.labels_[strong]) >= adjusted_rand(
        topic[strong], greedy.labels_[strong]
    )
    assert adjusted_rand(topic[strong], repaired.labels_[strong]) > 0.9


def test_memory_is_for_live_clusters_only():
    rows, _ = stream(150)
    model, sizes = new_model(negligible=0.5, decay_rate=2.0), []
    for part in range(40):
        model.partial_fit(rows, times=np.arange(150.0 * part, 150.0 * part + 150))
        state = model._stream
        sizes.append((state.clusters.ids.size, state.cells.slot.size, state.recent.slots.size))
    assert model.component_ids_.min() > 100
    assert sizes[-1] == sizes[0]
    assert model.n_rows_seen_ == 6000


def test_more_live_clusters_and_cells_than_there_was_room_for():
    rows = np.eye(300, dtype=int)[np.arange(900) % 300] * 5
    model = new_model(time_kernel="step", decay_rate=None, smoothing=0.001).fit(rows)
    assert_array_equal(model.labels_, np.arange(900) % 300)
    soft = new_model(time_kernel="step", decay_rate=None, smoothing=0.001, assignment="soft").fit(rows)
    assert_array_equal(soft.labels_, np.arange(900) % 300)


def test_very_many_clusters_end_at_once():
    rows = np.eye(3000, dtype=int)[np.arange(3000)] * 5
    model = new_model(smoothing=0.001).partial_fit(sparse.csr_array(rows), times=np.zeros(3000))
    model.partial_fit(rows[:1], times=[1e6])
    assert [ending.component for ending in model.lineage_] == list(range(3000))
    assert model.component_ids_.tolist() == [3000]


def test_rows_that_come_too_late():
    rows, times = stream()
    model = new_model().partial_fit(rows[:50], times=times[:50])
    before = state_hash(model.to_payload())
    for late in (times[50:60] - 40.0, times[60:50:-1]):
        with pytest.raises(DataError, match="must not go back, but row"):
            model.partial_fit(rows[50:60], times=late)
    assert state_hash(model.to_payload()) == before
    model.set_params(late="clamp").partial_fit(rows[50:52], times=[times[49] + 1.0, 0.0])
    twin = new_model().partial_fit(rows[:52], times=[*times[:50], times[49] + 1.0, times[49] + 1.0])
    assert_array_equal(model.predict_proba(rows), twin.predict_proba(rows))


def test_questions_change_nothing_and_have_these_answers(fitted):
    rows, _ = stream()
    before = state_hash(fitted.to_payload())
    latest = fitted._stream.latest
    share, new = fitted.predict_proba(rows), fitted.new_cluster_probability(rows)
    assert_allclose(share.sum(axis=1), 1.0)
    assert_array_equal(fitted.predict(rows), fitted.component_ids_[share.argmax(axis=1)])
    assert_array_equal(share, fitted.predict_proba(rows, times=np.full(150, latest)))
    assert_array_equal(share, fitted.predict_proba(rows, times=np.zeros(150)))
    assert fitted.new_cluster_probability(rows, times=np.full(150, latest + 20.0)).sum() > new.sum()
    assert_allclose(fitted.score(rows), fitted.score_samples(rows).mean())
    # All rows of two words that can be, as sequences: their probabilities add up to one.
    pairs = np.eye(12, dtype=int)[:, None] + np.eye(12, dtype=int)
    assert_allclose(np.exp(fitted.score_samples(pairs.reshape(144, 12))).sum(), 1.0)
    top = fitted.top_features(2)
    assert [each.component for each in top] == fitted.component_ids_.tolist()
    assert_allclose([each.weight for each in top], fitted.weights_)
    suggestions = fitted.suggest([0], n=3)
    assert {k for each in suggestions for k, _ in each.components} <= set(fitted.component_ids_.tolist())
    assert np.all(fitted.histories_ > 0.0)
    assert state_hash(fitted.to_payload()) == before


def test_the_next_row_is_learnt_as_it_was_predicted():
    rows, times = stream()
    model = new_model().partial_fit(rows[:100], times=times[:100])
    for row in range(100, 150):
        new, old = model.new_cluster_probability(rows[[row]], times=times[[row]]), model.component_ids_.max()
        best = model.predict_proba(rows[[row]], times=times[[row]]).max() * (1.0 - new)
        expected = model.predict(rows[[row]], times=times[[row]])[0]
        label = model.partial_fit(rows[[row]], times=times[[row]]).labels_[0]
        assert label == expected if best > new else label > old


def test_new_names_become_features():
    one = pd.DataFrame({"cat": [3, 0, 2], "dog": [0, 3, 0]})
    two = pd.DataFrame({"eel": [4, 0], "cat": [0, 2]})
    model = new_model(concentration=0.1).partial_fit(one, times=[0, 1, 2]).partial_fit(two, times=[3, 4])
    assert model.feature_names_in_.tolist() == ["cat", "dog", "eel"]
    assert model.n_features_in_ == 3
    assert model.labels_.tolist() == [2, 0]
    with pytest.warns(UnknownFeaturesWarning):
        model.predict(pd.DataFrame({"cat": [0], "owl": [1]}))
    assert model.unknown_rows(pd.DataFrame({"cat": [0], "owl": [1]})).tolist() == [True]
    with pytest.raises(DataError, match="expecting 3 features"):
        model.partial_fit([[1, 0]], times=[9])


def test_times_in_the_forms_that_people_have():
    rows = [[2, 0], [0, 2], [2, 0]]
    texts = ["2024-01-01", "2024-01-01T12:00:00Z", "2024-01-03"]
    seconds = pd.to_datetime(texts, utc=True, format="ISO8601").astype("datetime64[s, UTC]").astype(int)
    one = new_model(decay_rate=None, half_life="3d").fit(rows, times=texts)
    other = new_model(decay_rate=None, half_life=timedelta(days=3)).fit(
        Dataset(sparse.csr_array(np.array(rows)), row_ids=np.arange(3), times=np.asarray(seconds, float))
    )
    assert_array_equal(one.labels_, other.labels_)
    assert one._stream.latest == other._stream.latest == seconds[2]
    one.set_params(half_life=timedelta(days=3))
    assert one.to_payload().parameters["half_life"] == 259200.0


def test_kernels_that_can_stream(tmp_path):
    rows, times = stream()
    for kernel in (TimeKernel.exponential(0.5), TimeKernel.step()):
        model = new_model(time_kernel=kernel, decay_rate=None).fit(rows, times=times)
        save_model(model, tmp_path / "kernel.smx")
        again = load_model(tmp_path / "kernel.smx")
        assert again.time_kernel == kernel.kind
        assert_array_equal(
            again.partial_fit(rows[:9], times=times[-1] + np.arange(9)).labels_,
            model.partial_fit(rows[:9], times=times[-1] + np.arange(9)).labels_,
        )
    timeless = new_model(time_kernel="step", decay_rate=None).partial_fit(rows).partial_fit(rows)
    assert timeless.lineage_ == []


@pytest.mark.parametrize(("changes", "message"), [
    ({"concentration": 0}, "'concentration'"), ({"concentration": "1"}, "'concentration'"),
    ({"time_kernel": "gaussian"}, "'time_kernel'"), ({"half_life": "3d"}, "given both"),
    ({"time_kernel": TimeKernel.window(3.0), "decay_rate": None}, "exponential or step for a stream"),
    ({"time_kernel": TimeKernel.power_law(3.0), "decay_rate": None}, "exponential or step for a stream"),
    ({"time_kernel": "step"}, "'decay_rate'"), ({"decay_rate": -1.0}, "'decay_rate'"),
    ({"family": "poisson"}, "'family'"), ({"smoothing": np.nan}, "'smoothing'"), ({"prior_mean": 1.0}, "'prior_mean'"),
    ({"prior_mean": "empirical"}, "'prior_mean'"), ({"prior_strength": 0.0}, "'prior_strength'"),
    ({"family": "bernoulli", "prior_strength": 1e-50}, "'prior_strength'"),
    ({"assignment": "hard"}, "'assignment'"), ({"window": -1}, "'window'"), ({"window": 1.5}, "'window'"),
    ({"window": True}, "'window'"), ({"window": 10**6}, "'window'"),
    ({"window": 5, "assignment": "soft"}, "'window'"), ({"late": "buffer"}, "'late'"), ({"late": None}, "'late'"),
    ({"negligible": 0.0}, "'negligible'"), ({"negligible": 1.1}, "'negligible'"), ({"binarize": -1.0}, "'binarize'"),
    ({"random_state": "one"}, "'random_state'"),
])  # fmt: skip
def test_parameters_that_cannot_be(changes, message):
    rows, times = stream(5)
    model = new_model(**changes)
    for learn in (model.fit, model.partial_fit):
        with pytest.raises(ParameterError, match=message):
            learn(rows, times=times)
    assert not model.__sklearn_is_fitted__()


@pytest.mark.parametrize(("rows", "times"), [
    ([[1, 0]], None), ([[1, 0]], [1, 2]), ([[1, 0]], [np.nan]), ([[1, 0]], [np.inf]), ([[1, 0]], "now"),
    ([[1, 0]], ["soon"]), ([[1, 0]], [[1]]), ([[-1, 0]], [1]), ([[0.5, 0]], [1]), ([[np.nan, 0]], [1]),
    ([[2**31, 0]], [1]), (np.empty((0, 2)), []), (np.empty((1, 0)), [1]), ([["a", "b"]], [1]), (None, [1]),
])  # fmt: skip
def test_data_that_cannot_be(rows, times):
    model = new_model()
    for learn in (model.fit, model.partial_fit):
        with pytest.raises((DataError, ParameterError)):
            learn(rows, times=times)
    assert not model.__sklearn_is_fitted__()
    with pytest.raises(NotFittedError):
        model.predict([[1, 0]])
    assert not hasattr(model, "weights_")


def test_a_whole_number_of_any_size_is_a_concentration():
    rows, times = stream(5)
    huge = new_model(concentration=10**20).fit(rows, times=times)
    assert_array_equal(huge.labels_, new_model(concentration=1e20).fit(rows, times=times).labels_)


def test_extreme_numbers_stay_finite():
    rows = np.array([[0, 0], [2**30, 0], [0, 2**30], [1, 1], [0, 0]])
    for family, changes in (
        ("multinomial", {"smoothing": 1e-50}),
        ("multinomial", {"smoothing": 1e50}),
        ("bernoulli", {"prior_mean": 1e-40}),
        ("multinomial", {"decay_rate": 1e50}),
        ("multinomial", {"concentration": 1e-50}),
        ("multinomial", {"concentration": 1e50}),
    ):
        for way in WAYS:
            given = np.minimum(rows, 1) if family == "bernoulli" else rows
            model = new_model(family=family, **changes | way).fit(given, times=[-1e12, 0.0, 0.0, 1.0, 1e15])
            share = model.predict_proba(given)
            assert np.all(np.isfinite(share))
            assert np.all(np.isfinite(model.score_samples(given)))
            assert np.all(np.isfinite(model.histories_))
