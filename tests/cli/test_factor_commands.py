"""`sparsemix fit` with factors and click rates, and `sparsemix ctr`."""

import csv
import json

import numpy as np
import pyarrow as pa
import pytest
from model_files import hash_of
from pyarrow import parquet

import sparsemix as sm
from sparsemix.persistence import state_hash

COMMON = ["--model", "click-rate", "-k", 2, "--smoothing", 5]


def made_events():
    """Even users click on even ads, odd ones on odd ads."""
    rng = np.random.default_rng(0)
    events = {"user": [], "ad": [], "event": [], "count": []}
    for user in range(30):
        for ad in rng.choice(8, 4, replace=False):
            shown = int(rng.integers(5, 20))
            clicks = int(rng.binomial(shown, 0.5 if (user + ad) % 2 == 0 else 0.05))
            for kind, count in (("impression", shown), ("click", clicks)):
                for name, value in zip(events, (f"u{user}", f"a{ad}", kind, count), strict=True):
                    events[name].append(value)
    return events


EVENTS = made_events()


def write(path, columns):
    with path.open("w", newline="", encoding="utf-8") as file:
        csv.writer(file).writerows([columns, *zip(*columns.values(), strict=True)])
    return path


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return tmp_path_factory.mktemp("events")


@pytest.fixture(scope="module")
def events(folder):
    return write(folder / "events.csv", EVENTS)


@pytest.fixture(scope="module")
def library():
    options = {"smoothing": 5.0, "random_state": 0}
    return {
        "map": sm.ClickRateModel(2, **options).fit(EVENTS),
        "gibbs": sm.ClickRateModel(2, solver="gibbs", n_sweeps=20, burn_in=10, **options).fit(EVENTS),
    }


@pytest.fixture(scope="module")
def models(library, folder):
    for name, model in library.items():
        sm.save_model(model, folder / f"{name}.smx")
    return {name: folder / f"{name}.smx" for name in library}


def test_click_rates_are_those_of_the_library(sparsemix, events, models, tmp_path):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", events, "-o", path, *COMMON, "--json") == 0
    assert hash_of(path) == hash_of(models["map"])
    found = json.loads(sparsemix.out)
    assert (found["n_users"], found["n_ads"], found["smoothing"]) == (30, 8, 5.0)
    assert sparsemix("fit", events, "-o", path, *COMMON, "--solver", "gibbs", "--n-sweeps", 20) == 0
    assert hash_of(path) == hash_of(models["gibbs"])
    assert f"sparsemix ctr {path} --user u0 --ad a0" in sparsemix.out


def test_other_columns_other_forms_and_records_without_counts(sparsemix, tmp_path):
    whole = {"who": [7, 7, 9], "what": [1, 2, 1], "did": ["impression", "click", "impression"]}
    parquet.write_table(pa.table(whole), tmp_path / "events.parquet")
    names = ["--user", "who", "--ad", "what", "--event", "did"]
    path = tmp_path / "m.smx"
    assert sparsemix("fit", tmp_path / "events.parquet", "-o", path, *COMMON, *names) == 0
    model = sm.load_model(path)
    assert (model.users_.tolist(), model.ads_.tolist()) == ([7, 9], [1, 2])
    assert model.n_clicks_without_impressions_ == 1.0
    for user, known in ((7, True), ("seven", False)):
        assert sparsemix("ctr", path, "--user", user, "--ad", 2, "--json") == 0
        found = json.loads(sparsemix.out)
        assert found["known_user"] is known
        asked = model.predict([7 if known else 0], [2])[0]
        assert found["rates"][0]["rate"] == asked


def test_factors_are_those_of_the_library(sparsemix, events, tmp_path):
    path = tmp_path / "m.smx"
    options = ["--model", "gamma-poisson", "-k", 3, "--shape", 1.5, "--rate", 0.5, "--max-iter", 300]
    columns = ["--row", "user", "--feature", "ad", "--count", "count"]
    assert sparsemix("fit", events, "-o", path, *options, *columns, "--json", "--quiet") == 0
    rows = sm.read_table(events, row="user", feature="ad", count="count")
    expected = sm.GammaPoissonFactors(3, shape=1.5, rate=0.5, max_iter=300, random_state=0).fit(rows)
    assert hash_of(path) == state_hash(expected.to_payload())
    found = json.loads(sparsemix.out)
    assert sparsemix.err == ""
    assert (found["n_rows"], found["n_features"]) == rows.matrix.shape
    assert found["objective"] == expected.trace_[-1]
    shares = [each["share"] for each in found["factors"]]
    assert shares == sorted(shares, reverse=True)
    assert sum(shares) == pytest.approx(1.0)
    first = found["factors"][0]
    own = expected.feature_factors_[first["factor"]]
    assert first["features"][0]["feature"] == expected.feature_names_in_[own.argmax()]
    assert first["features"][0]["probability"] == own.max()


def test_a_fit_that_ends_early_is_told(sparsemix, events, tmp_path):
    command = ["fit", events, "-o", tmp_path / "m.smx", "--model", "gamma-poisson", "--max-iter", 2]
    columns = ["--row", "user", "--feature", "ad", "--count", "count"]
    assert sparsemix(*command, *columns) == 0
    assert sparsemix.err.endswith("warning: not converged after 2 sweeps. Raise --max-iter.\n")
    assert "10 factors" in sparsemix.out


@pytest.mark.parametrize("name", ["map", "gibbs"])
def test_rates_of_a_user(sparsemix, library, models, name):
    model = library[name]
    ads = ["a3", "nothing", "a0"]
    assert (
        sparsemix("ctr", models[name], "--user", "u4", *[x for ad in ads for x in ("--ad", ad)], "--json")
        == 0
    )
    rates = json.loads(sparsemix.out)["rates"]
    assert [each["ad"] for each in rates] == ads
    assert [each["rate"] for each in rates] == model.predict(["u4"] * 3, ads).tolist()
    assert [each["ad_rate"] for each in rates] == model.predict(["nobody"] * 3, ads).tolist()
    if name == "gibbs":
        low, high = model.predict_interval(["u4"] * 3, ads)
        assert [[each["low"], each["high"]] for each in rates] == np.column_stack([low, high]).tolist()
    else:
        assert {each["low"] for each in rates} == {None}
    assert sparsemix("ctr", models[name], "--user", "u4", "-n", 2) == 0
    shown = [line.split()[1] for line in sparsemix.out.splitlines()[1:]]
    assert shown == [each.ad for each in model.rank("u4", 2)]


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_rates_of_a_table(sparsemix, library, models, tmp_path, ending, monkeypatch):
    monkeypatch.setattr("sparsemix.cli.click_rates._PAIRS_PER_BATCH", 2)
    pairs = {"u": ["u1", "u2", "nobody", "u1", "u3"], "a": ["a1", "a1", "a2", "nothing", "a7"]}
    table, out = write(tmp_path / "pairs.csv", pairs), tmp_path / f"rates.{ending}"
    command = ["ctr", models["gibbs"], table, "-o", out, "--user-column", "u", "--ad-column", "a"]
    assert sparsemix(*command, "--level", 0.8) == 0
    assert sparsemix.err.splitlines() == [
        f"Wrote 5 pairs to {out}.",
        "Pairs with a user that the model does not know: 1; with such an ad: 1.",
    ]
    found = parquet.read_table(out) if ending == "parquet" else pa.csv.read_csv(out)
    model, asked = library["gibbs"], (pairs["u"], pairs["a"])
    assert found.column_names == ["user", "ad", "rate", "low", "high", "ad_rate"]
    assert (found["user"].to_pylist(), found["ad"].to_pylist()) == asked
    assert found["rate"].to_pylist() == pytest.approx(model.predict(*asked))
    low, high = model.predict_interval(*asked, level=0.8)
    assert found["low"].to_pylist() == pytest.approx(low)
    assert found["high"].to_pylist() == pytest.approx(high)
    assert sparsemix(*command, "--json") == 0  # its own file may be replaced
    assert json.loads(sparsemix.out) == {
        "output": str(out),
        "n_pairs": 5,
        "n_unknown_users": 1,
        "n_unknown_ads": 1,
    }


def test_without_draws_intervals_are_empty(sparsemix, models, tmp_path):
    table, out = write(tmp_path / "pairs.csv", {"user": ["u1"], "ad": ["a1"]}), tmp_path / "rates.parquet"
    assert sparsemix("ctr", models["map"], table, "-o", out) == 0
    assert parquet.read_table(out)["low"].to_pylist() == [None]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--row", "user"], "--row is not for tables of events"),
        (["--user", "usr"], "--user must be one of the columns ('user', 'ad', 'event', 'count')"),
        (["--algorithm", "soft"], "--algorithm is not for --model click-rate"),
        (["--batch-rows", 9], "--batch-rows is not for --model click-rate"),
        (["--min-rows-per-feature", 2], "--min-rows-per-feature is not for --model click-rate"),
        (["--label", "event"], "--label is not for --model click-rate"),
        (["--shape", 0], "--shape must be"),
        (["--solver", "em"], "--solver must be "),
        (["--model", "gamma-poisson", "--smoothing", 1], "--smoothing is not for --model gamma-poisson"),
        (["--model", "gamma-poisson", "--user", "user"], "--user is for --model click-rate only"),
        (
            ["--thin", 2],
            "--thin with --model click-rate is not for --solver map. Leave it out, or choose another",
        ),
        (["--solver", "ml", "--rate", 1], "--rate with --model click-rate is not for --solver ml"),
        (
            ["--model", "gamma-poisson", "--solver", "gibbs", "--max-iter", 9],
            "--max-iter with --model gamma-poisson is not for --solver gibbs",
        ),
        (
            ["--model", "gamma-poisson", "--solver", "ml", "--feature-smoothing", 1],
            "--feature-smoothing with --model gamma-poisson is not for --solver ml",
        ),
        (["--model", "online", "--solver", "ml"], "--solver is not for --model online"),
    ],
)
def test_wrong_use_of_fit(sparsemix, events, tmp_path, options, message):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", events, "-o", path, "--model", "click-rate", *options) == 2
    assert message in sparsemix.err
    assert not path.exists()


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"event": ["view"]}, "--event must be one of impression, click, conversion, but there is 'view'"),
        (
            {"count": ["-3"]},
            "line 2: --count count must be a whole number >= 0, but it is '-3'. Correct it, or name another --count.",
        ),
        ({"user": [""]}, "line 2: --user user must be there in every record"),
        ({"count": [0]}, "must hold at least one event"),
    ],
)
def test_tables_that_are_no_events(sparsemix, tmp_path, columns, message):
    table = write(
        tmp_path / "t.csv", {"user": ["u"], "ad": ["a"], "event": ["click"], "count": [1]} | columns
    )
    assert sparsemix("fit", table, "-o", tmp_path / "m.smx", "--model", "click-rate") == 1
    assert message in sparsemix.err


def test_wrong_use_of_ctr(sparsemix, events, models, tmp_path):
    (tmp_path / "mine.csv").write_text("not,yours\n")
    for options, message in (
        ([], "Ask about a --user and perhaps an --ad, or give a table of pairs and --output."),
        (["--ad", "a1"], "Ask about a --user"),
        ([events], "Ask about a --user"),
        (["--user", "u1", "-o", tmp_path / "x.csv"], "Ask about a --user"),
        ([events, "-o", tmp_path / "x.csv", "--user", "u1"], "Ask about a --user"),
        ([events, "-o", tmp_path / "x.txt"], "--output must be a file name that ends in .parquet or .csv"),
        ([events, "-o", tmp_path / "mine.csv"], "exists and is not a table of click rates"),
        ([events, "-o", tmp_path / "x.csv", "--ad-column", "x"], "--ad-column must be one of the columns"),
        (
            [events, "-o", tmp_path / "x.csv", "-n", 3],
            "-n is for the ads of a --user, but a table is answered",
        ),
        ([events, "-o", tmp_path / "x.csv", "--by", "rate"], "--by is for the ads of a --user"),
        (["--user", "u1", "--user-column", "u"], "--user-column names a column of a table of pairs, but no"),
        (
            ["--user", "u1", "--ad-column", "a"],
            "--ad-column names a column of a table of pairs, but no table",
        ),
        (
            ["--user", "u1", "--ad", "a1", "-n", 1],
            "-n is how many of all ads are shown, but those of --ad are",
        ),
        (["--user", "u1", "--level", 1], "--level"),
        (["--user", "u1", "--format", "csv"], "no table was given"),
    ):
        assert sparsemix("ctr", models["map"], *options) == 2
        assert message in sparsemix.err
    assert not (tmp_path / "x.csv").exists()


def test_models_of_clusters_and_of_rates_are_not_taken_for_each_other(
    sparsemix, model, table, models, tmp_path
):
    assert sparsemix("ctr", model, "--user", "u1") == 2
    assert "holds an OnlineBernoulliMixture, which knows no click rates" in sparsemix.err
    out = tmp_path / "x.csv"
    for command in (
        ["clusters", models["map"]],
        ["suggest", models["map"], "--keyword", "x"],
        ["assign", models["map"], table, "-o", out],
        ["report", models["map"], "-o", tmp_path / "x.html"],
    ):
        assert sparsemix(*command) == 2
        assert "holds a ClickRateModel, which has no clusters" in sparsemix.err
