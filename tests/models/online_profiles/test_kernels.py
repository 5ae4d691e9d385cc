"""Every kernel equals its equation, compiled and plain; the sparse stream equals the dense one, row by row."""

from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import (
    MODES,
    as_mode,
    block_of,
    dense_state,
    exact_settings,
    random_posterior,
    row_block,
    settled,
    stream_of,
)
from scipy.special import logsumexp

from sparsemix.models.online_profiles import (
    culling_kernels,
    engine,
    equations,
    index_kernels,
    kernels,
    scoring_kernels,
    sharing,
    steps,
)
from sparsemix.models.online_profiles.scoring import Hands
from sparsemix.models.online_profiles.state import build_index, entries_of, with_room

shares = st.floats(0.0, 1.0)
modes = pytest.mark.parametrize("mode", MODES)


def learn_alone(mode, posterior, k, rows, responsibilities, n_features, explicit_from=0.0, cuts=()):
    """`learn_component` on a roomy copy, slot ranges between `cuts` one after the other; the settled result."""
    block = block_of(rows)
    roomy = with_room(settled(posterior), np.full(posterior.n_components, block.columns.size))
    slot_of = np.full(n_features, kernels.NOT_EXPLICIT, np.int32)
    slot_of[posterior.common_feature] = kernels.COMMON
    before, longest = slot_of.copy(), int(np.diff(block.indptr).max(initial=0))
    old = roomy._replace(**{name: getattr(roomy, name).copy() for name in steps.PER_COMPONENT})
    for slots in reversed(list(pairwise([0, *cuts, sharing.NO_END]))):
        as_mode(kernels.learn_component, mode)(
            k, block.indptr, block.columns, np.arange(block.n_rows), np.asarray(responsibilities, float),
            n_features - posterior.common_feature.size, explicit_from, *slots, old, roomy, slot_of,
            np.empty(longest, np.int64), np.empty((2, longest)),
        )  # fmt: skip
    assert_array_equal(slot_of, before)
    return settled(roomy)


@modes
@given(
    alpha=st.floats(1e-6, 1e9), beta=st.floats(1e-6, 1e9), x=st.sampled_from([0.0, 1.0]) | shares, r=shares
)
def test_project_beta(mode, alpha, beta, x, r):
    fast = as_mode(kernels.project_beta, mode)(alpha, beta, x, r)
    assert_allclose(fast, equations.project_beta_stably(alpha, beta, x, r), rtol=1e-12)


@modes
@given(
    seed=st.integers(0, 1000),
    scale=st.sampled_from([1e-6, 1.0, 1e3, 1e9]),
    r=st.floats(1e-9, 1 - 1e-9),
    size=st.integers(0, 9),
)
def test_project_absent(mode, seed, scale, r, size):
    rng = np.random.default_rng(seed)
    alpha, beta = rng.gamma(1.0, scale, (2, size)) + 1e-9
    expected = equations.project_beta_stably(alpha, beta + 2.0, np.zeros(size), r)
    as_mode(kernels.project_absent, mode)(r, 2.0, alpha, beta)
    assert_allclose(alpha, expected[0], rtol=1e-12)
    assert_allclose(beta, expected[1], rtol=1e-12)


@modes
@given(log_joint=st.lists(st.floats(-800, 800), min_size=1, max_size=11))
def test_normalise(mode, log_joint):
    share = np.array(log_joint)
    top = as_mode(scoring_kernels.highest, mode)(share)
    assert top == max(log_joint)
    log_total = as_mode(scoring_kernels.normalise, mode)(share, top)
    assert log_total == pytest.approx(logsumexp(log_joint), abs=1e-10)
    assert share.sum() == pytest.approx(1.0, abs=1e-12)
    assert_allclose(share, np.exp(np.array(log_joint) - logsumexp(log_joint)), rtol=1e-10, atol=1e-15)


@modes
def test_normalise_with_an_impossible_component(mode):
    share = np.array([-np.inf, 0.0])
    assert as_mode(scoring_kernels.normalise, mode)(share, 0.0) == 0.0
    assert_array_equal(share, [0.0, 1.0])


@modes
@given(
    seed=st.integers(0, 10_000),
    n_components=st.integers(1, 5),
    explicit=st.sampled_from([0.0, 0.2, 0.6, 1.0]),
    common=st.integers(0, 2),
)
def test_row_scores_equal_the_dense_ones(mode, seed, n_components, explicit, common):
    posterior = random_posterior(seed, n_components, 7, explicit=explicit, common=common)
    state, index = dense_state(posterior, 7), build_index(posterior, 7)
    rows = np.random.default_rng(seed).integers(2, size=(4, 7))
    block = block_of(rows)
    share, work, best, log_density = (
        np.full(shape, -1.0) for shape in ((4, n_components), n_components, 4, 4)
    )
    for part in ((0, 1), (1, 4)):
        given_rows = (block.indptr, block.columns, *part, index)
        as_mode(scoring_kernels.score_rows, mode)(*given_rows, share)
        as_mode(scoring_kernels.answer_rows, mode)(*given_rows, work, best, log_density)
    assert_array_equal(best, share.argmax(axis=1))
    for i, row in enumerate(rows.astype(float)):
        as_mode(scoring_kernels.row_log_joint, mode)(block.slice(i, i + 1).columns, index, work)
        assert_allclose(work, equations.log_joint(state, row), rtol=1e-10)
        assert_allclose(share[i], equations.responsibilities(state, row), atol=1e-12)
        assert log_density[i] == pytest.approx(equations.log_predictive(state, row), rel=1e-10)


@modes
def test_a_feature_that_is_not_indexed_has_the_default(mode):
    posterior = random_posterior(3, n_features=7)
    index, work = build_index(posterior, 7), np.empty(3)
    as_mode(scoring_kernels.row_log_joint, mode)(np.array([0, 9], np.int32), index, work)
    row = np.eye(7)[0]
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    assert_allclose(work, equations.log_joint(dense_state(posterior, 7), row) + np.log(default), rtol=1e-12)


@modes
def test_scores_of_a_long_profile_do_not_underflow(mode):
    posterior = random_posterior(0, 2, 2_000, explicit=1.0)
    posterior.alpha[:] = (
        50 * posterior.beta
    )  # the product of the shares of "off" is far below the smallest float
    index, work = build_index(posterior, 2_000), np.empty(2)
    as_mode(scoring_kernels.row_log_joint, mode)(np.empty(0, np.int32), index, work)
    assert_allclose(work, equations.log_joint(dense_state(posterior, 2_000), np.zeros(2_000)), rtol=1e-12)


@modes
@given(
    seed=st.integers(0, 10_000),
    responsibilities=st.lists(st.just(1.0) | st.floats(1e-6, 1.0), min_size=1, max_size=8),
)
def test_a_component_learns_as_its_dense_twin(mode, seed, responsibilities):
    posterior = random_posterior(seed)
    rows = np.random.default_rng(seed).integers(2, size=(len(responsibilities), 7))
    dense = dense_state(posterior, 7)
    alpha, beta = dense.alpha[1], dense.beta[1]
    for row, r in zip(rows, responsibilities, strict=True):
        alpha, beta = equations.project_beta_stably(alpha, beta, row.astype(float), r)
    learnt = learn_alone(mode, posterior, 1, rows, responsibilities, 7)
    after = dense_state(learnt, 7)
    assert_allclose(after.alpha[1], alpha, rtol=1e-10)
    assert_allclose(after.beta[1], beta, rtol=1e-10)
    assert learnt.weight_concentration[1] == pytest.approx(
        posterior.weight_concentration[1] + sum(responsibilities)
    )
    for untouched in (0, 2):
        assert_array_equal(after.alpha[untouched], dense.alpha[untouched])


@modes
@given(seed=st.integers(0, 1000), cuts=st.lists(st.integers(1, 8), max_size=3, unique=True).map(sorted))
def test_threads_may_share_the_slots_of_a_component(mode, seed, cuts):
    """Known and new features, certain and other rows, in any pieces and any order of them."""
    rng = np.random.default_rng(seed)
    posterior = random_posterior(seed, explicit=0.4)
    rows, shares_of_rows = rng.integers(2, size=(6, 7)), rng.choice([0.05, 0.6, 1.0], 6)
    whole = learn_alone(mode, posterior, 1, rows, shares_of_rows, 7, explicit_from=0.1)
    parts = learn_alone(mode, posterior, 1, rows, shares_of_rows, 7, explicit_from=0.1, cuts=cuts)
    for name in steps.PER_COMPONENT:
        assert_array_equal(getattr(parts, name), getattr(whole, name))
    for ours, theirs in zip(entries_of(parts), entries_of(whole), strict=True):
        assert_allclose(ours, theirs, rtol=1e-14)


@modes
def test_a_feature_becomes_explicit_from_a_responsibility_on(mode):
    posterior = random_posterior(0, explicit=0.0)
    learnt = learn_alone(mode, posterior, 0, np.eye(7, dtype=int)[:2], [0.05, 0.2], 7, explicit_from=0.1)
    assert learnt.feature[learnt.used()].tolist() == [1]
    # The first row has one of seven tied features: the default learns a share of 1/7. The second has none left.
    default = equations.project_beta_stably(
        posterior.default_alpha[0], posterior.default_beta[0], 1 / 7, 0.05
    )
    assert_allclose([learnt.alpha[0], learnt.beta[0]], equations.project_beta_stably(*default, 1.0, 0.2))
    default = equations.project_beta_stably(*default, 0.0, 0.2)
    assert_allclose([learnt.default_alpha[0], learnt.default_beta[0]], default)


@modes
def test_common_features_are_nobodys_own(mode):
    posterior = random_posterior(0, common=2)
    learnt = learn_alone(mode, posterior, 0, np.ones((1, 7), int), [0.7], 7)
    assert not np.isin(learnt.feature[learnt.used()], posterior.common_feature).any()
    assert learnt.size[0] == 5


@modes
def test_common_features_count_every_row(mode):
    posterior = random_posterior(0, common=2)
    block = row_block({5}, {0, 5, 6}, set())
    place = np.array([kernels.NOT_EXPLICIT] * 5 + [0, 1], np.int32)
    as_mode(kernels.learn_common, mode)(block.columns, block.n_rows, 1.0, place, posterior)
    alpha, beta = posterior.common_alpha.copy(), posterior.common_beta.copy()
    for _ in range(2):  # once they are added, nothing waits
        as_mode(index_kernels.settle, mode)(posterior)
        assert_allclose(posterior.common_alpha, np.add(alpha, [2, 1]))
        assert_allclose(posterior.common_beta, np.add(beta, [1, 2]))


@modes
def test_the_clutter_learns_the_share_of_its_tied_features(mode):
    posterior = random_posterior(0, explicit=0.0, common=2)
    slot_of = np.full(7, kernels.NOT_EXPLICIT, np.int32)
    slot_of[posterior.common_feature] = kernels.COMMON
    block = row_block({0, 1, 5}, {2})
    after = settled(posterior)
    as_mode(kernels.learn_clutter, mode)(
        2, block.indptr, block.columns, np.array([0, 1]), np.array([1.0, 0.25]), 5, after, slot_of
    )
    share = 1.0 * 2 / 5 + 0.25 * 1 / 5
    assert after.default_alpha[2] == pytest.approx(posterior.default_alpha[2] + share)
    assert after.default_beta[2] == pytest.approx(posterior.default_beta[2] + 1.25 - share)
    assert after.weight_concentration[2] == pytest.approx(posterior.weight_concentration[2] + 1.25)


def find(mode, posterior, block, labels, least, capacity=50, first=0):
    log_evidence = np.zeros(block.n_rows)
    found = np.empty(capacity, np.int64), np.empty(capacity, np.int32), np.empty(capacity)
    reached, count, _ = as_mode(scoring_kernels.find_learners, mode)(
        block.indptr, block.columns, np.asarray(labels), first, build_index(posterior, 7), least,
        np.empty(posterior.n_components), np.full(block.n_rows - first, -np.inf), log_evidence, *found,
        np.empty(0, np.int64),
    )  # fmt: skip
    return reached, [list(column[:count]) for column in found], log_evidence


@modes
@given(seed=st.integers(0, 1000), least=st.floats(0.0, 0.99))
def test_learners_share_each_row(mode, seed, least):
    posterior, rows = random_posterior(seed), np.random.default_rng(seed).integers(2, size=(5, 7))
    reached, (row, component, share), log_evidence = find(mode, posterior, block_of(rows), [-1] * 5, least)
    assert reached == 5
    assert_allclose(np.bincount(row, weights=share, minlength=5), 1.0, rtol=1e-12)
    state = dense_state(posterior, 7)
    for i, line in enumerate(rows.astype(float)):
        full = equations.responsibilities(state, line)
        kept = np.where(full >= min(least, full.max()), full, 0.0)
        mine = np.array(row) == i
        expected = (kept / kept.sum())[np.array(component)[mine]]
        assert_allclose(np.array(share)[mine], expected, rtol=1e-9)
        assert log_evidence[i] == pytest.approx(equations.log_predictive(state, line))


@modes
@given(seed=st.integers(0, 2**20), n_components=st.integers(1, 5), n_learners=st.integers(0, 40))
@settings(max_examples=20)
def test_rows_are_dealt_in_their_order(mode, seed, n_components, n_learners):
    rng = np.random.default_rng(seed)
    lengths = rng.integers(0, 4, 10)
    indptr = np.append(0, np.cumsum(lengths))
    rows = np.sort(rng.integers(0, 10, n_learners))
    components = rng.integers(0, n_components, n_learners).astype(np.int32)
    shares = rng.choice([0.25, 1.0], n_learners)
    counts = np.empty((2, n_components), np.int64)
    hands = Hands(
        np.empty(n_components + 1, np.int64), np.empty(n_learners, np.int64), np.empty(n_learners), *counts
    )
    as_mode(kernels.deal, mode)(indptr, rows, components, shares, hands)
    order = np.argsort(components, kind="stable")
    assert_array_equal(hands.rows, rows[order])
    assert_array_equal(hands.shares, shares[order])
    assert_array_equal(hands.bounds, np.searchsorted(components[order], np.arange(n_components + 1)))
    assert_array_equal(hands.n_held, np.bincount(components, lengths[rows], n_components))
    assert_array_equal(hands.n_unsure, np.bincount(components[shares < 1.0], minlength=n_components))


@modes
def test_a_known_row_has_one_learner(mode):
    posterior = random_posterior(0)
    _, (row, component, share), _ = find(mode, posterior, row_block({0}, {1}), [2, 0], 0.0)
    assert (row, component, share) == ([0, 1], [2, 0], [1.0, 1.0])


@modes
def test_full_lists_stop_before_a_row_that_may_not_fit(mode):
    posterior, block = random_posterior(0), row_block({0}, {1}, {2})
    reached, (row, *_), _ = find(mode, posterior, block, [-1] * 3, 0.0, capacity=7)
    assert (reached, row) == (2, [0] * 3 + [1] * 3)
    reached, (row, *_), _ = find(mode, posterior, block, [-1] * 3, 0.0, capacity=7, first=2)
    assert (reached, row) == (3, [2] * 3)


@given(
    seed=st.integers(0, 10_000),
    n_components=st.integers(1, 4),
    n_features=st.integers(1, 8),
    density=st.floats(0, 1),
)
@settings(max_examples=25)
def test_the_sparse_stream_equals_the_dense_one(seed, n_components, n_features, density):
    """The default Beta stands for every feature that is not explicit, so nothing may differ but rounding."""
    posterior = random_posterior(seed, n_components, n_features, explicit=0.4)
    stream, state = stream_of(posterior, n_features), dense_state(posterior, n_features)
    rows = np.random.default_rng(seed).random((15, n_features)) < density
    for row in rows:
        log_density = engine.learn(stream, block_of([row]), np.array([-1]), n_features, exact_settings())
        assert log_density[0] == pytest.approx(equations.log_predictive(state, row.astype(float)), abs=1e-10)
        state = equations.step(state, row.astype(float))
        for found, expected in zip(dense_state(stream.posterior, n_features), state, strict=True):
            assert_allclose(found, expected, rtol=1e-10)


@pytest.mark.parametrize("seed", range(5))
def test_features_that_appear_later_were_off_before(seed):
    """A stream that grows from 3 to 8 features equals a dense one that has had all of them from the start."""
    posterior = random_posterior(seed, n_features=3)
    stream = stream_of(posterior, 3)
    wide = dense_state(posterior, 8)
    for i, row in enumerate(np.random.default_rng(seed).integers(2, size=(20, 8)).astype(float)):
        known = 3 + i // 4
        row[known:] = 0.0
        engine.learn(stream, block_of([row[:known]]), np.array([-1]), known, exact_settings())
        narrow = equations.DenseState(wide.alpha[:, :known], wide.beta[:, :known], wide.weight_concentration)
        share = equations.responsibilities(narrow, row[:known])
        wide = equations.DenseState(*wide[:2], wide.weight_concentration + share)
        for k in range(3):
            wide.alpha[k], wide.beta[k] = equations.project_beta_stably(
                wide.alpha[k], wide.beta[k], row, float(share[k])
            )
        after = dense_state(stream.posterior, 8)
        for found, expected in zip(after, wide, strict=True):
            assert_allclose(found, expected, rtol=1e-10)


@modes
@given(alpha=st.floats(1e-6, 1e6), beta=st.floats(1e-6, 1e6), other=st.floats(1e-9, 1 - 1e-9))
def test_divergence(mode, alpha, beta, other):
    mean, off = alpha / (alpha + beta), beta / (alpha + beta)
    fast = as_mode(culling_kernels.divergence, mode)(mean, off, other)
    assert fast == pytest.approx(equations.bernoulli_divergence(mean, other), rel=1e-6, abs=1e-12)
