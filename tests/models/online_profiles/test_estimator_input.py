"""Every form of input gives the same bits, columns are matched by name, nonsense is named."""

import re
from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from numpy.testing import assert_array_equal
from profile_cases import NAMES, hash_of, new_model
from scipy import sparse

from sparsemix.data import inputs
from sparsemix.data.dataset import Dataset
from sparsemix.foundation.errors import DataError, UnknownFeaturesWarning


def every_format(rows):
    for form, kind in product(["csr", "csc", "coo", "bsr", "dok", "lil"], ["array", "matrix"]):
        yield f"{form}_{kind}", getattr(sparse, f"{form}_{kind}")(rows)
    for indptr, indices in product([np.int32, np.int64], repeat=2):
        matrix = sparse.csr_array(rows)
        matrix.indptr, matrix.indices = matrix.indptr.astype(indptr), matrix.indices.astype(indices)
        yield f"indptr {indptr.__name__}, indices {indices.__name__}", matrix
    for dtype in (bool, np.int8, np.uint32, np.float32, float):
        yield f"dense {dtype.__name__}", rows.astype(dtype)
        yield f"sparse {dtype.__name__}", sparse.csr_array(rows.astype(dtype))
    backwards = sparse.csr_array(rows[:, ::-1])
    backwards.indices = (7 - backwards.indices).astype(np.int32)
    backwards.has_sorted_indices = False
    yield "unsorted", backwards
    double = sparse.coo_array(rows)
    row, column = np.repeat(double.row, 3), np.repeat(double.col, 3)
    parts = np.tile([0.5, 0.25, 0.25], double.nnz)
    yield "duplicates", sparse.coo_array((parts, (row, column)), shape=rows.shape)
    indptr = np.concatenate([[0], np.cumsum(3 * rows.sum(axis=1))])
    yield "duplicates in rows", sparse.csr_array((parts, column, indptr), shape=rows.shape)
    full = sparse.csr_array(np.ones(rows.shape))
    full.data = rows.ravel().astype(float)
    yield "stored zeros", full
    yield "Fortran", np.asfortranarray(rows)
    yield "list", rows.tolist()
    yield "Dataset", Dataset.from_matrix(rows)


def test_every_format_gives_the_same_bits(rows, fitted):
    expected, share = hash_of(new_model().fit(rows)), fitted.predict_proba(rows)
    for name, form in every_format(rows):
        assert hash_of(new_model().fit(form)) == expected, name
        assert_array_equal(fitted.predict_proba(form), share, err_msg=name)


def test_arrays_that_cannot_be_written(rows, tmp_path):
    matrix, dense = sparse.csr_array(rows), rows.copy()
    for name in ("data", "indices", "indptr"):
        np.save(tmp_path / name, getattr(matrix, name))
        setattr(matrix, name, np.load(tmp_path / f"{name}.npy", mmap_mode="r"))
    dense.flags.writeable = False
    for form in (matrix, dense):
        model = new_model().fit(form)
        assert hash_of(model.partial_fit(form)) == hash_of(new_model().fit(rows).partial_fit(rows))


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


FRAMES = [pd.DataFrame, pl.DataFrame, pa.table]


@pytest.mark.parametrize("frame", FRAMES, ids=["pandas", "polars", "arrow"])
def test_columns_are_matched_by_name(frame, rows, named):
    columns = {name: rows[:, i].tolist() for i, name in enumerate(NAMES)}
    table, backwards = frame(columns), frame({name: columns[name] for name in reversed(NAMES)})
    model = new_model().fit(table)
    assert model.feature_names_in_.tolist() == NAMES
    assert hash_of(model) == hash_of(named)
    assert_array_equal(model.predict_proba(backwards), model.predict_proba(table))
    assert hash_of(model.partial_fit(backwards)) == hash_of(new_model().fit(table).partial_fit(table))


def test_missing_columns_are_off(rows, named):
    table = pd.DataFrame(rows, columns=NAMES)
    without = table.assign(c=0, f=0)
    assert_array_equal(named.score_samples(table[list("hgedba")]), named.score_samples(without))


def test_numbered_columns_go_by_their_place(rows, named, fitted):
    assert_array_equal(named.predict_proba(rows), fitted.predict_proba(rows))
    for odd in (rows[:, :7], np.hstack([rows, rows])):
        for model in (named, fitted):
            words = f"X has {odd.shape[1]} features, but OnlineBernoulliMixture is expecting 8 features"
            with pytest.raises(DataError, match=words):
                model.predict(odd)
            before = hash_of(model)
            with pytest.raises(DataError, match=words):
                model.partial_fit(odd)
            assert hash_of(model) == before


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


def test_a_name_that_stands_twice(rows, named):
    twice = pd.DataFrame(rows, columns=list("abcdefga"))
    for call in (new_model().fit, new_model().partial_fit, named.predict, named.partial_fit):
        with pytest.raises(DataError, match="'X' must name each column once, but 'a' stands twice"):
            call(twice)


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


@pytest.mark.parametrize("value", [3, -1, 0.5, np.nan, np.inf])
def test_values_outside_the_family_are_named(rows, fitted, value):
    odd = rows.astype(float)
    odd[7, 5] = value
    shown = "NaN" if np.isnan(value) else value
    for form in (odd, sparse.csr_array(odd)):
        before = hash_of(fitted)
        for call in (new_model().fit, fitted.predict, fitted.score_samples, fitted.partial_fit):
            with pytest.raises(DataError, match=f"column 5 of row 7 is {shown}"):
                call(form)
        assert hash_of(fitted) == before


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
