"""Answers about rows and features against closed forms and brute force."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from mixture_cases import LETTERS, MIXTURES, N_ROWS, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import beta as beta_distribution
from scipy.stats import norm

from sparsemix import DataError, KeywordSuggester, ParameterError


def labelled(name, **changes):
    """A model of which all is known: the labels are all there, so that its statistics are sums over rows."""
    rows, topics = table_of(name)
    return new_model(name, **changes).fit(rows, topics)


def log_joint(name, model, rows):
    """Log p(k) p(row | k), row by row."""
    with np.errstate(divide="ignore"):
        log_on, log_off = np.log(model.profiles_), np.log1p(-model.profiles_)
        likelihood = [[(row * on).sum() for on in log_on] for row in rows]
        if name == "bernoulli":
            likelihood = [
                [np.where(row, on, off).sum() for on, off in zip(log_on, log_off, strict=True)]
                for row in rows
            ]
        return np.log(model.weights_) + np.array(likelihood)


def test_rows_are_scored_by_the_equation(name, rows, fitted):
    joint = log_joint(name, fitted, rows)
    evidence = np.logaddexp.reduce(joint, axis=1)
    assert_allclose(fitted.score_samples(rows), evidence, rtol=1e-10)
    assert_allclose(fitted.predict_proba(rows), np.exp(joint - evidence[:, None]), atol=1e-10)
    assert fitted.score(rows) == pytest.approx(evidence.mean(), rel=1e-12)
    assert fitted.score_per_token(rows) == pytest.approx(evidence.sum() / rows.sum(), rel=1e-12)


@pytest.mark.parametrize("n_components", [1, 3, 5])
def test_criteria_by_hand(name, rows, n_components):
    model = new_model(name, n_components=n_components).fit(rows)
    log_likelihood = model.score_samples(rows).sum()
    n_parameters = n_components - 1 + n_components * (9 if name == "bernoulli" else 8)
    bic = -2 * log_likelihood + n_parameters * np.log(N_ROWS)
    shares = model.predict_proba(rows)
    entropy = -sum(share * np.log(share) for share in shares.ravel() if share > 0)
    assert model.bic(rows) == pytest.approx(bic, rel=1e-12)
    assert model.aic(rows) == pytest.approx(-2 * log_likelihood + 2 * n_parameters, rel=1e-12)
    assert model.icl(rows) == pytest.approx(bic + 2 * entropy, rel=1e-12)
    assert model.icl(rows) >= model.bic(rows)


def test_criteria_find_the_number_of_topics(name):
    rows, _ = table_of(name, 400)
    models = {k: new_model(name, n_components=k).fit(rows) for k in (1, 2, 3, 5)}
    for criterion in ("bic", "icl"):
        assert min(models, key=lambda k: getattr(models[k], criterion)(rows)) == 3


def test_scores_do_not_depend_on_the_rows_beside(rows, fitted):
    alone = [fitted.score_samples(rows[i : i + 1])[0] for i in range(N_ROWS)]
    assert_array_equal(fitted.score_samples(rows), alone)
    for times in (2, 7):
        many = np.tile(rows, (times, 1))
        assert fitted.score_per_token(many) == pytest.approx(fitted.score_per_token(rows), rel=1e-12)
        assert fitted.score(many) == pytest.approx(fitted.score(rows), rel=1e-12)
    padded = np.vstack([rows, np.zeros((9, 9))])
    assert_array_equal(fitted.score_samples(padded)[:N_ROWS], alone)
    with pytest.raises(DataError, match="'X' of score_per_token must hold a feature that the model knows"):
        fitted.score_per_token(np.zeros((3, 9)))


def test_rows_that_no_component_makes(name):
    """Without smoothing: they have probability zero, keep the weights, and spoil nothing else."""
    rows, topics = np.kron(np.eye(2), np.ones((3, 2))), np.repeat([0, 1], 3)
    odd = np.ones((1, 4))
    model = new_model(name, n_components=2, smoothing=0.0).fit(rows, topics)
    assert model.n_impossible_ == 0
    assert_allclose(model.predict_proba(odd)[0], model.weights_, rtol=1e-14)
    assert model.score_samples(np.vstack([rows, odd]))[-1] == -np.inf
    assert np.all(np.isfinite(model.score_samples(np.vstack([rows, odd]))[:-1]))
    assert model.score(odd) == model.score_per_token(odd) == -np.inf
    assert model.bic(odd) == model.aic(odd) == model.icl(odd) == np.inf


def test_rows_that_no_component_makes_are_told_where_they_are_learnt(name):
    """A row that is unlabelled and weighs nothing cannot change what makes it impossible."""
    rows = np.vstack([np.kron(np.eye(2), np.ones((3, 2))), np.ones((1, 4))])
    labels = np.array([0, 0, 0, 1, 1, 1, -1])
    model = new_model(name, n_components=2, smoothing=0.0, unlabeled_weight=0.0)
    told_by = f"1 rows have probability zero under {type(model).__name__}: they keep the weights"
    with pytest.warns(UserWarning, match=told_by) as told:
        model.fit(rows, labels)
    assert [each.filename for each in told] == [__file__]
    assert model.n_impossible_ == 1
    assert np.all(np.isfinite(model.trace_))
    for array in (model.profiles_, model.weights_, model.predict_proba(rows), *model.credible_interval()):
        assert not np.isnan(array).any()
    assert hash_of(type(model).from_payload(model.to_payload())) == hash_of(model)


def posterior(name):
    """Beta pseudo-counts of all features given the labels, (n_components, n_features) twice."""
    smoothing = new_model(name).smoothing
    rows, topics = table_of(name)
    counts = np.array([rows[topics == k].sum(axis=0) for k in range(3)]) + smoothing
    if name == "bernoulli":
        sizes = np.bincount(topics)[:, None] + 2 * smoothing
        return counts, sizes - counts
    return counts, counts.sum(axis=1, keepdims=True) - counts


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_are_those_of_the_posterior(name, level):
    model = labelled(name)
    alpha, beta = posterior(name)
    low, high = model.credible_interval(level)
    assert low.shape == high.shape == (3, 9)
    assert_allclose(low, beta_distribution.ppf((1 - level) / 2, alpha, beta), rtol=1e-6, atol=1e-12)
    assert_allclose(high, beta_distribution.ppf((1 + level) / 2, alpha, beta), rtol=1e-6)
    assert_allclose(model.profiles_, alpha / (alpha + beta), rtol=1e-12)


def test_intervals_of_what_is_certain_impossible_or_unseen(name):
    rows = np.array([[1, 0], [1, 0], [1, 0]])
    model = new_model(name, n_components=2, smoothing=0.0).fit(rows, np.zeros(3, int))
    low, high = model.credible_interval()
    assert_array_equal(low[0], [1.0, 0.0])
    assert_array_equal(high[0], [1.0, 0.0])
    assert_array_equal(low[1], [0.0, 0.0])  # nothing is known about the second
    assert_array_equal(high[1], [1.0, 1.0])


@pytest.mark.parametrize("by", ["evidence", "mean", "lift"])
def test_top_features(name, by):
    model = labelled(name)
    alpha, beta = posterior(name)
    mean, low = alpha / (alpha + beta), beta_distribution.ppf(0.025, alpha, beta)
    high, overall = beta_distribution.ppf(0.975, alpha, beta), model.weights_ @ model.profiles_
    key = {"evidence": alpha, "mean": mean, "lift": low / overall}[by]
    for k, summary in enumerate(model.top_features(4, by=by)):
        assert summary.component == k
        assert summary.weight == pytest.approx(1 / 3)
        assert summary.n_rows == pytest.approx(20)
        best = np.argsort(-key[k], kind="stable")[:4]
        assert [f.feature for f in summary.features] == best.tolist()
        for told, f in zip(summary.features, best, strict=True):
            expected = (mean[k, f], low[k, f], high[k, f], alpha[k, f], mean[k, f] / overall[f])
            assert told[1:] == pytest.approx(expected, rel=1e-6)


def test_top_features_leave_out_what_a_component_cannot_have(name):
    rows, topics = np.kron(np.eye(2), np.ones((3, 2))), np.repeat([0, 1], 3)
    model = new_model(name, n_components=3, smoothing=0.0, seed_words={2: [0]}).fit(rows, topics)
    found = [[f.feature for f in summary.features] for summary in model.top_features()]
    assert found == [[0, 1], [2, 3], [0]]
    assert all(np.isfinite(f[1:]).all() for summary in model.top_features() for f in summary.features)
    empty = new_model(name, n_components=3, smoothing=0.0, seed_words={2: [4]})
    empty.fit(np.hstack([rows, np.zeros((6, 1))]), topics)  # a feature that no live component has
    [told] = empty.top_features()[2].features
    assert np.isfinite(told[1:]).all()


def test_names_of_features(named):
    assert {f.feature for summary in named.top_features() for f in summary.features} == set(LETTERS)
    assert {word for own in named.distinctive_words() for word, _ in own} == set(LETTERS)
    assert {s.feature for s in named.suggest(["a"])} == set(LETTERS[1:])


@pytest.mark.parametrize("offset", [10.0, 0.5])
def test_distinctive_words_by_the_equation(name, offset):
    """TEXT, section 3.5: p(w|k) / (c(w) + 10), c(w) the count of the word in all rows."""
    model, rows = labelled(name), table_of(name)[0]
    expected = model.profiles_ / (rows.sum(axis=0) + offset)
    for k, told in enumerate(model.distinctive_words(5, offset=offset)):
        best = np.argsort(-expected[k], kind="stable")[:5]
        assert [word for word, _ in told] == best.tolist()
        assert_allclose([score for _, score in told], expected[k, best], rtol=1e-12)
    assert [len(own) for own in model.distinctive_words(99)] == [9, 9, 9]


def brute_force(name, model, accepted, rejected, length):
    """Posterior of the components by Bayes' rule, and p(feature | accepted, rejected)."""
    joint = []
    for weight, profile in zip(model.weights_, model.profiles_, strict=True):
        value = weight
        for feature in accepted:
            value *= profile[feature]
        for feature in rejected:
            value *= (1.0 - profile[feature]) ** (length if name == "multinomial" else 1.0)
        joint.append(value)
    share = np.array(joint) / np.sum(joint)
    return share, share @ model.profiles_


@given(seed=st.integers(0, 10_000))
@pytest.mark.parametrize("family", sorted(MIXTURES))
def test_suggestions_by_brute_force(family, seed):
    rng = np.random.default_rng(seed)
    rows = rng.integers(2, size=(12, 5)) * (1 if family == "bernoulli" else rng.integers(1, 4, (12, 5)))
    rows[0, 0] = 1
    model = new_model(family).fit(rows, np.arange(12) % 3)
    accepted, rejected, _ = np.split(rng.permutation(5), [rng.integers(3), 3])
    share, probability = brute_force(family, model, accepted, rejected, rows.sum() / 12)
    found = model.suggest(accepted.tolist(), rejected.tolist())
    left = np.setdiff1d(np.arange(5), [*accepted, *rejected])
    assert {s.feature for s in found} == set(left)
    assert np.all(np.diff([s.probability for s in found]) <= 0.0)
    alpha, beta = model._solution().proper_betas()
    for one in found:
        assert one.probability == pytest.approx(
            probability[one.feature], rel=1e-3
        )  # slight components are left out
        for end, tail in ((one.low, 0.025), (one.high, 0.975)):
            below, above = (
                share @ beta_distribution.cdf(end + step, alpha[one.feature], beta[one.feature])
                for step in (-1e-8, 1e-8)
            )
            assert below - 2e-3 < tail < above + 2e-3
        carried = share * model.profiles_[:, one.feature]
        assert carried[one.components[0][0]] == pytest.approx(carried.max())
        assert one.components[0][1] == pytest.approx((carried / carried.sum()).max(), rel=1e-2)


def test_suggestions_stay_in_the_topic(fitted):
    for topic in range(3):
        found = {s.feature for s in fitted.suggest([topic], n=2, level=None)}
        assert found == {topic + 3, topic + 6}
    away = fitted.suggest([], [0, 3, 6], n=6)
    assert all(s.feature % 3 for s in away)


def test_what_is_accepted_counts_more_than_once_is_said(fitted):
    assert fitted.suggest([0, 0, 3]) == fitted.suggest([3, 0])
    assert fitted.suggest(np.array([0])) == fitted.suggest([0])
    assert fitted.suggest(range(9)) == []


def test_what_no_component_has_together(name):
    """The weights are all that is left, not NaN."""
    rows, topics = np.kron(np.eye(2), np.ones((3, 2))), np.repeat([0, 1], 3)
    model = new_model(name, n_components=2, smoothing=0.0).fit(rows, topics)
    found = model.suggest([0, 2])
    expected = model.weights_ @ model.profiles_
    assert {s.feature: s.probability for s in found} == pytest.approx({1: expected[1], 3: expected[3]})


def test_intervals_can_be_left_out(fitted):
    with_them, without = fitted.suggest([0]), fitted.suggest([0], level=None)
    assert [s[:2] for s in with_them] == [s[:2] for s in without]
    assert all(np.isnan(s.low) and np.isnan(s.high) for s in without)
    assert all(s.low < s.probability < s.high for s in with_them)


FALSE_ALARM = 1e-6  # per mean; about 70 of them


def test_means_of_drawn_rows(name, fitted):
    """Counts of rows in components, and of features in rows, within what chance allows; variances are exact."""
    n_rows, bound = 30_000, norm.isf(FALSE_ALARM / 2)
    drawn, components = fitted.sample(n_rows, random_state=0)
    assert drawn.shape == (n_rows, 9)
    assert drawn.has_canonical_format
    length = table_of(name)[0].sum() / N_ROWS
    dense = drawn.toarray()
    for k in range(3):
        mine, weight = components == k, fitted.weights_[k]
        assert abs(mine.sum() - n_rows * weight) < bound * np.sqrt(n_rows * weight * (1 - weight))
        profile = fitted.profiles_[k]
        # A Poisson number of words splits into Poisson numbers of each word, whose variance is their mean.
        mean = length * profile if name == "multinomial" else profile
        variance = mean if name == "multinomial" else profile * (1 - profile)
        seen = dense[mine].sum(axis=0)
        assert np.all(np.abs(seen - mine.sum() * mean) < bound * np.sqrt(mine.sum() * variance) + 1)
        if name == "bernoulli":  # features are drawn independently
            both = dense[mine][:, 0] @ dense[mine][:, 1]
            chance = profile[0] * profile[1]
            assert abs(both - mine.sum() * chance) < bound * np.sqrt(mine.sum() * chance * (1 - chance)) + 1
    if name == "bernoulli":
        assert set(drawn.data) == {1.0}
    else:
        assert set(drawn.data % 1.0) == {0.0}


def test_wrong_means_are_noticed(fitted):
    """The bounds of the test above are not so wide that nothing could fail."""
    _, components = fitted.sample(30_000, random_state=0)
    weight = fitted.weights_[0] * 1.1
    spread = np.sqrt(30_000 * weight * (1 - weight))
    assert abs((components == 0).sum() - 30_000 * weight) > norm.isf(FALSE_ALARM / 2) * spread


def test_draws_follow_the_seed(fitted):
    first, second = fitted.sample(20, random_state=3), fitted.sample(20, random_state=3)
    assert (first[0] != second[0]).nnz == 0
    assert_array_equal(first[1], second[1])
    assert (first[0] != fitted.sample(20, random_state=4)[0]).nnz > 0
    rng = np.random.default_rng(3)
    assert (fitted.sample(20, random_state=rng)[0] != first[0]).nnz == 0
    assert (fitted.sample(20, random_state=rng)[0] != first[0]).nnz > 0


def test_drawn_rows_can_be_learnt_again(name, fitted):
    rows, components = fitted.sample(600, random_state=0)
    again = new_model(name).fit(rows)
    same = again.labels_[:, None] == again.labels_
    assert np.mean(same == (components[:, None] == components)) > 0.8
    assert fitted.sample(0)[0].shape == (0, 9)
    assert fitted.sample()[0].shape == (1, 9)


def test_components_without_rows_are_not_drawn(name, rows, topics):
    model = new_model(name, n_components=6).fit(rows, topics)
    assert set(model.sample(300, random_state=0)[1]) == {0, 1, 2}
    assert [summary.weight for summary in model.top_features()][3:] == [0.0, 0.0, 0.0]


def test_rows_too_long_to_be_drawn():
    model = new_model("multinomial", n_components=1).fit(np.full((2, 3), 1e20))
    with pytest.raises(ParameterError, match=r"'n_rows' of sample must be so small .* have 3e.20 on average"):
        model.sample(1)


WRONG_ARGUMENTS = {
    "sample": [{"n_rows": -1}, {"n_rows": 1.5}, {"n_rows": "3"}, {"n_rows": None}, {"random_state": "a"}],
    "top_features": [{"n": 0}, {"n": "3"}, {"by": "size"}, {"by": ["mean"]}, {"level": 1}, {"level": np.nan}],
    "distinctive_words": [{"n": 0}, {"n": 2.0}, {"offset": 0.0}, {"offset": -1}, {"offset": "10"}, {"offset": np.inf},
                          {"offset": 10**400}],
    "credible_interval": [{"level": 0}, {"level": "0.9"}, {"level": None}, {"level": [0.9]}],
    "suggest": [
        {"accepted": None}, {"accepted": 3}, {"accepted": "a"}, {"accepted": ["nothing"]}, {"accepted": [-1]},
        {"accepted": [9]}, {"accepted": [[0]]}, {"accepted": [np.nan]}, {"accepted": [0], "reject": None},
        {"accepted": [0], "reject": [0]}, {"accepted": [0], "n": 0}, {"accepted": [0], "level": 2},
    ],
}  # fmt: skip


@pytest.mark.parametrize("question", WRONG_ARGUMENTS)
def test_wrong_arguments_of_questions(question, fitted):
    before = hash_of(fitted)
    for wrong in WRONG_ARGUMENTS[question]:
        with pytest.raises(ParameterError, match=f"'{list(wrong)[-1]}' of {question} must be .*, but it is "):
            getattr(fitted, question)(**wrong)
    assert hash_of(fitted) == before


def test_a_dialogue(named):
    dialogue = KeywordSuggester(named, ["a"])
    assert {s.feature for s in dialogue.suggest(2)} == {"d", "g"}
    dialogue.accept("d").reject("g")
    assert dialogue.suggest(3) == named.suggest(["a", "d"], ["g"], n=3)
    assert not {"a", "d", "g"} & {s.feature for s in dialogue.suggest()}


def test_answers_after_labels_and_seed_words(name, rows, topics):
    """Whatever a model has learnt from, it answers the same questions."""
    table = pd.DataFrame(rows, columns=LETTERS)
    model = new_model(name, n_components=4, seed_words={3: ["i"]}).fit(table, some_labels(topics))
    assert len(model.top_features(2)) == len(model.distinctive_words(2)) == 4
    assert model.suggest(["i"], ["a"])
    assert model.sample(3, random_state=0)[0].shape == (3, 9)
