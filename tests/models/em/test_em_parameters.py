"""Parameters, labels, weights, seed words and given responsibilities: bad ones are named and change nothing."""

import re

import numpy as np
import pandas as pd
import polars as pl
import pytest
from mixture_cases import LETTERS, MIXTURES, N_ROWS, draw_shares, hash_of, new_model, some_labels
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError
from sparsemix.foundation.errors import UnknownFeaturesWarning

BAD_PARAMETERS = [
    ("n_components", 0, "an integer >= 1"), ("n_components", -3, "an integer >= 1"),
    ("n_components", 2.0, "an integer >= 1"), ("n_components", "ten", "an integer >= 1"),
    ("n_components", True, "an integer >= 1"), ("n_components", None, "an integer >= 1"),
    ("n_components", 10**30, "at most 1,000,000"), ("n_components", [3], "an integer >= 1"),
    ("algorithm", "Soft", "'soft' or 'hard'"), ("algorithm", None, "'soft' or 'hard'"),
    ("algorithm", ["soft"], "'soft' or 'hard'"), ("algorithm", np.array(["soft", "hard"]), "'soft' or 'hard'"),
    ("init", "kmeans", r"'repaired', 'k-means\+\+', 'random' or an array"), ("init", "", "'repaired'"),
    ("n_init", 0, "an integer >= 1"), ("n_init", 1.5, "an integer >= 1"), ("n_init", "auto", "an integer"),
    ("max_iter", 0, "an integer >= 1"), ("max_iter", np.inf, "an integer >= 1"),
    ("tol", -1e-9, "a number >= 0"), ("tol", np.nan, "a number >= 0"), ("tol", np.inf, "a number >= 0"),
    ("tol", "0", "a number >= 0"), ("tol", None, "a number >= 0"),
    ("smoothing", -0.1, "a number >= 0"), ("smoothing", np.nan, "a number >= 0"),
    ("smoothing", np.inf, "a number >= 0"), ("smoothing", True, "a number >= 0"),
    ("smoothing", np.array([0.1]), "a number >= 0"), ("smoothing", 1e60, "a number >= 0"),
    ("class_weight_prior", -1, "a number >= 0"), ("class_weight_prior", [1, 2, 3], "a number >= 0"),
    ("unlabeled_weight", -0.1, r"a number in \[0, 1\]"), ("unlabeled_weight", 1.1, r"a number in \[0, 1\]"),
    ("unlabeled_weight", np.nan, r"a number in \[0, 1\]"), ("unlabeled_weight", None, r"a number in \[0, 1\]"),
    ("accelerate", 1, "True or False"), ("accelerate", "yes", "True or False"), ("accelerate", None, "True or False"),
    ("warm_start", "no", "True or False"), ("warm_start", 1, "True or False"), ("warm_start", None, "True or False"),
    ("warm_start", np.array([True, False]), "True or False"),
    ("seed_weight", -1.0, "a number >= 0"), ("seed_weight", "10", "a number >= 0"),
    ("n_jobs", 0, "None or an integer other than 0"), ("n_jobs", 1.5, "None or an integer"),
    ("n_jobs", True, "None or an integer"), ("n_jobs", "all", "None or an integer"),
    ("verbose", -1, "an integer >= 0"), ("verbose", "yes", "an integer >= 0"), ("verbose", None, "an integer"),
    ("random_state", "abc", r"an integer from 0 to 2\*\*32 - 1"), ("random_state", -1, "an integer from 0"),
    ("random_state", 1.5, "an integer from 0"), ("random_state", 2**32, "an integer from 0"),
    ("random_state", [1, 2], "an integer from 0"), ("random_state", np.random.default_rng(0), "an integer from"),
]  # fmt: skip


@pytest.mark.parametrize(("parameter", "value", "rule"), BAD_PARAMETERS)
def test_bad_parameters_are_named_with_rule_and_value(name, rows, fitted, parameter, value, rule):
    owner, before = type(fitted).__name__, hash_of(fitted)
    model = new_model(name, **{parameter: value})
    good = getattr(fitted, parameter)
    fitted.set_params(**{parameter: value})
    for learn in (model.fit, fitted.fit, lambda X: model.fit_batches(lambda: [X])):
        with pytest.raises(ParameterError, match=f"^'{parameter}' of {owner} must be .*{rule}") as caught:
            learn(rows)
        assert re.search(r"but it is .+\.$", str(caught.value))
    assert set(vars(model)) == set(model.get_params())
    assert hash_of(fitted.set_params(**{parameter: good})) == before


@pytest.mark.parametrize("value", [-0.1, np.nan, "0", True, [0.5], 10**400])
def test_bad_thresholds(value):
    rows = np.eye(3)
    fitted = new_model("bernoulli", binarize=0.5).fit(rows).set_params(binarize=value)
    for ask in (new_model("bernoulli", binarize=value).fit, fitted.predict, fitted.score):
        with pytest.raises(
            ParameterError, match="'binarize' of BernoulliMixture must be None or a number >= 0"
        ):
            ask(rows)


def test_parameters_on_their_borders(name, rows, topics):
    borders = [
        {"n_components": 1}, {"n_components": np.int64(3)}, {"n_components": N_ROWS + 20},
        {"tol": 0.0, "max_iter": 999}, {"tol": 1e49}, {"smoothing": 0}, {"smoothing": 0.0}, {"smoothing": 1e-300},
        {"smoothing": 1e49}, {"class_weight_prior": 1e49}, {"class_weight_prior": np.float32(0.5)},
        {"unlabeled_weight": 0}, {"unlabeled_weight": 1}, {"seed_weight": 0, "seed_words": {0: [1]}},
        {"seed_words": {}}, {"seed_words": {0: []}}, {"seed_weight": 1e49, "seed_words": {0: [1]}}, {"n_jobs": -1},
        {"n_jobs": -2}, {"n_jobs": np.int64(2)}, {"verbose": False}, {"verbose": np.False_}, {"n_init": np.int8(2)},
        {"random_state": 2**32 - 1}, {"random_state": np.int64(3)}, {"random_state": None},
    ]  # fmt: skip
    for border in borders:
        model = new_model(name, **border).fit(
            rows, some_labels(topics) if border.get("n_components") != 1 else None
        )
        assert np.all(np.isfinite(model.trace_)), border
        assert model.predict_proba(rows).sum(axis=1) == pytest.approx(1.0), border
        assert not np.isnan(model.profiles_).any(), border


@pytest.mark.parametrize(("learnt_with", "set_later"), [("soft", "hard"), ("hard", "soft")])
def test_the_trace_keeps_its_name_when_the_parameter_changes(name, rows, learnt_with, set_later):
    model = new_model(name, algorithm=learnt_with).fit(rows)
    expected = model.objective_
    assert expected.startswith("classification") == (learnt_with == "hard")
    assert model.set_params(algorithm=set_later).objective_ == expected
    assert MIXTURES[name].from_payload(model.to_payload()).objective_ == expected
    assert model.fit(rows).objective_ != expected


def test_a_wish_for_a_billion_threads(name, rows):
    assert hash_of(new_model(name, n_jobs=10**9).fit(rows).set_params(n_jobs=1)) == hash_of(
        new_model(name, n_jobs=1).fit(rows)
    )


BAD_LABELS = [
    (np.zeros(7, int), "'y' must hold one label per row, 60, but its shape is"),
    (np.zeros((N_ROWS, 1), int), "'y' must hold one label per row"),
    (np.full(N_ROWS, 3), r"'y' must hold labels from -1 .unknown. to 2, but it holds 3 to 3"),
    (np.full(N_ROWS, -2), "'y' must hold labels from -1"),
    (np.full(N_ROWS, 0.5), "'y' must hold integers, -1 for unknown, but it holds"),
    (np.full(N_ROWS, np.nan), "'y' must hold integers"),
    (["spam"] * N_ROWS, "'y' must hold integers"),
    ([0] * 59 + [None], "but it holds None for row 59"),
    (3, "one label per row, 60, but its shape is .."),
]


@pytest.mark.parametrize(("labels", "words"), BAD_LABELS)
def test_bad_labels(name, rows, fitted, labels, words):
    before, kept = hash_of(fitted), fitted.labels_
    for learn in (
        new_model(name).fit,
        fitted.fit,
        fitted.fit_predict,
        lambda X, y: fitted.fit_batches(lambda: [(X, y)]),
    ):
        with pytest.raises(DataError, match=words):
            learn(rows, labels)
    assert hash_of(fitted) == before
    assert fitted.labels_ is kept


def test_labels_of_any_integer_type(name, rows, topics):
    labels = some_labels(topics)
    expected = hash_of(new_model(name).fit(rows, labels))
    forms = [
        labels.tolist(), labels.astype(np.int8), labels.astype(float), labels.astype(object), pd.Series(labels),
        pd.Series(labels, dtype="Int64"), pl.Series(labels),
    ]  # fmt: skip
    for form in forms:
        assert hash_of(new_model(name).fit(rows, form)) == expected


def test_labels_that_are_all_unknown_are_none(name, rows):
    assert hash_of(new_model(name).fit(rows, np.full(N_ROWS, -1))) == hash_of(new_model(name).fit(rows))


BAD_WEIGHTS = [
    (np.ones(7), r"hold one number for each of 60 rows, but its shape is \(7,\)"),
    (np.ones((N_ROWS, 1)), r"hold one number for each of 60 rows, but its shape is \(60, 1\)"),
    ([1.0] * 59 + [np.nan], "hold numbers from 0 to 1e.50, but that of row 59 is nan"),
    ([1.0] * 59 + [np.inf], "but that of row 59 is inf"),
    ([1.0] * 58 + [-0.5, 1.0], "but that of row 58 is -0.5"),
    ([1.0] * 59 + [None], "but that of row 59 is None"),
    ([1.0] * 59 + [1e60], "but that of row 59 is 1e.60"),
    (["a"] * N_ROWS, "but that of row 0 is 'a'"),
    ([1j] * N_ROWS, "but that of row 0 is 1j"),
    ([1.0] * 59 + ["a"], "but that of row 59 is 'a'"),
    ([1.0] * 59 + [[1]], "hold one number for each of 60 rows"),
    ("heavy", "but that of row 0 is 'heavy'"),
    (-1, "but that of row 0 is -1"),
    (np.zeros(N_ROWS), "be positive for some row, but all weights are zero"),
    (0, "all weights are zero"),
    ([10**400] * N_ROWS, "but that of row 0 is 10000"),
    (sparse.csr_array(np.ones((N_ROWS, 1))), "but that of row 0 is <Compressed"),
]


@pytest.mark.parametrize(("weights", "words"), BAD_WEIGHTS)
def test_bad_weights(name, rows, fitted, weights, words):
    before = hash_of(fitted)
    for model in (new_model(name), fitted):
        with pytest.raises(DataError, match=f"'sample_weight' must .*{words}"):
            model.fit(rows, sample_weight=weights)
    assert hash_of(fitted) == before


def test_weights_of_any_type(name, rows):
    weights = 1 + np.arange(N_ROWS) % 3
    expected = hash_of(new_model(name).fit(rows, sample_weight=weights))
    for form in (weights.tolist(), weights.astype(float), weights.astype(object), pd.Series(weights)):
        assert hash_of(new_model(name).fit(rows, sample_weight=form)) == expected


def test_weights_that_leave_nothing_to_learn_from(rows, topics, fitted):
    before = hash_of(fitted)
    fitted.set_params(unlabeled_weight=0.0)
    labels = some_labels(topics)
    calls = [
        lambda: fitted.fit(rows),
        lambda: fitted.fit(rows, labels, sample_weight=(labels < 0).astype(float)),
        lambda: fitted.fit_batches(lambda: [rows]),
    ]
    for call in calls:
        with pytest.raises(DataError, match="'y' must hold labels where unlabeled_weight is 0"):
            call()
    assert hash_of(fitted.set_params(unlabeled_weight=1.0)) == before


BAD_SHARES = {
    "None": None,
    "a number": 3,
    "a huge number": 10**400,
    "text in it": np.full((N_ROWS, 3), "a"),
    "too few rows": draw_shares(N_ROWS - 1),
    "too many rows": draw_shares(N_ROWS + 1),
    "too few components": draw_shares(N_ROWS, 2),
    "one axis": np.full(N_ROWS, 1 / 3),
    "negative": np.tile([1.5, -0.5, 0.0], (N_ROWS, 1)),
    "NaN": np.full((N_ROWS, 3), np.nan),
    "infinite": np.full((N_ROWS, 3), np.inf),
    "sums of two": 2.0 * draw_shares(N_ROWS),
    "uneven": [[1.0, 0.0, 0.0], [1.0]] * 30,
    "sparse": sparse.csr_array(draw_shares(N_ROWS)),
    "of no rows": np.empty((0, 3)),
}


@pytest.mark.parametrize("kind", BAD_SHARES)
def test_bad_responsibilities_to_start_from(name, rows, fitted, kind):
    before = hash_of(fitted)
    fitted.set_params(init=BAD_SHARES[kind])
    for learn in (new_model(name, init=BAD_SHARES[kind]).fit, fitted.fit):
        with pytest.raises(
            ParameterError, match=r"'init' of fit must be a \(n_rows, 3\) array of shares >= 0"
        ):
            learn(rows)
    assert hash_of(fitted.set_params(init="repaired")) == before


BAD_SEED_WORDS = [
    "spam", ["a"], [["a"]], 3, {3: ["a"]}, {-1: ["a"]}, {"0": ["a"]}, {0.0: ["a"]}, {True: ["a"]}, {0: "abc"},
    {0: b"abc"}, {0: 3}, {0: None}, {0: [["a"]]}, {0: [None]}, {0: [1.5]}, {0: {"a": 3.0}}, {None: ["a"]},
    {0: ["a"], 1: "b"},
]  # fmt: skip


@pytest.mark.parametrize("words", BAD_SEED_WORDS)
def test_bad_seed_words(name, rows, named, words):
    before, table = hash_of(named), pd.DataFrame(rows, columns=LETTERS)
    named.set_params(seed_words=words)
    rule = f"'seed_words' of {type(named).__name__} must be a mapping from components, 0 to 2, to lists of features"
    for learn in (new_model(name, seed_words=words).fit, named.fit):
        with pytest.raises(ParameterError, match=rule):
            learn(table)
    assert hash_of(named.set_params(seed_words=None)) == before


def test_seed_words_that_can_be_read_only_once(name, rows):
    with pytest.raises(ParameterError, match="'seed_words'"):
        new_model(name, seed_words={0: iter([1])}).fit(rows)


def test_seed_words_in_any_list(name, rows):
    table = pd.DataFrame(rows, columns=LETTERS)
    expected = new_model(name, seed_words={0: ["a", "d"]}).fit(table)
    for words in (("a", "d"), {"a", "d"}, np.array(["d", "a"]), pd.Series(["a", "d"]), ["a", "a", "d"]):
        model = new_model(name, seed_words={np.int64(0): words}).fit(table)
        assert_array_equal(model.profiles_, expected.profiles_)
    numbered = new_model(name, seed_words={0: [0, np.int64(3)]}).fit(rows)
    assert_array_equal(numbered.profiles_, expected.profiles_)


@pytest.mark.parametrize("algorithm", ["soft", "hard"])
@pytest.mark.parametrize("init", ["repaired", "k-means++"])
def test_seed_words_pull_a_component_to_them(name, rows, topics, algorithm, init):
    for order in ([0, 1, 2], [2, 0, 1], [1, 2, 0]):
        words = {k: [LETTERS[topic], LETTERS[topic + 3]] for k, topic in enumerate(order)}
        model = new_model(name, seed_words=words, algorithm=algorithm, init=init)
        model.fit(pd.DataFrame(rows, columns=LETTERS))
        assert np.mean(np.array(order)[model.labels_] == topics) > 0.85


def test_seed_words_are_pseudo_counts(name, rows, topics):
    """With all rows labelled the M step is all there is."""
    model = new_model(name, seed_words={1: [0, 2]}, seed_weight=7.0, smoothing=0.5).fit(rows, topics)
    own = rows[topics == 1].sum(axis=0) + 0.5
    own[[0, 2]] += 7.0
    if name == "multinomial":
        expected = own / own.sum()
    else:
        total = np.full(9, 20 + 1.0)
        total[[0, 2]] += 7.0
        expected = own / total
    np.testing.assert_allclose(model.profiles_[1], expected, rtol=1e-12)


def test_absent_seed_words_are_told_and_skipped(name, rows):
    table = pd.DataFrame(rows, columns=LETTERS)
    words = {0: ["a", "spam"], 1: ["award"], 2: ["f"]}
    told = "^2 seed words are not among the features and were skipped: spam, award$"
    with pytest.warns(UnknownFeaturesWarning, match=told) as caught:
        model = new_model(name, seed_words=words).fit(table)
    assert [each.filename for each in caught] == [__file__]
    assert_array_equal(model.profiles_, new_model(name, seed_words={0: ["a"], 2: ["f"]}).fit(table).profiles_)
    with pytest.warns(UnknownFeaturesWarning, match="skipped: 9, -1"):
        model = new_model(name, seed_words={0: [9, -1]}).fit(rows)
    assert_array_equal(model.profiles_, new_model(name).fit(rows).profiles_)
