"""scikit-learn's contract: parameters, copies, pipelines, searches, pure predictions, seeds; and what a fit leaves."""

import numpy as np
import pandas as pd
import pytest
from mixture_cases import (
    LETTERS,
    MIXTURES,
    N_ROWS,
    draw_shares,
    hash_of,
    new_model,
    some_labels,
    table_of,
)
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.feature_selection import SelectKBest, chi2
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import BernoulliNB, MultinomialNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import Binarizer

from sparsemix import DataError
from sparsemix.metrics import adjusted_rand


def noise(n_rows):
    """Rows without topics: EM takes long over them, and ends elsewhere from each start."""
    return np.random.default_rng(3).integers(2, size=(n_rows, 9))


def test_fitting_leaves_parameters_alone(name, rows):
    shares, words = draw_shares(N_ROWS), {0: ["a"]}
    model = new_model(name, init=shares, seed_words=words)
    before = model.get_params()
    assert model.fit(pd.DataFrame(rows, columns=LETTERS)) is model
    after = model.get_params()
    assert after.pop("init") is before.pop("init")
    assert after == before
    assert_array_equal(shares, draw_shares(N_ROWS))
    assert words == {0: ["a"]}


def test_questions_before_the_first_row(name, rows):
    model = new_model(name)
    questions = [
        lambda: model.predict(rows), lambda: model.predict_proba(rows), lambda: model.score_samples(rows),
        lambda: model.score(rows), lambda: model.score_per_token(rows), lambda: model.bic(rows),
        lambda: model.aic(rows), lambda: model.icl(rows), lambda: model.unknown_rows(rows), model.sample,
        model.top_features, model.distinctive_words, model.credible_interval, lambda: model.suggest([0]),
        model.to_payload,
    ]  # fmt: skip
    for question in questions:
        with pytest.raises(NotFittedError):
            question()
    for attribute in (
        "weights_", "component_ids_", "profiles_", "trace_", "objective_", "log_likelihood_", "n_iter_",
        "converged_", "n_impossible_", "labels_", "n_features_in_",
    ):  # fmt: skip
        assert not hasattr(model, attribute), attribute
    with pytest.raises(AttributeError, match="has not learnt any rows yet: call fit"):
        model.objective_  # noqa: B018


def test_no_rows(name, rows, fitted):
    before = hash_of(fitted)
    for model in (new_model(name), fitted):
        with pytest.raises(DataError, match="'X' of fit must have at least one row"):
            model.fit(rows[:0])
    assert fitted.predict(rows[:0]).shape == fitted.score_samples(rows[:0]).shape == (0,)
    assert fitted.predict(rows[:0]).dtype == np.int64
    assert fitted.predict_proba(rows[:0]).shape == (0, 3)
    for ask in ("score", "score_per_token", "bic", "aic", "icl"):
        with pytest.raises(DataError, match=f"'X' of {ask} must have at least one row, but it has none"):
            getattr(fitted, ask)(rows[:0])
    assert hash_of(fitted) == before


def test_attributes_agree(name, rows, fitted):
    assert_array_equal(fitted.labels_, fitted.predict(rows))
    assert_array_equal(fitted.predict_proba(rows).argmax(axis=1), fitted.labels_)
    assert_allclose(fitted.predict_proba(rows).sum(axis=1), 1.0)
    assert fitted.weights_.sum() == pytest.approx(1.0)
    assert fitted.component_ids_.tolist() == [0, 1, 2]
    assert fitted.n_features_in_ == 9
    assert fitted.n_iter_ == fitted.trace_.size >= 2
    assert fitted.converged_ is True
    assert fitted.n_impossible_ == 0
    assert fitted.log_likelihood_ == pytest.approx(fitted.score_samples(rows).sum())
    if name == "multinomial":
        assert_array_equal(fitted.word_probabilities_, fitted.profiles_)
        assert_allclose(fitted.profiles_.sum(axis=1), 1.0)


def test_topics_are_found(topics, fitted):
    assert adjusted_rand(topics, fitted.labels_) > 0.8


def test_pipelines(name, rows, topics):
    noisy = rows * 0.9 + 0.01
    first = [Binarizer(threshold=0.5)] if name == "bernoulli" else []
    pipeline = make_pipeline(*first, SelectKBest(chi2, k=4), new_model(name))
    labels = pipeline.fit(noisy, topics).predict(noisy)
    assert labels.shape == (N_ROWS,)
    assert pipeline.score(noisy) < 0
    assert pipeline[-1].n_features_in_ == 4
    assert_array_equal(pipeline.fit_predict(noisy, topics), topics)


def test_a_search_by_score_finds_the_number_of_topics(name):
    rows, _ = table_of(name, 240)
    search = GridSearchCV(new_model(name), {"n_components": [1, 3]}, cv=3).fit(rows)
    assert search.best_params_ == {"n_components": 3}
    assert search.score(rows) == pytest.approx(search.best_estimator_.score_samples(rows).mean())


def test_fit_predict_knows_labels(name, rows, topics):
    """scikit-learn's own forgets them."""
    labels = some_labels(topics)
    expected = new_model(name).fit(rows, labels)
    model = new_model(name)
    assert_array_equal(model.fit_predict(rows, labels), expected.labels_)
    assert hash_of(model) == hash_of(expected)
    weights = np.arange(1.0, N_ROWS + 1)
    model.fit_predict(rows, sample_weight=weights)
    assert hash_of(model) == hash_of(new_model(name).fit(rows, sample_weight=weights))


def test_known_rows_are_where_they_are_known_to_be(name, rows, topics):
    labels = some_labels(topics)
    labels[0] = 1  # an odd one: it looks like topic 0
    model = new_model(name).fit(rows, labels)
    assert_array_equal(model.labels_[labels >= 0], labels[labels >= 0])
    assert_array_equal(model.labels_[labels < 0], model.predict(rows)[labels < 0])
    assert model.predict(rows)[0] == 0


def test_fitting_again_starts_anew(name, rows):
    model = new_model(name).fit(pd.DataFrame(rows[:, :5], columns=LETTERS[:5]))
    model.fit(rows)
    assert hash_of(model) == hash_of(new_model(name).fit(rows))
    assert not hasattr(model, "feature_names_in_")
    assert model.n_features_in_ == 9


def test_questions_change_nothing_and_answers_are_copies(rows, fitted):
    before, first = hash_of(fitted), fitted.predict_proba(rows)
    for ask in (
        fitted.predict, fitted.predict_proba, fitted.score_samples, fitted.score, fitted.bic, fitted.aic,
        fitted.icl, fitted.score_per_token, fitted.unknown_rows,
    ):  # fmt: skip
        ask(rows)
    fitted.sample(5), fitted.top_features(), fitted.distinctive_words()
    fitted.suggest([0], [1])
    for answer in (
        fitted.weights_, fitted.profiles_, fitted.component_ids_, fitted.trace_, *fitted.credible_interval(),
        fitted.predict_proba(rows), fitted.predict(rows),
    ):  # fmt: skip
        answer[...] = 0
    assert hash_of(fitted) == before
    assert_array_equal(fitted.predict_proba(rows), first)


@pytest.mark.parametrize("init", ["repaired", "k-means++", "random"])
def test_the_same_seed_gives_the_same_bits(name, init):
    rows = noise(200)
    first, second = (hash_of(new_model(name, init=init, n_init=2).fit(rows)) for _ in range(2))
    assert first == second
    state = np.random.RandomState(3)
    drawn = [hash_of(new_model(name, init=init, random_state=state).fit(rows)) for _ in range(2)]
    if init != "repaired":  # which ends in the same place, here
        assert drawn[0] != drawn[1]  # a generator goes on
    assert hash_of(new_model(name, init=init, random_state=np.random.RandomState(3)).fit(rows)) == drawn[0]


@pytest.mark.parametrize("algorithm", ["soft", "hard"])
def test_threads_change_no_bit(name, rows, topics, algorithm):
    models = [
        new_model(name, n_jobs=n, algorithm=algorithm, n_components=5).fit(rows, some_labels(topics))
        for n in (None, 1, 2, 3)
    ]
    for model in models[1:]:
        assert hash_of(model.set_params(n_jobs=None)) == hash_of(models[0])
        assert_array_equal(model.labels_, models[0].labels_)


def test_verbose_says_a_line_an_epoch(name, rows, capsys):
    model = new_model(name, verbose=1, n_init=2, init="random").fit(rows)
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].startswith(f"[{MIXTURES[name].__name__}] start 1 of 2, epoch 1: log likelihood plus log")
    assert lines[-1].startswith(f"[{MIXTURES[name].__name__}] start 2 of 2, epoch ")
    assert any(line.endswith(f"{model.trace_[-1]:.6g}") for line in lines)
    new_model(name).fit(rows)
    assert capsys.readouterr().out == ""


@pytest.mark.parametrize("algorithm", ["soft", "hard"])
@pytest.mark.parametrize("smoothing", [0.0, 0.3])
def test_the_trace_never_falls_and_says_what_it_is(name, rows, algorithm, smoothing):
    model = new_model(name, algorithm=algorithm, smoothing=smoothing, init="random").fit(rows)
    assert np.all(np.diff(model.trace_) >= -1e-9 * np.abs(model.trace_[:-1]))
    likelihood = "classification log likelihood" if algorithm == "hard" else "log likelihood"
    assert model.objective_ == likelihood + (" plus log prior" if smoothing else "")
    log_likelihood = model.score_samples(rows).sum()
    if algorithm == "hard":
        log_likelihood += np.log(model.predict_proba(rows).max(axis=1)).sum()
    log_prior = smoothing * np.log(model.profiles_).sum() if smoothing else 0.0
    if smoothing and name == "bernoulli":
        log_prior += smoothing * np.log1p(-model.profiles_).sum()
    assert model.log_likelihood_ == pytest.approx(log_likelihood)
    assert model.trace_[-1] == pytest.approx(log_likelihood + log_prior)


def test_the_objective_of_pseudo_counts_of_rows_and_seed_words(name, rows):
    for prior in ({"class_weight_prior": 2.0}, {"seed_words": {0: [0]}}):
        model = new_model(name, smoothing=0.0, **prior).fit(rows)
        assert model.objective_ == "log likelihood plus log prior"
        extra = model.trace_[-1] - model.log_likelihood_
        of_weights = 2.0 * np.log(model.weights_).sum()
        of_words = 10.0 * np.log(model.profiles_[0, 0])
        assert extra == pytest.approx(of_weights if "class_weight_prior" in prior else of_words)


def test_too_few_epochs_are_told(name, rows):
    with pytest.warns(ConvergenceWarning, match="has not converged after 1 epochs. Raise max_iter") as told:
        model = new_model(name, max_iter=1).fit(rows)
    assert told[0].filename == __file__
    assert model.converged_ is False
    assert model.n_iter_ == 1


BAYES = {"multinomial": MultinomialNB, "bernoulli": BernoulliNB}


@pytest.mark.parametrize("smoothing", [1e-3, 0.1, 1.0])
@pytest.mark.parametrize("n_components", [3, 5])
@pytest.mark.parametrize("weighted", [False, True])
def test_all_rows_labelled_are_naive_bayes(name, rows, topics, smoothing, n_components, weighted):
    """Also with components that no row is known of: they have weight zero."""
    weights = np.linspace(0.5, 2.0, N_ROWS) if weighted else None
    model = new_model(name, smoothing=smoothing, n_components=n_components)
    model.fit(rows, topics, sample_weight=weights)
    bayes = BAYES[name](alpha=smoothing).fit(rows, topics, sample_weight=weights)
    new = np.random.default_rng(7).integers(2, size=(40, 9))
    new[0] = 0
    found, expected = model.predict_proba(new), bayes.predict_proba(new)
    assert_allclose(found[:, :3], expected, rtol=0, atol=1e-12)
    assert_array_equal(found[:, 3:], 0.0)
    assert_allclose(np.log(model.weights_[:3]), bayes.class_log_prior_, rtol=0, atol=1e-12)
    assert_allclose(np.log(model.profiles_[:3]), bayes.feature_log_prob_, rtol=1e-12, atol=1e-12)
    assert_array_equal(model.predict(new), bayes.predict(new))


def test_labels_of_two_topics_leave_room_for_a_third(name):
    rows, topics = table_of(name, 240)
    labels = np.where((np.arange(240) % 5 == 0) & (topics < 2), topics, -1)
    model = new_model(name).fit(rows, labels)
    assert np.mean(model.labels_ == topics) > 0.85
    more = new_model(name, n_components=6).fit(rows, labels)
    for topic in (0, 1):
        own = more.labels_[topics == topic]
        assert np.bincount(own).argmax() == topic


def test_a_weight_of_two_is_the_row_twice(name, rows, topics):
    shares, labels, times = draw_shares(N_ROWS), some_labels(topics), 1 + np.arange(N_ROWS) % 3
    once = new_model(name, init=shares, unlabeled_weight=0.7)
    once.fit(rows, labels, sample_weight=times)
    often = new_model(name, init=np.repeat(shares, times, axis=0), unlabeled_weight=0.7)
    often.fit(np.repeat(rows, times, axis=0), np.repeat(labels, times))
    assert_allclose(once.weights_, often.weights_, rtol=1e-10)
    assert_allclose(once.profiles_, often.profiles_, rtol=1e-10)
    assert_allclose(once.trace_, often.trace_, rtol=1e-10)


def test_a_single_weight_is_for_all_rows(name, rows):
    many = new_model(name).fit(rows, sample_weight=np.full(N_ROWS, 3.0))
    assert hash_of(new_model(name).fit(rows, sample_weight=3.0)) == hash_of(many)


@pytest.mark.parametrize("init", ["repaired", "k-means++", "random"])
def test_unlabelled_rows_without_weight_are_left_out(name, rows, topics, init):
    labels = some_labels(topics)
    known = labels >= 0
    model = new_model(name, unlabeled_weight=0.0, init=init).fit(rows, labels)
    alone = new_model(name, init=init).fit(rows[known], labels[known])
    assert_array_equal(model.weights_, alone.weights_)
    assert_array_equal(model.profiles_, alone.profiles_)
    assert model.log_likelihood_ == pytest.approx(alone.log_likelihood_)


def test_the_weight_of_unlabelled_rows_matters(name, rows, topics):
    labels = some_labels(topics)
    expected = new_model(name, init=draw_shares(N_ROWS), tol=0.0, max_iter=500)
    expected.fit(rows, labels, sample_weight=np.where(labels < 0, 0.2, 1.0))
    model = new_model(name, init=draw_shares(N_ROWS), tol=0.0, max_iter=500, unlabeled_weight=0.2)
    assert_array_equal(model.fit(rows, labels).profiles_, expected.profiles_)


def test_rows_without_weight_might_not_be_there(name, rows):
    shares, counted = draw_shares(N_ROWS), np.arange(N_ROWS) % 2 == 1
    model = new_model(name, init=shares).fit(rows, sample_weight=counted)
    alone = new_model(name, init=shares[counted]).fit(rows[counted])
    assert_array_equal(model.weights_, alone.weights_)
    assert_array_equal(model.profiles_, alone.profiles_)
    assert model.labels_.shape == (N_ROWS,)


def uninterrupted(name, rows, max_iter, **changes):
    with pytest.warns(ConvergenceWarning):
        return new_model(name, init="random", tol=0.0, max_iter=max_iter, **changes).fit(rows)


@pytest.mark.parametrize("algorithm", ["soft", "hard"])
def test_a_warm_start_goes_on_to_the_same_bits(name, algorithm):
    """The last epoch is looked at again: its E step tells nothing new, then comes the next M step."""
    rows = noise(400)
    whole = uninterrupted(name, rows, 5, algorithm=algorithm)
    model = uninterrupted(name, rows, 2, algorithm=algorithm, warm_start=True)
    with pytest.warns(ConvergenceWarning):
        model.set_params(max_iter=4).fit(rows)
    assert_array_equal(model.weights_, whole.weights_)
    assert_array_equal(model.profiles_, whole.profiles_)
    assert_array_equal(model.trace_, whole.trace_)


def test_a_warm_start_of_a_finished_fit_stays(name, rows):
    model = new_model(name, warm_start=True).fit(rows)
    before = hash_of(model)
    assert hash_of(model.fit(rows)) == before
    start = model.trace_[0]
    assert model.fit(rows[:-1]).trace_[0] != start


def test_a_warm_start_matches_columns_by_name(name, rows):
    table = pd.DataFrame(rows, columns=LETTERS)
    first, second = (new_model(name, warm_start=True).fit(table) for _ in range(2))
    assert hash_of(first.fit(table[LETTERS[::-1]])) == hash_of(second.fit(table))


def test_a_warm_start_does_not_change_its_mind(rows, named):
    table, before = pd.DataFrame(rows, columns=LETTERS), hash_of(named.set_params(warm_start=True))
    with pytest.raises(ValueError, match=r"'warm_start' of .* must go on with the same features"):
        named.fit(table.assign(new=1))
    with pytest.raises(DataError, match="X has 8 features"):
        named.fit(rows[:, :8])
    assert hash_of(named) == before
    with pytest.raises(ValueError, match=r"'warm_start' of .* n_components, but they have changed"):
        named.set_params(n_components=4).fit(table)
    assert hash_of(named.set_params(n_components=3)) == before


class TooLongError(Exception):
    """What an impatient onlooker raises."""


@pytest.mark.parametrize("error", [KeyboardInterrupt, TooLongError])
def test_an_interrupted_fit_keeps_the_best_so_far(name, rows, error):
    seen = []

    def look(epoch):
        seen.append(epoch)
        if len(seen) == 3:
            raise error

    model = new_model(name, init="random", tol=0.0).fit(rows)
    assert model.labels_.shape == (N_ROWS,)
    with pytest.raises(error):
        model.fit(rows, on_epoch=look)
    assert [(epoch.restart, epoch.epoch) for epoch in seen] == [(0, 1), (0, 2), (0, 3)]
    expected = uninterrupted(name, rows, 3)
    assert_array_equal(model.profiles_, expected.profiles_)
    assert_array_equal(model.trace_, [epoch.objective for epoch in seen])
    assert_array_equal(model.trace_, expected.trace_)
    assert not hasattr(model, "labels_")  # those of the fit before would be wrong
    assert_array_equal(model.predict(rows), expected.labels_)
    assert model.suggest([0])
    assert hash_of(type(model).from_payload(model.to_payload())) == hash_of(model)


def test_an_interrupted_restart_leaves_the_better_start(name, rows):
    ends = {}
    new_model(name, init="random", n_init=4).fit(rows, on_epoch=lambda e: ends.update({e.restart: e}))
    best = max(ends, key=lambda restart: ends[restart].objective)

    def stop(epoch):
        if epoch.restart == best + 1:
            raise KeyboardInterrupt

    model = new_model(name, init="random", n_init=best + 2)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, on_epoch=stop)
    assert model.trace_[-1] == ends[best].objective
    assert model.n_iter_ == ends[best].epoch


def test_the_best_start_stays(name, rows):
    ends = {}
    model = new_model(name, init="random", n_init=6, n_components=4)
    model.fit(rows, on_epoch=lambda epoch: ends.update({epoch.restart: epoch}))
    objectives = [ends[restart].objective for restart in range(6)]
    assert len(set(objectives)) > 1
    assert model.trace_[-1] == max(objectives)
    assert model.n_iter_ == ends[int(np.argmax(objectives))].epoch
    assert objectives[0] == new_model(name, init="random", n_components=4).fit(rows).trace_[-1]


def test_given_responsibilities_are_one_start(name, rows):
    told = []
    new_model(name, init=draw_shares(N_ROWS), n_init=5).fit(rows, on_epoch=told.append)
    assert {epoch.restart for epoch in told} == {0}


def test_without_smoothing_no_count_is_too_small():
    """A word whose whole mass in a component comes from rows that are all but sure to be elsewhere."""
    rng = np.random.default_rng(1)
    profiles, topics = rng.dirichlet(np.full(80, 0.1), 7), rng.integers(7, size=1500)
    counts = np.stack([rng.multinomial(rng.integers(1, 40), profiles[k]) for k in topics]).astype(float)
    shares = start = rng.dirichlet(np.ones(7), 1500)
    for _ in range(15):
        with np.errstate(divide="ignore", invalid="ignore"):
            words = np.log(shares.T @ counts) - np.log((shares.T @ counts).sum(axis=1, keepdims=True))
            joint = np.where(counts[:, None] > 0, counts[:, None] * words, 0.0).sum(axis=2)
        joint += np.log(shares.mean(axis=0))
        evidence = np.logaddexp.reduce(joint, axis=1)
        shares = np.exp(joint - evidence[:, None])
    with pytest.warns(ConvergenceWarning):
        model = new_model("multinomial", n_components=7, smoothing=0, init=start, max_iter=15, tol=0).fit(
            counts
        )
    assert model.trace_[-1] == pytest.approx(evidence.sum(), rel=1e-10)
