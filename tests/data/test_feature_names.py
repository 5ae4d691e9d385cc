"""Columns are matched by name; new names get the numbers after the last, and nothing is changed on an error."""

import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsemix.data.feature_names import FeatureNames, check_distinct, new_features
from sparsemix.foundation.errors import DataError


def named(*names):
    return np.array(names, dtype=object)


def columns_of(features, *names):
    columns = features.columns_of(len(names), named(*names), owner="Model")
    return None if columns is None else columns.tolist()


def test_the_same_columns_need_no_renaming():
    features = FeatureNames(2, named("cat", "dog"))
    assert columns_of(features, "cat", "dog") is None
    assert features.columns_of(2, features.names, owner="Model") is None


def test_a_beginning_of_the_columns_keeps_its_numbers():
    assert columns_of(FeatureNames(3, named("cat", "dog", "owl")), "cat", "dog") == [0, 1]


def test_columns_in_another_order():
    assert columns_of(FeatureNames(3, named("cat", "dog", "owl")), "owl", "cat", "dog") == [2, 0, 1]


def test_new_names_come_after_the_last():
    features = FeatureNames(2, named("cat", "dog"))
    assert columns_of(features, "cat", "dog", "owl") == [0, 1, 2]
    assert columns_of(features, "owl", "dog", "bee") == [2, 1, 3]
    assert features.n_features == 2  # asking changes nothing


def test_growing():
    features = FeatureNames(2, named("cat", "dog"))
    names = named("owl", "dog", "bee")
    columns = features.columns_of(3, names, owner="Model")
    grown = features.extended(columns, names)
    assert (grown.n_features, grown.names.tolist()) == (4, ["cat", "dog", "owl", "bee"])
    assert grown.positions() == {"cat": 0, "dog": 1, "owl": 2, "bee": 3}
    assert features.n_features == 2
    assert grown.extended(grown.columns_of(3, names, owner="Model"), names) is grown


@given(
    batches=st.lists(st.lists(st.sampled_from("abcdefg"), unique=True, min_size=1), min_size=1, max_size=5)
)
def test_growing_equals_a_dictionary(batches):
    known = {name: i for i, name in enumerate(batches[0])}
    features = FeatureNames(len(known), named(*known))
    for batch in batches[1:]:
        columns = features.columns_of(len(batch), named(*batch), owner="Model")
        features = features.extended(columns, named(*batch))
        for name in batch:
            known.setdefault(name, len(known))
        assert (np.arange(len(batch)) if columns is None else columns).tolist() == [known[n] for n in batch]
        assert features.names.tolist() == list(known)
        assert features.positions() == known


def test_numbered_columns_must_be_as_many():
    for names in (None, named("cat", "dog")):
        features = FeatureNames(2, names)
        assert features.columns_of(2, None, owner="Model") is None
        with pytest.raises(DataError, match="X has 3 features, but Model is expecting 2 features as input"):
            features.columns_of(3, None, owner="Model")
    with pytest.raises(DataError, match="X has 3 features"):
        FeatureNames(2, None).columns_of(3, named("cat", "dog", "owl"), owner="Model")


def test_columns_to_ask_about_may_be_new_but_not_all_of_them():
    features = FeatureNames(3, named("cat", "dog", "owl"))
    some = features.known_columns_of(2, named("bee", "dog"), owner="Model")
    assert some.tolist() == [3, 1]
    assert features.known_columns_of(3, features.names, owner="Model") is None
    assert features.known_columns_of(3, None, owner="Model") is None
    assert features.known_columns_of(0, named(), owner="Model").tolist() == []
    words = "none of its 4 is: 'bee', 'ant', 'cow', …. The model knows 'cat', 'dog', 'owl'. Give rows"
    with pytest.raises(DataError, match=re.escape(words)):
        features.known_columns_of(4, named("bee", "ant", "cow", "hen"), owner="Model")
    with pytest.raises(DataError, match="'owl' stands twice"):
        features.known_columns_of(3, named("owl", "cat", "owl"), owner="Model")


def test_numbered_features_are_their_own_positions():
    assert FeatureNames(2, None).positions() == {0: 0, 1: 1}


def test_a_name_may_stand_once():
    with pytest.raises(DataError, match="'X' must name each column once, but 'owl' stands twice"):
        check_distinct(named("owl", "cat", "owl"))
    with pytest.raises(DataError, match="'owl' stands twice"):
        columns_of(FeatureNames(2, named("cat", "dog")), "owl", "cat", "owl")
    check_distinct(named("owl", "Owl", "owl "))


@pytest.mark.parametrize(
    ("shape", "missing"),
    [
        ((0, 3), r"at least one row, but found array with 0 sample\(s\) \(shape=\(0, 3\)\)"),
        ((2, 0), r"at least one feature, but found array with 0 feature\(s\) \(shape=\(2, 0\)\)"),
    ],
)
def test_nothing_to_learn(shape, missing):
    with pytest.raises(
        DataError, match=f"'X' of fit must have {missing} while a minimum of 1 is required by M"
    ):
        new_features(*shape, None, "M")
