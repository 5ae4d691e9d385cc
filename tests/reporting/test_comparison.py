"""Models are compared on rows that none has learnt, at what they cost alone."""

import tracemalloc
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator

import sparsemix as sm
from sparsemix.data.synthetic import make_bernoulli_mixture
from sparsemix.metrics import adjusted_rand, normalized_mutual_information
from sparsemix.reporting import Comparison, compare_models
from sparsemix.reporting.comparison import FEW, n_tokens

N_ROWS = 300
WORDS = ["ask", "bid", "cat", "dog"]


@pytest.fixture(scope="module")
def rows():
    matrix, topics = make_bernoulli_mixture(N_ROWS, 12, 3, sparse=True, random_state=4)
    counts = matrix * 2.0
    return sm.Dataset.from_matrix(counts, labels=np.where(np.arange(N_ROWS) % 3 == 0, topics, -1))


def models():
    return {
        "online": sm.OnlineBernoulliMixture(3, binarize=0.0, random_state=0),
        "counts": sm.MultinomialMixture(3, random_state=0),
        "presence": sm.BernoulliMixture(3, binarize=0.0, random_state=0),
    }


def test_scores_are_those_of_rows_that_were_not_learnt(rows):
    found = compare_models(models(), rows, held_out=0.25, seed=3)
    train, rest = rows.split(0.25, 3)
    assert len(rest) == 75
    assert [each.name for each in found] == ["online", "counts", "presence"]
    for each, model in zip(found, models().values(), strict=True):
        model.fit(train)
        clusters, known = model.predict(rest), rest.labels >= 0
        scores = model.score_samples(rest)
        n_keywords = rest.matrix.sum() if each.name == "counts" else rest.matrix.nnz
        assert each.per_row == pytest.approx(scores.mean(), rel=1e-12)
        assert each.per_token == pytest.approx(scores.sum() / n_keywords, rel=1e-12)
        assert each.n_clusters == len(set(clusters))
        assert each.nmi == normalized_mutual_information(rest.labels[known], clusters[known])
        assert each.ari == adjusted_rand(rest.labels[known], clusters[known])
        assert each.converged
        assert each.seconds > 0.0
        assert each.megabytes > 0.0


def test_models_are_fitted_in_place_and_never_see_the_labels(rows):
    one, other = models(), models()
    compare_models(one, rows, memory=False)
    without = sm.Dataset.from_matrix(rows.matrix)
    compare_models(other, without, memory=False)
    for name, model in one.items():
        assert model.predict(rows).tolist() == other[name].predict(without).tolist()


def test_without_labels_agreement_is_with_the_first_model(rows):
    found = compare_models(models(), sm.Dataset.from_matrix(rows.matrix), memory=False)
    assert (found[0].nmi, found[0].ari) == (1.0, 1.0)
    assert found[1].ari != 1.0


def test_without_a_label_among_the_held_out_rows_there_is_no_agreement(rows):
    none = sm.Dataset.from_matrix(rows.matrix, labels=np.full(N_ROWS, -1))
    [found] = compare_models({"one": sm.BernoulliMixture(2, binarize=0.0)}, none)
    assert np.isnan([found.nmi, found.ari]).all()
    assert np.isfinite(found.per_row)


def test_the_same_seed_is_the_same_split(rows):
    def compared(seed):
        [found] = compare_models({"one": sm.MultinomialMixture(2, random_state=0)}, rows, seed=seed)
        return found.per_row

    assert compared(1) == compared(1) != compared(2)


def test_a_model_that_has_not_converged_says_so(rows):
    model = sm.MultinomialMixture(3, max_iter=1, random_state=0)
    with pytest.warns(UserWarning, match="has not converged after 1 epochs") as warned:
        [found] = compare_models({"short": model}, rows)
    assert not found.converged
    assert len(warned) == 1  # the fits before, which compile and trace, are silent


class Spy(BaseEstimator):
    """Remembers how it was fitted; holds ten megabytes while it is."""

    binarize = None
    fits: list = []  # noqa: RUF012  (of all clones)

    def fit(self, rows):
        held = np.zeros(1_250_000)
        self.fits.append((len(rows), tracemalloc.is_tracing(), held.size))
        return self

    def partial_fit(self, rows):
        self.fits.append(("more", len(rows)))
        return self

    def predict(self, rows):
        return np.zeros(len(rows), int)

    def score_samples(self, rows):
        return np.zeros(len(rows))


@pytest.mark.parametrize("memory", [True, False])
def test_time_is_that_of_a_fit_with_compiled_kernels_and_nothing_traced(rows, memory):
    Spy.fits.clear()
    [found] = compare_models({"spy": Spy()}, rows, held_out=0.5, memory=memory)
    traced = [(150, True, 1_250_000)] if memory else []
    assert [(FEW, False, 1_250_000), ("more", FEW), *traced, (150, False, 1_250_000)] == Spy.fits
    if memory:
        assert 10.0 <= found.megabytes < 10.5
    else:
        assert np.isnan(found.megabytes)


def test_the_name_is_told_before_each_fit(rows):
    told = []
    compare_models({"a": Spy(), "b": Spy()}, rows, memory=False, on_fit=told.append)
    assert told == ["a", "b"]


@pytest.mark.parametrize("held_out", [0.0, 1.0, -0.1, 2, np.nan, "half", None])
def test_the_share_must_leave_rows_on_both_sides(rows, held_out):
    with pytest.raises(
        sm.ParameterError, match="'held_out' of compare_models must be a number between 0 and 1"
    ):
        compare_models({"spy": Spy()}, rows, held_out=held_out)


def test_there_must_be_a_model_and_two_rows(rows):
    with pytest.raises(sm.ParameterError, match="at least one model"):
        compare_models({}, rows)
    with pytest.raises(sm.DataError, match="of 1 row 1 would be learnt and 0 held out"):
        compare_models({"spy": Spy()}, rows[:1])
    with pytest.raises(sm.DataError, match="of 0 rows 0 would be learnt"):
        compare_models({"spy": Spy()}, rows[:0])
    [found] = compare_models({"one": sm.BernoulliMixture(5, binarize=0.0)}, rows[:2], held_out=0.5)
    assert isinstance(found, Comparison)


def asked(counts, names=WORDS):
    return sm.Dataset.from_matrix(np.array([counts]), feature_names=names)


@pytest.mark.parametrize(
    ("kind", "options", "expected"),
    [
        (sm.MultinomialMixture, {}, 3 + 1),
        (sm.BernoulliMixture, {"binarize": 0.0}, 2),
        (sm.BernoulliMixture, {"binarize": 2.0}, 1),
        (sm.OnlineBernoulliMixture, {"binarize": 0.0}, 3),
    ],
)
def test_keywords_are_those_that_the_model_scores(kind, options, expected):
    """Three asks, one bid, five yaks: mixtures by EM do not know what a yak is and leave it out of account."""
    model = kind(1, random_state=0, **options).fit(asked([1, 1, 1, 1]))
    assert n_tokens(model, asked([3, 1, 0, 5], ["ask", "bid", "cat", "yak"])) == expected


def test_keywords_without_names_are_all_known():
    model = sm.MultinomialMixture(1).fit(np.eye(2))
    assert n_tokens(model, sm.Dataset.from_matrix(np.array([[2, 5]]))) == 7


@pytest.mark.parametrize(("counts", "expected"), [(True, 5), (False, 2), (None, 2)])
def test_the_model_itself_says_whether_it_counts(counts, expected):
    """One that says nothing asks for presence only."""
    says = {} if counts is None else {"takes_counts": counts}
    assert n_tokens(SimpleNamespace(binarize=None, **says), asked([3, 2, 0, 0])) == expected
