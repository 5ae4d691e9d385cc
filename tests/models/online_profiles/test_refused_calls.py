"""Calls with hostile arguments: each is refused in the project's own words and changes nothing."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from profile_cases import NAMES, hash_of, new_model
from scipy import sparse

from sparsemix import DataError, Dataset, ParameterError, load_model, save_model

NOT_ROWS = {
    "path": "ads.csv",
    "None": None,
    "one row": [0, 1, 0, 1, 0, 1, 0, 1],
    "uneven": [[0, 1], [1]],
    "keywords": [["boots"], ["boots", "tea"]],
    "text columns": pd.DataFrame({"ad": [1, 2], "keyword": ["boots", "tea"]}),
    "three dimensions": np.zeros((2, 2, 8)),
    "complex": np.zeros((2, 8), complex),
    "no columns": np.zeros((2, 0)),
    "other columns": np.zeros((2, 5)),
    "negative": -np.ones((2, 8)),
    "counts": np.full((2, 8), 3),
    "NaN": sparse.csr_array(np.full((2, 8), np.nan)),
    "infinite": sparse.csr_array(np.full((2, 8), np.inf)),
    "damaged": sparse.csr_array((2, 8)),
}
NOT_ROWS["damaged"].indptr[:] = [0, 9, 9]


@pytest.mark.parametrize("kind", NOT_ROWS)
@pytest.mark.parametrize("state", ["held back", "streaming"])
def test_what_is_no_rows_changes_nothing(kind, state, rows):
    model = new_model(priming_rows=50 if state == "streaming" else 500).partial_fit(rows)
    before, attributes = hash_of(model), set(vars(model))
    calls = [
        model.partial_fit, model.predict, model.predict_proba, model.score_samples, model.score,
        model.unknown_rows, *([] if kind == "other columns" else [model.fit]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(DataError, match=r"'X' (of|must)|^X has 5 features"):
            call(NOT_ROWS[kind])
        assert hash_of(model) == before
        assert set(vars(model)) == attributes


def test_a_first_call_that_is_refused_leaves_a_new_model(rows):
    model = new_model()
    for kind in set(NOT_ROWS) - {"other columns"}:
        for call in (model.fit, model.partial_fit):
            with pytest.raises(DataError):
                call(NOT_ROWS[kind])
    assert set(vars(model)) == set(model.get_params())
    assert hash_of(model.fit(rows)) == hash_of(new_model().fit(rows))


@pytest.mark.parametrize(
    "batches", [None, 1, "x", [1], [(1, 2, 3)], [np.zeros((2, 8))], np.array(3), np.zeros((2, 8))]
)
def test_batches_that_are_no_pairs_are_not_learnt(batches, rows):
    model = new_model(priming_rows=50).partial_fit(rows).prime()
    before = hash_of(model)
    with pytest.raises(ParameterError, match="'batches' of learn_again must be an iterable of pairs"):
        model.learn_again(batches)
    assert hash_of(model) == before


@pytest.mark.parametrize("seed", ["abc", -1, 1.5, 2**32, [1, 2], np.random.default_rng(0)])
def test_seeds_that_are_none(seed, rows, fitted):
    before = hash_of(fitted)
    words = (
        r"'random_state' of OnlineBernoulliMixture must be an integer from 0 to 2\*\*32 - 1, .* but it is "
    )
    for learn in (new_model(random_state=seed).fit, new_model(random_state=seed).partial_fit):
        with pytest.raises(ParameterError, match=words):
            learn(rows)
    if not isinstance(seed, list | np.random.Generator) and seed != 2**32:  # NumPy's own take those
        with pytest.raises(ParameterError, match="'random_state' of sample must be an integer >= 0, "):
            fitted.sample(3, random_state=seed)
    assert hash_of(fitted) == before


WRONG_ARGUMENTS = {
    "sample": [{"n_rows": -1}, {"n_rows": 1.5}, {"n_rows": "3"}, {"n_rows": None}],
    "top_features": [{"n": 0}, {"n": "3"}, {"by": "size"}, {"by": ["mean"]}, {"level": 1}, {"level": np.nan}],
    "credible_interval": [{"level": 0}, {"level": "0.9"}, {"level": None}, {"level": [0.9]}],
    "suggest": [
        {"accepted": None}, {"accepted": 3}, {"accepted": "a"}, {"accepted": ["nothing"]}, {"accepted": [-1]},
        {"accepted": [[0]]}, {"accepted": [np.nan]}, {"accepted": [0], "reject": None},
        {"accepted": [0], "reject": [0]}, {"accepted": [0], "n": 0}, {"accepted": [0], "level": 2},
        {"accepted": [0], "completeness": np.nan}, {"accepted": [0], "completeness": "all"},
    ],
}  # fmt: skip


@pytest.mark.parametrize("name", WRONG_ARGUMENTS)
def test_wrong_arguments_of_questions(name, fitted):
    before = hash_of(fitted)
    for wrong in WRONG_ARGUMENTS[name]:
        with pytest.raises(ParameterError, match=f"'{list(wrong)[-1]}' of {name} must be .*, but it is "):
            getattr(fitted, name)(**wrong)
    assert hash_of(fitted) == before


def test_a_model_is_not_begun_with_rows_without_features(rows, named):
    """But one that knows features may be asked about such rows, and learn them."""
    empty = Dataset.from_matrix(sparse.csr_array((3, 0)), feature_names=[])
    for call in (new_model().fit, new_model().partial_fit):
        with pytest.raises(DataError, match="'X' of fit must hold features, but none of its rows has any"):
            call(empty)
    nothing = pd.DataFrame(np.zeros((3, 8), int), columns=NAMES)
    assert_array_equal(named.score_samples(empty), named.score_samples(nothing))
    first, second = (new_model().fit(pd.DataFrame(rows, columns=NAMES)) for _ in range(2))
    assert hash_of(first.partial_fit(empty)) == hash_of(second.partial_fit(nothing))


def test_integers_of_numpy_go_to_files(rows, tmp_path):
    """Also where a number that follows from them exceeds their range."""
    for n_components in (np.int64(200), np.int16(400)):
        model = new_model(n_components=n_components, priming_rows="auto").partial_fit(rows)
        save_model(model, tmp_path / "model.smx")
        assert hash_of(load_model(tmp_path / "model.smx")) == hash_of(model)
        assert model.to_payload().metadata["settings"]["priming_rows"] == 100 * int(n_components)


def test_messages_are_one_short_line(fitted):
    wide = pd.DataFrame({f"{'w' * 99}{i}": ["x" * 999] for i in range(99)})
    for call in (new_model().fit, fitted.predict):
        with pytest.raises(DataError) as caught:
            call(wide)
        assert re.fullmatch(r"[^\n]{50,400}", str(caught.value))
