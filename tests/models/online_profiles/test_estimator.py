"""scikit-learn's contract: parameters, copies, pipelines, pure predictions, seeds."""

import copy
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from profile_cases import NAMES, hash_of, new_model, topic_rows
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from sparsemix.foundation.errors import DataError


def test_copies_go_on_alike(rows):
    model = new_model().partial_fit(rows[:80])
    for twin in (copy.deepcopy(model), pickle.loads(pickle.dumps(model))):
        assert hash_of(twin.partial_fit(rows[80:])) == hash_of(copy.deepcopy(model).partial_fit(rows[80:]))


@pytest.mark.parametrize("start", ["new", "no rows yet", "cloned"])
def test_questions_before_the_first_row(rows, fitted, start):
    model = clone(fitted) if start == "cloned" else new_model()
    if start == "no rows yet":
        model.partial_fit(rows[:0])
    questions = [
        lambda: model.predict(rows), lambda: model.predict_proba(rows), lambda: model.score_samples(rows),
        lambda: model.score(rows), model.sample, model.top_features,
        model.credible_interval, lambda: model.suggest([0]), model.to_payload,
        model.prime,
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(NotFittedError):
            question()
    for name in ("weights_", "component_ids_", "log_evidence_", "lineage_", "n_rows_seen_", "labels_"):
        assert not hasattr(model, name), name
    with pytest.raises(AttributeError, match="has not learnt any rows yet: call fit or partial_fit"):
        model.weights_  # noqa: B018


def test_no_rows_at_first(rows):
    """An empty first batch says what the features are; the rest goes on as if it had not been."""
    late = new_model().partial_fit(rows[:0]).partial_fit(rows)
    assert hash_of(late) == hash_of(new_model().partial_fit(rows))
    with pytest.raises(DataError, match="'X' of fit must have at least one row"):
        new_model().fit(rows[:0])


def test_no_rows_later(rows, fitted):
    before = hash_of(fitted)
    fitted.partial_fit(rows[:0])
    assert hash_of(fitted) == before
    assert fitted.predict(rows[:0]).shape == (0,)
    assert fitted.predict_proba(rows[:0]).shape == (0, 2)
    assert fitted.score_samples(rows[:0]).shape == (0,)
    with pytest.raises(DataError, match="'X' of score must have at least one row"):
        fitted.score(rows[:0])


def test_pipelines(rows):
    pipeline = make_pipeline(Binarizer(threshold=0.5), SelectKBest(chi2, k=4), new_model())
    noisy = rows * 0.9 + 0.01
    labels = pipeline.fit(noisy, rows[:, 0]).predict(noisy)
    assert labels.shape == (120,)
    assert pipeline.score(noisy) < 0
    assert pipeline[-1].n_features_in_ == 4


def test_fit_predict(rows):
    model = new_model()
    labels = model.fit_predict(rows)
    assert_array_equal(labels, model.labels_)
    assert_array_equal(labels, model.predict(rows))


def test_fitting_again_starts_anew(rows):
    model = new_model().fit(pd.DataFrame(rows[:, :5], columns=NAMES[:5]))
    model.fit(rows)
    assert hash_of(model) == hash_of(new_model().fit(rows))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 8


def test_partial_fit_goes_on_after_fit(rows):
    assert new_model().fit(rows[:80]).partial_fit(rows[80:]).n_rows_seen_ == 120


def test_answers_are_copies(rows, fitted):
    before = fitted.predict_proba(rows)
    for answer in (fitted.weights_, fitted.component_ids_, fitted.predict_proba(rows), fitted.predict(rows)):
        answer[...] = 0
    fitted.lineage_.clear()
    assert_array_equal(fitted.predict_proba(rows), before)
    assert fitted.lineage_


def test_the_same_seed_gives_the_same_bits(rows):
    assert hash_of(new_model().fit(rows)) == hash_of(new_model().fit(rows))
    state = np.random.RandomState(3)
    seeds = {hash_of(new_model(random_state=state).fit(rows)) for _ in range(2)}
    assert len(seeds) == 2  # a generator goes on
    assert hash_of(new_model(random_state=np.random.RandomState(3)).fit(rows)) in seeds


def test_verbose_says_a_line(rows, capsys):
    new_model(verbose=1).fit(rows)
    assert capsys.readouterr().out.startswith("[OnlineBernoulliMixture] primed with 50 rows")
    new_model().fit(rows)
    assert capsys.readouterr().out == ""


def test_no_warnings(rows):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        new_model(clutter=True).fit(rows).predict(rows)


def test_memory_is_bounded_by_the_model_not_by_the_rows():
    """Rows that are learnt are gone: the state of twice as many is no larger."""
    rows, _ = topic_rows(4_000, 2, 8)
    model = new_model(reservoir_rows=20)
    sizes = []
    for first in (0, 2_000):
        model.partial_fit(rows[first : first + 2_000])
        model.predict(rows[:10])
        sizes.append(sum(array.nbytes for array in model.to_payload().arrays.values()))
    assert sizes[1] <= 1.2 * sizes[0]
