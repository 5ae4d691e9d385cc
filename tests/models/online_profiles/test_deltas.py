"""Learning in parallel: one child is the serial learner to the bit, differences add up, messages are sparse."""

import pickle
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import block_of, dense_state, exact_settings, random_posterior, stream_of, topic_rows

from sparsemix import OnlineBernoulliMixture
from sparsemix.foundation.errors import DataError
from sparsemix.metrics import adjusted_rand
from sparsemix.models.online_profiles import deltas, equations, steps
from sparsemix.models.online_profiles.merging import LEAST_SHARE
from sparsemix.models.online_profiles.state import entries_of
from sparsemix.persistence import state_hash


def primed(rows, labels=None, **changes):
    """A model that has learnt 40 rows, and the learner behind it."""
    usual = {"n_components": 4, "priming_rows": 40, "reservoir_rows": 10, "random_state": 0}
    model = OnlineBernoulliMixture(**usual | changes)
    model.partial_fit(rows[:40], None if labels is None else labels[:40]).prime()
    return model, model._learner


def learn_with(learner, rows, labels, n_children):
    """Let children learn all rows, each round in shares of one length; what a child leaves is for the next round."""
    steering = learner.settings
    left, n_joins = np.arange(rows.shape[0]), 0
    while left.size:
        start = learner.begin_round(n_children)
        share = -(-min(left.size, deltas.rows_until_join(start)) // n_children)
        shares = [left[i * share : (i + 1) * share] for i in range(n_children)]
        messages = [
            deltas.child(start, block_of(rows[own]), labels[own], rows.shape[1], steering) for own in shares
        ]
        learner.join(messages)
        undone = [own[message.n_rows :] for own, message in zip(shares, messages, strict=True)]
        left, n_joins = np.concatenate([*undone, left[n_children * share :]]), n_joins + 1
    return n_joins


@given(
    clutter=st.booleans(),
    staleness=st.sampled_from([0.0, 0.1, 1.0]),
    known=st.booleans(),
    n_components=st.sampled_from([4, "auto"]),
    seed=st.integers(0, 100),
)
@settings(max_examples=3)
def test_one_child_is_the_serial_learner_to_the_bit(clutter, staleness, known, n_components, seed):
    """Through culling, births, merges and removals, with common features and labels."""
    rows, topics = topic_rows(300, 6, 12, on=0.7, seed=seed)
    rows = rows[np.argsort(topics, kind="stable")]
    labels = np.where(np.arange(300) % 9 == 0, np.sort(topics) % 4, -1) if known else np.full(300, -1)
    options = {"clutter": clutter, "staleness": staleness, "n_components": n_components}
    model, learner = primed(rows, labels, **options)
    n_joins = learn_with(learner, rows[40:], labels[40:], 1)
    serial, _ = primed(rows, labels, **options)
    serial.partial_fit(rows[40:], labels[40:])
    assert state_hash(model.to_payload()) == state_hash(serial.to_payload())
    assert n_joins > 1


def children_of(seed, n_children, steering, *, common=1, explicit=0.5, scale=4.0):
    """A stream, shares of rows and the dense posteriors of children who learnt them, with the sum in the stream."""
    posterior = random_posterior(seed, common=common, explicit=explicit, scale=scale)
    stream = stream_of(posterior, 7)
    rng = np.random.default_rng(seed)
    shares = [rng.random((int(n), 9)) < 0.4 for n in rng.integers(0, 12, n_children)]
    start = deltas.start_of(stream, n_children, steering)
    messages = [
        deltas.child(start, block_of(rows), np.full(rows.shape[0], -1), 9, steering) for rows in shares
    ]
    before = dense_state(start.posterior, 9)
    children = []
    for rows in shares:
        twin = deltas.start_of(stream, 1, steering)
        twin.n_features = 9
        steps.learn_rows(twin, block_of(rows), np.full(rows.shape[0], -1), steering, np.empty(rows.shape[0]))
        children.append(dense_state(twin.posterior, 9))
    n_damped = deltas.join(stream, messages, steering)
    return stream, messages, before, children, n_damped


@given(
    seed=st.integers(0, 10_000), n_children=st.integers(1, 4), explicit_from=st.sampled_from([0.0, 0.3, 0.9])
)
@settings(max_examples=40)
def test_differences_add_up_as_in_the_equation(seed, n_children, explicit_from):
    """Whatever is explicit where: a default speaks for all features that have no Beta of their own."""
    steering = exact_settings(explicit_responsibility=explicit_from)
    stream, messages, before, children, _ = children_of(seed, n_children, steering)
    expected, _ = equations.joined(before, children, stream.prior, LEAST_SHARE)
    for ours, theirs in zip(dense_state(stream.posterior, 9), expected, strict=True):
        assert_allclose(ours, theirs, rtol=1e-12)
    assert stream.n_rows == sum(message.n_rows for message in messages)
    assert stream.n_features == 9


def test_pseudo_counts_that_children_lose_together_stay_above_their_floor():
    """Rows that may be of any component make each child less sure; four of them would take more than there is."""
    n_damped = 0
    for seed in range(40):
        steering = exact_settings(explicit_responsibility=1.0)
        stream, _, before, children, count = children_of(seed, 4, steering, common=0, explicit=1.0, scale=0.3)
        expected, expected_count = equations.joined(before, children, stream.prior, LEAST_SHARE)
        entries = entries_of(stream.posterior)
        assert entries.alpha.min() > 0
        assert entries.beta.min() > 0
        assert_allclose(dense_state(stream.posterior, 9).alpha, expected.alpha, rtol=1e-12)
        n_damped += count
        if not count:
            assert not expected_count
    assert n_damped


def test_a_message_holds_what_changed_and_pickles():
    """Ten rows of one topic touch its features only, however many the model has."""
    rows, topics = topic_rows(600, 4, 400, on=0.3, off=0.01)
    model, learner = primed(rows, priming_rows=500, min_responsibility=1e-3)
    model.partial_fit(rows[40:520])
    steering = learner.settings
    start = deltas.start_of(learner.stream, 1, steering)
    own = rows[520:][topics[520:] == 0][:10]
    message = deltas.child(start, block_of(own), np.full(own.shape[0], -1), 400, steering)
    assert 0 < message.feature.size < 0.5 * start.posterior.size.sum()
    assert set(message.feature) <= set(np.flatnonzero(own.any(axis=0)))
    copy = pickle.loads(pickle.dumps(message))
    assert all(np.array_equal(a, b) for a, b in zip(message, copy, strict=True))
    assert message.n_bytes == sum(np.asarray(part).nbytes for part in copy)
    assert all(isinstance(part, int | float | np.ndarray) for part in message)


def test_children_change_nothing_of_what_they_begin_with():
    rows, _ = topic_rows(200, 4, 12)
    model, learner = primed(rows)
    before = state_hash(model.to_payload())
    start = deltas.start_of(learner.stream, 2, learner.settings)
    kept = [column.copy() for column in start.posterior]
    for part in (rows[40:100], rows[100:]):
        deltas.child(start, block_of(part), np.full(part.shape[0], -1), 12, learner.settings)
    for column, copy in zip(start.posterior, kept, strict=True):
        assert_array_equal(column, copy)
    assert state_hash(model.to_payload()) == before


def test_a_child_stops_when_its_share_of_the_rows_that_may_wait_is_full():
    rows, _ = topic_rows(200, 4, 12, on=0.9, off=0.01)
    strange = 1 - rows[40:].astype(int)
    _, learner = primed(rows, reservoir_rows=8)
    start = deltas.start_of(learner.stream, 2, learner.settings)
    message = deltas.child(start, block_of(strange), np.full(160, -1), 12, learner.settings)
    assert message.waiting_indptr.size - 1 == 4
    assert message.n_rows < 160
    deltas.join(learner.stream, [message, message], learner.settings)
    assert learner.stream.waiting.rows.n_rows == 0  # eight were enough to be clustered
    assert learner.stream.n_rows == 40 + 2 * message.n_rows


def test_a_message_counts_in_its_own_round_only():
    rows, _ = topic_rows(200, 4, 12)
    model, learner = primed(rows)
    start = deltas.start_of(learner.stream, 1, learner.settings)
    message = deltas.child(start, block_of(rows[40:44]), np.full(4, -1), 12, learner.settings)
    deltas.join(learner.stream, [message], learner.settings)
    before = state_hash(model.to_payload())
    with pytest.raises(DataError, match="another round"):
        deltas.join(learner.stream, [message], learner.settings)
    assert state_hash(model.to_payload()) == before


@pytest.mark.parametrize("n_children", [2, 4])
def test_children_find_the_topics_that_one_finds(n_children):
    rows, topics = topic_rows(3_000, 6, 60, on=0.4, off=0.02)
    scores = []
    for n in (1, n_children):
        model, learner = primed(rows[:2_000], n_components=6, priming_rows=500)
        model.partial_fit(rows[40:500])
        learn_with(learner, rows[500:2_000], np.full(1_500, -1), n)
        assert model.weights_.sum() == pytest.approx(1.0)
        waiting = learner.stream.waiting.rows.n_rows
        mass = learner.stream.posterior.weight_concentration.sum()
        assert mass + waiting == pytest.approx(learner.stream.posterior.n_components + 2_000)
        scores.append((adjusted_rand(topics[2_000:], model.predict(rows[2_000:])), model.score(rows[2_000:])))
    assert scores[1][0] > scores[0][0] - 0.02
    assert scores[1][1] == pytest.approx(scores[0][1], rel=0.01)


def test_shares_of_any_batching_are_learnt_in_steps(monkeypatch):
    """How a child cuts its share into steps changes no bit."""
    rows, _ = topic_rows(300, 4, 12)
    hashes = []
    for step in (32_768, 7):
        monkeypatch.setattr(steps, "ROWS_PER_STEP", step)
        model, learner = primed(rows)
        for first, last in pairwise(range(40, 301, 130)):
            learn_with(learner, rows[first:last], np.full(last - first, -1), 2)
        hashes.append(state_hash(model.to_payload()))
    assert hashes[0] == hashes[1]
