"""Where components overlap, rows stay at hand and are shared out anew while the stream is young."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import dense_state, random_posterior, topic_rows

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.foundation.errors import ModelFileError
from sparsemix.metrics import normalized_mutual_information
from sparsemix.models.online_profiles import engine, kernels, renewal
from sparsemix.models.online_profiles.index_kernels import settle
from sparsemix.models.online_profiles.state import copied, reordered
from sparsemix.persistence import state_hash

FIRST = 100


def overlapping(n_rows=500, seed=0):
    """Rows of three topics, few of which are surely of one."""
    rows, topics = topic_rows(n_rows, 3, 12, on=0.5, off=0.25, seed=seed)
    return rows.astype(int), topics


def model_of(**changes):
    usual = {"n_components": 3, "priming_rows": FIRST, "random_state": 0}
    return OnlineBernoulliMixture(**usual | changes)


def n_at_hand(model):
    return sum(block.n_rows for block in model._learner.held_back)


@pytest.mark.parametrize(("n_rows", "expected"), [(99, 99), (100, 100), (799, 799), (800, 0), (850, 0)])
def test_rows_stay_at_hand_until_they_are_eight_times_the_first(n_rows, expected):
    assert n_at_hand(model_of().partial_fit(overlapping(900)[0][:n_rows])) == expected


def test_rows_do_not_stay_where_components_do_not_overlap():
    rows, _ = topic_rows(300, 3, 30, on=0.95, off=0.01)
    assert n_at_hand(model_of().partial_fit(rows.astype(int))) == 0


@pytest.mark.parametrize(
    "let_go",
    [
        lambda model: model.prime(),
        lambda model: model._learner.begin_round(2),
        lambda model: model.learn_again([(overlapping()[0][:150], None)]),
    ],
)
def test_who_lets_rows_go(let_go):
    model = model_of().partial_fit(overlapping()[0][:150])
    assert n_at_hand(model) == 150
    let_go(model)
    assert n_at_hand(model) == 0


def test_a_stream_that_forgets_keeps_no_rows():
    assert n_at_hand(model_of(half_life_rows=1_000.0).partial_fit(overlapping()[0][:150])) == 0


def without_looks(monkeypatch):
    monkeypatch.setattr(renewal, "is_young", lambda *_: False)


def test_the_clusters_are_better(monkeypatch):
    """Beside the same stream that shares each row once, on the median of tables."""
    rows, topics = zip(*(overlapping(2_000, seed) for seed in range(5)), strict=True)

    def quality():
        models = [model_of(n_components=3).fit(table) for table in rows]
        nmi = [normalized_mutual_information(t, m.labels_) for t, m in zip(topics, models, strict=True)]
        density = [m.score(table) for m, table in zip(models, rows, strict=True)]
        return np.median(nmi), np.median(density)

    nmi, density = quality()
    without_looks(monkeypatch)
    nmi_before, density_before = quality()
    assert nmi > 1.02 * nmi_before
    assert density > density_before


@pytest.mark.parametrize("n_rows", [150, 200, 260, 400, 500])
@pytest.mark.parametrize("clutter", [False, True])
def test_the_evidence_is_that_of_all_rows(n_rows, clutter):
    rows = overlapping()[0][:n_rows]
    model = model_of(clutter=clutter).fit(rows)
    evidence = model._learner.stream.posterior.weight_concentration - model.weight_concentration
    assert evidence.sum() == pytest.approx(n_rows)


def test_features_are_counted_as_often_as_rows_hold_them():
    rows = overlapping()[0][:400]
    model = model_of(cull_threshold=0.0, min_component_share=0.0).partial_fit(rows)
    stream = model._learner.stream
    state = dense_state(stream.posterior, 12)
    assert_allclose(state.alpha.sum(axis=0) - 3 * stream.prior.alpha, rows.sum(axis=0))
    assert_allclose(state.beta.sum(axis=0) - 3 * stream.prior.beta, (1 - rows).sum(axis=0))


def test_more_detail_stays_where_components_overlap():
    """Also after the rows at hand have been let go."""
    model = model_of(cull_threshold=0.05, staleness=1.0).partial_fit(overlapping(900)[0])
    stream, steering = model._learner.stream, model._learner.settings
    assert stream.overlaps
    sizes = []
    for is_so in (True, False):
        twin = replace(stream, posterior=copied(stream.posterior), overlaps=is_so, next_index=0, next_cull=0)
        engine.keep_house(twin, steering)
        sizes.append(twin.posterior.size.sum())
    assert sizes[0] > sizes[1]


def test_clear_components_do_not_overlap():
    rows, _ = topic_rows(300, 3, 30, on=0.95, off=0.01)
    assert not model_of().fit(rows.astype(int))._learner.stream.overlaps


@given(cuts=st.lists(st.integers(0, 500), max_size=5), n_jobs=st.sampled_from([1, 2]))
@settings(max_examples=4, deadline=None)
def test_any_batching_and_any_threads_give_the_same_bits(cuts, n_jobs):
    rows, _ = overlapping()
    whole, parts = model_of().fit(rows), model_of(n_jobs=n_jobs)
    for batch in np.split(rows, sorted(cuts)):
        parts.partial_fit(batch)
    parts.set_params(n_jobs=None).prime()
    assert state_hash(parts.to_payload()) == state_hash(whole.to_payload())


@pytest.mark.parametrize("n_rows", [100, 150, 200, 399])
def test_a_stream_that_is_saved_with_rows_at_hand_goes_on_to_the_same_bits(tmp_path, n_rows):
    rows, _ = overlapping()
    labels = np.where(np.arange(500) % 7 == 0, np.arange(500) % 3, -1)
    model = model_of(clutter=True).partial_fit(rows[:n_rows], labels[:n_rows])
    assert n_at_hand(model) == n_rows
    save_model(model, tmp_path / "young.smx")
    again = load_model(tmp_path / "young.smx")
    for one in (model, again):
        one.partial_fit(rows[n_rows:], labels[n_rows:])
    assert state_hash(again.to_payload()) == state_hash(model.to_payload())


@pytest.mark.parametrize(("name", "value"), [("priming_rows", 15), ("priming_rows", 18)])
def test_more_rows_at_hand_than_may_be(name, value):
    payload = model_of().partial_fit(overlapping()[0][:150]).to_payload()
    payload.metadata["settings"][name] = value
    with pytest.raises(ModelFileError, match="more rows than it may"):
        OnlineBernoulliMixture.from_payload(payload)


def test_rows_at_hand_of_another_stream():
    payload = model_of().partial_fit(overlapping()[0][:150]).to_payload()
    payload.metadata["n_rows"] += 1
    with pytest.raises(ModelFileError, match="not those of its stream"):
        OnlineBernoulliMixture.from_payload(payload)


def test_known_rows_stay_with_their_component():
    rows, topics = overlapping()
    labels = np.where(np.arange(500) % 3 == 0, topics, -1)
    model = model_of().fit(rows, labels)
    unknown = labels < 0
    assert np.mean(model.labels_[unknown] == topics[unknown]) > 0.6


def test_the_clutter_comes_after_components_that_were_born():
    model = model_of(clutter=True, reservoir_rows=0).partial_fit(overlapping()[0][:150])
    learner = model._learner
    stream = learner.stream
    settle(stream.posterior)
    order = np.array([3, 0, 2, 1])
    before = model.predict_proba(overlapping()[0])
    stream.posterior, stream.component_ids = reordered(stream.posterior, order), stream.component_ids[order]
    renewal._put_clutter_last(stream)
    assert_array_equal(stream.component_ids, [0, 2, 1, kernels.CLUTTER_ID])
    learner._view = None
    assert_allclose(model.predict_proba(overlapping()[0]), before[:, [0, 2, 1, 3]])


@pytest.mark.parametrize("seed", range(3))
def test_components_in_another_order(seed):
    posterior, order = random_posterior(seed, common=1), np.array([2, 0, 1])
    before, after = dense_state(posterior, 7), dense_state(reordered(posterior, order), 7)
    for one, other in zip(before, after, strict=True):
        assert_array_equal(one[order], other)


def test_the_end_of_the_first_rows_is_a_last_look():
    assert not renewal.is_due_at_the_end(124, 100)
    assert renewal.is_due_at_the_end(125, 100)
    assert not renewal.is_due_at_the_end(249, 100)
    assert renewal.is_due_at_the_end(250, 100)


def interrupted(*_, **__):
    raise KeyboardInterrupt


@pytest.mark.parametrize(
    ("where", "name", "learnt", "left", "at_hand"),
    [
        (engine, "prime", 60, 60, 60),
        (renewal, "renew", 150, 200, 0),
        (renewal, "renew", 350, 400, 0),
        (engine, "learn", 150, 150, 0),
    ],
)
def test_a_look_that_is_broken_off_leaves_a_model_that_goes_on(
    monkeypatch, tmp_path, where, name, learnt, left, at_hand
):
    rows, _ = overlapping()
    model = model_of().partial_fit(rows[:learnt])
    with monkeypatch.context() as patch:
        patch.setattr(where, name, interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(rows[learnt : max(left, learnt + 40)])
    assert (model.n_rows_seen_, n_at_hand(model)) == (left, at_hand)
    save_model(model, tmp_path / "model.smx")
    twin = load_model(tmp_path / "model.smx").partial_fit(rows[left:]).prime()
    assert state_hash(twin.to_payload()) == state_hash(model.partial_fit(rows[left:]).prime().to_payload())
    assert twin._view.sizes().sum() == pytest.approx(500)


@pytest.mark.parametrize("step", ["repair", "learn_common", "index_anew", "learn_surely"])
def test_rows_that_wait_are_not_lost_where_their_settling_is_broken_off(monkeypatch, step):
    rows, topics = topic_rows(400, 6, 200, on=0.25, off=0.02)
    late = rows[np.argsort(topics, kind="stable")].astype(int)
    model = model_of(n_components=4, reservoir_rows=60).partial_fit(late)
    waiting, before = model._learner.stream.waiting.rows.n_rows, state_hash(model.to_payload())
    assert waiting
    with monkeypatch.context() as patch:
        patch.setattr(engine, step, interrupted)
        with pytest.raises(KeyboardInterrupt):
            engine.settle_waiting(model._learner.stream, model._learner.settings)
    assert model._learner.stream.waiting.rows.n_rows == waiting
    assert state_hash(model.to_payload()) == before


def test_no_rows_at_hand_are_not_those_of_a_stream():
    payload = model_of().partial_fit(overlapping()[0][:150]).to_payload()
    none = {
        name: payload.arrays[name][:n]
        for name, n in (("held_indptr", 1), ("held_columns", 0), ("held_labels", 0))
    }
    with pytest.raises(ModelFileError, match="not those of its stream"):
        OnlineBernoulliMixture.from_payload(replace(payload, arrays=payload.arrays | none))


@pytest.mark.parametrize("n_rows", [FIRST - 1, FIRST])
def test_whether_first_rows_overlap_is_known_however_the_priming_ended(n_rows):
    model = model_of().partial_fit(overlapping()[0][:n_rows]).prime()
    assert model._learner.stream.overlaps


def test_a_model_that_was_broken_off_with_a_full_reservoir_is_read_again(monkeypatch, tmp_path):
    rows, topics = topic_rows(400, 6, 200, on=0.25, off=0.02)
    late = rows[np.argsort(topics, kind="stable")].astype(int)
    model = model_of(n_components=4, reservoir_rows=15).partial_fit(late[:150])
    with monkeypatch.context() as patch:
        patch.setattr(engine, "repair", interrupted)
        with pytest.raises(KeyboardInterrupt):
            model.partial_fit(late[150:])
    assert model._learner.stream.waiting.is_full
    save_model(model, tmp_path / "model.smx")
    twin, rest = load_model(tmp_path / "model.smx"), late[model.n_rows_seen_ :]
    assert state_hash(twin.partial_fit(rest).to_payload()) == state_hash(model.partial_fit(rest).to_payload())


@pytest.mark.parametrize("name", ["held_back", "held_labels"])
@pytest.mark.parametrize(("learnt", "at_hand"), [(60, 60), (150, 0)])
def test_rows_that_are_broken_off_on_their_way_have_not_come(tmp_path, name, learnt, at_hand):
    class Broken(list):
        def append(self, value):
            super().append(value)
            raise KeyboardInterrupt

    rows, _ = overlapping()
    model = model_of().partial_fit(rows[:learnt])
    setattr(model._learner, name, Broken(getattr(model._learner, name)))
    with pytest.raises(KeyboardInterrupt):
        model.partial_fit(rows[learnt : learnt + 10])
    assert (model.n_rows_seen_, n_at_hand(model)) == (learnt, at_hand)
    setattr(model._learner, name, list(getattr(model._learner, name)))
    save_model(model, tmp_path / "model.smx")
    assert load_model(tmp_path / "model.smx").partial_fit(rows[learnt:]).prime().n_rows_seen_ == 500
