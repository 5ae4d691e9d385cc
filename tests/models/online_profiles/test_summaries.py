"""What people look at: features in the order asked for, with their Betas' intervals."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from profile_cases import dense_state, random_posterior, topic_rows, view_of
from scipy import stats

from sparsemix import OnlineBernoulliMixture
from sparsemix.answers.summaries import ORDERS
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import ParameterError
from sparsemix.models.online_profiles import summaries
from sparsemix.models.online_profiles.state import Entries, packed

# ADS, Table 3: keyword -> (alpha, beta) in one cluster.
TABLE_3 = {
    "pest control": (44, 343),
    "nissan altima": (84, 1039),
    "nissan maxima": (75, 1080),
    "nissan quest": (76, 1090),
    "nissan dealer": (61, 1136),
}


def table_3(by):
    names = np.array(list(TABLE_3), dtype=object)
    alpha, beta = np.array(list(TABLE_3.values()), float).T
    posterior = packed(
        np.array([1200.0]),
        (np.array([0.1]), np.array([1200.0])),
        np.array([5]),
        Entries(np.arange(5, dtype=np.int32), alpha, beta),
    )
    (summary,) = summaries.top_features(view_of(posterior, 5), FeatureNames(5, names), 5, by, 0.95)
    return summary.features


def test_table_3_sorted_by_mean():
    features = table_3("mean")
    assert features[0].feature == "pest control"
    assert_allclose([f.mean for f in features], [0.113, 0.074, 0.065, 0.065, 0.051], atol=0.001)


def test_table_3_sorted_by_evidence_puts_the_spurious_keyword_last():
    features = table_3("evidence")
    assert [f.feature for f in features] == [
        "nissan altima",
        "nissan quest",
        "nissan maxima",
        "nissan dealer",
        "pest control",
    ]
    assert [f.evidence for f in features] == [84, 76, 75, 61, 44]


@given(seed=st.integers(0, 10_000), common=st.integers(0, 2), level=st.sampled_from([0.5, 0.95]))
def test_summaries_equal_the_dense_posterior(seed, common, level):
    posterior = random_posterior(seed, common=common)
    state, features = dense_state(posterior, 7), FeatureNames(7, None)
    mean = state.alpha / (state.alpha + state.beta)
    weights = state.weight_concentration / state.weight_concentration.sum()
    view = view_of(posterior, 7, [5, 9, -1])
    assert_allclose(view.overall_means(), weights @ mean, rtol=1e-9)
    found = summaries.top_features(view, features, 99, "evidence", level)
    assert [s.component for s in found] == [5, 9, -1]
    assert_allclose([s.weight for s in found], weights)
    assert_allclose([s.n_rows for s in found], np.maximum(state.weight_concentration - 1.0, 0.0))
    for k, summary in enumerate(found):
        own = posterior.feature[posterior.owner() == k]
        assert sorted(f.feature for f in summary.features) == sorted(own)
        for f in summary.features:
            beta = stats.beta(state.alpha[k, f.feature], state.beta[k, f.feature])
            interval = beta.interval(level)
            lift = mean[k, f.feature] / (weights @ mean[:, f.feature])
            expected = (beta.mean(), *interval, state.alpha[k, f.feature], lift)
            assert_allclose(f[1:], expected, rtol=1e-7)


@pytest.mark.parametrize("by", ORDERS)
def test_the_order_and_the_number_of_features(by):
    posterior = random_posterior(0, explicit=1.0)
    for summary in summaries.top_features(view_of(posterior, 7), FeatureNames(7, None), 4, by, 0.9):
        assert len(summary.features) == 4
        overall = view_of(posterior, 7).overall_means()
        key = {
            "evidence": [f.evidence for f in summary.features],
            "mean": [f.mean for f in summary.features],
            "lift": [f.low / overall[f.feature] for f in summary.features],
        }[by]
        assert key == sorted(key, reverse=True)


def test_credible_intervals():
    posterior = random_posterior(0, common=1)
    state, view = dense_state(posterior, 7), view_of(posterior, 7)
    low, high = summaries.credible_interval(view, 0.8)
    assert low.shape == high.shape == (3, 7)
    held = np.zeros((3, 7), bool)
    held[posterior.owner(), posterior.feature] = True
    expected = stats.beta(state.alpha, state.beta).interval(0.8)
    for found, wanted in zip((low, high), expected, strict=True):
        assert found.has_sorted_indices
        assert_allclose(found.toarray(), np.where(held, wanted, 0.0), rtol=1e-9)


@pytest.mark.parametrize("n_components", [1, 2])
def test_a_fitted_model_names_its_topics(n_components):
    pd = pytest.importorskip("pandas")
    rows, _ = topic_rows(300, 2, 6, on=0.8, off=0.02)
    model = OnlineBernoulliMixture(n_components, priming_rows=100, random_state=0)
    model.fit(pd.DataFrame(rows, columns=list("aAbBcC")))
    tops = [{f.feature for f in s.features} for s in model.top_features(3)]
    if n_components == 2:
        assert sorted(map(sorted, tops)) == [["A", "B", "C"], ["a", "b", "c"]]
    else:
        assert len(tops[0]) == 3
    assert all(isinstance(s.component, int) for s in model.top_features(3))


@pytest.mark.parametrize("clutter", [False, True])
def test_the_rows_of_all_components_are_the_rows_learnt(clutter):
    rows, _ = topic_rows(300, 3, 6, on=0.8, off=0.02)
    model = OnlineBernoulliMixture(3, clutter=clutter, priming_rows=100, random_state=0).fit(rows)
    assert sum(s.n_rows for s in model.top_features(3)) == pytest.approx(300)


@pytest.mark.parametrize(
    ("name", "value"), [("n", 0), ("n", -1), ("by", "alpha"), ("by", None), ("level", 1.0), ("level", 0)]
)
def test_bad_options(name, value):
    model = OnlineBernoulliMixture(2, random_state=0).fit(topic_rows(50)[0])
    with pytest.raises(ParameterError, match=f"'{name}' of top_features must be .*but it is"):
        model.top_features(**{name: value})
    with pytest.raises(ParameterError, match="'level' of credible_interval must be"):
        model.credible_interval(level=2.0)
