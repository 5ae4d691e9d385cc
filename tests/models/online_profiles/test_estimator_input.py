"""Every form of input gives the same bits, columns are matched by name, nonsense is named."""

import re

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from profile_cases import NAMES, hash_of, new_model
from scipy import sparse

from sparsemix.data import inputs
from sparsemix.data.dataset import Dataset
from sparsemix.foundation.errors import DataError, UnknownFeaturesWarning


def test_the_input_is_not_changed_and_not_kept(rows):
    """Rows may be held back for long; whoever reuses the arrays meanwhile must not change them."""
    matrix = sparse.csr_array(rows)
    model = new_model(priming_rows=1000).partial_fit(matrix)
    assert_array_equal(matrix.toarray(), rows)
    expected = hash_of(model)
    matrix.indices[:] = 0
    assert hash_of(model) == expected
    labels = np.zeros(120, np.int64)
    labelled = new_model(priming_rows=1000).partial_fit(rows, labels)
    expected = hash_of(labelled)
    labels[:] = 1
    assert hash_of(labelled) == expected


def test_new_columns_grow_the_model(rows):
    wide = pd.DataFrame(rows, columns=NAMES)
    for priming_rows in (20, 70, 500):  # growth in the stream, and in the buffer
        model = new_model(priming_rows=priming_rows).partial_fit(wide[list("abcdef")][:60])
        model.partial_fit(wide[list("hgabcdef")][60:])
        assert model.feature_names_in_.tolist() == list("abcdefhg")
        assert model.n_features_in_ == 8
        assert {s.feature for s in model.suggest(["b"], n=20)} >= {"h"}
        assert np.all(np.isfinite(model.score_samples(wide)))
        model.partial_fit(wide[:0].assign(new=0))
        assert model.n_features_in_ == 9


def test_the_growing_vocabulary_of_a_stream_of_data_sets(rows):
    first = Dataset.from_matrix(rows[:60, :6], feature_names=NAMES[:6])
    second = Dataset.from_matrix(rows[60:], feature_names=NAMES)
    model = new_model(priming_rows=30).partial_fit(first).partial_fit(second)
    assert model.feature_names_in_.tolist() == NAMES


def test_binarize(rows):
    weights = np.random.default_rng(0).random(rows.shape) + 0.5
    model = new_model(binarize=0.25).fit(rows * weights)
    assert_array_equal(model.predict_proba(rows * weights), new_model().fit(rows).predict_proba(rows))
    with pytest.raises(DataError, match="must hold only 0 and 1, but column 1 of row 0 is"):
        new_model().fit(rows * weights)


@pytest.fixture
def some_unknown(rows):
    """Rows of which the second and the last hold "new" alone and the third nothing."""
    table = pd.DataFrame(rows[:5], columns=NAMES).assign(new=[0, 1, 0, 1, 1])
    table.loc[[1, 2, 4], NAMES] = 0
    table.loc[3, "a"] = 1
    return table


def test_rows_with_nothing_that_the_model_knows_are_told_once_a_call(named, some_unknown, monkeypatch):
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 2)
    before = hash_of(named)
    assert named.unknown_rows(some_unknown).tolist() == [False, True, False, False, True]
    for ask in (named.predict, named.predict_proba, named.score_samples, named.score):
        with pytest.warns(UnknownFeaturesWarning, match=r"^2 of 5 rows hold features, but none that") as told:
            ask(some_unknown)
        assert len(told) == 1
        assert told[0].filename == __file__  # the caller's line, not the library's
    assert hash_of(named) == before


def test_rows_with_something_that_the_model_knows_are_not_told(rows, named, some_unknown):
    """Nor are empty rows, nor new features where they are learnt."""
    named.predict(some_unknown[["a", "new"]].iloc[[0, 2, 3]])
    named.predict(np.zeros((2, 8)))
    assert named.unknown_rows(rows).sum() == 0
    assert named.unknown_rows(rows[:0]).shape == (0,)
    assert named.unknown_rows(rows[:0]).dtype == bool
    new_model().fit(pd.DataFrame(rows, columns=NAMES)).partial_fit(some_unknown).predict(some_unknown)


def test_a_table_of_which_no_column_is_known(rows, named):
    """It is another table; to learn, it is new features."""
    other = pd.DataFrame(rows, columns=list("ABCDEFGH"))
    words = "none of its 8 is: 'A', 'B', 'C', …. The model knows 'a', 'b', 'c', …."
    before = hash_of(named)
    for ask in (named.predict, named.predict_proba, named.score_samples, named.score, named.unknown_rows):
        with pytest.raises(DataError, match=f"'X' of OnlineBernoulliMixture must .*{re.escape(words)}"):
            ask(other)
    assert hash_of(named) == before
    assert new_model().fit(pd.DataFrame(rows, columns=NAMES)).partial_fit(other).n_features_in_ == 16
