"""Click rates: defined answers, the smoothing formula, intervals, ranking, evaluation, files, and wrong tables."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from gap_cases import hash_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import betabinom
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss, roc_auc_score

from sparsemix import ClickRateModel, DataError, ModelFileError, ParameterError, load_model, save_model
from sparsemix.models.gamma_poisson import beta_binomial, calibration
from sparsemix.models.gamma_poisson.beta_binomial import BetaPrior
from sparsemix.models.gamma_poisson.events import Cells
from sparsemix.models.gamma_poisson.rates import STRENGTHS, best_smoothing
from sparsemix.models.gamma_poisson.state import Factors
from sparsemix.persistence import write_payload

PLAN = {"n_sweeps": 140, "burn_in": 100, "thin": 2}


def draw_events(seed=0, n_users=120, n_ads=12, shown=15.0):
    """Users of two groups; each group clicks on every other ad."""
    rng = np.random.default_rng(seed)
    user, ad = (each.ravel() for each in np.indices((n_users, n_ads)))
    impressions = rng.poisson(shown, user.size)
    clicks = rng.binomial(impressions, np.where((user + ad) % 2, 0.3, 0.02))
    table = pd.DataFrame({
        "user": np.tile(user, 2), "ad": np.char.add("ad", np.tile(ad, 2).astype(str)),
        "event": np.repeat(["impression", "click"], user.size), "count": np.r_[impressions, clicks],
    })  # fmt: skip
    return table[table["count"] > 0].reset_index(drop=True)


EVENTS = draw_events()


def new_rates(**changes):
    return ClickRateModel(**{"n_components": 2, "random_state": 0, **PLAN, **changes})


@pytest.fixture(scope="module")
def fitted():
    return {solver: new_rates(solver=solver, smoothing=2.0).fit(EVENTS) for solver in ("ml", "map", "gibbs")}


@pytest.mark.parametrize("solver", ["ml", "map", "gibbs"])
def test_rates_know_the_user(fitted, solver):
    model = fitted[solver]
    fond, cold = model.predict([0, 0], ["ad1", "ad0"])
    assert fond > 0.18
    assert cold < 0.11
    report = model.evaluate(draw_events(1))
    assert report.log_loss < 0.9 * report.floor_log_loss
    assert report.auc > report.floor_auc + 0.1
    for found in report.bins:
        assert abs(found.predicted - found.observed) < 0.06


def test_the_rate_is_the_formula(fitted):
    model = fitted["map"]
    clicks = EVENTS[(EVENTS.event == "click") & (EVENTS.ad == "ad3")]["count"].sum()
    impressions = EVENTS[(EVENTS.event == "impression") & (EVENTS.ad == "ad3")]["count"].sum()
    own = (clicks + model.prior_clicks_) / (impressions + model.prior_impressions_)
    assert_allclose(model.ad_rates_[model.ads_ == "ad3"], own)
    users, features = model._rates.factors
    j = 3 * model.ads_.tolist().index("ad3")
    shown, clicked = users[5] @ features[j], users[5] @ features[j + 1]
    assert_allclose(model.predict(5, "ad3"), (clicked + 2.0 * own) / (shown + 2.0))


@pytest.mark.parametrize("solver", ["map", "gibbs"])
def test_unknown_users_and_ads(fitted, solver):
    model = fitted[solver]
    prior = model.prior_clicks_ / model.prior_impressions_
    own = model.ad_rates_[model.ads_ == "ad3"][0]
    assert_allclose(model.predict([999, 5, 999], ["ad3", "new", "new"]), [own, prior, prior])
    assert_allclose(model.predict(["5"], ["ad3"]), own)  # text is not a number
    assert model.predict([], []).shape == (0,)


def test_impressions_without_clicks_and_clicks_without_impressions():
    table = {
        "user": ["a", "b", "c", "c", "a"], "ad": ["x", "x", "y", "z", "z"],
        "event": ["impression", "impression", "click", "conversion", "impression"], "count": [50, 50, 3, 1, 0],
    }  # fmt: skip
    model = new_rates(smoothing=1e6).fit(table)
    assert model.n_clicks_without_impressions_ == 3.0
    assert_allclose(
        model.ad_rates_,
        [
            (each + model.prior_clicks_) / (n + model.prior_impressions_)
            for each, n in ((0, 100), (3, 3), (0, 0))
        ],
    )
    nothing, everything = (
        new_rates().fit({"user": [1, 2], "ad": [1, 2], "event": [event, event]})
        for event in ("impression", "click")
    )
    assert 0.0 < nothing.predict(1, 1)[0] < 0.5 < everything.predict(1, 1)[0] < 1.0
    only = new_rates().fit({"user": [1], "ad": [1], "event": ["conversion"]})
    assert_allclose(only.predict(1, 1), 0.5)


def test_intervals_hold_the_rate_and_shrink_with_data(fitted):
    model = fitted["gibbs"]
    users, ads = np.arange(12), ["ad3"] * 12
    low, high = model.predict_interval(users, ads)
    mean = model.predict(users, ads)
    assert (low < mean).all()
    assert (mean < high).all()
    narrow = model.predict_interval(users, ads, level=0.5)
    assert (narrow[1] - narrow[0] < high - low).all()
    [of_new], [of_ad] = (np.diff(model.predict_interval(999, ad), axis=0) for ad in ("new", "ad3"))
    assert of_new > of_ad
    with pytest.raises(ParameterError, match="solver='gibbs'"):
        fitted["map"].predict_interval(1, "ad3")
    with pytest.raises(ParameterError, match="'level'"):
        model.predict_interval(1, "ad3", level=1.0)


def test_ranking(fitted):
    for solver, model in fitted.items():
        tips = model.rank(4, n=4)
        assert [tip.rate for tip in tips] == sorted((tip.rate for tip in tips), reverse=True)
        assert all(int(tip.ad[2:]) % 2 for tip in tips)  # those that the group of user 4 clicks on
        assert np.isnan(tips[0].low) == (solver != "gibbs")
    model = fitted["gibbs"]
    careful = model.rank(4, n=3, by="lower", among=["new", "ad1", "ad0"])
    assert [tip.low for tip in careful] == sorted((tip.low for tip in careful), reverse=True)
    assert {tip.ad for tip in careful} == {"new", "ad1", "ad0"}
    with pytest.raises(ParameterError, match="gibbs"):
        fitted["map"].rank(4, by="lower")
    with pytest.raises(ParameterError, match="'by'"):
        model.rank(4, by="upper")


def test_smoothing_is_chosen_by_what_it_predicts():
    useful = new_rates(solver="ml").fit(EVENTS)
    rng = np.random.default_rng(0)
    noise = EVENTS.assign(user=rng.permutation(EVENTS.user))
    assert useful.smoothing_ < 100.0
    assert new_rates(solver="ml").fit(noise).smoothing_ > useful.smoothing_


def test_forms_of_tables_do_not_matter():
    whole = hash_of(new_rates(smoothing=5.0).fit(EVENTS))
    forms = [
        pl.from_pandas(EVENTS),
        pa.Table.from_pandas(EVENTS),
        {name: EVENTS[name].tolist() for name in EVENTS},
        EVENTS.assign(event=EVENTS.event.astype("category"), ad=EVENTS.ad.astype("category")),
        EVENTS.sample(frac=1.0, random_state=0),
        EVENTS.loc[EVENTS.index.repeat(EVENTS["count"])].drop(columns="count"),
    ]
    for form in forms:
        assert hash_of(new_rates(smoothing=5.0).fit(form)) == whole
    named = EVENTS.rename(columns={"user": "who", "ad": "what", "event": "how", "count": "n"})
    model = new_rates(smoothing=5.0, user="who", ad="what", event="how", count="n").fit(named)
    assert_array_equal(
        model.predict([1], ["ad1"]), new_rates(smoothing=5.0).fit(EVENTS).predict([1], ["ad1"])
    )


@pytest.mark.parametrize(("changes", "words"), [
    ({"event": ["view"]}, "impression, click, conversion"), ({"count": [-1]}, "numbers >= 0"),
    ({"count": [np.nan]}, "numbers >= 0"), ({"count": ["many"]}, "hold numbers"),
    ({"count": [0]}, "at least one event"),
    ({"user": [1.5]}, "text or whole numbers"), ({"user": [None]}, "text or whole numbers"),
    ({"user": [2**63]}, "below 2\\*\\*63"), ({"ad": ["x", "y"]}, "one length"),
    ({"event": [3]}, "impression, click, conversion"), ({"event": None}, "impression, click, conversion"),
    ({"event": "view"}, "impression, click, conversion"), ({"count": None}, "numbers >= 0"),
    ({"count": [10**400]}, "'count' of ClickRateModel must hold numbers >= 0, at most 1e\\+50"),
    ({"user": ["a", ["b"]]}, "'user' of .* text or whole numbers"), ({"ad": [["x"], "y"]}, "'ad' of .* text or whole"),
    ({"user": [10**20]}, "below 2\\*\\*63"), ({"user": [-(10**20)]}, "below 2\\*\\*63"),
])  # fmt: skip
def test_tables_that_are_refused(changes, words):
    table = {"user": ["a"], "ad": ["x"], "event": ["click"], "count": [1]} | changes
    with pytest.raises(DataError, match=words):
        new_rates().fit(table)


def test_missing_columns_and_what_is_no_table():
    with pytest.raises(DataError, match="'ad' is missing"):
        new_rates().fit({"user": ["a"], "event": ["click"]})
    with pytest.raises(DataError, match="'n' is missing"):
        new_rates(count="n").fit({"user": ["a"], "ad": ["x"], "event": ["click"]})
    with pytest.raises(ParameterError, match="'events'"):
        new_rates().fit("events.parquet")


@pytest.mark.parametrize("change", [
    {"user": None}, {"ad": 1.5}, {"event": ["event"]}, {"count": False}, {"count": {}}, {"count": pd.NA},
    {"count": np.array(["count"])},
])  # fmt: skip
def test_names_of_columns_that_are_none(change):
    [role] = change
    with pytest.raises(
        ParameterError, match=f"'{role}' of ClickRateModel must be the name of a column, but it is"
    ):
        new_rates(**change).fit(EVENTS)


@pytest.mark.parametrize("change", [{"user": 5}, {"ad": 0}, {"event": ""}, {"count": 0}, {"count": ""}])
def test_names_of_columns_that_are_not_there(change):
    with pytest.raises(DataError, match="is missing"):
        new_rates(**change).fit(EVENTS)


@pytest.mark.parametrize(("question", "arguments", "words"), [
    ("predict", ([10**20], ["ad1"]), "'users' of predict must hold ids below"), ("rank", (10**20,), "'user' of rank"),
    ("rank", ([1, 2],), "'user' of rank must be one id"), ("rank", ([],), "'user' of rank must be one id"),
    ("rank", (1, 3, 5), "'among' of rank"), ("rank", (1, 3, b"x"), "'among' of rank"),
    ("rank", (1, 3, "ad1"), "'among' of rank"), ("evaluate", (EVENTS, 10**20), "'n_bins' of evaluate"),
])  # fmt: skip
def test_questions_that_cannot_be(fitted, question, arguments, words):
    names = {"rank": ("user", "n", "among"), "evaluate": ("events", "n_bins"), "predict": ("users", "ads")}[
        question
    ]
    with pytest.raises((DataError, ParameterError), match=words):
        getattr(fitted["map"], question)(**dict(zip(names, arguments, strict=False)))


@pytest.mark.parametrize(
    "changes", [{"smoothing": 0.0}, {"smoothing": "auto"}, {"solver": "vb"}, {"n_components": 0}]
)
def test_parameters_that_break_their_rule(changes):
    [name] = changes
    with pytest.raises(ParameterError, match=f"'{name}'"):
        new_rates(**changes).fit(EVENTS)


def test_scikit_learns_customs():
    model = new_rates(shape=[1.0, 2.0])
    assert clone(model).get_params() == model.get_params()
    with pytest.raises(NotFittedError):
        model.predict([1], ["ad1"])
    with pytest.raises(DataError, match="as many"):
        new_rates(smoothing=1.0).fit(EVENTS).predict([1, 2], ["ad1"])


@pytest.mark.parametrize("solver", ["map", "gibbs"])
@pytest.mark.parametrize("swapped", [False, True])
def test_round_trip_is_equal_to_the_bit(tmp_path, solver, swapped):
    table = EVENTS.rename(columns={"user": "ad", "ad": "user"}) if swapped else EVENTS
    model = new_rates(solver=solver, smoothing=5.0).fit(table)
    save_model(model, tmp_path / "rates.smx")
    again = load_model(tmp_path / "rates.smx")
    assert hash_of(again) == hash_of(model)
    pair = ("ad1", 3) if swapped else (3, "ad1")
    assert again.predict(*pair) == model.predict(*pair)
    assert again.rank(pair[0]) == model.rank(pair[0]) or solver == "map"


def test_golden_file_loads_for_ever():
    golden = Path(__file__).parents[2] / "persistence" / "golden" / "click_rate_model_1.smx"
    model = load_model(golden)
    assert model.users_.tolist() == ["ann", "bob"]
    assert model.ads_.tolist() == [7, 9]
    # ann on ad 7: 3 impressions and 1 click expected, 4 impressions at the ad's own rate of 0.5.
    assert_allclose(model.predict(["ann", "bob", "cid"], [7, 7, 8]), [3.0 / 7.0, 0.5, 0.25])


@pytest.mark.parametrize(("key", "value"), [
    ("prior_clicks", 0.0), ("prior_impressions", 0.1), ("smoothing", 0.0), ("n_mended", -1.0), ("n_components", 1),
    ("n_draws", 1), ("n_users", 119), ("n_users", 0), ("n_ads", 3), ("users_are", "text"), ("ads_are", "odd"),
    ("spare", 1),
])  # fmt: skip
def test_metadata_that_cannot_be(fitted, tmp_path, key, value):
    payload = fitted["map"].to_payload()
    write_payload(tmp_path / "odd.smx", replace(payload, metadata=payload.metadata | {key: value}))
    with pytest.raises(ModelFileError, match="cannot read the model file"):
        load_model(tmp_path / "odd.smx")


@pytest.mark.parametrize(("array", "change"), [
    ("users", -1.0), ("features", np.nan), ("ad_rates", 2.0), ("ad_rates", 0.0), ("user_ids", 5),
])  # fmt: skip
def test_arrays_that_cannot_be(fitted, tmp_path, array, change):
    payload = fitted["map"].to_payload()
    odd = np.full_like(payload.arrays[array], change)
    write_payload(tmp_path / "odd.smx", replace(payload, arrays=payload.arrays | {array: odd}))
    with pytest.raises(ModelFileError, match="cannot read the model file"):
        load_model(tmp_path / "odd.smx")


def test_the_beta_prior_is_most_likely():
    rng = np.random.default_rng(0)
    shown = rng.integers(10, 400, 2_000).astype(float)
    clicks = rng.binomial(shown.astype(int), rng.beta(2.0, 38.0, shown.size)).astype(float)
    found = beta_binomial.most_likely_prior(clicks, shown)
    assert_allclose([found.clicks, found.impressions], [2.0, 40.0], rtol=0.15)
    best = beta_binomial.log_evidence(clicks, shown, found)
    for a, b in ((1.02, 1.0), (0.98, 1.0), (1.0, 1.02), (1.0, 0.98)):
        assert (
            beta_binomial.log_evidence(clicks, shown, BetaPrior(found.clicks * a, found.impressions * b))
            < best
        )
    one = beta_binomial.log_evidence(clicks[:1], shown[:1], found)
    ways = betabinom.logpmf(clicks[0], shown[0], found.clicks, found.impressions - found.clicks)
    assert one < ways  # which counts all orders of the clicks


def test_measures_are_those_of_scikit_learn():
    rng = np.random.default_rng(1)
    rates = rng.random(40).round(1) * 0.8 + 0.1
    shown = rng.integers(1, 9, 40)
    clicks = rng.binomial(shown, rates)
    events, each = (
        np.repeat(rates, shown),
        [[1] * c + [0] * (n - c) for c, n in zip(clicks, shown, strict=True)],
    )
    labels = np.concatenate(each)
    what = (clicks.astype(float), shown.astype(float), rates)
    assert_allclose(calibration.log_loss(*what), log_loss(labels, events))
    assert_allclose(calibration.auc(*what), roc_auc_score(labels, events))
    assert np.isnan(calibration.auc(np.zeros(3), np.ones(3), np.ones(3)))
    bins = calibration.calibration(*what, 4)
    assert_allclose(sum(each.n_impressions for each in bins), shown.sum())
    assert_allclose(sum(each.n_impressions * each.observed for each in bins), clicks.sum())
    assert [each.predicted for each in bins] == sorted(each.predicted for each in bins)


def test_evaluation_needs_impressions(fitted):
    with pytest.raises(DataError, match="impressions or clicks"):
        fitted["map"].evaluate({"user": [1], "ad": ["ad1"], "event": ["conversion"]})


def test_real_events(real_data):
    table = pd.read_parquet(real_data / "kddcup12_clicks" / "user_events.parquet")
    aside = np.random.default_rng(0).random(table.user.max() + 1) < 0.2
    train, test = table[~aside[table.user]], table[aside[table.user]]
    report = new_rates(smoothing=1000.0).fit(train).evaluate(test)
    constant = test["count"][test.event == "click"].sum() / test["count"][test.event == "impression"].sum()
    assert report.log_loss < -(constant * np.log(constant) + (1 - constant) * np.log1p(-constant))
    assert_allclose(report.log_loss, report.floor_log_loss)  # nobody was seen before


@pytest.mark.parametrize(("help_", "least", "most"), [(0.0, 1e4, STRENGTHS[-1]), (0.8, 0.0, 100.0)])
def test_factors_are_heard_as_far_as_they_help(help_, least, most):
    """Ads are clicked at the rate 0.1, or as factors say in a share `help_`; chance alone must not speak for them."""
    found = []
    for seed in range(20):
        rng = np.random.default_rng(seed)
        user, ad = (each.ravel() for each in np.indices((50, 4)))
        factors = Factors(rng.gamma(2.0, 10.0, (50, 2)), rng.dirichlet(np.ones(12), 2).T)
        shown, clicked = (
            np.einsum("ek,ek->e", factors.users[user], factors.features[3 * ad + kind]) for kind in (0, 1)
        )
        rates = (1.0 - help_) * 0.1 + help_ * np.minimum(clicked / shown, 0.9)
        impressions = rng.poisson(10.0, user.size) + 1
        clicks = rng.binomial(impressions, rates).astype(float)
        cells = Cells(user, ad, impressions.astype(float), clicks, np.zeros(user.size), 0.0)
        found.append(best_smoothing(cells, factors, np.full(5, 0.1)))
    assert np.mean((np.array(found) >= least) & (np.array(found) <= most)) >= 0.9, found
