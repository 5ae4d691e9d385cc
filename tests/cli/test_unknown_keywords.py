"""Rows that hold only keywords which the model does not know are counted and told."""

import json

import pytest

import sparsemix as sm

TOLD = "Rows with only keywords that the model does not know: 3 of 6."


@pytest.fixture
def mixed(tmp_path):
    path = tmp_path / "mixed.csv"
    words = {1: ["yak"], 2: ["mouse"], 3: ["yak", "yak wool"], 4: ["yak", "mouse"], 5: [""], 6: ["wool"]}
    path.write_text(
        "ad,keyword\n" + "".join(f"{ad},{word}\n" for ad, found in words.items() for word in found)
    )
    return path


@pytest.mark.parametrize("batch_rows", [1, 2, 50])
@pytest.mark.parametrize("command", ["assign", "score", "report"])
def test_they_are_told_once(sparsemix, model, mixed, tmp_path, command, batch_rows):
    output = {"assign": ["-o", tmp_path / "found.csv"], "report": ["-o", tmp_path / "r.html"]}.get(
        command, []
    )
    assert sparsemix(command, model, mixed, *output, "--batch-rows", batch_rows) == 0
    assert [line for line in sparsemix.err.splitlines() if "does not know" in line or "warning" in line] == [
        TOLD
    ]
    assert sparsemix(command, model, mixed, *output, "--quiet") == 0
    assert sparsemix.err == ""


@pytest.mark.parametrize("command", ["assign", "score"])
def test_json_has_their_number(sparsemix, table, model, mixed, tmp_path, command):
    output = {"assign": ["-o", tmp_path / "found.csv"]}.get(command, [])
    assert sparsemix(command, model, mixed, *output, "--json") == 0
    assert json.loads(sparsemix.out)["n_unknown_rows"] == 3
    assert sparsemix(command, model, table, *output, "--json") == 0
    assert json.loads(sparsemix.out)["n_unknown_rows"] == 0
    assert "does not know" not in sparsemix.err


def test_only_strangers_are_an_error(sparsemix, model, tmp_path):
    path = tmp_path / "strangers.csv"
    path.write_text("ad,keyword\n" + "".join(f"{row},yak {row}\n" for row in range(9)))
    assert sparsemix("assign", model, path, "-o", tmp_path / "found.csv") == 1
    assert "knows none of 9 keywords of the table: 'yak 0', 'yak 1', 'yak 2' and 6 more" in sparsemix.err
    assert not (tmp_path / "found.csv").exists()


def test_nothing_is_left_to_suggest(sparsemix, tmp_path):
    path, model = tmp_path / "few.csv", tmp_path / "few.smx"
    path.write_text(
        "ad,keyword\n" + "".join(f"{row},{word}\n" for row in range(9) for word in ("red", "blue"))
    )
    assert sparsemix("fit", path, "-o", model, "-k", 1) == 0
    assert sparsemix("suggest", model, "--keyword", "red", "--keyword", "red", "--reject", "blue") == 0
    assert sparsemix.out.splitlines() == [
        "For an ad with: red, without: blue",
        "Nothing is left to suggest: the model knows no other keyword.",
    ]
    assert sparsemix("suggest", model, "--ad", 3, "--input", path, "--json") == 0
    assert json.loads(sparsemix.out)["suggestions"] == []


def test_completeness_is_for_models_that_have_it(sparsemix, table, tmp_path):
    path = tmp_path / "em.smx"
    sm.save_model(sm.MultinomialMixture(3, random_state=0).fit(sm.read_table(table)), path)
    assert sparsemix("suggest", path, "--keyword", "mouse", "-n", 2, "--json") == 0
    assert len(json.loads(sparsemix.out)["suggestions"]) == 2
    assert sparsemix("suggest", path, "--keyword", "mouse", "--completeness", 0.5) == 2
    assert "--completeness is not for a MultinomialMixture" in sparsemix.err
