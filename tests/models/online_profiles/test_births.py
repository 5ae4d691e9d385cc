"""Topics that come late: rows that fit nowhere wait, become components, and others make room; nothing is lost."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import block_of, dense_state, random_posterior, row_block, settled

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.metrics import adjusted_rand
from sparsemix.models.online_profiles.background import background_of
from sparsemix.models.online_profiles.merging import Prior, effective_counts, merged, with_births
from sparsemix.models.online_profiles.reservoir import Reservoir
from sparsemix.persistence import state_hash
from sparsemix.probability.beta_bernoulli import BetaPrior
from sparsemix.probability.cluster_counts import cluster_counts
from sparsemix.probability.partition_moves import Merge, gaining

PRIOR = Prior(BetaPrior(0.01, 0.04), 0.05)


def sorted_topics(n_rows=1_200, n_topics=6, n_features=60, *, on=0.5, off=0.03, seed=0):
    """Rows of topics, one topic after the other."""
    rng = np.random.default_rng(seed)
    topics = np.sort(rng.integers(n_topics, size=n_rows))
    own = np.arange(n_features) % n_topics == topics[:, None]
    return (rng.random((n_rows, n_features)) < np.where(own, on, off)).astype(int), topics


def late_model(**changes):
    usual = {"n_components": 6, "priming_rows": 300, "reservoir_rows": 40, "random_state": 0}
    return OnlineBernoulliMixture(**usual | changes)


def counts_of(model, n_features):
    """Evidence of a model in its natural parameters: summed "on", "off" and weights, without the priors."""
    stream = model._learner.stream
    state, n = dense_state(stream.posterior, n_features), stream.posterior.n_components
    on = state.alpha.sum(axis=0) - n * stream.prior.alpha
    off = state.beta.sum(axis=0) - n * stream.prior.beta
    return on, off, state.weight_concentration.sum() - n * model.weight_concentration


@pytest.mark.parametrize("n_components", [6, "auto"])
def test_topics_that_come_late_are_found_in_one_pass(n_components):
    rows, topics = sorted_topics()
    model = late_model(n_components=n_components).fit(rows)
    assert adjusted_rand(topics, model.labels_) > 0.9
    paper = late_model(reservoir_rows=0).fit(rows)
    assert adjusted_rand(topics, paper.labels_) < 0.8


def test_without_late_topics_nothing_is_born():
    rows, topics = sorted_topics()
    order = np.random.default_rng(1).permutation(topics.size)
    model = late_model(priming_rows=600).fit(rows[order])
    assert {event.event for event in model.lineage_ if event.row > 600} <= {"removed"}
    assert adjusted_rand(topics[order], model.labels_) > 0.97


@pytest.mark.parametrize("clutter", [False, True])
def test_moves_conserve_the_evidence(clutter):
    """Where every row is learnt whole, "on", "off" and weights are counts of rows, whatever was born or merged."""
    rows, _ = sorted_topics()
    exact = {"cull_threshold": 0.0, "min_component_share": 0.0, "min_responsibility": 0.99}
    model = late_model(clutter=clutter, **exact).fit(rows)
    assert any(event.event == "born" and event.row > 300 for event in model.lineage_)
    assert clutter or any(event.event == "merged" for event in model.lineage_)
    on, off, total = counts_of(model, 60)
    assert total == pytest.approx(len(rows))
    if not clutter:
        assert_allclose(on + off, len(rows), rtol=0.02)
        assert_allclose(on, rows.sum(axis=0), rtol=0.05)


def test_rows_that_wait_count_in_answers():
    rows, _ = sorted_topics()
    model = late_model(reservoir_rows=10_000).partial_fit(rows[:300]).prime().partial_fit(rows[300:])
    waiting = model._learner.stream.waiting
    assert 50 < waiting.rows.n_rows < 1_000
    before = state_hash(model.to_payload())
    assert model._view.posterior.weight_concentration.sum() == pytest.approx(
        model.component_ids_.size + len(rows)
    )
    assert state_hash(model.to_payload()) == before
    model.prime()
    assert model._learner.stream.waiting.rows.n_rows == 0
    assert model.component_ids_.max() >= 6


@given(cuts=st.lists(st.integers(0, 1_200), max_size=5), auto=st.booleans())
@settings(max_examples=3)
def test_any_batching_gives_the_same_bits(cuts, auto):
    rows, _ = sorted_topics()
    changes = {"n_components": "auto"} if auto else {}
    whole = late_model(**changes).fit(rows)
    parts = late_model(**changes)
    for batch in np.split(rows, sorted(cuts)):
        parts.partial_fit(batch)
    assert state_hash(parts.prime().to_payload()) == state_hash(whole.to_payload())


def test_a_file_with_rows_that_wait_goes_on_to_the_same_bits(tmp_path):
    rows, _ = sorted_topics()
    model = late_model().partial_fit(rows[:777])
    assert model._learner.stream.waiting.rows.n_rows > 0
    save_model(model, tmp_path / "model.smx")
    twin = load_model(tmp_path / "model.smx")
    assert_array_equal(twin.predict_proba(rows), model.predict_proba(rows))
    for one in (model, twin):
        one.partial_fit(rows[777:]).prime()
    assert state_hash(twin.to_payload()) == state_hash(model.to_payload())
    assert twin.lineage_ == model.lineage_


def test_ids_are_never_used_twice():
    rows, _ = sorted_topics()
    model = late_model().fit(rows)
    born = [event.component for event in model.lineage_ if event.event == "born"]
    gone = [event.component for event in model.lineage_ if event.event != "born"]
    assert len(set(born)) == len(born)
    assert sorted(set(born) - set(gone)) == sorted(model.component_ids_)


def test_components_that_labels_have_named_stay():
    rows, topics = sorted_topics(n_topics=8)
    labels = np.where(np.arange(len(rows)) % 10 == 0, np.minimum(topics, 5), -1)
    model = late_model().fit(rows, labels)
    assert set(range(6)) <= set(model.component_ids_)


@given(seed=st.integers(0, 1_000), common=st.integers(0, 2))
def test_a_merge_adds_pseudo_counts(seed, common):
    posterior = settled(random_posterior(seed, common=common))
    before = dense_state(posterior, 7)
    after = dense_state(merged(posterior, 2, 0, PRIOR), 7)
    own = slice(0, 7 - common)
    for name, base in (("alpha", 0.01), ("beta", 0.04)):
        old, new = getattr(before, name), getattr(after, name)
        assert_allclose(
            new[1, own], np.maximum(old[2] + old[0] - base, 0.1 * np.minimum(old[2], old[0]))[own]
        )
        assert_array_equal(new[0], old[1])
    weights = before.weight_concentration
    assert_allclose(after.weight_concentration, [weights[1], weights[2] + weights[0] - 0.05])


def test_a_birth_is_prior_plus_counts():
    posterior, rows = settled(random_posterior(0)), np.random.default_rng(0).integers(2, size=(9, 7))
    counts = cluster_counts(block_of(rows).to_csr(7), np.zeros(9, int), 1)
    born = with_births(posterior, np.array([9.0]), counts, PRIOR)
    state = dense_state(born, 7)
    assert_allclose(state.alpha[3], 0.01 + rows.sum(axis=0))
    assert_allclose(state.beta[3], 0.04 + 9 - rows.sum(axis=0))
    assert_array_equal(state.alpha[:3], dense_state(posterior, 7).alpha)
    sizes, effective = effective_counts(born, PRIOR, 7)
    assert sizes[3] == pytest.approx(9)
    assert_allclose(effective.toarray()[3], rows.sum(axis=0))


@given(seed=st.integers(0, 1_000), common=st.integers(0, 2))
def test_the_rival_of_a_row_is_half_the_mean_of_all_and_half_the_prior(seed, common):
    posterior = settled(random_posterior(seed, common=common))
    state, rows = dense_state(posterior, 7), np.random.default_rng(seed).integers(2, size=(5, 7))
    weights = state.weight_concentration / state.weight_concentration.sum()
    means = state.alpha / (state.alpha + state.beta)
    profile = (weights @ means + 0.2) / 2
    profile[7 - common :] = means[0, 7 - common :]
    expected = rows @ np.log(profile) + (1 - rows) @ np.log1p(-profile)
    assert_allclose(background_of(posterior, 7, PRIOR.beta).rival(block_of(rows)), expected, atol=1e-5)


def test_the_rival_of_a_feature_that_came_later():
    posterior = settled(random_posterior(0))
    early = background_of(posterior, 7, PRIOR.beta)
    one, other = early.rival(row_block([1], [1, 8]))
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    weights = posterior.weight_concentration / posterior.weight_concentration.sum()
    assert other - one == pytest.approx(np.log((weights @ default + 0.2) / 2))


def test_a_reservoir_keeps_rows_in_order():
    rows = np.random.default_rng(0).integers(2, size=(9, 7))
    reservoir = Reservoir(5)
    reservoir.add(block_of(rows), np.array([1, 4]))
    reservoir.add(block_of(rows[:3]), np.array([2]))
    assert reservoir.room == 2
    assert_array_equal(reservoir.take().to_csr(7).toarray(), rows[[1, 4, 2]])
    assert reservoir.room == 5


def test_merges_that_gain_share_no_cluster():
    assert gaining([Merge(1.0, 0, 2), Merge(0.5, 2, 3), Merge(-0.1, 4, 5)]) == [Merge(1.0, 0, 2)]


def test_the_number_of_components_is_found():
    rows, topics = sorted_topics(n_topics=9, n_features=90)
    order = np.random.default_rng(1).permutation(topics.size)
    model = late_model(n_components="auto", priming_rows=600).fit(rows[order])
    assert 9 <= model.component_ids_.size <= 10
    assert adjusted_rand(topics[order], model.labels_) > 0.9
