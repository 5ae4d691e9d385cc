"""scikit-learn's contract: parameters, copies, pipelines, searches, named outputs, and its own checks."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import polars as pl
import pytest
from contract_exceptions import OWN_CHECKS
from contract_models import LETTERS, hash_of
from numpy.testing import assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.estimator_checks import check_estimator


def timeless(subject):
    """A model whose rows need no times: pipelines and searches give it none."""
    return subject.new(**({"time_kernel": "step", "decay_rate": None} if subject.has_times else {}))


def test_parameters_go_in_and_out(subject):
    """The constructor stores what it is given and looks at nothing."""
    values = {name: [name] for name in type(subject.new()).__init__.__kwdefaults__ or {}}
    values |= {name: [name] for name in subject.new().get_params()}
    model = type(subject.new())(**values)
    assert all(model.get_params()[name] is value for name, value in values.items())
    assert all(getattr(model, name) is value for name, value in values.items())
    assert subject.new().set_params(**values).get_params() == clone(model).get_params() == values
    assert set(vars(model)) == set(values)


def test_an_unknown_parameter(subject):
    with pytest.raises(ValueError, match="Invalid parameter 'n_clusters'"):
        subject.new().set_params(n_clusters=3)
    with pytest.raises(TypeError, match="n_clusters"):
        subject.new(n_clusters=3)


def test_fitting_leaves_parameters_alone(subject):
    model = subject.new()
    before = model.get_params()
    assert subject.learn(model=model) is model
    assert all(model.get_params()[name] is value for name, value in before.items())


def test_copies_are_the_same_and_apart(subject):
    model = subject.fitted()
    before = hash_of(model)
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert hash_of(twin) == before
        subject.learn_more(twin, subject.rows[:9])
        assert hash_of(model) == before
    assert set(vars(clone(model))) == set(model.get_params())


def test_pipelines(subject):
    model = timeless(subject)
    chain = make_pipeline(FunctionTransformer(), timeless(subject))
    question = "transform" if hasattr(model, "transform") else "predict"
    model.fit(subject.rows), chain.fit(subject.rows)
    assert_array_equal(getattr(chain, question)(subject.rows), getattr(model, question)(subject.rows))
    assert chain.score(subject.rows) == model.score(subject.rows)


def test_a_search_goes_by_the_score(subject):
    name = "n_components" if "n_components" in subject.parameters else "concentration"
    search = GridSearchCV(timeless(subject), {name: [1, 3]}, cv=2, error_score="raise").fit(subject.rows)
    halves = np.split(subject.rows, 2)
    by_hand = [
        np.mean(
            [timeless(subject).set_params(**{name: value}).fit(a).score(b) for b, a in (halves, halves[::-1])]
        )
        for value in (1, 3)
    ]
    np.testing.assert_allclose(search.cv_results_["mean_test_score"], by_hand, rtol=1e-9)
    assert search.best_params_ == {name: (1, 3)[int(np.argmax(by_hand))]}


@pytest.mark.parametrize(("output", "frame"), [("pandas", pd.DataFrame), ("polars", pl.DataFrame)])
def test_named_outputs(subject, output, frame):
    model = subject.named()
    expected = model.transform(subject.rows)
    found = model.set_output(transform=output).transform(pd.DataFrame(subject.rows, columns=list(LETTERS)))
    assert isinstance(found, frame)
    assert list(found.columns) == list(model.get_feature_names_out())
    assert_array_equal(found.to_numpy(), expected)


@pytest.mark.slow
def test_scikit_learns_own_checks(subject):
    changes, expected = OWN_CHECKS[subject.kind]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = timeless(subject).set_params(**changes)
        results = check_estimator(model, expected_failed_checks=expected, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert failed == {}
    assert {r["check_name"] for r in results if r["status"] == "xfail"} == set(expected)
