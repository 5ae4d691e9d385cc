"""Tables that are odd, but tables: each is learnt and answered in finite numbers, by way of a file too."""

import numpy as np
import pytest
from contract_models import hash_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, load_model, save_model

ODD_TABLES = {
    "one row": lambda rows: rows[:1],
    "one column": lambda rows: rows[:, :1],
    "one row and column": lambda _rows: np.ones((1, 1), int),
    "an empty row": lambda rows: np.vstack([rows, 0 * rows[:9]]),
    "an empty column": lambda rows: np.hstack([rows, 0 * rows]),
    "all ones": lambda _rows: np.ones((5, 4), int),
    "all alike": lambda rows: np.repeat(rows[:1], 6, axis=0),
    "fewer rows than components": lambda rows: rows[:2],
}


def assert_sound(subject, model, rows):
    """Every answer is finite and probabilities sum to one; a file keeps them to the bit."""
    for question, found in subject.answers(model, rows).items():
        assert np.isfinite(found).all(), question
        assert question == "rates" or len(found) == rows.shape[0]
        if question == "predict_proba":
            assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)
    for name in ("weights_", "feature_factors_"):
        if hasattr(model, name):
            assert np.isfinite(getattr(model, name)).all()
    if hasattr(model, "top_features"):
        told = [f[1:] for summary in model.top_features(2) for f in summary.features]
        assert np.isfinite(np.array(told, float)).all()
        assert np.isfinite([suggestion[1:4] for suggestion in model.suggest([])]).all()


@pytest.mark.parametrize("kind", ODD_TABLES)
def test_odd_tables(subject, kind, tmp_path):
    rows = ODD_TABLES[kind](subject.rows)
    model = subject.learn(rows)
    assert_sound(subject, model, rows)
    save_model(model, tmp_path / "odd.smx")
    loaded = load_model(tmp_path / "odd.smx")
    assert hash_of(loaded) == hash_of(model)
    for question, found in subject.answers(model, rows).items():
        assert_array_equal(subject.answers(loaded, rows)[question], found)


def test_rows_without_anything(subject):
    rows = 0 * subject.rows[:5]
    model = subject.learn(rows)
    assert_sound(subject, model, rows)
    assert hash_of(type(model).from_payload(model.to_payload())) == hash_of(model)


def test_one_component(subject):
    model = subject.learn(model=subject.new(n_components=1))
    assert_sound(subject, model, subject.rows)
    if hasattr(model, "predict_proba"):
        assert_array_equal(model.predict(subject.rows), 0)


def test_no_rows(subject):
    """They teach nothing, and have an answer each."""
    none = subject.rows[:0]
    with pytest.raises(DataError, match=r"'.+' of .+ must (have at least one|hold)"):
        subject.learn(none)
    fitted = subject.fitted()
    before = hash_of(fitted)
    with pytest.raises(DataError):
        subject.learn(none, model=fitted)
    assert hash_of(fitted) == before
    for question, found in subject.answers(fitted, none).items():
        assert found.shape[0] == 0, question


def test_no_rows_have_no_score(subject):
    fitted = subject.fitted()
    with pytest.raises(DataError, match="at least one row"):
        subject.ask(fitted, "score", subject.rows[:0])


def test_no_columns(subject):
    with pytest.raises(DataError, match=r"'X' of .+ must "):
        subject.learn(np.zeros((3, 0)))


@pytest.mark.parametrize("length", [1, 77, 10**3, 10**6])
def test_long_rows_stay_with_their_like(subject, length):
    """A row of many words, or of many features, goes to the cluster of its own and not to the last one."""
    holds_counts = subject.rows.max() > 1
    n_features = 18 if holds_counts else min(max(2 * length, 18), 2 * 10**5)
    half = n_features // 2
    columns = np.concatenate([np.arange(9) + (i % 2) * half for i in range(60)])
    rows = sparse.csr_array((np.ones(540, int), columns, np.arange(0, 541, 9)), shape=(60, n_features))
    model = subject.learn(rows)
    if holds_counts:
        long = np.repeat(np.eye(2, dtype=int) * -(-length // 9), 9, axis=1)
    else:
        in_each = min(length, half)
        columns = np.concatenate([np.arange(in_each), half + np.arange(in_each)])
        long = sparse.csr_array(
            (np.ones(2 * in_each), columns, [0, in_each, 2 * in_each]), shape=(2, n_features)
        )
    short = subject.ask(model, "predict", rows[:2])
    assert short[0] != short[1]
    assert_array_equal(subject.ask(model, "predict", long), short)
    assert_sound(subject, model, long)
