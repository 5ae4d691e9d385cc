"""Small real tables: groups that people know are found, keywords of an ad lead to keywords of its kind."""

import numpy as np
import pandas as pd
import pytest

from sparsemix import KeywordSuggester, OnlineBernoulliMixture, read_table
from sparsemix.metrics import adjusted_rand


@pytest.fixture(scope="module")
def votes(real_data):
    table = pd.read_csv(real_data / "house_votes84" / "house-votes-84.data", skipinitialspace=True)
    answers = pd.get_dummies(table.drop(columns="Class").replace("?", np.nan))
    return answers, (table["Class"] == "republican").astype(int).to_numpy()


@pytest.fixture(scope="module")
def farm_ads(real_data):
    ads = read_table(real_data / "farm_ads" / "ads.parquet", row="ad", feature="word")
    return OnlineBernoulliMixture(n_components=20, random_state=0).fit(ads), ads


@pytest.mark.parametrize("seed", range(3))
def test_two_parties_are_told_apart(votes, seed):
    answers, party = votes
    model = OnlineBernoulliMixture(n_components=2, random_state=seed).fit(answers)
    assert adjusted_rand(party, model.labels_) > 0.5


def test_a_few_known_members_name_the_parties(votes):
    answers, party = votes
    known = np.where(np.arange(len(party)) % 20 == 0, party, -1)
    model = OnlineBernoulliMixture(n_components=2, random_state=0).fit(answers, known)
    assert np.mean(model.labels_ == party) > 0.85


def test_ads_of_farm_animals_fall_into_topics(farm_ads):
    model, ads = farm_ads
    assert model.n_rows_seen_ == len(ads)
    assert model.component_ids_.size > 10
    assert model.weights_.max() < 0.5
    tops = [{f.feature for f in summary.features} for summary in model.top_features(10, by="lift")]
    assert len(set().union(*tops)) > 5 * len(tops)  # topics have words of their own


def test_keywords_of_an_ad_lead_to_words_of_its_kind(farm_ads):
    model, _ = farm_ads
    dialogue = KeywordSuggester(model, ["horse"])
    first = dialogue.suggest(10)
    assert {"equine", "supplement"} <= {s.feature for s in first}
    assert all(0 <= s.low <= s.high <= 1 for s in first)
    after = dialogue.reject("supplement", "equine").suggest(10)
    assert not {"horse", "supplement", "equine"} & {s.feature for s in after}
