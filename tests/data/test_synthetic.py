import numpy as np
import pytest
from scipy.sparse import csr_array

from sparsemix.data.synthetic import make_ads, make_bernoulli_mixture
from sparsemix.foundation.errors import ParameterError


def test_bernoulli_mixture_is_the_same_dense_and_sparse():
    dense, dense_assignments = make_bernoulli_mixture(50, 20, 3, random_state=7)
    sparse, sparse_assignments = make_bernoulli_mixture(50, 20, 3, sparse=True, random_state=7)
    assert isinstance(sparse, csr_array)
    np.testing.assert_array_equal(dense, sparse.toarray().astype(bool))
    np.testing.assert_array_equal(dense_assignments, sparse_assignments)


def test_bernoulli_mixture_has_the_published_size_by_default():
    rows, assignments = make_bernoulli_mixture(random_state=0)
    assert rows.shape == (10_000, 100)
    assert set(assignments) <= set(range(10))


def test_bernoulli_mixture_profiles_are_uniform():
    rows, assignments = make_bernoulli_mixture(60_000, 400, 2, random_state=1)
    means = np.concatenate([rows[assignments == k].mean(axis=0) for k in range(2)])
    quantiles = np.quantile(means, [0.1, 0.5, 0.9])
    # the 10 % point of 800 uniform draws has a standard deviation of 0.011
    np.testing.assert_allclose(quantiles, [0.1, 0.5, 0.9], atol=0.08)


def test_ads_repeat_with_the_seed_and_accept_a_generator():
    one, assignments = make_ads(300, 400, 4, random_state=3)
    again, assignments_again = make_ads(300, 400, 4, random_state=np.random.default_rng(3))
    other, _ = make_ads(300, 400, 4, random_state=4)
    assert (one != again).nnz == 0
    assert (one != other).nnz > 0
    np.testing.assert_array_equal(assignments, assignments_again)


def test_ads_are_canonical_binary_rows():
    ads, _ = make_ads(120_000, 400, 4, characteristic=10, keywords_per_ad=4, random_state=0)
    checked = csr_array((ads.data, ads.indices, ads.indptr), shape=ads.shape)
    assert checked.has_canonical_format
    assert ads.indices.dtype == ads.indptr.dtype == np.int32
    assert ads.data.dtype == np.float32
    assert (ads.data == 1).all()


def test_ads_hold_the_wanted_number_of_keywords_in_every_cluster():
    ads, assignments = make_ads(20_000, 2_000, 5, random_state=0)
    sizes = np.diff(ads.indptr)
    for k in range(-1, 5):
        # the size of an ad varies with a standard deviation of about 4.5
        assert abs(sizes[assignments == k].mean() - 27) < 5 * 4.5 / np.sqrt((assignments == k).sum())


def test_clutter_follows_popularity_and_clusters_do_not():
    ads, assignments = make_ads(40_000, 1_000, 2, clutter_share=0.5, random_state=0)
    means = {k: np.asarray(ads[assignments == k].sum(axis=0)) / (assignments == k).sum() for k in (-1, 0, 1)}
    popular = np.argsort(-means[-1])
    assert abs((assignments == -1).mean() - 0.5) < 0.02
    # probability of rank j is 1 - exp(-rate c / j), so that -log(1 - mean) falls as 1 / rank
    hazard = -np.log1p(-means[-1][popular[[0, 9, 99]]])
    np.testing.assert_allclose(hazard[0] / hazard[1:], [10, 100], rtol=0.2)
    for k in (0, 1):
        raised = means[k] > means[-1] + 0.04
        assert 45 <= raised.sum() <= 60
        assert means[k].max() < 0.95


def test_no_clutter_and_only_characteristic_keywords():
    ads, assignments = make_ads(
        500, 200, 3, characteristic=10, low=0.9, high=0.9, keywords_per_ad=9, clutter_share=0
    )
    assert (assignments >= 0).all()
    for k in np.unique(assignments):
        assert len(np.unique(ads[assignments == k].indices)) <= 10


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"n_ads": 0}, "'n_ads' of make_ads must be an integer >= 1, but it is 0"),
        ({"n_clusters": 2.0}, "'n_clusters' of make_ads must be an integer >= 1, but it is 2.0"),
        ({"characteristic": 600}, "at most n_keywords=500"),
        ({"low": 0.6}, "a range inside"),
        ({"clutter_share": 1.5}, "clutter_share"),
        ({"keywords_per_ad": 3}, "between 16.5 .* and 250"),
    ],
)
def test_bad_parameters_are_named(changes, wrong):
    with pytest.raises(ParameterError, match=wrong):
        make_ads(**{"n_ads": 10, "n_keywords": 500, "n_clusters": 2, **changes})


def test_bad_sizes_of_the_bernoulli_mixture_are_named():
    with pytest.raises(ParameterError, match="'n_features' of make_bernoulli_mixture"):
        make_bernoulli_mixture(n_features=0)
