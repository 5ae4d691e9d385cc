"""`clusters`, `suggest`, `assign`, `score` and `update` say what the library says."""

import csv
import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from pyarrow import csv as pa_csv

import sparsemix as sm
from sparsemix.persistence import read_payload, state_hash


@pytest.fixture(scope="module")
def rows(table):
    return sm.read_table(table)


@pytest.fixture(scope="module")
def learnt(model):
    return sm.load_model(model)


def words(text):
    return [" ".join(line.split()) for line in text.splitlines()]


@pytest.mark.parametrize("by", ["evidence", "mean", "lift"])
def test_clusters_json(sparsemix, model, learnt, by):
    assert sparsemix("clusters", model, "-n", 4, "--by", by, "--level", 0.8, "--json") == 0
    found = json.loads(sparsemix.out)
    expected = {each.component: each for each in learnt.top_features(4, by=by, level=0.8)}
    assert (found["by"], found["level"]) == (by, 0.8)
    assert sorted(each["component"] for each in found["clusters"]) == sorted(expected)
    shares = [each["share"] for each in found["clusters"]]
    assert shares == sorted(shares, reverse=True)
    for cluster in found["clusters"]:
        assert cluster["share"] == expected[cluster["component"]].weight
        features = [tuple(entry.values()) for entry in cluster["features"]]
        assert features == [tuple(each) for each in expected[cluster["component"]].features]


def test_clusters_table(sparsemix, model, learnt):
    assert sparsemix("clusters", model, "-n", 3) == 0
    lines = words(sparsemix.out)
    assert lines[0] == "id share rows keywords"
    assert len(lines) == 1 + len(learnt.component_ids_)
    assert any(line.startswith("clutter ") for line in lines)
    assert any("nissan altima" in line for line in lines)


def test_one_cluster(sparsemix, model, learnt):
    component = int(learnt.component_ids_[0])
    assert sparsemix("clusters", model, "--component", component, "-n", 7) == 0
    assert len(words(sparsemix.out)) == 2 + 7
    assert sparsemix("clusters", model, "--component", component, "--json") == 0
    assert [each["component"] for each in json.loads(sparsemix.out)["clusters"]] == [component]
    assert sparsemix("clusters", model, "--component", 12345) == 2
    assert "one of -1, 0, 1" in sparsemix.err


def test_suggestions(sparsemix, model, learnt):
    options = ["--keyword", "window cleaning", "--keyword", "cleaning company", "--reject", "window repair"]
    assert sparsemix("suggest", model, *options, "-n", 5, "--json") == 0
    found = json.loads(sparsemix.out)
    expected = learnt.suggest(["window cleaning", "cleaning company"], ["window repair"], n=5)
    assert found["accepted"] == ["window cleaning", "cleaning company"]
    assert found["rejected"] == ["window repair"]
    assert [each["keyword"] for each in found["suggestions"]] == [each.feature for each in expected]
    assert [each["probability"] for each in found["suggestions"]] == [each.probability for each in expected]
    assert sparsemix("suggest", model, *options, "-n", 5) == 0
    lines = words(sparsemix.out)
    assert lines[0] == "For an ad with: window cleaning, cleaning company, without: window repair"
    assert lines[1] == "keyword probability 95% interval clusters behind it"
    assert [line.split(" ")[0] for line in lines[2:]] == [each.feature.split(" ")[0] for each in expected]


def test_suggestions_for_an_ad_of_a_table(sparsemix, ads, table, model, learnt):
    assert sparsemix("suggest", model, "--ad", "ad-00007", "--input", table, "--json") == 0
    found = json.loads(sparsemix.out)
    assert sorted(found["accepted"]) == sorted(ads.keywords[7])
    assert not set(found["accepted"]) & {each["keyword"] for each in found["suggestions"]}
    assert len(found["suggestions"]) == len(learnt.suggest(ads.keywords[7]))


def test_an_unknown_keyword_gets_close_ones(sparsemix, model):
    assert sparsemix("suggest", model, "--keyword", "windw cleaning") == 2
    assert "does not know 'windw cleaning': did you mean 'window cleaning'" in sparsemix.err
    assert sparsemix("suggest", model, "--keyword", "mouse", "--reject", "zzzzqqqq") == 2
    assert "does not know 'zzzzqqqq', nor any keyword like it." in sparsemix.err


def test_an_ad_that_is_not_there_or_unknown(sparsemix, table, model, tmp_path):
    assert sparsemix("suggest", model, "--ad", "ad-99999", "--input", table) == 2
    assert "has no row 'ad-99999'" in sparsemix.err
    assert sparsemix("suggest", model, "--ad", "1") == 2
    assert "belong together" in sparsemix.err
    assert sparsemix("suggest", model) == 2
    assert "--ad and --input" in sparsemix.err
    other = tmp_path / "other.csv"
    other.write_text("ad,keyword\n1,yak shaving\n2,yak wool\n2,mouse\n")
    assert sparsemix("suggest", model, "--ad", "1", "--input", other) == 1
    assert "knows no keyword of row '1'" in sparsemix.err
    assert sparsemix("suggest", model, "--ad", "2", "--input", other, "--json") == 0
    assert json.loads(sparsemix.out)["accepted"] == ["mouse"]
    assert "does not know 1 of 2 keywords of row '2': yak wool" in sparsemix.err


def test_assign_to_parquet_in_batches(sparsemix, table, model, learnt, rows, tmp_path):
    path = tmp_path / "found.parquet"
    assert sparsemix("assign", model, table, "-o", path, "--batch-rows", 400) == 0
    assert f"Wrote 1,500 rows to {path}." in sparsemix.err
    found = pq.read_table(path)
    probabilities = learnt.predict_proba(rows)
    assert found.column_names == ["row", "cluster", "probability", "entropy"]
    assert found["row"].to_pylist() == rows.row_ids.tolist()
    assert found["cluster"].to_pylist() == learnt.predict(rows).tolist()
    np.testing.assert_array_equal(found["probability"].to_numpy(), probabilities.max(axis=1))
    logs = np.log(np.where(probabilities > 0, probabilities, 1))
    np.testing.assert_allclose(found["entropy"].to_numpy(), -(probabilities * logs).sum(axis=1), atol=1e-12)


def test_assign_to_csv_equals_parquet(sparsemix, table, model, tmp_path):
    assert sparsemix("assign", model, table, "-o", tmp_path / "found.csv", "--json") == 0
    assert json.loads(sparsemix.out) == {
        "output": str(tmp_path / "found.csv"),
        "n_rows": 1500,
        "n_unknown_rows": 0,
    }
    assert sparsemix("assign", model, table, "-o", tmp_path / "found.parquet", "--quiet") == 0
    with (tmp_path / "found.csv").open(encoding="utf-8", newline="") as file:
        lines = list(csv.DictReader(file))
    expected = pq.read_table(tmp_path / "found.parquet").to_pylist()
    kinds = {"row": str, "cluster": int, "probability": float, "entropy": float}
    assert [{name: kind(line[name]) for name, kind in kinds.items()} for line in lines] == expected


def test_assign_leaves_the_old_file_when_the_input_breaks(sparsemix, model, tmp_path):
    old = "row,cluster,probability,entropy\n"
    (tmp_path / "found.csv").write_text(old)
    broken = tmp_path / "broken.jsonl"
    broken.write_text('{"ad": 1, "keyword": "mouse"}\n{"ad": 2, "keyword"\n')
    assert sparsemix("assign", model, broken, "-o", tmp_path / "found.csv") == 1
    assert "2" in sparsemix.err
    assert (tmp_path / "found.csv").read_text() == old
    assert sorted(each.name for each in tmp_path.iterdir()) == ["broken.jsonl", "found.csv"]


@pytest.mark.parametrize("name", ["none.csv", "none.parquet"])
def test_assign_of_no_rows_is_an_empty_table(sparsemix, model, tmp_path, name):
    (tmp_path / "empty.csv").write_text("ad_id,keyword\n")
    assert sparsemix("assign", model, tmp_path / "empty.csv", "-o", tmp_path / name) == 0
    read = pq.read_table if name.endswith("parquet") else pa_csv.read_csv
    found = read(tmp_path / name)
    assert (found.num_rows, found.column_names) == (0, ["row", "cluster", "probability", "entropy"])


def test_assign_needs_a_format_it_knows(sparsemix, table, model, tmp_path):
    assert sparsemix("assign", model, table, "-o", tmp_path / "found.xlsx") == 2
    assert ".parquet or .csv" in sparsemix.err


def test_score(sparsemix, table, model, learnt, rows):
    assert sparsemix("score", model, table, "--batch-rows", 333, "--json") == 0
    found = json.loads(sparsemix.out)
    total = learnt.score_samples(rows).sum()
    assert (found["rows"], found["keywords"]) == (1500, rows.matrix.nnz)
    assert found["log_density_per_row"] == pytest.approx(total / 1500, rel=1e-12)
    assert found["log_density_per_keyword"] == pytest.approx(total / rows.matrix.nnz, rel=1e-12)
    assert sparsemix("score", model, table) == 0
    assert words(sparsemix.out)[0] == "rows 1,500"


def test_rows_without_keywords_have_no_score_of_a_keyword(sparsemix, model, tmp_path):
    blank = tmp_path / "blank.csv"
    blank.write_text("ad,keyword\n1,\n2,\n", encoding="utf-8")
    assert sparsemix("score", model, blank, "--json", "--quiet") == 0
    found = json.loads(sparsemix.out)
    assert (found["rows"], found["keywords"], found["log_density_per_keyword"]) == (2, 0, None)
    assert sparsemix("score", model, blank, "--quiet") == 0
    assert "-" in next(line for line in sparsemix.out.splitlines() if "per keyword" in line).split()


def test_reading_commands_do_not_change_the_model(sparsemix, table, model, tmp_path):
    before = Path(model).read_bytes()
    for command in (["clusters", model], ["suggest", model, "--keyword", "mouse"], ["score", model, table]):
        assert sparsemix(*command) == 0
    assert sparsemix("assign", model, table, "-o", tmp_path / "found.csv") == 0
    assert Path(model).read_bytes() == before


def test_update_equals_partial_fit(sparsemix, table, model, rows, tmp_path):
    before = Path(model).read_bytes()
    assert sparsemix("update", model, table, "-o", tmp_path / "new.smx", "--json") == 0
    expected = {"model": str(tmp_path / "new.smx"), "n_rows_before": 1500, "n_rows": 3000}
    expected |= {"n_features_before": 730, "n_features": 730, "n_features_known": 730}
    expected |= {"looks_repeated": True}
    assert json.loads(sparsemix.out) == expected
    assert Path(model).read_bytes() == before
    found = sm.load_model(model).partial_fit(rows)
    assert state_hash(read_payload(tmp_path / "new.smx")) == state_hash(found.to_payload())


def test_update_in_place_with_new_keywords(sparsemix, model, tmp_path):
    path, more = tmp_path / "ads.smx", tmp_path / "more.csv"
    path.write_bytes(Path(model).read_bytes())
    more.write_text("ad,keyword\n" + "".join(f"{row},yak wool\n{row},mouse\n" for row in range(50)))
    assert sparsemix("update", path, more) == 0
    assert sparsemix.out.splitlines() == [
        "Learnt 50 rows and 1 new keyword.",
        "Rows: 1,500 before, 1,550 now. Keywords: 730 before, 731 now.",
        f"The model is in {path}.",
    ]
    assert "warning" not in sparsemix.err
    assert sparsemix("suggest", path, "--keyword", "yak wool", "-n", 1) == 0


@pytest.mark.parametrize("command", ["clusters", "score", "assign", "update", "suggest"])
def test_model_files_that_are_none(sparsemix, table, tmp_path, command):
    path = tmp_path / "broken.smx"
    path.write_bytes(b"not a model")
    rest = {"score": [table], "update": [table], "assign": [table, "-o", tmp_path / "a.csv"]}
    rest["suggest"] = ["--keyword", "mouse"]
    assert sparsemix(command, path, *rest.get(command, [])) == 1
    assert sparsemix.err.startswith(f"sparsemix: error: cannot read the model file '{path}': ")
    assert sparsemix.err.count("\n") == 1


def test_features_without_names_are_numbers_and_labels_of_files_are_ignored(sparsemix, tmp_path):
    path = tmp_path / "rows.svmlight"
    path.write_text("".join(f"0 {1 + row % 3}:1 {4 + row % 3}:1\n" for row in range(90)))
    assert sparsemix("fit", path, "-o", tmp_path / "m.smx", "-k", 3) == 0
    assert sparsemix("suggest", tmp_path / "m.smx", "--keyword", 0, "-n", 1, "--json") == 0
    assert json.loads(sparsemix.out)["suggestions"][0]["keyword"] == 3
