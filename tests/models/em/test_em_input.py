"""Every form of input gives the same bits, columns are matched by name, odd tables work, nonsense is named."""

import re

import numpy as np
import pandas as pd
import pytest
from mixture_cases import LETTERS, N_ROWS, draw_shares, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import Dataset
from sparsemix.data import count_inputs, inputs
from sparsemix.foundation.errors import DataError, UnknownFeaturesWarning


def entries(rows):
    """Entries as triples in disorder, several of the same place, that mean the rows."""
    matrix = sparse.coo_array(rows)
    order = np.random.default_rng(0).permutation(matrix.nnz)
    row, column, value = matrix.row[order], matrix.col[order], matrix.data[order]
    return np.tile(value / 2, 2), np.tile(row, 2), np.tile(column, 2)


def doubled(rows):
    value, row, column = entries(rows)
    coo = sparse.coo_array((value, (row, column)), shape=rows.shape)
    yield "COO with duplicates", coo
    order = np.argsort(row, kind="stable")
    indptr = np.searchsorted(row[order], np.arange(rows.shape[0] + 1))
    yield "CSR with duplicates", sparse.csr_array((value[order], column[order], indptr), shape=rows.shape)
    order = np.argsort(column, kind="stable")
    indptr = np.searchsorted(column[order], np.arange(rows.shape[1] + 1))
    yield "CSC with duplicates", sparse.csc_array((value[order], row[order], indptr), shape=rows.shape)


def test_counts_need_not_be_whole():
    rows, topics = table_of("multinomial")
    model, quarter = (new_model("multinomial", smoothing=0.0).fit(each, topics) for each in (rows, rows / 4))
    assert_allclose(quarter.profiles_, model.profiles_, rtol=1e-14)


def test_the_input_is_not_changed_and_not_kept(name, rows, topics):
    labels, weights, shares = some_labels(topics), np.ones(N_ROWS), draw_shares(N_ROWS)
    messy = dict(doubled(rows))["CSR with duplicates"]
    before = [getattr(messy, part).copy() for part in ("data", "indices", "indptr")]
    model = new_model(name, init=shares, unlabeled_weight=0.5).fit(messy, labels, sample_weight=weights)
    for part, old in zip(("data", "indices", "indptr"), before, strict=True):
        assert_array_equal(getattr(messy, part), old)
    assert_array_equal(labels, some_labels(topics))
    assert_array_equal(weights, 1.0)
    assert_array_equal(shares, draw_shares(N_ROWS))
    expected = hash_of(model)
    for array in (messy.data, messy.indices, labels, weights, shares):
        array[:] = 0
    assert hash_of(model) == expected


@pytest.fixture
def some_unknown(rows):
    """Rows of which the second and the last hold "new" alone and the third nothing."""
    table = pd.DataFrame(rows[:5], columns=LETTERS).assign(new=[0, 1, 0, 1, 1])
    table.loc[[1, 2, 4], LETTERS] = 0
    table.loc[3, "a"] = 1
    return table


def test_rows_with_nothing_that_the_model_knows_are_told_once_a_call(named, some_unknown, monkeypatch):
    for module in (inputs, count_inputs):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 2)
    assert named.unknown_rows(some_unknown).tolist() == [False, True, False, False, True]
    for ask in (
        named.predict, named.predict_proba, named.score_samples, named.score, named.score_per_token,
        named.bic, named.aic, named.icl,
    ):  # fmt: skip
        with pytest.warns(UnknownFeaturesWarning, match=r"^2 of 5 rows hold features, but none that") as told:
            ask(some_unknown)
        assert [each.filename for each in told] == [__file__]  # the caller's line, not the library's


def test_rows_with_something_that_the_model_knows_are_not_told(rows, named, some_unknown):
    named.predict(some_unknown[["a", "new"]].iloc[[0, 2, 3]])
    named.predict(np.zeros((2, 9)))
    assert named.unknown_rows(rows).sum() == 0
    assert named.unknown_rows(rows[:0]).shape == (0,)
    assert named.unknown_rows(rows[:0]).dtype == bool


def test_blocks_of_rows_change_nothing(name, rows, topics, fitted, monkeypatch):
    expected = new_model(name).fit(rows, some_labels(topics))
    scores, shares = fitted.score_samples(rows), fitted.predict_proba(rows)
    for module in (inputs, count_inputs):
        monkeypatch.setattr(module, "ROWS_PER_BLOCK", 7)
    model = new_model(name).fit(rows, some_labels(topics))
    assert_array_equal(model.profiles_, expected.profiles_)
    assert_array_equal(model.weights_, expected.weights_)
    assert_array_equal(model.labels_, expected.labels_)
    assert_array_equal(fitted.score_samples(rows), scores)
    assert_array_equal(fitted.predict_proba(rows), shares)


@pytest.mark.parametrize("init", ["repaired", "k-means++", "random"])
@pytest.mark.parametrize("algorithm", ["soft", "hard"])
@pytest.mark.parametrize("smoothing", [0.0, 0.1])
@pytest.mark.parametrize(
    "table",
    [
        "one row", "one row, one column", "empty rows", "all rows empty", "all ones", "all alike", "one column",
        "empty columns", "fewer rows than components", "one component",
    ],
)  # fmt: skip
def test_odd_tables(name, rows, init, algorithm, smoothing, table):
    """No warning, no NaN, and answers to everything."""
    odd = {
        "one row": rows[:1], "one row, one column": np.ones((1, 1)), "empty rows": np.vstack([rows, 0 * rows[:9]]),
        "all rows empty": 0 * rows[:5], "all ones": np.ones((5, 4)), "all alike": np.repeat(rows[:1], 6, axis=0),
        "one column": rows[:, :1], "empty columns": np.hstack([rows, 0 * rows]),
        "fewer rows than components": rows[:4], "one component": rows,
    }[table]  # fmt: skip
    n_components = {"one component": 1, "fewer rows than components": 11}.get(table, 3)
    model = new_model(name, n_components=n_components, init=init, algorithm=algorithm, smoothing=smoothing)
    model.fit(odd)
    assert np.all(np.isfinite(model.trace_))
    shares = model.predict_proba(odd)
    assert shares.shape == (odd.shape[0], n_components)
    assert_allclose(shares.sum(axis=1), 1.0)
    assert np.all(np.isfinite(model.score_samples(odd)))
    for array in (model.profiles_, model.weights_, *model.credible_interval()):
        assert np.all((array >= 0.0) & (array <= 1.0))
    assert np.isfinite([model.bic(odd), model.aic(odd), model.icl(odd)]).all()
    for by in ("evidence", "mean", "lift"):
        told = [f[1:] for summary in model.top_features(by=by) for f in summary.features]
        assert np.isfinite(np.array(told, float)).all()
    assert np.isfinite([s[1:4] for s in model.suggest([], level=0.9)]).all()
    assert np.isfinite([s[1:4] for s in model.suggest([], [0], level=0.9)]).all()
    assert model.sample(5, random_state=0)[0].shape == (5, odd.shape[1])
    assert hash_of(type(model).from_payload(model.to_payload())) == hash_of(model)


def test_one_component_is_the_average_row(name, rows):
    model = new_model(name, n_components=1, smoothing=0.0).fit(rows)
    total = rows.sum() if name == "multinomial" else N_ROWS
    assert_allclose(model.profiles_, rows.sum(axis=0, keepdims=True) / total)
    assert_array_equal(model.weights_, [1.0])


def test_empty_rows_go_by_the_weights_and_what_is_lacking(name, rows):
    model = new_model(name).fit(rows)
    share = model.weights_.copy()
    if name == "bernoulli":
        share *= (1.0 - model.profiles_).prod(axis=1)
    assert_allclose(model.predict_proba(np.zeros((1, 9)))[0], share / share.sum())


NOT_ROWS = {
    "path": "ads.csv",
    "None": None,
    "one row": [0, 1, 0, 1, 0, 1, 0, 1, 0],
    "uneven": [[0, 1], [1]],
    "keywords": [["boots"], ["boots", "tea"]],
    "text columns": pd.DataFrame({"ad": [1, 2], "keyword": ["boots", "tea"]}),
    "numbers as text": np.full((2, 9), "1"),
    "three dimensions": np.zeros((2, 2, 9)),
    "complex": np.zeros((2, 9), complex),
    "dates": np.zeros((2, 9), "datetime64[s]"),
    "no columns": np.zeros((2, 0)),
    "a generator": (row for row in np.eye(9)),
    "negative": -np.ones((2, 9)),
    "negative and sparse": sparse.coo_array(-np.ones((2, 9))),
    "NaN": np.full((2, 9), np.nan),
    "NaN and sparse": sparse.csr_array(np.full((2, 9), np.nan)),
    "infinite": sparse.csc_array(np.full((2, 9), np.inf)),
    "missing": pd.DataFrame(np.full((2, 9), None)),
    "damaged": sparse.csr_array((2, 9)),
    "damaged columns": sparse.csc_array((2, 9)),
    "beyond the last column": sparse.csr_array(np.eye(2, 9)),
}
NOT_ROWS["damaged"].indptr[:] = [0, 9, 9]
NOT_ROWS["damaged columns"].indptr[-1] = 4
NOT_ROWS["beyond the last column"].indices[:] = [0, 2**30]


@pytest.mark.parametrize("kind", NOT_ROWS)
def test_what_is_no_rows_changes_nothing(name, kind, fitted):
    model, before, attributes = new_model(name), hash_of(fitted), set(vars(fitted))
    calls = [
        model.fit, fitted.fit, fitted.fit_predict, fitted.predict, fitted.predict_proba, fitted.score_samples,
        fitted.score, fitted.score_per_token, fitted.unknown_rows, fitted.bic, fitted.aic, fitted.icl,
        lambda X: fitted.fit_batches(lambda: [X]),
    ]  # fmt: skip
    for call in calls:
        with pytest.raises(DataError, match=r"'X' (of|must)|^X has 5 features") as caught:
            call(NOT_ROWS[kind])
        assert re.fullmatch(r"[^\n]{50,400}", str(caught.value))
        assert hash_of(fitted) == before
        assert set(vars(fitted)) == attributes
    assert set(vars(model)) == set(model.get_params())


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, -np.inf, 1e60])
def test_values_outside_the_family_are_named(name, rows, fitted, value):
    odd = rows.astype(float)
    odd[7, 5] = value
    shown = "NaN" if np.isnan(value) else str(float(value)).replace("+", r"\+")
    for form in (odd, sparse.csr_array(odd), sparse.csc_array(odd), sparse.coo_array(odd)):
        for call in (new_model(name).fit, fitted.predict, fitted.score_samples):
            with pytest.raises(DataError, match=f"column 5 of row 7 is {shown}"):
                call(form)


def test_counts_are_no_zeros_and_ones():
    rows, _ = table_of("bernoulli")
    with pytest.raises(DataError, match="must hold only 0 and 1, but column 0 of row 0 is 2"):
        new_model("bernoulli").fit(rows * 2)
    model = new_model("bernoulli", binarize=0.5).fit(rows * 3.7)
    assert_array_equal(model.profiles_, new_model("bernoulli").fit(rows).profiles_)
    assert_array_equal(model.predict(rows), model.labels_)


def test_a_data_set_without_features(name, named):
    empty = Dataset.from_matrix(sparse.csr_array((3, 0)), feature_names=[])
    with pytest.raises(DataError, match="'X' of fit must hold features, but none of its rows has any"):
        new_model(name).fit(empty)
    nothing = pd.DataFrame(np.zeros((3, 9), int), columns=LETTERS)
    assert_array_equal(named.score_samples(empty), named.score_samples(nothing))
