"""Known clusters are found from the defaults: the paper's synthetic set, and tables that look like ads."""

import numpy as np
import pytest

from sparsemix import OnlineBernoulliMixture
from sparsemix.data.synthetic import CLUTTER, make_ads, make_bernoulli_mixture
from sparsemix.metrics import adjusted_rand, normalized_mutual_information, pair_rates


def paper_rates(seed):
    """ADS, section 5.2: 10,000 rows x 100 features, 10 components, uniform probabilities; one pass."""
    rows, topics = make_bernoulli_mixture(random_state=seed)
    model = OnlineBernoulliMixture(n_components=10, random_state=seed).fit(rows)
    rates = pair_rates(topics, model.predict_proba(rows))
    return rates.true_positive, rates.false_positive, adjusted_rand(topics, model.labels_)


@pytest.mark.parametrize("seed", range(2))
def test_a_small_set_of_the_papers_kind(seed):
    rows, topics = make_bernoulli_mixture(3_000, 100, 6, random_state=seed)
    model = OnlineBernoulliMixture(n_components=6, priming_rows=1_000, random_state=seed).fit(rows)
    assert adjusted_rand(topics, model.labels_) > 0.95


@pytest.mark.parametrize("seed", range(2))
def test_a_small_table_of_ads(seed):
    rows, topics = make_ads(4_000, 500, 8, random_state=seed)
    model = OnlineBernoulliMixture(n_components=8, priming_rows=1_500, random_state=seed).fit(rows)
    members = topics != CLUTTER
    assert adjusted_rand(topics[members], model.labels_[members]) > 0.95


def test_rows_in_the_order_of_their_topics_after_the_priming():
    """A stream need not be mixed, once the priming has seen all topics."""
    rows, topics = make_bernoulli_mixture(4_000, 100, 5, random_state=1)
    order = np.concatenate([np.arange(1_000), 1_000 + np.argsort(topics[1_000:], kind="stable")])
    model = OnlineBernoulliMixture(n_components=5, priming_rows=1_000, random_state=0).fit(rows[order])
    assert adjusted_rand(topics[order], model.labels_) > 0.95


@pytest.mark.slow
def test_the_papers_set_over_twenty_seeds():
    """The paper: 99.5 % true and 1.66 % false positive pairs at a threshold of one half."""
    true_positive, false_positive, agreement = np.array([paper_rates(seed) for seed in range(20)]).T
    assert np.median(true_positive) >= 0.995
    assert np.median(false_positive) <= 0.005
    assert np.mean(agreement) >= 0.97


@pytest.mark.slow
def test_ads_over_five_seeds():
    """A tenth of the benchmark's rows and clusters: 20,000 ads x 2,000 keywords, 10 clusters of 60 keywords."""
    agreement, information = [], []
    for seed in range(5):
        rows, topics = make_ads(20_000, 2_000, 10, random_state=seed)
        model = OnlineBernoulliMixture(n_components=10, random_state=seed).fit(rows)
        members = topics != CLUTTER
        agreement.append(adjusted_rand(topics[members], model.labels_[members]))
        information.append(normalized_mutual_information(topics[members], model.labels_[members]))
    assert np.median(agreement) >= 0.97
    assert np.median(information) >= 0.98
