"""What is culled tells nothing: responsibilities stay, common features keep their mean, evidence is kept."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import dense_state, random_posterior
from scipy.special import rel_entr

from sparsemix.models.online_profiles import culling, equations
from sparsemix.models.online_profiles.culling import cull_features
from sparsemix.models.online_profiles.equations import bernoulli_divergence
from sparsemix.models.online_profiles.state import entries_of

cases = given(
    seed=st.integers(0, 10_000),
    n_components=st.integers(1, 4),
    explicit=st.sampled_from([0.0, 0.3, 1.0]),
    threshold=st.sampled_from([1e-4, 0.01, 0.1, 10.0]),
)


def means(state):
    return state.alpha / (state.alpha + state.beta)


def test_divergence():
    p, q = np.array([0.0, 0.2, 0.7, 1.0]), np.array([0.5, 0.2, 0.1, 0.9])
    assert_allclose(bernoulli_divergence(p, q), rel_entr(p, q) + rel_entr(1 - p, 1 - q))


def test_a_threshold_of_zero_drops_nothing():
    posterior = random_posterior(0)
    assert cull_features(posterior, 7, 0.0) is posterior


@cases
def test_the_evidence_of_each_component_is_kept(seed, n_components, explicit, threshold):
    """Folding replaces Betas by their average: the pseudo-counts over all features stay."""
    posterior = random_posterior(seed, n_components, explicit=explicit)
    culled = culling._reduced(posterior, np.zeros(7, bool), threshold)
    before, after = dense_state(posterior, 7), dense_state(culled, 7)
    assert_allclose(after.alpha.sum(axis=1), before.alpha.sum(axis=1))
    assert_allclose(after.beta.sum(axis=1), before.beta.sum(axis=1))
    assert_array_equal(after.weight_concentration, before.weight_concentration)


@cases
def test_a_feature_is_folded_when_the_default_predicts_it_as_well(seed, n_components, explicit, threshold):
    posterior = random_posterior(seed, n_components, explicit=explicit)
    default = (posterior.default_alpha / (posterior.default_alpha + posterior.default_beta))[
        posterior.owner()
    ]
    mean = posterior.alpha / (posterior.alpha + posterior.beta)
    stays = bernoulli_divergence(mean, default) >= threshold
    culled = culling._reduced(posterior, np.zeros(7, bool), threshold)
    assert entries_of(culled).feature.tolist() == posterior.feature[stays].tolist()
    assert_array_equal(culled.owner(), posterior.owner()[stays])


@cases
def test_responsibilities_change_by_no_more_than_the_profiles(seed, n_components, explicit, threshold):
    """Over all rows: KL of the responsibilities <= sum_k weight_k KL of the profiles (chain rule)."""
    posterior = random_posterior(seed, n_components, 5, explicit=explicit, scale=50.0)
    posterior.weight_concentration[:] *= 20
    before, after = dense_state(posterior, 5), dense_state(cull_features(posterior, 5, threshold), 5)
    weights = before.weight_concentration / before.weight_concentration.sum()
    bound = float(weights @ bernoulli_divergence(means(before), means(after)).sum(axis=1))
    change = 0.0
    for row in map(np.array, product([0.0, 1.0], repeat=5)):
        p, q = equations.responsibilities(before, row), equations.responsibilities(after, row)
        change += np.exp(equations.log_predictive(before, row)) * rel_entr(p, q).sum()
    assert change <= bound + 1e-12


def alike(n_rows=10_000.0, n_components=4):
    """Components that share feature 0 (half of the rows) and are told apart by features 1 to 4; 5 is rare."""
    mean = np.full((n_components, 6), 0.01)
    mean[:, 0] = 0.5
    mean[np.arange(n_components), 1 + np.arange(n_components)] = 0.6
    mean[:, 5] = 1e-4
    posterior = random_posterior(0, n_components, 6, explicit=1.0)
    share = np.arange(1.0, n_components + 1)
    rows = n_rows * share / share.sum()
    order = posterior.feature.reshape(n_components, 6)
    at = np.take_along_axis(mean, order.astype(int), axis=1)
    posterior.alpha[:] = (at * rows[:, None]).ravel()
    posterior.beta[:] = ((1 - at) * rows[:, None]).ravel()
    posterior.weight_concentration[:] = rows
    return posterior


def test_a_feature_alike_in_all_components_becomes_common_and_keeps_its_mean():
    culled = cull_features(alike(), 6, 1e-3)
    assert culled.common_feature.tolist() == [0]
    assert culled.common_alpha / (culled.common_alpha + culled.common_beta) == pytest.approx(0.5)
    assert culled.common_alpha + culled.common_beta == pytest.approx(10_000)
    assert set(range(1, 5)) <= set(entries_of(culled).feature.tolist())
    assert 0 not in entries_of(culled).feature


def test_a_feature_that_differs_is_not_common():
    posterior = alike()
    first = posterior.feature == 0
    posterior.alpha[first], posterior.beta[first] = posterior.alpha[first] * 0.5, posterior.beta[first] * 1.5
    posterior.alpha[np.flatnonzero(first)[0]] *= 3
    assert cull_features(posterior, 6, 1e-3).common_feature.size == 0


def test_a_feature_seen_a_few_times_is_not_common_yet():
    culled = cull_features(alike(n_rows=30.0), 6, 1e-3)
    assert culled.common_feature.size == 0


def test_common_features_add_up_over_two_cullings():
    once = cull_features(alike(), 6, 1e-3)
    twice = cull_features(once, 6, 1e-3)
    assert_array_equal(twice.common_feature, once.common_feature)
    assert_array_equal(twice.common_alpha, once.common_alpha)


def test_a_single_component_has_no_common_features():
    posterior = random_posterior(0, 1, explicit=1.0, scale=100.0)
    assert cull_features(posterior, 7, 1e-6).common_feature.size == 0


def test_nothing_is_explicit():
    posterior = random_posterior(0, 3, explicit=0.0)
    culled = cull_features(posterior, 7, 1e-3)
    assert culled.size.tolist() == [0, 0, 0]
    assert_array_equal(culled.default_alpha, posterior.default_alpha)


@pytest.mark.parametrize("clutter", [-1, 0])
def test_common_features_come_back_shared_out_by_weight(clutter):
    """The Betas of all components add up to the common one; nothing else changes."""
    posterior = random_posterior(1, common=3)
    restored = culling.with_restored(posterior, np.array([True, False, True]), 1e-9, clutter)
    before, after = dense_state(posterior, 7), dense_state(restored, 7)
    owners = [k for k in range(3) if k != clutter]
    assert restored.common_feature.tolist() == [5]
    shares = posterior.weight_concentration[owners] / posterior.weight_concentration[owners].sum()
    for name in ("alpha", "beta"):
        old, new = getattr(before, name), getattr(after, name)
        assert_allclose(new[owners][:, [4, 6]], shares[:, None] * old[0, [4, 6]])
        assert_array_equal(new[:, [0, 1, 2, 3, 5]], old[:, [0, 1, 2, 3, 5]])
