"""Faults that other libraries of this field have had, as checks of every model; see docs/developer/faults.md."""

import re
import tracemalloc
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from contract_models import hash_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError

ROOT = Path(__file__).parents[2]


@pytest.mark.slow
def test_chains_stay_finite_over_hundreds_of_sweeps(subject):
    """Also of very short rows, among them empty ones."""
    rows = np.random.default_rng(0).poisson(0.2, (612, 9))
    sampled = {"solver": "gibbs"} if "solver" in subject.new().get_params() else {}
    model = subject.learn(rows, subject.new(n_sweeps=300, burn_in=200, thin=50, **sampled))
    names = ("log_joint_", "trace_", "log_likelihood_")
    traces = [getattr(model, name) for name in names if hasattr(model, name)]
    assert [trace.shape for trace in traces] == [(1, 300)]
    assert np.isfinite(traces[0]).all()


def test_one_word_very_often(subject):
    """Every number that the model tells stays finite, and the others are scored as before."""
    often = np.array([[10**6, 0, 0, 0, 0, 0, 0, 0, 0]])
    model = subject.learn(np.vstack([subject.rows, often]))
    public = [getattr(model, name) for name in dir(model) if name.endswith("_") and hasattr(model, name)]
    for found in [*public, *subject.answers(model).values()]:
        if isinstance(found, np.ndarray) and found.dtype.kind == "f":
            assert np.isfinite(found).all()


def test_probabilities_sum_to_one_to_the_last_digits(subject):
    rows = np.random.default_rng(0).poisson(1.0, (100, 30))
    model = subject.learn(np.minimum(rows, subject.rows.max()), subject.new(**_six(subject)))
    for name in ("word_probabilities_", "feature_factors_"):
        if hasattr(model, name):
            assert_allclose(getattr(model, name).sum(axis=1), 1.0, atol=1e-12)
    for question, found in subject.answers(model, model_rows(subject, rows)).items():
        if question == "predict_proba":
            assert_allclose(found.sum(axis=1), 1.0, atol=1e-12)


def _six(subject):
    return {"n_components": 6} if "n_components" in subject.parameters else {}


def model_rows(subject, rows):
    """Rows as the model takes them: counts, or presence."""
    return np.minimum(rows, subject.rows.max())


def test_an_entry_that_is_stored_thirty_times(subject):
    """It adds up: a count of thirty; no presence, and no probability above one."""
    rows = subject.rows.copy()
    rows[3, 4] = 0
    plain, again = sparse.coo_array(rows), np.full(30, 1)
    places = [np.concatenate([own, again * place]) for own, place in zip(plain.coords, (3, 4), strict=True)]
    stored = sparse.coo_array((np.concatenate([plain.data, again]), tuple(places)), shape=rows.shape)
    summed = rows.copy()
    summed[3, 4] = 30
    if subject.rows.max() == 1:
        with pytest.raises(DataError, match="column 4 of row 3 is 30"):
            subject.learn(stored)
        found, expected = (subject.learn(each, subject.new(binarize=0.0)) for each in (stored, summed))
    else:
        found, expected = subject.learn(stored), subject.learn(summed)
    assert hash_of(found) == hash_of(expected)


def test_variables_with_different_numbers_of_levels(subject):
    """One variable has four levels and another three: a column for each level."""
    table = pd.DataFrame({"colour": list("abcd") * 15, "size": list("xyz") * 20})
    rows = pd.get_dummies(table).astype(int)
    model = subject.learn(rows)
    assert model.n_features_in_ == 7
    for found in subject.answers(model, rows).values():
        assert np.isfinite(found).all()


@pytest.mark.parametrize("n", [-1, 0, 1.5, None, "all"])
def test_there_is_no_number_for_all_or_none(subject, n):
    model = subject.fitted()
    for ask in (lambda: model.top_features(n), lambda: model.suggest([0], n=n)):
        with pytest.raises(ParameterError, match=r"'n' of .+ must be "):
            ask()
    assert len(model.top_features(10**6)[0].features) <= 9


def test_rows_that_lack_columns_have_an_answer(subject):
    """Rows that lack some columns have an answer each, and it is that of zeros."""
    model = subject.named()
    few = pd.DataFrame(subject.rows[:5, :3], columns=list("abc"))
    for question, found in subject.answers(model, few).items():
        whole = subject.answers(model, np.hstack([subject.rows[:5, :3], np.zeros((5, 6), int)]))
        assert_array_equal(found, whole[question])


@pytest.mark.slow
def test_wide_sparse_rows_are_not_made_dense(subject):
    """2,000 rows of 250,000 features: dense numbers would take 4 GB."""
    rng = np.random.default_rng(0)
    topics = rng.integers(5, size=2_000)
    columns = topics[:, None] * 50_000 + 2_000 * np.arange(20) + rng.integers(9, size=(2_000, 20))
    rows = sparse.csr_array(
        (np.ones(40_000), columns.ravel(), np.arange(0, 40_001, 20)), shape=(2_000, 250_000)
    )
    tracemalloc.start()
    model = subject.learn(rows)
    if "rates" not in subject.questions:
        subject.answers(model, rows[:500])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 4e8


@pytest.mark.parametrize(("page", "least"), [("developer/faults.md", 60), ("systems/errata.md", 6)])
def test_pages_name_tests_that_there_are(page, least):
    named = re.findall(r"`(tests/[\w/]+\.py)::(\w+)`", (ROOT / "docs" / page).read_text("utf-8"))
    assert len(named) > least
    for path in sorted({path for path, _ in named}):
        functions = re.findall(r"^def (\w+)", (ROOT / path).read_text("utf-8"), re.MULTILINE)
        assert {test for where, test in named if where == path} <= set(functions), path
