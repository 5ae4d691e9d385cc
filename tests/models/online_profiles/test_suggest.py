"""Suggestions equal eq 6, their intervals the mixture's quantiles, and the dialogue remembers answers."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from numpy.testing import assert_allclose
from profile_cases import block_of, dense_state, random_posterior, topic_rows, view_of
from scipy import stats

from sparsemix import KeywordSuggester, OnlineBernoulliMixture
from sparsemix.answers import suggestions as shared
from sparsemix.data.feature_names import FeatureNames
from sparsemix.foundation.errors import ParameterError
from sparsemix.models.online_profiles import equations, suggest

NAMES = ["red shoes", "red boots", "blue shoes", "tax law", "tax help", "law firm"]


@pytest.fixture(scope="module")
def model():
    rows, _ = topic_rows(300, 2, 6, on=0.7, off=0.05, seed=3)
    order = [0, 3, 1, 4, 2, 5]
    table = pd.DataFrame(rows, columns=[NAMES[i] for i in order])
    return OnlineBernoulliMixture(2, priming_rows=100, random_state=0).fit(table)


def suggestions(posterior, accepted, rejected, n=99, level=0.9, completeness=0.0):
    n_features = 7
    return suggest.suggestions(
        view_of(posterior, n_features), FeatureNames(n_features, None), np.array(accepted, int),
        np.array(rejected, int), n, level, completeness,
    )  # fmt: skip


@given(
    seed=st.integers(0, 10_000),
    accepted=st.sets(st.integers(0, 6), max_size=4),
    rejected=st.sets(st.integers(0, 6), max_size=4),
    common=st.integers(0, 2),
)
def test_probabilities_equal_eq_6(seed, accepted, rejected, common):
    assume(not accepted & rejected)
    posterior = random_posterior(seed, explicit=1.0, common=common)
    expected = equations.suggestion_probabilities(
        dense_state(posterior, 7), sorted(accepted), sorted(rejected)
    )
    found = suggestions(posterior, sorted(accepted), sorted(rejected))
    assert {s.feature for s in found} == set(range(7)) - accepted - rejected
    # Components with less than a ten-thousandth of the largest share do not take part.
    assert_allclose([s.probability for s in found], expected[[s.feature for s in found]], rtol=1e-3)
    assert np.all(np.diff([s.probability for s in found]) <= 0)


@given(seed=st.integers(0, 10_000), accepted=st.integers(0, 6), common=st.integers(0, 2))
def test_features_that_a_component_does_not_know_go_by_their_popularity(seed, accepted, common):
    """The default is the belief about an average feature; popularity says how far this one is from average."""
    posterior = random_posterior(seed, explicit=0.4, common=common)
    view, state = view_of(posterior, 7), dense_state(posterior, 7)
    share = suggest.responsibilities(view, np.array([accepted]), np.empty(0, int), 0.0)
    mean = state.alpha / (state.alpha + state.beta)
    overall = view.weights() @ mean
    default = view.default_means()
    taking_part = share >= shared.NEGLIGIBLE_SHARE * share.max()
    most = 0.5 / default[taking_part].max()
    factor = np.minimum(overall / overall[: 7 - common].mean(), most)
    tied = np.ones((3, 7), bool)
    tied[posterior.owner(), posterior.feature] = False
    tied[:, posterior.common_feature] = False
    expected = share @ np.where(tied, default[:, None] * factor, mean)
    found = suggestions(posterior, [accepted], [])
    assert {s.feature for s in found} == set(range(7)) - {accepted}
    assert_allclose([s.probability for s in found], expected[[s.feature for s in found]], rtol=2e-3)
    assert all(s.low <= s.high for s in found)


def test_as_many_suggestions_as_there_are_features_left(model):
    assert len(model.suggest(["red shoes"], n=99)) == 5
    assert len(model.suggest(["red shoes"], ["tax law"], n=99)) == 4
    assert len(model.suggest(["red shoes"], n=3)) == 3


def test_suggestions_without_intervals(model):
    with_intervals, without = model.suggest(["red shoes"]), model.suggest(["red shoes"], level=None)
    assert [s[:2] for s in without] == [s[:2] for s in with_intervals]
    assert all(np.isnan([s.low, s.high]).all() for s in without)


@given(seed=st.integers(0, 10_000), listed=st.sets(st.integers(0, 6)), n_rejected=st.integers(0, 7))
def test_a_complete_row_has_the_responsibilities_of_the_row(seed, listed, n_rejected):
    """With completeness 1 all that is not listed is absent, whether it was rejected or not."""
    posterior = random_posterior(seed, explicit=0.5, common=1)
    view, row = view_of(posterior, 7), np.isin(np.arange(7), list(listed))
    rejected = np.flatnonzero(~row)[:n_rejected]
    found = suggest.responsibilities(view, np.flatnonzero(row), rejected, 1.0)
    assert_allclose(found, view.responsibilities(block_of([row]))[0], atol=1e-9)


def test_a_half_complete_row_lies_between():
    posterior = random_posterior(1, explicit=1.0)
    view, state = view_of(posterior, 7), dense_state(posterior, 7)
    mean = state.alpha / (state.alpha + state.beta)
    listed, rejected = np.array([0, 2]), np.array([4])
    silent = np.array([1, 3, 5, 6])
    joint = state.weight_concentration * (mean[:, listed]).prod(axis=1) * (1 - mean[:, 4])
    joint *= (1 - 0.5 * mean[:, silent]).prod(axis=1)
    found = suggest.responsibilities(view, listed, rejected, 0.5)
    assert_allclose(found, joint / joint.sum(), rtol=1e-9)


@pytest.mark.parametrize("level", [0.5, 0.95])
def test_intervals_are_quantiles_of_the_mixture(level):
    posterior = random_posterior(4, explicit=1.0)
    state, accepted = dense_state(posterior, 7), [0, 1]
    mean = state.alpha / (state.alpha + state.beta)
    share = state.weight_concentration * mean[:, accepted].prod(axis=1)
    share = share / share.sum()
    for found in suggestions(posterior, accepted, [], level=level):
        betas = stats.beta(state.alpha[:, found.feature], state.beta[:, found.feature])
        assert share @ betas.cdf(found.low) == pytest.approx((1 - level) / 2, abs=1e-9)
        assert share @ betas.cdf(found.high) == pytest.approx((1 + level) / 2, abs=1e-9)


def test_intervals_of_draws(model):
    """The same numbers from draws: a component by its share, then a probability from its Beta."""
    rng = np.random.default_rng(0)
    view, found = model._view, model.suggest(["red shoes"], n=1, level=0.8)[0]
    state = dense_state(view.posterior, 6)
    share = suggest.responsibilities(view, np.array([0]), np.empty(0, int), 0.0)
    feature = list(model.feature_names_in_).index(found.feature)
    component = rng.choice(2, size=200_000, p=share)
    draws = rng.beta(state.alpha[component, feature], state.beta[component, feature])
    assert_allclose([found.low, found.high], np.quantile(draws, [0.1, 0.9]), atol=0.005)


@given(
    alpha=st.lists(st.floats(1e-6, 1e6), min_size=1, max_size=4),
    beta=st.floats(1e-3, 1e6),
    level=st.floats(0.01, 0.99),
)
def test_intervals_are_finite_and_ordered(alpha, beta, level):
    share = np.full(len(alpha), 1 / len(alpha))
    low, high = shared.mixture_interval(np.array([alpha]), np.full((1, len(alpha)), beta), share, level)
    assert 0 <= low[0] <= high[0] <= 1


def test_the_components_behind_a_suggestion():
    posterior = random_posterior(5, explicit=1.0)
    state = dense_state(posterior, 7)
    mean = state.alpha / (state.alpha + state.beta)
    share = state.weight_concentration * mean[:, 0]
    for found in suggestions(posterior, [0], []):
        carried = share * mean[:, found.feature]
        expected = carried / carried.sum()
        assert [k for k, _ in found.components] == [k for k in np.argsort(-expected) if expected[k] >= 0.01]
        assert_allclose([s for _, s in found.components], np.sort(expected)[::-1][: len(found.components)])


def test_suggestions_stay_in_the_topic(model):
    assert {s.feature for s in model.suggest(["red shoes"], n=2)} == {"red boots", "blue shoes"}
    assert {s.feature for s in model.suggest(["tax law"], n=2)} == {"tax help", "law firm"}


def test_rejection_moves_to_other_components(model):
    shoes = model.suggest([], ["tax law", "tax help"], n=3)
    assert {s.feature for s in shoes} == {"red shoes", "red boots", "blue shoes"}


def test_nothing_accepted_ranks_by_popularity():
    posterior = random_posterior(6, explicit=1.0)
    state = dense_state(posterior, 7)
    overall = (state.weight_concentration / state.weight_concentration.sum()) @ (
        state.alpha / (state.alpha + state.beta)
    )
    assert [s.feature for s in suggestions(posterior, [], [])] == np.argsort(-overall, kind="stable").tolist()


def test_all_features_accepted_leaves_nothing(model):
    assert model.suggest(NAMES) == []


def test_a_feature_given_twice_counts_once(model):
    assert model.suggest(["tax law", "tax law"]) == model.suggest(["tax law"])


def test_features_by_number():
    rows, _ = topic_rows(100, 2, 6)
    numbered = OnlineBernoulliMixture(2, random_state=0).fit(rows)
    assert {s.feature for s in numbered.suggest(np.array([0]), n=2)} == {2, 4}
    assert all(isinstance(s.feature, int) for s in numbered.suggest([0]))
    with pytest.raises(ParameterError, match="'accepted' of suggest must be features that the model knows"):
        numbered.suggest(["0"])
    with pytest.raises(ParameterError, match=r"'accepted' of suggest .* but it is 6"):
        numbered.suggest([6])


@pytest.mark.parametrize("which", ["accepted", "reject"])
def test_unknown_names_and_their_neighbours(model, which):
    given_names = (["red shoe"],) if which == "accepted" else ([], ["red shoe"])
    words = f"'{which}' of suggest must be features that the model knows, but it is 'red shoe'"
    with pytest.raises(ParameterError, match=words + ". Did you mean 'red shoes', "):
        model.suggest(*given_names)


@pytest.mark.parametrize("odd", [["zzz"], [7], [None], [["red shoes"]], [1.5]])
def test_what_is_no_feature(model, odd):
    with pytest.raises(ParameterError, match="'accepted' of suggest must be features that the model knows"):
        model.suggest(odd)


@pytest.mark.parametrize("odd", ["red shoes", b"red", 3, None])
def test_what_is_no_sequence(model, odd):
    with pytest.raises(ParameterError, match=r"'reject' of suggest must be a sequence .* in brackets"):
        model.suggest([], odd)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("n", 0), ("n", 1.5), ("n", True), ("level", 0.0), ("level", 1.0), ("level", "high"),
        ("completeness", -0.1), ("completeness", 1.1), ("completeness", np.nan),
    ],
)  # fmt: skip
def test_bad_options(model, name, value):
    with pytest.raises(ParameterError, match=f"'{name}' of suggest must be .*but it is"):
        model.suggest(["red shoes"], **{name: value})


def test_a_dialogue(model):
    dialogue = KeywordSuggester(model, ["red shoes"])
    assert {s.feature for s in dialogue.suggest(2)} == {"red boots", "blue shoes"}
    dialogue.accept("red boots").reject("blue shoes")
    assert (dialogue.accepted, dialogue.rejected) == (["red shoes", "red boots"], ["blue shoes"])
    expected = model.suggest(["red shoes", "red boots"], ["blue shoes"], n=3)
    assert dialogue.suggest(3) == expected
    assert not {"red shoes", "red boots", "blue shoes"} & {s.feature for s in dialogue.suggest()}


def test_a_dialogue_in_which_minds_change(model):
    dialogue = KeywordSuggester(model).accept("tax law", "tax law").reject("tax law")
    assert (dialogue.accepted, dialogue.rejected) == ([], ["tax law"])
    dialogue.accept("tax law")
    assert (dialogue.accepted, dialogue.rejected) == (["tax law"], [])


def test_a_dialogue_refuses_unknown_features_and_stays_as_it_is(model):
    dialogue = KeywordSuggester(model, ["red shoes"])
    for answer in (dialogue.accept, dialogue.reject):
        with pytest.raises(ParameterError, match="Did you mean 'blue shoes'"):
            answer("blue shoe")
    assert (dialogue.accepted, dialogue.rejected) == (["red shoes"], [])


def test_suggesting_changes_nothing(model):
    before = model.suggest(["red shoes"], ["tax law"], completeness=0.5)
    model.suggest(["tax law"])
    assert model.suggest(["red shoes"], ["tax law"], completeness=0.5) == before


def test_a_feature_cannot_be_accepted_and_rejected():
    model = OnlineBernoulliMixture(n_components=1, random_state=0).fit(np.eye(3))
    with pytest.raises(
        ParameterError, match="'reject' of suggest must be free of accepted features, but it is 1"
    ):
        model.suggest([0, 1], [1])
