"""`sparsemix fit` learns what the library learns, and says what to run next."""

import json
import shlex

import numpy as np
import pytest
from model_files import hash_of

import sparsemix as sm
from sparsemix.cli.results import say_if_one_has_nearly_all
from sparsemix.metrics import adjusted_rand
from sparsemix.persistence import state_hash

OPTIONS = ["-k", "25", "--clutter", "--priming-rows", "600", "--quiet"]


def test_the_file_holds_the_model_that_the_library_learns(table, model):
    ads = sm.read_table(table, row="ad_id", feature="keyword")
    expected = sm.OnlineBernoulliMixture(
        25, clutter=True, binarize=0.0, priming_rows=600, random_state=0
    ).fit(ads)
    found = sm.load_model(model)
    np.testing.assert_array_equal(found.predict(ads), expected.predict(ads))
    assert state_hash(found.to_payload()) == state_hash(expected.to_payload()) == hash_of(model)


def test_the_clusters_are_the_trades(ads, table, model):
    rows = sm.read_table(table, row="ad_id", feature="keyword")
    known = ads.topics >= 0
    assert adjusted_rand(ads.topics[known], sm.load_model(model).predict(rows)[known]) > 0.9


def test_the_table_of_clusters_and_what_to_run_next(sparsemix, table, tmp_path):
    path = tmp_path / "my ads.smx"
    assert sparsemix("fit", table, "-o", path, *OPTIONS) == 0
    assert sparsemix.err == ""
    lines = sparsemix.out.splitlines()
    assert lines[0].startswith("1,500 rows with 730 keywords in 25 clusters; log evidence per row -")
    assert sum("%" in line for line in lines) == 12
    assert "... and 14 smaller ones." in lines
    commands = [shlex.split(line) for line in lines if line.startswith("  sparsemix")]
    assert [command[1] for command in commands] == ["clusters", "suggest", "assign"]
    assert all(command[2] == str(path) for command in commands)
    assert sparsemix(*commands[1][1:]) == 0


def test_json(sparsemix, table, tmp_path):
    assert sparsemix("fit", table, "-o", tmp_path / "ads.smx", *OPTIONS, "--json") == 0
    found = json.loads(sparsemix.out)
    assert found["model"] == str(tmp_path / "ads.smx")
    assert found["n_rows"] == 1_500
    assert found["log_evidence"] < 0
    assert sum(cluster["share"] for cluster in found["clusters"]) == pytest.approx(1)


def test_defaults_are_said(sparsemix, table, tmp_path):
    assert sparsemix("fit", table, "-o", tmp_path / "ads.smx") == 0
    assert sparsemix.err == f"Guessed --row 'ad_id', --feature 'keyword' for {table}.\n"
    parameters = sm.load_model(tmp_path / "ads.smx").get_params()
    assert {name: parameters[name] for name in ("n_components", "random_state", "binarize")} == {
        "n_components": 50,
        "random_state": 0,
        "binarize": 0.0,
    }


def test_streaming_from_disk_gives_the_same_clusters(sparsemix, table, model, tmp_path):
    path = tmp_path / "streamed.smx"
    assert sparsemix("fit", table, "-o", path, *OPTIONS, "--batch-rows", 700) == 0
    ads = sm.read_table(table, row="ad_id", feature="keyword")
    assert adjusted_rand(sm.load_model(path).predict(ads), sm.load_model(model).predict(ads)) > 0.9


def test_filters_are_made_and_said(sparsemix, table, tmp_path):
    path = tmp_path / "filtered.smx"
    cuts = ["--min-rows-per-feature", 20, "--max-features-per-row", 12]
    assert sparsemix("fit", table, "-o", path, *OPTIONS[:-1], *cuts) == 0
    expected = sm.read_table(table).filter(min_rows_per_feature=20, max_features_per_row=12)
    assert f"{expected.report.removed}." in sparsemix.err.splitlines()
    found = sm.load_model(path)
    assert (found.n_rows_seen_, found.n_features_in_) == (expected.n_rows, expected.n_features)


def test_labels_tie_rows_together(sparsemix, tmp_path):
    path = tmp_path / "labelled.csv"
    kinds = ["fruit", "tool"]
    lines = [
        f"{row},{kinds[row % 2]},{word}" for row in range(200) for word in (f"{kinds[row % 2]} {row % 7}",)
    ]
    path.write_text("\n".join(["ad,kind,keyword", *lines]) + "\n")
    options = ["-k", 2, "--label", "kind", "--row", "ad", "--feature", "keyword"]
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *options) == 0
    rows = sm.read_table(path, row="ad", feature="keyword")
    assert sm.load_model(tmp_path / "m.smx").predict(rows).tolist() == [0, 1] * 100


def test_counts_above_one_are_presence(sparsemix, tmp_path):
    path = tmp_path / "counts.csv"
    path.write_text(
        "ad,keyword,times\n" + "".join(f"{row},word {row % 3},{1 + row % 4}\n" for row in range(60))
    )
    options = ["-k", 3, "--row", "ad", "--feature", "keyword", "--count", "times"]
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *options) == 0
    assert sparsemix("score", tmp_path / "m.smx", path, *options[2:]) == 0


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["-k", 0], 2, "'-k'"),
        (["--priming-rows", -5], 2, "--priming-rows"),
        (["--min-rows-per-feature", 0], 2, "--min-rows-per-feature"),
        (["--batch-rows", 10, "--min-rows-per-feature", 5], 2, "leave --batch-rows out"),
        (["--feature", "keywrod"], 2, "keywrod"),
        (["--min-rows-per-feature", 9999], 2, "The most frequent keyword is in "),
        (["--seed", -1], 2, "--seed"),
        (["--binarize", "inf"], 2, "--binarize must be a number >= 0, below 1.8e+308, but it is inf"),
        (["--label", "advertiser"], 2, "Give -k "),
        (["--row", "keyword", "--feature", "keyword"], 2, "--row must be another column than --feature"),
    ],
)
def test_errors(sparsemix, table, tmp_path, options, code, message):
    assert sparsemix("fit", table, "-o", tmp_path / "m.smx", "--quiet", *options) == code
    assert sparsemix.out == ""
    assert message in sparsemix.err
    assert sparsemix.err.count("\n") == 1
    assert list(tmp_path.iterdir()) == []


def test_a_bad_output_is_found_before_the_work(sparsemix, table, tmp_path, monkeypatch):
    monkeypatch.setattr("sparsemix.cli.inputs.Source.read", lambda _self: pytest.fail("the table was read"))
    assert sparsemix("fit", table, "-o", tmp_path / "absent" / "m.smx") == 2
    assert "does not exist. Create it first." in sparsemix.err
    assert sparsemix("fit", table, "-o", tmp_path) == 2
    assert "it is a folder" in sparsemix.err


@pytest.fixture(scope="module")
def thin(tmp_path_factory):
    """A table whose rows have one keyword each, of very many, and one of two kinds."""
    rng = np.random.default_rng(1)
    path = tmp_path_factory.mktemp("thin") / "thin.csv"
    lines = [f"{row},word {rng.integers(5_000)},{'even' if row % 2 else ''}" for row in range(600)]
    path.write_text("\n".join(["ad,keyword,kind", *lines]) + "\n")
    return path


NEARLY_ALL = "of the rows are in cluster "


def test_one_cluster_of_nearly_all_rows_is_warned_of(sparsemix, thin, tmp_path):
    assert sparsemix("fit", thin, "-o", tmp_path / "m.smx", "-k", 3) == 0
    share = next(line.split()[1] for line in sparsemix.out.splitlines() if line.lstrip().startswith("0 "))
    warning = sparsemix.err.splitlines()[-1]
    assert warning.startswith(f"warning: {share} {NEARLY_ALL}0, so the clusters tell few rows apart.")
    for remedy in ("few keywords", "--min-rows-per-feature", "--max-features-per-row", "-k"):
        assert remedy in warning
    assert sparsemix("fit", thin, "-o", tmp_path / "m.smx", "-k", 3, "--quiet") == 0
    assert sparsemix.err == ""


@pytest.mark.parametrize(
    ("component", "share", "shown"),
    [(-1, 0.95, "the clutter, so"), (7, 0.901, "cluster 7, so"), (7, 0.9, "")],
)
def test_which_cluster_it_is(capsys, component, share, shown):
    clusters = [{"component": component, "share": share}, {"component": 8, "share": 1 - share}]
    say_if_one_has_nearly_all(clusters)
    err = capsys.readouterr().err
    assert shown in err
    assert bool(err) == bool(shown)


@pytest.mark.parametrize("options", [["-k", 1], ["-k", 3, "--label", "kind"]])
def test_one_cluster_that_was_asked_for_is_not(sparsemix, thin, tmp_path, options):
    assert sparsemix("fit", thin, "-o", tmp_path / "m.smx", *options) == 0
    assert NEARLY_ALL not in sparsemix.err


def test_clusters_that_share_the_rows_are_not_warned_of(sparsemix, table, tmp_path):
    assert sparsemix("fit", table, "-o", tmp_path / "m.smx", *OPTIONS[:-1]) == 0
    assert NEARLY_ALL not in sparsemix.err


def test_an_empty_table_is_trouble_with_data(sparsemix, tmp_path):
    path = tmp_path / "empty.csv"
    path.write_text("ad,keyword\n")
    for options in ([], ["--min-rows-per-feature", 3], ["--batch-rows", 10]):
        assert sparsemix("fit", path, "-o", tmp_path / "m.smx", *options) == 1
        assert "there is no row to learn" in sparsemix.err


def test_one_row_and_one_cluster_are_not_plural(sparsemix, tmp_path):
    path = tmp_path / "one.csv"
    path.write_text("ad,keyword\n1,mouse\n")
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", "-k", 1) == 0
    assert sparsemix.out.startswith("1 row with 1 keyword in 1 cluster; ")
    assert sparsemix("assign", tmp_path / "m.smx", path, "-o", tmp_path / "found.csv") == 0
    assert f"Wrote 1 row to {tmp_path / 'found.csv'}." in sparsemix.err


def test_the_commands_to_run_next_read_the_table_as_fit_did(sparsemix, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    lines = [
        f"{row};{row // 20};{word};{count}"
        for row in range(40)
        for word, count in (("a b", 2), ("c", 1 + row // 20))
    ]
    (tmp_path / "odd.txt").write_text("\n".join(["one;two;three;four", *lines]))
    options = ["--format", "csv", "--separator", ";", "--row", "one", "--feature", "three", "--count", "four"]
    assert (
        sparsemix(
            "fit", "odd.txt", "-o", "m.smx", "--model", "multinomial", "-k", "2", "--label", "two", *options
        )
        == 0
    )
    commands = [shlex.split(line) for line in sparsemix.out.splitlines() if line.startswith("  sparsemix")]
    for command in commands:
        assert sparsemix(*command[1:]) == 0, sparsemix.err
    assert (tmp_path / "assignments.csv").read_text().count("\n") == 41


def test_clusters_without_rows_have_no_keywords(sparsemix, tmp_path):
    path = tmp_path / "few.csv"
    path.write_text("doc,word,n,kind\n" + "".join(f"{i},w{i % 2},3,k{i % 2}\n" for i in range(20)))
    code = sparsemix(
        "fit", path, "-o", tmp_path / "few.smx", "--model", "multinomial", "-k", "3",
        "--row", "doc", "--feature", "word", "--count", "n", "--label", "kind",
    )  # fmt: skip
    assert code == 0
    assert "(no rows)" in sparsemix.out
