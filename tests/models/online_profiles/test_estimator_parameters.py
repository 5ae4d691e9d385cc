"""Parameters and labels: bad ones are named with rule and value, those on the border work."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from profile_cases import hash_of, new_model, topic_rows

from sparsemix.foundation.errors import DataError, ParameterError

BAD_PARAMETERS = [
    ("n_components", 0, "an integer >= 1"), ("n_components", -3, "an integer >= 1"),
    ("n_components", 2.0, "an integer >= 1"), ("n_components", "ten", "an integer >= 1"),
    ("n_components", True, "an integer >= 1"), ("n_components", None, "an integer >= 1"),
    ("weight_concentration", 0.0, "a number > 0"), ("weight_concentration", np.inf, "a number > 0"),
    ("weight_concentration", np.nan, "a number > 0"), ("weight_concentration", "1", "a number > 0"),
    ("prior_mean", 0.0, r"'empirical' or a number in \(0, 1\)"), ("prior_mean", 1.0, r"a number in \(0, 1\)"),
    ("prior_mean", "auto", "'empirical'"), ("prior_mean", None, "'empirical'"),
    ("prior_strength", 0, "'auto' or a number > 0"), ("prior_strength", "empirical", "'auto'"),
    ("priming_rows", 0, "'auto' or an integer >= 1"), ("priming_rows", 10.5, "'auto' or an integer >= 1"),
    ("clutter", 1, "True or False"), ("clutter", "yes", "True or False"),
    ("binarize", -0.1, "None or a number >= 0"), ("binarize", np.nan, "None or a number >= 0"),
    ("binarize", "0", "None or a number >= 0"),
    ("min_responsibility", 1.0, r"a number in \[0, 1\)"), ("min_responsibility", -0.1, r"a number in \[0, 1\)"),
    ("cull_threshold", -1e-9, "a number >= 0"), ("cull_threshold", np.inf, "a number >= 0"),
    ("min_component_share", 1, r"a number in \[0, 1\)"), ("staleness", 1.1, r"a number in \[0, 1\]"),
    ("n_components", 10**30, "at most 1,000,000"), ("weight_concentration", 1e308, r"a number > 0, from 1e-50"),
    ("weight_concentration", 5e-324, "a number > 0, from 1e-50"), ("prior_strength", np.nan, "'auto'"),
    ("prior_strength", 1e300, "'auto' or a number > 0, from 1e-50"), ("prior_mean", np.nan, "'empirical'"),
    ("prior_mean", 5e-324, r"a number in \(0, 1\), at least 1e-50"), ("prior_mean", pd.NA, "'empirical'"),
    ("verbose", "yes", "an integer >= 0"), ("verbose", -1, "an integer >= 0"), ("verbose", None, "an integer"),
    ("staleness", -0.1, r"a number in \[0, 1\]"), ("staleness", None, r"a number in \[0, 1\]"),
]  # fmt: skip


@pytest.mark.parametrize(("name", "value", "rule"), BAD_PARAMETERS)
def test_bad_parameters_are_named_with_rule_and_value(name, value, rule, rows):
    model = new_model(**{name: value})
    for learn in (model.fit, model.partial_fit, lambda X: model.partial_fit(X, np.zeros(120, int))):
        with pytest.raises(ParameterError, match=f"'{name}' of OnlineBernoulliMixture must be .*{rule}"):
            learn(rows)
        with pytest.raises(ParameterError, match=re.escape(f"but it is {value!r}")):
            learn(rows)


@pytest.mark.parametrize("name", ["cull_threshold", "half_life_rows", "binarize"])
def test_whole_numbers_beyond_all_floats(name, rows):
    with pytest.raises(
        ParameterError, match=f"'{name}' of OnlineBernoulliMixture must be .*, below 1.8e.308"
    ):
        new_model(**{name: 10**400}).fit(rows)


@pytest.mark.parametrize("name", ["prior_mean", "prior_strength", "priming_rows", "n_components", "binarize"])
@pytest.mark.parametrize("value", [np.array([0.1, 0.2]), np.array(["auto"]), [1], {}])
def test_containers_are_no_parameters(name, value, rows):
    with pytest.raises(ParameterError, match=f"'{name}' of OnlineBernoulliMixture must be .*, but it is "):
        new_model(**{name: value}).fit(rows)


def test_parameters_on_their_borders(rows):
    borders = [
        {"staleness": 1.0}, {"staleness": 0}, {"min_responsibility": 0.0}, {"min_component_share": 0.0},
        {"min_responsibility": 0.999}, {"min_component_share": 0.999}, {"cull_threshold": 0},
        {"cull_threshold": 1e9}, {"priming_rows": 1}, {"n_components": np.int64(2)}, {"binarize": 0},
        {"prior_mean": 1e-9}, {"prior_mean": 1 - 1e-9}, {"prior_strength": 1e-6}, {"prior_strength": 1e9},
        {"weight_concentration": 1e-9}, {"weight_concentration": 1e6}, {"clutter": np.True_},
        {"weight_concentration": 1e-50}, {"weight_concentration": 1e50}, {"prior_mean": 1e-50},
        {"prior_strength": 1e-50}, {"prior_strength": 1e50}, {"priming_rows": 10**30}, {"verbose": False},
        {"prior_mean": 1e-50, "prior_strength": 1e-50}, {"prior_mean": 1 - 1e-16, "prior_strength": 1e-50},
    ]  # fmt: skip
    for border in borders:
        model = new_model(**border).fit(rows)
        assert np.all(np.isfinite(model.score_samples(rows))), border
        assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0), border


BAD_LABELS = [
    (np.zeros(7, int), "'y' must hold one label per row, 120, but its shape is"),
    (np.zeros((120, 1), int), "'y' must hold one label per row"),
    (np.full(120, 2), "'y' must hold labels from -1 .unknown. to 1, but it holds 2 to 2"),
    (np.full(120, -2), "'y' must hold labels from -1"),
    (np.full(120, 0.5), "'y' must hold integers, -1 for unknown, but it holds"),
    (np.full(120, np.nan), "'y' must hold integers"),
    (np.full(120, 1e300), "'y' must hold integers"),
    (np.full(120, "shoes"), "'y' must hold integers"),
    (np.full(120, 2**63, np.uint64), "'y' must hold"),
    ([0] * 119 + ["x"], "'y' must hold integers, -1 for unknown, but it holds 'x' for row 119"),
    (pd.Series([0] * 119 + ["x"]), "but it holds 'x' for row 119"),
    ([0] * 100 + [None] * 20, "but it holds None for row 100"),
    ([0] * 100 + [0.5] * 20, "but it holds 0.5 for row 100"),
    ([10**400] * 120, "'y' must hold integers"),
    ([False] * 120, "but it holds False for row 0"),
    (np.zeros(120, complex), "'y' must hold integers"),
    ([[0]] * 119 + [[0, 1]], "one label per row, 120, but its parts differ in length"),
    (3, "one label per row, 120, but its shape is .."),
    ("text", "one label per row, 120, but its shape is .."),
    (pd.DataFrame({"y": [0] * 120}), "one label per row, 120, but its shape is .120, 1."),
]


@pytest.mark.parametrize(("labels", "words"), BAD_LABELS)
def test_bad_labels(labels, words, rows, fitted):
    before = hash_of(fitted)
    for learn in (new_model().fit, new_model().partial_fit, fitted.partial_fit):
        with pytest.raises(DataError, match=words):
            learn(rows, labels)
    assert hash_of(fitted) == before


def test_labels_of_any_integer_type(rows):
    labels = np.where(np.arange(120) < 30, topic_rows(120, 2, 8)[1], -1)
    expected = hash_of(new_model().fit(rows, labels))
    forms = [
        labels.tolist(), labels.astype(np.int8), labels.astype(float), labels.astype(object), pd.Series(labels),
        pd.Series(labels, dtype=object), pd.Series(labels, dtype="Int64"), pl.Series(labels),
    ]  # fmt: skip
    for form in forms:
        assert hash_of(new_model().fit(rows, form)) == expected


def test_labels_are_checked_by_the_model_that_learns(rows):
    """A parameter that is set meanwhile is for the next fit."""
    model = new_model().partial_fit(rows)
    model.set_params(n_components=9)
    with pytest.raises(DataError, match="to 1, but it holds 5 to 5"):
        model.partial_fit(rows, np.full(120, 5))
