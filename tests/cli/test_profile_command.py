"""`sparsemix profile` reads what it is given and says what it guessed and lost."""

import json

import pytest

from sparsemix.cli import main

TABLE = "ad_id,advertiser,keyword\n1,A,red\n1,A,blue\n2,A,red\n2,A,red\n3,B,\n4,B,green\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_text(TABLE)
    return path


def run(capsys, *arguments):
    code = main([str(each) for each in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def test_values(table, capsys):
    code, out, _err = run(capsys, "profile", table, "--json")
    found = json.loads(out)
    assert code == 0
    assert (found["n_rows"], found["n_features"], found["n_nonzero"]) == (4, 3, 4)
    assert (found["n_empty_rows"], found["n_connected_components"]) == (1, 3)
    assert found["report"]["guessed"] == {"row": "ad_id", "feature": "keyword"}


def test_table(table, capsys):
    code, out, err = run(capsys, "profile", table)
    lines = [" ".join(line.split()) for line in out.splitlines()]
    assert code == 0
    assert "rows 4" in lines
    assert "keywords 3" in lines
    assert "parts that share no keyword 3 (2 of a single row)" in lines
    assert "keywords per row 0 0 1 1 1 2 2 2" in lines
    assert err.splitlines() == [
        f"Guessed --row 'ad_id', --feature 'keyword' for {table}.",
        "dropped 1 null or empty feature.",
        "merged 1 repeated pair.",
    ]


def test_quiet_says_nothing(table, capsys):
    assert run(capsys, "profile", table, "--quiet")[2] == ""


def test_named_columns_are_not_guessed(table, capsys):
    code, out, err = run(capsys, "profile", table, "--row", "advertiser", "--feature", "keyword", "--json")
    assert code == 0
    assert json.loads(out)["n_rows"] == 2
    assert "Guessed" not in err


def test_a_basket_in_one_cell(tmp_path, capsys):
    path = tmp_path / "baskets.csv"
    path.write_text("ad;keywords\n1;red|blue\n2;green\n".replace(";", ","))
    code, out, _err = run(capsys, "profile", path, "--feature", "keywords", "--delimiter", "|", "--json")
    assert code == 0
    assert json.loads(out)["n_nonzero"] == 3


def test_errors_speak_of_options(tmp_path, table, capsys):
    code, _out, err = run(capsys, "profile", table, "--feature", "keywrod")
    assert code == 2
    assert "'keyword'" in err
    assert "feature=" not in err
    code, _out, err = run(capsys, "profile", tmp_path / "absent.csv")
    assert code == 1
    assert "absent.csv" in err
    assert err.count("\n") == 1
    path = tmp_path / "odd.csv"
    path.write_text("a,b,c\n1,2,3\n")
    code, _out, err = run(capsys, "profile", path)
    assert code == 2
    assert "no one obvious choice for --row and --feature" in err
