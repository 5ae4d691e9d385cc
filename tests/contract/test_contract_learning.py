"""What learning must not depend on, and values that no model takes."""

import numpy as np
import pytest
from contract_models import hash_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix import DataError, ParameterError, SparsemixError
from sparsemix.metrics import adjusted_rand

TOPICS = np.arange(60) % 3


def test_a_weight_of_two_is_the_row_twice(subject):
    weights = 1 + np.arange(60) % 2
    shares = np.random.default_rng(1).dirichlet(np.ones(3), 60)
    one = subject.learn(model=subject.new(init=shares), sample_weight=weights)
    twice = subject.learn(
        np.repeat(subject.rows, weights, axis=0), subject.new(init=np.repeat(shares, weights, axis=0))
    )
    assert_allclose(one.profiles_, twice.profiles_, rtol=1e-9)
    assert_allclose(one.weights_, twice.weights_, rtol=1e-9)


def test_known_clusters_may_have_other_numbers(subject):
    """Labels in another order: the same clusters in that order."""
    other = np.array([2, 0, 1])
    one, two = (subject.learn(model=subject.new(), y=labels) for labels in (TOPICS, other[TOPICS]))
    assert_allclose(two.weights_[other], one.weights_, rtol=1e-9)
    shares = subject.answers(one)["predict_proba"]
    assert_allclose(subject.answers(two)["predict_proba"][:, other], shares, atol=1e-9)


def test_clusters_to_start_from_may_have_other_numbers(subject):
    """Chains that begin with the topics stay near them, whatever these are called."""
    other = np.array([2, 0, 1])
    one, two = (subject.learn(model=subject.new(init=labels)) for labels in (TOPICS, other[TOPICS]))
    assert min(adjusted_rand(each.labels_, TOPICS) for each in (one, two)) > 0.8
    assert_allclose(np.sort(one.weights_)[-3:].sum(), np.sort(two.weights_)[-3:].sum(), atol=0.1)


def test_labels_are_those_of_the_final_state(subject):
    """And the components are those that the model has."""
    model = subject.fitted()
    assert model.labels_.shape == (60,)
    assert set(model.labels_.tolist()) <= set(model.component_ids_.tolist())
    found = subject.answers(model)
    assert found["predict_proba"].shape == (60, model.component_ids_.size)
    assert_array_equal(found["predict"], model.component_ids_[found["predict_proba"].argmax(axis=1)])
    assert 0.0 < model.weights_.sum() <= 1.0 + 1e-12


@pytest.mark.parametrize("value", [-1, np.nan, np.inf, -np.inf])
def test_values_outside_the_family_are_named(subject, value):
    """In a dense and in a sparse table, by learning and by questions, and nothing changes."""
    odd = subject.rows.astype(float)
    odd[7, 5] = value
    fitted = subject.fitted()
    before = hash_of(fitted)
    for form in (odd, sparse.csr_array(odd)):
        calls = [
            lambda form=form: subject.learn(form),
            lambda form=form: subject.learn(form, fitted),
            lambda form=form: subject.learn_more(fitted, form),
        ]
        calls += [
            lambda form=form, question=question: subject.ask(fitted, question, form)
            for question in subject.questions
            if question != "rates"
        ]
        for call in calls:
            with pytest.raises(DataError, match=r"column 5 of row 7 is"):
                call()
    assert hash_of(fitted) == before


@pytest.mark.parametrize("value", [3, 0.5])
def test_presence_is_zero_or_one(subject, value):
    """Counts and shares given to a model of presence are an error, unless it is told where presence begins."""
    odd = subject.rows.astype(float)
    odd[7, 5] = value
    with pytest.raises(DataError, match=r"only 0 and 1, but column 5 of row 7 is .*binarize=0"):
        subject.learn(odd)
    presence = subject.learn(odd > 0)
    told = subject.learn(odd, subject.new(binarize=0.0))
    assert_array_equal(
        subject.answers(told, odd > 0)["score_samples"], subject.answers(presence, odd > 0)["score_samples"]
    )


NOT_ROWS = {
    "a path": "rows.csv", "nothing": None, "one dimension": np.zeros(9), "three dimensions": np.zeros((2, 2, 9)),
    "uneven": [[0, 1], [1]], "keywords": [["boots", "tea"]], "complex": np.zeros((2, 9), complex),
    "objects": [[{}], [[]]],
}  # fmt: skip


@pytest.mark.parametrize("kind", NOT_ROWS)
def test_what_is_no_rows_changes_nothing(subject, kind):
    fitted = subject.fitted()
    before = hash_of(fitted)
    with pytest.raises(SparsemixError, match=r"'.+' of "):
        fitted.fit(NOT_ROWS[kind])
    assert hash_of(fitted) == before
    new = subject.new()
    with pytest.raises(SparsemixError):
        new.fit(NOT_ROWS[kind])
    assert set(vars(new)) == set(new.get_params())


def test_damaged_sparse_rows_are_refused(subject):
    damaged = sparse.csr_array((2, 9))
    damaged.indptr[:] = [0, 9, 9]
    with pytest.raises(DataError, match="'X' "):
        subject.learn(damaged)


def test_seeds_that_are_none(subject):
    for seed in ("abc", -1, 1.5, 2**32, [1, 2], np.random.default_rng(0)):
        with pytest.raises(ParameterError, match=r"'random_state' of .+ must be an integer from 0 to "):
            subject.learn(model=subject.new(random_state=seed))
