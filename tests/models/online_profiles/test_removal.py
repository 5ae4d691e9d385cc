"""A removed component is learnt by the others as its mean row; no evidence is lost."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import dense_state, random_posterior

from sparsemix.models.online_profiles import equations, removal
from sparsemix.models.online_profiles.removal import remove_components

PRIOR = 0.05


def dense_removal(state, k, mass):
    """All that is left after component `k` was learnt `mass` times by the others, for explicit features only."""
    others = np.arange(state.weight_concentration.size) != k
    row = state.alpha[k] / (state.alpha[k] + state.beta[k])
    left = equations.DenseState(*(part[others] for part in state))
    share = equations.responsibilities(left, row)
    share = np.where(share >= removal.NEGLIGIBLE_SHARE, share, 0.0)
    share /= share.sum()
    alpha, beta = left.alpha.copy(), left.beta.copy()
    for j in np.flatnonzero(share):
        for weight in [1.0] * int(mass) + [mass - int(mass)]:
            alpha[j], beta[j] = equations.project_beta_stably(
                alpha[j], beta[j], row, weight * float(share[j])
            )
    return equations.DenseState(alpha, beta, left.weight_concentration + share * mass)


@given(seed=st.integers(0, 10_000), n_components=st.integers(2, 4))
def test_removal_equals_its_dense_twin(seed, n_components):
    posterior = random_posterior(seed, n_components, explicit=1.0)
    k = seed % n_components
    mass = float(posterior.weight_concentration[k] - PRIOR)
    expected = dense_removal(dense_state(posterior, 7), k, mass)
    left = remove_components(posterior, np.arange(n_components) == k, PRIOR, 7)
    for found, wanted in zip(dense_state(left, 7), expected, strict=True):
        assert_allclose(found, wanted, rtol=1e-10)


@given(
    seed=st.integers(0, 10_000),
    explicit=st.sampled_from([0.0, 0.3, 0.8]),
    common=st.integers(0, 2),
    removed=st.sets(st.integers(0, 3), min_size=1, max_size=3),
    clutter=st.booleans(),
)
def test_every_row_is_kept(seed, explicit, common, removed, clutter):
    posterior = random_posterior(seed, 5, explicit=explicit, common=common)
    gone = np.isin(np.arange(5), list(removed))
    left = remove_components(posterior, gone, PRIOR, 7, 4 if clutter else -1)
    total = posterior.weight_concentration.sum() - PRIOR * gone.sum()
    assert left.weight_concentration.sum() == pytest.approx(total)
    for part in (left.alpha, left.beta, left.default_alpha, left.default_beta):
        assert np.all(np.isfinite(part))
        assert np.all(part > 0)
    assert_array_equal(left.common_alpha, posterior.common_alpha)


def two_components(mass):
    """A component with a long history, and a small one that knows two other features."""
    posterior = random_posterior(0, 2, 6, explicit=0.0)
    posterior.weight_concentration[:] = [100.0, mass + PRIOR]
    return posterior._replace(
        default_alpha=np.array([0.1, 0.1]),
        default_beta=np.array([100.0, 1.0 + mass]),
        start=np.array([0, 0]),
        size=np.array([0, 2]),
        capacity=np.array([0, 2]),
        feature=np.array([5, 2], np.int32),
        alpha=np.array([mass, mass]) + 0.1,
        beta=np.array([1.0, 1.0]),
    )


def test_what_the_small_component_knew_becomes_explicit_in_the_other():
    posterior = two_components(mass=20.0)
    left = remove_components(posterior, np.array([False, True]), PRIOR, 6)
    assert sorted(left.feature.tolist()) == [2, 5]
    before, row = 0.1 / 100.1, 20.1 / 21.1
    mean = left.alpha / (left.alpha + left.beta)
    # The mean moves as with 20 rows that hold the feature to 20.1/21.1, but for the spread that is learnt with it.
    assert_allclose(mean, (100.1 * before + 20 * row) / 120.1, rtol=0.2)
    assert left.default_alpha[0] / left.default_beta[0] < 0.1 / 100.0 + 0.01


def test_a_small_component_without_rows_leaves_nothing():
    posterior = two_components(mass=20.0)
    posterior.weight_concentration[1] = PRIOR
    left = remove_components(posterior, np.array([False, True]), PRIOR, 6)
    assert left.size.tolist() == [0]
    assert_array_equal(left.weight_concentration, [100.0])


def test_the_clutter_learns_the_mean_share_and_nothing_explicit():
    posterior = two_components(mass=20.0)
    left = remove_components(posterior, np.array([False, True]), PRIOR, 6, clutter=0)
    assert left.size.tolist() == [0]
    share = (2 * 20.1 / 21.1 + 4 * 0.1 / 21.1) / 6
    assert_allclose(left.default_alpha, 0.1 + 20 * share)
    assert_allclose(left.default_beta, 100.0 + 20 * (1 - share))


def test_the_tied_features_of_a_learner_learn_the_mean_of_the_rest():
    posterior = random_posterior(2, 2, 6, explicit=0.0)
    posterior.weight_concentration[1] = 1.0 + PRIOR
    row = posterior.default_alpha[1] / (posterior.default_alpha[1] + posterior.default_beta[1])
    expected = equations.project_beta_stably(posterior.default_alpha[0], posterior.default_beta[0], row, 1.0)
    left = remove_components(posterior, np.array([False, True]), PRIOR, 6)
    assert_allclose((left.default_alpha[0], left.default_beta[0]), expected)
