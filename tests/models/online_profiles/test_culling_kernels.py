"""The loops of culling and of the index do what their NumPy twins do, compiled and plain, for any parts of the work."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal
from profile_cases import MODES, as_mode, random_posterior, settled

from sparsemix.models.online_profiles import culling_kernels, equations, index_kernels
from sparsemix.models.online_profiles.culling import Fates
from sparsemix.models.online_profiles.state import entries_of

modes = pytest.mark.parametrize("mode", MODES)
cuts = st.integers(0, 3)


def halves(cut, n_components=3):
    """Two ranges of components."""
    return [(0, cut), (cut, n_components)]


def means_of(posterior):
    """Mean of each explicit feature and of its component's default, in the order of the components."""
    entries, owner = entries_of(posterior), posterior.owner()
    default = posterior.default_alpha / (posterior.default_alpha + posterior.default_beta)
    return entries.alpha / (entries.alpha + entries.beta), default[owner]


@modes
@given(seed=st.integers(0, 2**20), threshold=st.floats(1e-6, 1.0), cut=cuts)
@settings(max_examples=20)
def test_a_feature_is_predicted_where_its_divergence_from_the_default_is_small(mode, seed, threshold, cut):
    posterior = settled(random_posterior(seed))
    fate = np.full(posterior.feature.size, culling_kernels.COMMON, np.int8)
    for part in halves(cut):
        as_mode(culling_kernels.find_predicted, mode)(posterior, threshold, fate, *part)
    gap = equations.bernoulli_divergence(*means_of(posterior))
    clear = np.abs(gap - threshold) > 1e-12
    expected = np.where(gap < threshold, culling_kernels.FOLDED, culling_kernels.KEPT)
    assert_array_equal(fate[posterior.used()][clear], expected[clear])


@modes
@given(seed=st.integers(0, 2**20))
@settings(max_examples=20)
def test_information_is_the_weighted_divergence_from_the_overall_mean(mode, seed):
    posterior, rng = settled(random_posterior(seed)), np.random.default_rng(seed)
    weights, overall, asked = rng.dirichlet(np.ones(3)), rng.uniform(0.1, 0.9, 7), rng.random(7) < 0.7
    information = np.zeros(7)
    as_mode(culling_kernels.add_information, mode)(posterior, weights, overall, asked, information)
    feature, mean = entries_of(posterior).feature, means_of(posterior)[0]
    gaps = weights[posterior.owner()] * equations.bernoulli_divergence(mean, overall[feature])
    expected = np.where(asked, np.bincount(feature, weights=gaps, minlength=7), 0.0)
    assert_allclose(information, expected, rtol=1e-9, atol=1e-12)


@modes
@given(seed=st.integers(0, 2**20), cut=cuts)
@settings(max_examples=20)
def test_fates_are_counted_and_what_is_folded_is_summed(mode, seed, cut):
    posterior, rng = settled(random_posterior(seed)), np.random.default_rng(seed)
    moved = rng.random(7) < 0.3
    fate = rng.choice([culling_kernels.KEPT, culling_kernels.FOLDED], posterior.feature.size).astype(np.int8)
    before = fate.copy()
    fates = Fates(fate, *np.full((2, 3), -1), *np.full((2, 3), np.nan))
    for part in halves(cut):
        as_mode(culling_kernels.find_fates, mode)(posterior, moved, *part, fates)
    used, owner, entries = posterior.used(), posterior.owner(), entries_of(posterior)
    expected = np.where(moved[entries.feature], culling_kernels.COMMON, before[used])
    assert_array_equal(fate[used], expected)
    assert_array_equal(fates.n_kept, np.bincount(owner[expected == culling_kernels.KEPT], minlength=3))
    folded = expected == culling_kernels.FOLDED
    assert_array_equal(fates.n_folded, np.bincount(owner[folded], minlength=3))
    for found, own in ((fates.alpha, entries.alpha), (fates.beta, entries.beta)):
        assert_allclose(found, np.bincount(owner[folded], weights=own[folded], minlength=3), rtol=1e-12)


@modes
@given(seed=st.integers(0, 2**20), n_parts=st.integers(1, 4), least_dense=st.integers(2, 6))
@settings(max_examples=20)
def test_each_feature_has_its_place_in_the_index_part_after_part(mode, seed, n_parts, least_dense):
    rng = np.random.default_rng(seed)
    counts, common = rng.integers(0, 3, (n_parts, 7)), rng.choice(7, 2, replace=False).astype(np.int32)
    counts[:, common] = 0
    ends, indptr, dense = counts.copy(), np.full(8, -1), np.full(7, -1, np.int32)
    n_dense = as_mode(index_kernels.lay_out, mode)(common, float(least_dense), ends, indptr, dense)
    total = counts.sum(axis=0)
    is_dense = total >= least_dense
    assert_array_equal(dense[:n_dense], np.flatnonzero(is_dense))
    places = np.where(is_dense | np.isin(np.arange(7), common), 1, total)
    assert_array_equal(indptr, np.append(0, np.cumsum(places)))
    before = np.cumsum(counts, axis=0) - counts
    own = ~np.isin(np.arange(7), common)
    expected = np.where(is_dense, -np.cumsum(is_dense), indptr[:-1] + before)
    assert_array_equal(ends[:, own], expected[:, own])
