"""Faults of other systems that are not covered elsewhere in this folder, each by its symptom."""

import tracemalloc

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import dense_state, topic_rows
from scipy import sparse
from scipy.special import log_softmax

from sparsemix import OnlineBernoulliMixture, load_model, save_model
from sparsemix.models.online_profiles import equations
from sparsemix.persistence import state_hash


def new_model(**changes):
    return OnlineBernoulliMixture(**{"n_components": 3, "priming_rows": 100, "random_state": 0} | changes)


@pytest.mark.parametrize("length", [1, 77, 1_000, 100_000])
def test_long_rows_do_not_all_go_to_the_last_cluster(length):
    """Posteriors of rows of 1 to 10^5 features sum to one and match the sums of logs."""
    n_features = max(2 * length, 200)
    rng = np.random.default_rng(0)
    short = [np.sort(rng.choice(n_features // 2, 20, replace=False)) + k * (n_features // 2) for k in (0, 1)]
    columns = np.concatenate([short[i % 2] for i in range(60)])
    rows = sparse.csr_array((np.ones(1200), columns, np.arange(0, 1201, 20)), shape=(60, n_features))
    model = new_model(n_components=2).fit(rows)
    long = np.zeros((2, n_features), bool)
    long[0, :length] = long[1, -length:] = True
    share = model.predict_proba(sparse.csr_array(long))
    assert_allclose(share.sum(axis=1), 1.0, atol=1e-12)
    state = dense_state(model._view.posterior, n_features)
    expected = [np.exp(log_softmax(equations.log_joint(state, row.astype(float)))) for row in long]
    assert_allclose(share, expected, atol=1e-6)


def test_a_feature_seen_in_one_class_only_gives_no_nan():
    rows = np.repeat([[1, 0, 0], [0, 1, 0]], 20, axis=0)
    model = new_model(n_components=2, prior_strength=1e-9).fit(rows, np.repeat([0, 1], 20))
    impossible = np.array([[1, 1, 0], [0, 0, 1]])
    assert np.all(np.isfinite(model.score_samples(impossible)))
    assert_allclose(model.predict_proba(impossible).sum(axis=1), 1.0, atol=1e-12)


def test_a_class_with_one_row_or_none_keeps_its_prior():
    rows, _ = topic_rows(60, 2, 6)
    labels = np.zeros(60, int)
    labels[7] = 1
    model = new_model(min_component_share=0.0, cull_threshold=0.0, prior_strength=2.0, prior_mean=0.5)
    posterior = model.fit(rows, labels)._view.posterior
    assert_allclose(posterior.weight_concentration, [60, 2, 1])
    assert_allclose(dense_state(posterior, 6).alpha[1], 1.0 + rows[7])
    assert_allclose(dense_state(posterior, 6).alpha[2], 1.0)


def test_a_row_without_features_has_the_posterior_of_its_absences():
    rows, _ = topic_rows(300, 3, 9)
    model = new_model().fit(rows)
    state = dense_state(model._view.posterior, 9)
    expected = equations.responsibilities(state, np.zeros(9))
    assert_allclose(model.predict_proba(np.zeros((1, 9)))[0], expected, atol=1e-12)
    assert model.score_samples(sparse.csr_array((1, 9)))[0] == pytest.approx(
        equations.log_predictive(state, np.zeros(9))
    )


def test_labels_are_those_of_the_final_state():
    rows, _ = topic_rows(900, 3, 12, on=0.6)
    model = new_model(n_components=20, min_component_share=0.4)
    assert_array_equal(model.fit_predict(rows), model.predict(rows))
    assert set(model.labels_) <= set(model.component_ids_)
    assert any(event.event == "removed" for event in model.lineage_)


def test_a_stream_that_is_saved_while_rows_are_held_back_primes_as_if_it_were_not(tmp_path):
    """The seed is part of the state."""
    rows, _ = topic_rows(200, 3, 9)
    model = new_model(random_state=None).partial_fit(rows[:60])
    save_model(model, tmp_path / "model.smx")
    twin = load_model(tmp_path / "model.smx")
    assert state_hash(twin.partial_fit(rows[60:]).to_payload()) == state_hash(
        model.partial_fit(rows[60:]).to_payload()
    )


def test_large_sparse_tables_are_not_made_dense():
    """10,000 x 250,000: dense truth values would take 2.5 GB, dense profiles of 50 components 100 MB."""
    rng = np.random.default_rng(0)
    topics = rng.integers(50, size=10_000)
    columns = topics[:, None] * 5_000 + 15 * np.arange(20) + rng.integers(15, size=(10_000, 20))
    rows = sparse.csr_array(
        (np.ones(200_000, np.float32), columns.ravel().astype(np.int32), np.arange(0, 200_001, 20)),
        shape=(10_000, 250_000),
    )
    model = new_model(n_components=50, priming_rows=2_000)
    tracemalloc.start()
    model.fit(rows)
    model.predict_proba(rows[:1_000])
    model.suggest([int(columns[0, 0])])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 80e6
