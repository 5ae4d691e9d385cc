"""Columns that have names are matched by name; what a model does not know is defined, and told."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from contract_models import LETTERS, hash_of
from numpy.testing import assert_array_equal

from sparsemix import DataError, Dataset, UnknownFeaturesWarning

FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda columns: pd.DataFrame(columns).astype("Int64"),
    "pandas sparse": lambda columns: pd.DataFrame(columns).astype(pd.SparseDtype(float, 0)),
    "polars": pl.DataFrame,
    "Arrow": pa.table,
    "Dataset": lambda columns: Dataset.from_matrix(
        np.array(list(columns.values())).T, feature_names=list(columns)
    ),
}


def frame_of(subject, rows=None):
    return pd.DataFrame(subject.rows if rows is None else rows, columns=list(LETTERS))


def assert_same_answers(found, expected):
    for question in expected:
        assert_array_equal(found[question], expected[question], err_msg=question)


@pytest.mark.parametrize("frame", FRAMES)
def test_columns_of_every_frame_are_matched_by_name(subject, frame):
    columns = {letter: subject.rows[:, i].tolist() for i, letter in enumerate(LETTERS)}
    table = FRAMES[frame](columns)
    backwards = FRAMES[frame]({letter: columns[letter] for letter in reversed(LETTERS)})
    model = subject.learn(table)
    assert model.feature_names_in_.tolist() == list(LETTERS)
    assert hash_of(model) == hash_of(subject.named())
    assert_same_answers(subject.answers(model, backwards), subject.answers(model, table))


def test_new_rows_with_reordered_columns_are_learnt_by_name(subject):
    first, second = subject.named(), subject.named()
    table = frame_of(subject)
    subject.learn_more(first, table)
    subject.learn_more(second, table[list(LETTERS[::-1])])
    assert hash_of(first) == hash_of(second)


def test_missing_columns_are_zero(subject):
    model, table = subject.named(), frame_of(subject)
    zeros = table.assign(c=0, f=0, i=0)
    assert_same_answers(subject.answers(model, table[list("hgedba")]), subject.answers(model, zeros))


def test_new_columns_are_not_looked_at(subject):
    model, table = subject.named(), frame_of(subject)
    wide = table.assign(new=1)[[*"ihg", "new", *"fedcba"]]
    assert_same_answers(subject.answers(model, wide), subject.answers(model, table))


def test_numbered_columns_go_by_their_place(subject):
    named, numbered, table = subject.named(), subject.fitted(), frame_of(subject)
    assert_same_answers(subject.answers(named, subject.rows), subject.answers(numbered))
    assert_same_answers(subject.answers(numbered, table), subject.answers(numbered))


def test_another_number_of_columns(subject):
    for odd in (subject.rows[:, :7], np.hstack([subject.rows, subject.rows])):
        for model in (subject.named(), subject.fitted()):
            words = f"X has {odd.shape[1]} features, but {type(model).__name__} is expecting 9 features"
            for question in subject.questions:
                with pytest.raises(DataError, match=words):
                    subject.ask(model, question, odd)


def test_more_rows_with_another_number_of_columns(subject):
    model = subject.fitted()
    before = hash_of(model)
    with pytest.raises(DataError, match=r"X has 7 features, but .+ is expecting 9"):
        subject.learn_more(model, subject.rows[:, :7])
    assert hash_of(model) == before


def test_a_name_that_stands_twice(subject):
    twice = pd.DataFrame(subject.rows, columns=list("abcdefgha"))
    words = "'X' must name each column once, but 'a' stands twice"
    model = subject.named()
    before = hash_of(model)
    for call in (
        lambda: subject.learn(twice),
        lambda: subject.learn(twice, model=model),
        lambda: subject.learn_more(model, twice),
    ):
        with pytest.raises(DataError, match=words):
            call()
    for question in subject.questions:
        if question != "rates":
            with pytest.raises(DataError, match=words):
                subject.ask(model, question, twice)
    assert hash_of(model) == before


def test_a_table_of_which_no_column_is_known(subject):
    other = pd.DataFrame(subject.rows, columns=list("ABCDEFGHI"))
    model = subject.named()
    for question in subject.questions:
        with pytest.raises(
            DataError, match=r"none of its 9 is: 'A', 'B', 'C', …\. The model knows 'a', 'b', 'c', …\."
        ):
            subject.ask(model, question, other)


def test_rows_with_nothing_that_the_model_knows_are_told(subject):
    table = frame_of(subject, np.zeros((5, 9), int)).assign(new=[0, 1, 0, 1, 1])
    table.loc[3, "a"] = 1
    model = subject.named()
    before = hash_of(model)
    assert model.unknown_rows(table).tolist() == [False, True, False, False, True]
    for question in set(subject.questions) - {"unknown_rows"}:
        with pytest.warns(UnknownFeaturesWarning, match=r"^2 of 5 rows hold features, but none that"):
            subject.ask(model, question, table)
    assert hash_of(model) == before
