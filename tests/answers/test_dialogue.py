"""The dialogue about one row, over every model that suggests; what is none, and what is no list, is said so."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import NotFittedError

from sparsemix import (
    BernoulliMixture,
    KeywordSuggester,
    MultinomialMixture,
    OnlineBernoulliMixture,
    ParameterError,
)

NAMES = ["red shoes", "red boots", "blue shoes", "tax law", "tax help", "law firm"]
ROWS = pd.DataFrame(np.repeat([[1, 1, 1, 0, 0, 0], [0, 0, 0, 1, 1, 1]], 50, axis=0), columns=NAMES)
MODELS = [OnlineBernoulliMixture, MultinomialMixture, BernoulliMixture]


@pytest.fixture(scope="module", params=MODELS)
def model(request):
    return request.param(n_components=2, random_state=0).fit(ROWS)


def test_a_dialogue(model):
    dialogue = KeywordSuggester(model, ["red shoes"])
    assert {s.feature for s in dialogue.suggest(2)} == {"red boots", "blue shoes"}
    assert dialogue.accept("red boots").reject("blue shoes") is dialogue
    assert dialogue.suggest(3) == model.suggest(["red shoes", "red boots"], ["blue shoes"], n=3)
    assert dialogue.suggest(1, level=0.5) == model.suggest(
        ["red shoes", "red boots"], ["blue shoes"], n=1, level=0.5
    )
    assert not {"red shoes", "red boots", "blue shoes"} & {s.feature for s in dialogue.suggest()}


def test_minds_may_change(model):
    dialogue = KeywordSuggester(model).accept("tax law", "tax law").reject("tax law")
    assert (dialogue.accepted, dialogue.rejected) == ([], ["tax law"])
    dialogue.accept("tax law")
    assert (dialogue.accepted, dialogue.rejected) == (["tax law"], [])


@pytest.mark.parametrize(
    "given", [("red shoes",), {"red shoes"}, np.array(["red shoes"]), pd.Series(["red shoes"])]
)
def test_any_list_will_do(model, given):
    dialogue = KeywordSuggester(model, given, (word for word in ["tax law"]))
    assert (dialogue.accepted, dialogue.rejected) == (["red shoes"], ["tax law"])
    dialogue.accept("red boots")
    assert len(given) == 1


@pytest.mark.parametrize("name", ["accepted", "rejected"])
@pytest.mark.parametrize("value", [None, "red shoes", b"red shoes", 3, np.array(3), np.array("red shoes")])
def test_what_is_no_list(model, name, value):
    words = f"'{name}' of .* must be a sequence of features, but it is {re.escape(repr(value))}"
    with pytest.raises(ParameterError, match=words):
        KeywordSuggester(model, **{name: value})


@pytest.mark.parametrize("name", ["accepted", "rejected"])
def test_what_is_no_feature(model, name):
    with pytest.raises(
        ParameterError, match=rf"'{name}' of .* but it is 'red shoe'. Did you mean 'red shoes', "
    ):
        KeywordSuggester(model, **{name: ["red shoe"]})
    for odd in (7, None, [], 1.5):
        with pytest.raises(ParameterError, match=f"'{name}' of .* must be features that the model knows"):
            KeywordSuggester(model, **{name: [odd]})


@pytest.mark.parametrize("value", [None, "red shoes", np.array(3)])
def test_what_is_no_list_for_the_model(model, value):
    with pytest.raises(ParameterError, match="'accepted' of suggest must be a sequence of features"):
        model.suggest(value)


def test_wrong_answers_change_nothing(model):
    dialogue = KeywordSuggester(model, ["red shoes"], ["tax law"])
    for answer in (dialogue.accept, dialogue.reject):
        with pytest.raises(ParameterError, match="Did you mean 'blue shoes'"):
            answer("red boots", "blue shoe")
    assert (dialogue.accepted, dialogue.rejected) == (["red shoes"], ["tax law"])


@pytest.mark.parametrize("thing", [None, 3, "model.smx", ["red shoes"], KMeans(), BernoulliMixture, ROWS])
def test_what_is_no_model(thing):
    with pytest.raises(
        ParameterError, match="'model' of KeywordSuggester must be a mixture that suggests, but it is "
    ):
        KeywordSuggester(thing, ["red shoes"])


@pytest.mark.parametrize("kind", MODELS)
def test_a_model_that_has_learnt_nothing(kind):
    with pytest.raises(NotFittedError):
        KeywordSuggester(kind(), ["red shoes"])


def test_both_lists_at_once(model):
    with pytest.raises(ParameterError, match="'reject' of suggest must be free of accepted features"):
        KeywordSuggester(model, ["tax law"], ["tax law"]).suggest()


def test_features_by_number():
    model = MultinomialMixture(n_components=2, random_state=0).fit(ROWS.to_numpy())
    dialogue = KeywordSuggester(model, np.array([0]))
    assert {s.feature for s in dialogue.suggest(2)} == {1, 2}
    assert {s.feature for s in dialogue.reject(np.int64(1)).suggest(1)} == {2}
