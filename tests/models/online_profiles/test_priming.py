"""The buffer: diverse seeds, expectation maximisation against a dense twin, the prior's strength, a fit start."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import dense_state, settled, topic_rows
from scipy import sparse
from scipy.special import betaln, gammaln

from sparsemix.metrics import adjusted_rand
from sparsemix.models.online_profiles import equations, priming
from sparsemix.models.online_profiles.batch import Buffer, hard_statistics, posterior_from
from sparsemix.models.online_profiles.priming import solve
from sparsemix.probability.beta_bernoulli import BetaBernoulli, BetaPrior


def buffer_of(rows, n_components=3, *, clutter=False, labels=None, least=0.0, prior=(0.3, 0.9), gamma=1.0):
    matrix = sparse.csr_array(np.asarray(rows, float))
    family = BetaBernoulli(BetaPrior(*prior), matrix.shape[1], gamma)
    known = np.full(matrix.shape[0], -1) if labels is None else np.asarray(labels)
    return Buffer(matrix, known, family, n_components, clutter, least)


def test_diverse_rows_are_far_from_each_other():
    rows = sparse.csr_array(np.repeat(np.eye(4), 25, axis=0))
    for seed in range(5):
        chosen = priming.diverse_rows(rows, 4, np.random.default_rng(seed))
        assert sorted(chosen // 25) == [0, 1, 2, 3]


def test_diverse_rows_of_few_or_empty_rows():
    rng = np.random.default_rng(0)
    assert priming.diverse_rows(sparse.csr_array(np.eye(2)), 5, rng).size == 2
    assert priming.diverse_rows(sparse.csr_array(np.zeros((4, 3))), 2, rng).size == 2
    some = sparse.csr_array(np.vstack([np.zeros((50, 3)), np.eye(3)]))
    assert set(priming.diverse_rows(some, 3, rng)) <= {50, 51, 52}


@given(seed=st.integers(0, 1000), clutter=st.booleans())
def test_the_posterior_of_a_partition_is_prior_plus_counts(seed, clutter):
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, size=(20, 5))
    labels = rng.integers(-1 if clutter else 0, 3, 20)
    buffer = buffer_of(rows, clutter=clutter)
    posterior = posterior_from(buffer, hard_statistics(buffer, labels))
    state = dense_state(posterior, 5)
    counts = np.array([rows[labels == k].sum(axis=0) for k in range(3)])
    sizes = np.array([(labels == k).sum() for k in range(3)])
    assert_allclose(state.alpha[:3], 0.3 + counts)
    assert_allclose(state.beta[:3], 0.9 + sizes[:, None] - counts)
    assert_allclose(state.weight_concentration[:3], 1.0 + sizes)
    if clutter:
        strays = rows[labels < 0]
        assert_allclose(state.alpha[3], 0.3 + strays.sum() / 5)
        assert_allclose(state.beta[3], 0.9 + len(strays) - strays.sum() / 5)
        assert state.weight_concentration[3] == 1.0 + len(strays)


@pytest.mark.parametrize("clutter", [False, True])
@pytest.mark.parametrize("labels", [None, np.arange(40) % 4 - 1])
def test_sweeps_equal_dense_expectation_maximisation(clutter, labels, monkeypatch):
    rows = np.random.default_rng(0).integers(2, size=(40, 6))
    buffer = buffer_of(rows, clutter=clutter, labels=labels)
    first = np.arange(40) % 3
    found = settled(posterior_from(buffer, priming.sweeps(buffer, hard_statistics(buffer, first), 3)))
    state = dense_state(posterior_from(buffer, hard_statistics(buffer, first)), 6)
    for _ in range(3):
        share = np.array([equations.responsibilities(state, row) for row in rows.astype(float)])
        if labels is not None:
            share[labels >= 0] = np.eye(share.shape[1])[labels[labels >= 0]]
        counts, sizes = share.T @ rows, share.sum(axis=0)
        if clutter:
            counts[-1] = counts[-1].mean()
        state = equations.DenseState(0.3 + counts, 0.9 + sizes[:, None] - counts, 1.0 + sizes)
    for part, expected in zip(dense_state(found, 6), state, strict=True):
        assert_allclose(part, expected, rtol=1e-8)
    monkeypatch.setattr(priming, "ROWS_PER_BLOCK", 7)
    again = settled(posterior_from(buffer, priming.sweeps(buffer, hard_statistics(buffer, first), 3)))
    assert_allclose(dense_state(again, 6).alpha, state.alpha, rtol=1e-8)


def test_the_evidence_of_a_partition():
    """Weights and probabilities integrated out, all by Beta functions."""
    rng = np.random.default_rng(0)
    rows, labels = rng.integers(2, size=(30, 5)), rng.integers(3, size=30)
    buffer = buffer_of(rows, gamma=0.7)
    sizes = np.bincount(labels, minlength=3)
    expected = gammaln(2.1) - gammaln(2.1 + 30) + (gammaln(0.7 + sizes) - gammaln(0.7)).sum()
    for k in range(3):
        on = rows[labels == k].sum(axis=0)
        expected += (betaln(0.3 + on, 0.9 + sizes[k] - on) - betaln(0.3, 0.9)).sum()
    assert priming.partition_evidence(buffer, hard_statistics(buffer, labels)) == pytest.approx(expected)


def test_the_strength_of_the_prior_is_the_one_of_highest_evidence():
    rows, topics = topic_rows(300, 3, 30, on=0.6, off=0.02)
    buffer = buffer_of(rows, prior=(0.05, 0.2))
    partition = hard_statistics(buffer, topics)
    best = priming._with_best_strength(buffer, partition)
    assert best.family.prior.alpha / sum(best.family.prior) == pytest.approx(0.2)

    def evidence(strength):
        family = BetaBernoulli(BetaPrior.from_mean(0.2, strength), 30, 1.0)
        return family.log_evidence(partition.sizes, partition.counts).sum()

    chosen = sum(best.family.prior)
    for factor in (0.5, 2.0):
        assert evidence(chosen) > evidence(chosen * factor)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("fit_strength", [True, False])
def test_clear_topics_are_found(seed, fit_strength):
    rows, topics = topic_rows(600, 6, 60, on=0.6, off=0.02, seed=seed)
    buffer = buffer_of(rows, n_components=6, least=1e-3)
    solution = solve(buffer, np.random.default_rng(seed), fit_strength=fit_strength)
    state = dense_state(solution.posterior, 60)
    labels = [equations.responsibilities(state, row).argmax() for row in rows.astype(float)]
    assert adjusted_rand(topics, labels) > 0.95
    assert (solution.prior == buffer.family.prior) != fit_strength
    assert np.isfinite(solution.log_evidence)


def test_a_partition_that_comes_again_and_again_ends_the_starts(monkeypatch):
    monkeypatch.setattr(priming, "MOST_STARTS", 60)
    rows, _ = topic_rows(300, 2, 20, on=0.8, off=0.02)
    runs = priming._short_runs(buffer_of(rows, n_components=2), np.random.default_rng(0))
    assert priming.TIMES_FOUND <= len(runs) < 10
    noise = np.random.default_rng(0).integers(2, size=(80, 12))
    monkeypatch.setattr(priming, "MOST_STARTS", 7)
    assert len(priming._short_runs(buffer_of(noise, n_components=6), np.random.default_rng(0))) == 7


def test_of_the_starts_that_settle_the_one_of_highest_evidence_stays(monkeypatch):
    monkeypatch.setattr(priming, "MOST_STARTS", 8)
    monkeypatch.setattr(priming, "SHARE_SETTLED", 0.5)
    buffer = buffer_of(np.random.default_rng(0).integers(2, size=(80, 12)), n_components=6)
    short = sorted(run.evidence for run in priming._short_runs(buffer, np.random.default_rng(3)))
    assert short[0] < short[-1]
    settled = []
    monkeypatch.setattr(priming, "settled", lambda _, run, *__: settled.append(run) or run)
    best = priming._best_start(buffer, np.random.default_rng(3))
    assert [priming._rated(buffer, run).evidence for run in settled] == short[:3:-1]
    assert priming._rated(buffer, best).evidence == short[-1]


def test_known_rows_keep_their_component():
    """Their component is not merged away or split, however odd the labels are."""
    rows, topics = topic_rows(200, 2, 20, on=0.6, off=0.02)
    labels = np.where(np.arange(200) < 60, (topics + np.arange(200)) % 2, -1)  # half of them are wrong
    buffer = buffer_of(rows, n_components=3, labels=labels, least=1e-3)
    solution = solve(buffer, np.random.default_rng(0), fit_strength=True)
    known = np.bincount(labels[labels >= 0])
    assert np.all(solution.posterior.weight_concentration[:2] >= 1.0 + known)


def test_the_same_seed_gives_the_same_bits():
    rows, _ = topic_rows(200, 3, 20)
    first, second = (
        solve(buffer_of(rows), np.random.default_rng(5), fit_strength=True).posterior for _ in range(2)
    )
    for one, other in zip(first, second, strict=True):
        assert_array_equal(one, other)


@pytest.mark.parametrize("least", [0.0, 0.5, 0.99])
def test_every_row_of_the_buffer_is_learnt(least):
    rows, _ = topic_rows(150, 3, 10, on=0.5, off=0.3)
    solution = solve(buffer_of(rows, least=least), np.random.default_rng(0), fit_strength=False)
    assert solution.posterior.weight_concentration.sum() == pytest.approx(3 * 1.0 + 150)
