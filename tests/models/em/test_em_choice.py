"""Several numbers of components in one table: by hand, in every form of input, and with whatever cannot be."""

import re

import numpy as np
import pandas as pd
import pytest
from mixture_cases import LETTERS, N_ROWS, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_array_equal
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

import sparsemix as sm
from sparsemix import DataError, Dataset, ParameterError
from sparsemix.models.em import Candidate

SECONDS = Candidate._fields.index("seconds")


def compare(name, rows, n_components=(1, 3), **options):
    return sm.compare_n_components(new_model(name), rows, n_components, **({"random_state": 0} | options))


def timeless(table):
    return [tuple(candidate)[:SECONDS] for candidate in table]


def divided(n_rows, held_out, seed=0):
    """Positions of the rows that are set apart and of those that are learnt, as the function draws them."""
    order = np.random.default_rng(seed).permutation(n_rows)
    return np.sort(order[:held_out]), np.sort(order[held_out:])


def test_the_table_is_that_of_fits_by_hand(name, rows):
    held, kept = divided(N_ROWS, 15)
    for candidate in compare(name, rows, [3, 1, 70], held_out=0.25):
        model = new_model(name, n_components=candidate.n_components).fit(rows[kept])
        learnt, unseen = rows[kept], rows[held]
        expected = Candidate(
            candidate.n_components, model.score(unseen), model.score_per_token(unseen), model.bic(learnt),
            model.aic(learnt), model.icl(learnt), model.trace_[-1], model.n_iter_, model.converged_, 0.0,
        )  # fmt: skip
        assert candidate._replace(seconds=0.0) == pytest.approx(expected, rel=1e-12)
        assert candidate.seconds > 0.0


def test_the_order_is_kept_and_numbers_come_in_any_list(name, rows):
    expected = timeless(compare(name, rows, [3, 1]))
    assert [candidate[0] for candidate in expected] == [3, 1]
    for numbers in ((3, 1), np.array([3, 1], np.int8), (k for k in (3, 1)), pd.Series([3, 1])):
        assert timeless(compare(name, rows, numbers)) == expected


def test_the_number_of_topics_is_found_by_every_measure(name):
    table = compare(name, table_of(name, 600)[0], [1, 2, 3, 4])
    assert min(table, key=lambda candidate: candidate.bic).n_components == 3
    assert min(table, key=lambda candidate: candidate.icl).n_components == 3
    assert max(table, key=lambda candidate: candidate.per_row).n_components in {3, 4}
    assert table[0].per_token < table[1].per_token < table[2].per_token


def test_known_labels_are_learnt_but_not_those_of_rows_set_apart(name, rows, topics):
    held, kept = divided(N_ROWS, 12)
    labels = some_labels(topics)
    [found] = compare(name, rows, [3], y=labels)
    labels[held] = -1
    [blind] = compare(name, rows, [3], y=labels)
    assert timeless([found]) == timeless([blind])
    model = new_model(name).fit(rows[kept], labels[kept])
    assert found.objective == pytest.approx(model.trace_[-1], rel=1e-12)


def test_labels_that_are_all_set_apart_are_none(name, rows):
    held, _ = divided(N_ROWS, 12)
    labels = np.full(N_ROWS, -1)
    labels[held] = 0
    assert timeless(compare(name, rows, y=labels)) == timeless(compare(name, rows))


def test_every_form_of_rows_gives_the_same_table(name, rows):
    expected = timeless(compare(name, rows))
    int64 = sparse.csr_array(rows)
    int64.indices, int64.indptr = int64.indices.astype(np.int64), int64.indptr.astype(np.int64)
    forms = [
        sparse.csr_array(rows), sparse.csc_array(rows), sparse.coo_matrix(rows), int64, rows.astype(object),
        rows.astype(np.float16), rows.astype(np.uint64), rows.tolist(), pd.DataFrame(rows, columns=LETTERS),
        Dataset.from_matrix(rows, feature_names=LETTERS),
    ]  # fmt: skip
    for form in forms:
        assert timeless(compare(name, form)) == expected


def test_truth_values_are_zeros_and_ones(name, rows):
    assert timeless(compare(name, rows > 0)) == timeless(compare(name, np.minimum(rows, 1)))


def test_counts_are_binarized_as_the_model_says():
    rows, _ = table_of("multinomial")
    table = sm.compare_n_components(new_model("bernoulli", binarize=1), rows, [2], random_state=0)
    again = sm.compare_n_components(new_model("bernoulli"), rows > 1, [2], random_state=0)
    assert timeless(table) == timeless(again)


def test_neither_the_model_nor_the_rows_change(rows, fitted):
    before, table, copy = hash_of(fitted), sparse.csr_array(rows), rows.copy()
    sm.compare_n_components(fitted, table, [2], random_state=0)
    assert hash_of(fitted) == before
    assert fitted.n_components == 3
    assert_array_equal(table.toarray(), copy)


def test_rows_set_apart_without_words_have_no_score_per_token(name):
    rows = np.vstack([np.eye(3)[np.arange(30) % 3], np.zeros((1, 3))])
    seed = next(seed for seed in range(1000) if divided(31, 1, seed)[0][0] == 30)
    [candidate] = compare(name, rows, [2], held_out=1e-9, random_state=seed)
    assert np.isnan(candidate.per_token)
    assert np.isfinite(candidate.per_row)


def test_a_number_that_has_not_converged_is_told(name, rows):
    with pytest.warns(ConvergenceWarning, match="has not converged after 1 epochs"):
        [candidate] = sm.compare_n_components(new_model(name, max_iter=1), rows, [2], random_state=0)
    assert candidate.converged is False


BAD_ARGUMENTS = [
    ({"n_components": 3}, "a list of integers, but it is 3"),
    ({"n_components": "3"}, "a list of integers, but it is '3'"),
    ({"n_components": None}, "a list of integers, but it is None"),
    ({"n_components": []}, "a list of integers >= 1"),
    ({"n_components": [2, 0]}, "a list of integers >= 1, but it is 0"),
    ({"n_components": [2.0]}, "a list of integers >= 1, but it is 2.0"),
    ({"n_components": [True]}, "a list of integers >= 1, but it is True"),
    ({"n_components": [[1, 2]]}, r"a list of integers >= 1, but it is \[1, 2\]"),
    ({"held_out": 0.0}, r"a number in \(0, 1\), but it is 0.0"),
    ({"held_out": 1}, r"a number in \(0, 1\), but it is 1"),
    ({"held_out": np.nan}, r"a number in \(0, 1\), but it is nan"),
    ({"held_out": "0.2"}, r"a number in \(0, 1\), but it is '0.2'"),
    ({"held_out": None}, r"a number in \(0, 1\), but it is None"),
    ({"random_state": "a"}, "an integer >= 0, a numpy.random.Generator or None, but it is 'a'"),
    ({"random_state": -1}, "an integer >= 0"),
]


@pytest.mark.parametrize(("wrong", "words"), BAD_ARGUMENTS)
def test_wrong_arguments(name, rows, wrong, words):
    [argument] = wrong
    options = {"n_components": [1, 2]} | wrong
    with pytest.raises(ParameterError, match=f"'{argument}' of compare_n_components must be {words}"):
        compare(name, rows, options.pop("n_components"), **options)


@pytest.mark.parametrize("model", [None, "multinomial", sm.MultinomialMixture, sm.OnlineBernoulliMixture()])
def test_wrong_models(model):
    words = "'model' of compare_n_components must be a MultinomialMixture or BernoulliMixture, but it is "
    with pytest.raises(ParameterError, match=words):
        sm.compare_n_components(model, np.eye(3), [1])


def test_a_start_for_one_number_of_all_rows(name, rows):
    model = new_model(name, init=np.full((len(rows), 2), 0.5))
    with pytest.raises(
        ParameterError, match=r"'init' of compare_n_components must be one of .*Responsibilities"
    ):
        sm.compare_n_components(model, rows, [2])


def test_the_models_own_rules_hold(name, rows):
    with pytest.raises(ParameterError, match=r"'smoothing' of .* must be a number >= 0"):
        sm.compare_n_components(new_model(name, smoothing=-1.0), rows, [1])
    with pytest.raises(ParameterError, match=r"'n_components' of .* at most 1,000,000"):
        compare(name, rows, [10**30])


@pytest.mark.parametrize(
    ("labels", "words"),
    [
        ([0], "'y' must hold one label per row, 60, but its shape is"),
        (["a"] * N_ROWS, "'y' must hold integers, -1 for unknown, but it holds 'a' for row 0"),
        (np.full(N_ROWS, np.nan), "'y' must hold integers"),
        (np.full(N_ROWS, 1), r"'y' must hold labels from -1 \(unknown\) to 0, but it holds 1 to 1"),
    ],
)
def test_wrong_labels_are_told_before_anything_is_fitted(name, rows, labels, words):
    with pytest.raises(DataError, match=words):
        compare(name, rows, [3, 1], y=labels)


NOT_ROWS = {
    "path": "ads.csv", "None": None, "uneven": [[0, 1], [1]], "keywords": [["boots"], ["boots", "tea"]],
    "text": np.full((4, 9), "1"), "three dimensions": np.zeros((2, 2, 9)), "complex": np.zeros((4, 9), complex),
    "no columns": np.zeros((4, 0)), "no rows": np.zeros((0, 9)), "one row": np.zeros((1, 9)),
    "a generator": (row for row in np.eye(9)), "missing": pd.DataFrame(np.full((4, 9), None)),
    "empty": np.zeros((0, 0)),
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_ROWS)
def test_what_is_no_rows(name, kind):
    with pytest.raises(DataError, match=r"^'X' of ") as caught:
        compare(name, NOT_ROWS[kind])
    assert re.fullmatch(r"[^\n]{50,400}", str(caught.value))


@pytest.mark.parametrize("value", [-1, np.nan, np.inf])
def test_values_are_named_by_their_place_among_all_rows(name, rows, value):
    odd = rows.astype(float)
    odd[47, 5] = value
    for form in (odd, sparse.csr_array(odd), sparse.csc_array(odd)):
        with pytest.raises(DataError, match="column 5 of row 47 is "):
            compare(name, form)


def test_names_that_stand_twice(name, rows):
    with pytest.raises(DataError, match="'X' must name each column once, but 'a' stands twice"):
        compare(name, pd.DataFrame(rows, columns=["a", *LETTERS[:-1]]))
