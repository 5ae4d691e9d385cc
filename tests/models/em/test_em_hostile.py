"""Arguments of odd types and sizes: what means the same gives the same bits, what cannot be is named."""

import numpy as np
import pandas as pd
import pytest
from mixture_cases import N_ROWS, draw_shares, hash_of, new_model, some_labels
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError

HUGE = [10**12, 2**63, 10**30]


@pytest.mark.parametrize("onlooker", [3, "print", [print], {}])
def test_an_onlooker_that_cannot_be_called_is_told_before_anything_is_learnt(rows, fitted, onlooker):
    before = hash_of(fitted)
    for learn in (fitted.fit, fitted.fit_predict, lambda X, **told: fitted.fit_batches(lambda: [X], **told)):
        with pytest.raises(
            ParameterError, match=r"'on_epoch' of \w+Mixture must be callable or None, but it is "
        ):
            learn(rows, on_epoch=onlooker)
    assert hash_of(fitted) == before


@pytest.mark.parametrize("n_rows", HUGE)
def test_more_rows_than_can_be_drawn(fitted, n_rows):
    with pytest.raises(
        ParameterError, match=f"'n_rows' of sample must be an integer from 0 to .*, but it is {n_rows}"
    ):
        fitted.sample(n_rows)


@pytest.mark.parametrize("n", HUGE)
def test_more_features_than_there_are_is_all_of_them(fitted, n):
    assert [len(each.features) for each in fitted.top_features(n)] == [9] * 3
    assert [len(own) for own in fitted.distinctive_words(n)] == [9] * 3
    assert len(fitted.suggest([0, 4], [8], n=n)) == 6


def wide(rows):
    matrix = sparse.csr_array(rows)
    matrix.indices, matrix.indptr = matrix.indices.astype(np.int64), matrix.indptr.astype(np.int64)
    return matrix


ROW_FORMS = {
    "64-bit indices": wide,
    "objects": lambda rows: rows.astype(object),
    "half precision": lambda rows: rows.astype(np.float16),
    "unsigned": lambda rows: rows.astype(np.uint8),
    "coordinates": sparse.coo_matrix,
    "frame of objects": lambda rows: pd.DataFrame(rows.astype(object)),
}
QUESTIONS = [
    "predict", "predict_proba", "score_samples", "score", "score_per_token", "bic", "aic", "icl", "unknown_rows",
]  # fmt: skip


@pytest.mark.parametrize("question", QUESTIONS)
@pytest.mark.parametrize("form", ROW_FORMS)
def test_every_question_takes_rows_of_every_type(rows, fitted, question, form):
    ask = getattr(fitted, question)
    assert_array_equal(ask(ROW_FORMS[form](rows)), ask(rows))


@pytest.mark.parametrize("question", QUESTIONS)
def test_every_question_takes_truth_values(rows, fitted, question):
    ask = getattr(fitted, question)
    assert_array_equal(ask(rows > 0), ask((rows > 0).astype(float)))


def test_numbers_of_the_other_byte_order(name, rows, topics):
    labels, weights, shares = some_labels(topics), np.linspace(0.5, 2.0, N_ROWS), draw_shares(N_ROWS)
    expected = new_model(name, init=shares).fit(rows, labels, sample_weight=weights)
    swapped = {
        "init": new_model(name, init=shares.astype(">f8")).fit(rows, labels, sample_weight=weights),
        "labels": new_model(name, init=shares).fit(rows, labels.astype(">i4"), sample_weight=weights),
        "weights": new_model(name, init=shares).fit(rows, labels, sample_weight=weights.astype(">f8")),
    }
    for kind, model in swapped.items():
        assert_array_equal(model.profiles_, expected.profiles_, err_msg=kind)


@pytest.mark.parametrize("dtype", [">i2", ">i8", ">f4", ">f8"])
def test_counts_of_the_other_byte_order(name, dtype):
    rows = np.random.default_rng(0).integers(2, size=(30, 5))
    swapped = sparse.csr_array(rows.astype(float))
    swapped.data = swapped.data.astype(dtype)
    model = new_model(name).fit(rows)
    for form in (rows.astype(dtype), swapped, pd.DataFrame(rows.astype(dtype))):
        assert hash_of(new_model(name).fit(form)) == hash_of(model)
        assert_array_equal(model.predict_proba(form), model.predict_proba(rows))


ODD_LABELS = {
    "text": ["0"] * N_ROWS,
    "truth values": [True] * N_ROWS,
    "beyond 64 bits": [2**70] * N_ROWS,
    "unsigned and huge": np.full(N_ROWS, 2**63, np.uint64),
    "a huge float": [1e300] * N_ROWS,
    "complex": [1j] * N_ROWS,
    "missing": [None] * N_ROWS,
    "text among numbers": [0] * (N_ROWS - 1) + ["1"],
    "dates": np.zeros(N_ROWS, "datetime64[s]"),
    "sparse": sparse.csr_array(np.zeros((1, N_ROWS))),
    "a number": 0,
    "a word": "a",
    "uneven": [[0], *[0] * (N_ROWS - 1)],
}


@pytest.mark.parametrize("kind", ODD_LABELS)
def test_labels_of_odd_types_are_named(rows, fitted, kind):
    before = hash_of(fitted)
    for learn in (fitted.fit, fitted.fit_predict, lambda X, y: fitted.fit_batches(lambda: [(X, y)])):
        with pytest.raises(DataError, match="'y' must hold "):
            learn(rows, ODD_LABELS[kind])
    assert hash_of(fitted) == before


def test_labels_go_by_place_whatever_their_index(name, rows, topics):
    labels = some_labels(topics)
    shifted = pd.Series(labels, index=np.arange(N_ROWS)[::-1])
    assert hash_of(new_model(name).fit(rows, shifted)) == hash_of(new_model(name).fit(rows, labels))


def test_rows_elsewhere_must_answer(name):
    for rows in (None, np.eye(3)):
        with pytest.raises(ParameterError, match="'rows' of fit_elsewhere must be Elsewhere, but it is"):
            new_model(name).fit_elsewhere(rows)
