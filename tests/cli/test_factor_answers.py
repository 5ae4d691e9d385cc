"""`sparsemix score`, `update`, `compare` and `ctr --by` with models of factors and of click rates."""

import csv
import json

import numpy as np
import pytest

import sparsemix as sm
from sparsemix.persistence import read_payload, state_hash
from sparsemix.reporting.factor_comparison import compare_factors, halves, score_factors

COLUMNS = ["--row", "user", "--feature", "song", "--count", "plays"]


def made_plays(seed, n_users=40, first=0):
    """Even users play even songs, odd ones odd songs."""
    rng = np.random.default_rng(seed)
    user, song = (each.ravel() for each in np.indices((n_users, 10)))
    plays = rng.poisson(np.where((user + song) % 2, 0.2, 3.0))
    held = plays > 0
    return {
        "user": [f"u{first + i}" for i in user[held]],
        "song": [f"s{j}" for j in song[held]],
        "plays": plays[held].tolist(),
    }


def write(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


def read(path):
    return sm.read_table(path, row="user", feature="song", count="plays")


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("plays")


@pytest.fixture(scope="module")
def plays(folder):
    return write(folder / "plays.csv", made_plays(0))


@pytest.fixture(scope="module")
def later(folder):
    return write(folder / "later.csv", made_plays(1))


@pytest.fixture(scope="module")
def models(folder, plays):
    """Files of a model by posterior mode, one by sampling, one of Bayesian NMF and one of click rates."""
    plan = {"n_sweeps": 20, "burn_in": 10, "random_state": 0}
    rng, n = np.random.default_rng(0), 200
    kinds = np.where(rng.random(n) < 0.3, "click", "impression")
    events = {"user": rng.integers(9, size=n), "ad": rng.integers(5, size=n), "event": kinds}
    found = {
        "map": sm.GammaPoissonFactors(2, random_state=0).fit(read(plays)),
        "gibbs": sm.GammaPoissonFactors(2, solver="gibbs", **plan).fit(read(plays)),
        "nmf": sm.BayesianNMF(2, **plan).fit(read(plays)),
        "rates": sm.ClickRateModel(2, smoothing=5.0, random_state=0).fit(events),
        "drawn": sm.ClickRateModel(2, solver="gibbs", smoothing=5.0, **plan).fit(events),
    }
    write(folder / "events.csv", {name: column.tolist() for name, column in events.items()})
    for name, model in found.items():
        sm.save_model(model, folder / f"{name}.smx")
    return {name: folder / f"{name}.smx" for name in found}


@pytest.mark.parametrize("name", ["map", "gibbs"])
def test_rows_are_scored_by_half_of_their_events(sparsemix, models, later, name):
    assert sparsemix("score", models[name], later, *COLUMNS, "--json") == 0
    found, rows = json.loads(sparsemix.out), read(later)
    assert "Each row is scored by one half of its events, given the other." in sparsemix.err
    model = sm.load_model(models[name])
    observed, aside = halves(rows, 0.5, 0)
    scores = model.score_samples(aside, observed=observed)
    assert found["rows"] == len(rows) == 40
    assert found["events"] == aside.matrix.sum()
    assert found["log_probability_per_row"] == pytest.approx(scores.mean())
    assert found["log_probability_per_event"] == pytest.approx(scores.sum() / aside.matrix.sum())


def test_rows_are_scored_by_what_was_observed(sparsemix, models, plays, later):
    assert sparsemix("score", models["map"], later, "--observed", plays, *COLUMNS, "--quiet") == 0
    expected = score_factors(sm.load_model(models["map"]), read(later), read(plays))
    assert sparsemix.err == ""
    assert f"{expected.per_event:,.6g}" in sparsemix.out
    short = write(later.parent / "short.csv", made_plays(1, n_users=39))
    assert sparsemix("score", models["map"], later, "--observed", short, *COLUMNS) == 1
    assert "must have the same rows in the same order" in sparsemix.err


def test_keywords_that_the_model_does_not_know_are_not_scored(models, plays):
    rows = read(plays)
    model = sm.load_model(models["map"])
    names = np.array([f"{name}x" if name == "s3" else name for name in rows.feature_names], dtype=object)
    other = sm.Dataset.from_matrix(rows.matrix, row_ids=rows.row_ids, feature_names=names)
    known = rows.matrix[:, rows.feature_names != "s3"].sum()
    assert score_factors(model, other, other).n_events == known


def test_click_rates_are_scored(sparsemix, models, folder):
    assert sparsemix("score", models["rates"], folder / "events.csv", "--json") == 0
    found = json.loads(sparsemix.out)
    with (folder / "events.csv").open() as file:
        table = list(csv.DictReader(file))
    events = {name: [row[name] for row in table] for name in ("user", "ad", "event")}
    events |= {name: np.array(events[name], int) for name in ("user", "ad")}
    expected = sm.load_model(models["rates"]).evaluate(events)
    assert (found["log_loss"], found["auc"]) == (expected.log_loss, expected.auc)
    assert found["ad_alone_log_loss"] == expected.floor_log_loss
    assert found["calibration"][0]["observed"] == expected.bins[0].observed
    assert sparsemix("score", models["rates"], folder / "events.csv") == 0
    assert f"{expected.auc:,.6g}" in sparsemix.out


def test_other_columns_of_events_are_scored(sparsemix, models, tmp_path):
    columns = {"who": [1, 2], "what": [1, 1], "did": ["click", "impression"], "n": [3, 40]}
    table, names = write(tmp_path / "e.csv", columns), ["--user", "who", "--ad", "what", "--event", "did"]
    assert sparsemix("score", models["rates"], table, *names, "--count", "n", "--json") == 0
    assert json.loads(sparsemix.out)["n_impressions"] == 43


def test_new_users_are_learnt(sparsemix, models, tmp_path):
    new = made_plays(2, n_users=7, first=100)
    table = write(tmp_path / "new.csv", {**new, "song": [*new["song"][:-1], "unheard"]})
    out = tmp_path / "more.smx"
    assert sparsemix("update", models["map"], table, *COLUMNS, "-o", out) == 0
    expected = sm.load_model(models["map"]).partial_fit(read(table))
    assert state_hash(read_payload(out)) == state_hash(expected.to_payload())
    assert "Rows: 40 before, 47 now." in sparsemix.out
    assert "Left out 1 keyword that the model does not know." in sparsemix.err
    assert sparsemix("update", models["map"], table, *COLUMNS, "-o", out, "--json") == 0
    assert json.loads(sparsemix.out)["n_rows"] == 47


def test_a_table_of_other_keywords_is_not_learnt(sparsemix, models, tmp_path):
    table = write(tmp_path / "new.csv", {"user": ["a"], "song": ["unheard"], "plays": [3]})
    before = state_hash(read_payload(models["map"]))
    assert sparsemix("update", models["map"], table, *COLUMNS) == 1
    assert "knows none of 1 keyword" in sparsemix.err
    assert state_hash(read_payload(models["map"])) == before


def test_solvers_are_compared(sparsemix, plays):
    command = ["compare", plays, *COLUMNS, "--solver", "map", "--solver", "ml", "-k", 1, "-k", 2, "--seed", 3]
    assert sparsemix(*command, "--json") == 0
    found = json.loads(sparsemix.out)["models"]
    assert [each["name"] for each in found] == ["map, k=1", "map, k=2", "ml, k=1", "ml, k=2"]
    model = sm.GammaPoissonFactors(2, random_state=3)
    [expected] = compare_factors({"one": model}, read(plays), seed=3)
    assert found[1]["per_event"] == expected.per_event
    assert found[1]["per_event"] > found[0]["per_event"]
    assert sparsemix(*command) == 0
    assert "nats an event" in sparsemix.out


@pytest.mark.parametrize(
    ("command", "code", "message"),
    [
        (["update", "gibbs"], 2, "holds a GammaPoissonFactors fitted with --solver gibbs, which learns"),
        (["update", "nmf"], 2, "holds a BayesianNMF, which learns from all of its table at once"),
        (["update", "rates"], 2, "holds a ClickRateModel, which learns from all of its table at once"),
        (["score", "nmf"], 2, "holds a BayesianNMF, which cannot score rows that it has not learnt"),
        (["score", "map", "--user", "user"], 2, "--user is not for this model (gamma-poisson-factors)"),
        (["score", "rates", "--observed", "x.csv"], 2, "--observed is not for this model (click-rate-model)"),
        (["score", "rates"], 2, "--row is not for tables of events"),
    ],
)
def test_what_makes_no_sense_is_refused(sparsemix, models, plays, command, code, message):
    name, model, *options = command
    assert sparsemix(name, models[model], plays, *COLUMNS, *options) == code
    assert message in sparsemix.err


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--model", "online"], "--model is of clusters, and --solver of factors"),
        (["--family", "poisson"], "--family is of clusters, and --solver of factors"),
        (["--label", "song"], "--label is not for --solver"),
        (["--held-out", "0.9999"], "no event is left to learn"),
    ],
)
def test_comparisons_that_make_no_sense(sparsemix, plays, options, message):
    sparsemix("compare", plays, *COLUMNS, "--solver", "map", *options)
    assert message in sparsemix.err


def test_options_of_factors_are_not_for_clusters(sparsemix, model, table):
    for options in (["--observed", "x.csv"], ["--ad", "x"]):
        assert sparsemix("score", model, table, *options) == 2
        assert f"{options[0]} is not for this model (clusters)" in sparsemix.err


def test_halves_need_whole_counts():
    rows = sm.Dataset.from_matrix(np.eye(2))
    rows.matrix.data[:] = 0.5
    with pytest.raises(sm.DataError, match="whole numbers"):
        halves(rows, 0.5, 0)


def test_ads_of_which_little_is_known_come_late(sparsemix, models):
    model = sm.load_model(models["drawn"])
    low = model.predict_interval([3] * 5, model.ads_)[0]
    best = [str(ad) for ad in model.ads_[np.argsort(-low, kind="stable")]]
    for ads in (["-n", 5], ["--ad", 4, "--ad", 2, "--ad", 0]):
        assert sparsemix("ctr", models["drawn"], "--user", 3, *ads, "--by", "lower", "--json") == 0
        found = [str(each["ad"]) for each in json.loads(sparsemix.out)["rates"]]
        assert found == [ad for ad in best if "-n" in ads or int(ad) in ads]
    assert sparsemix("ctr", models["drawn"], "--user", 3, "--ad", 1, "--ad", 0, "--by", "rate", "--json") == 0
    rates = [each["rate"] for each in json.loads(sparsemix.out)["rates"]]
    assert rates == sorted(rates, reverse=True)
    assert sparsemix("ctr", models["rates"], "--user", 3, "--by", "lower") == 2
    assert "--by lower needs intervals" in sparsemix.err
