"""Every command that reads a table has the same options for it, and they mean what they mean for `read_table`."""

import gzip
import json

import pytest
import typer

from sparsemix.cli.app import app
from sparsemix.cli.table_options import TABLE_OPTIONS, reading_arguments
from sparsemix.persistence import read_payload, state_hash

COMMANDS = typer.main.get_command(app).commands
FORM = {"row", "feature", "count", "delimiter", "format", "columns", "separator", "quote"}
LINES = [(f"ad {row}", f"word {(row * shift) % 7}") for row in range(40) for shift in (1, 2, 3)]


def options_of(command):
    return {each.name for each in COMMANDS[command].params} & set(TABLE_OPTIONS)


def text_of(lines, separator=",", header=True):
    return (
        "\n".join([separator.join(["ad", "keyword"])] * header + [separator.join(line) for line in lines])
        + "\n"
    )


@pytest.mark.parametrize("command", ["profile", "fit", "suggest", "assign", "update", "score", "report"])
def test_commands_with_tables_have_the_same_options(command):
    assert options_of(command) >= FORM
    besides = {"profile": {"group", "label"}, "fit": {"label", "time"}, "suggest": set()}
    assert options_of(command) - FORM == besides.get(command, {"time"})


def test_arguments_are_parsed():
    given = {"row": "ad", "count": None, "columns": 'ad, "a, b"', "separator": r"\t", "delimiter": "; "}
    expected = {"row": "ad", "columns": ["ad", "a, b"], "separator": "\t", "delimiter": "; "}
    assert reading_arguments(given) == expected
    assert reading_arguments({"quote": "none"}) == {"quote": None}
    assert reading_arguments({"quote": "'"}) == {"quote": "'"}


@pytest.fixture(scope="module")
def fitted(tmp_path_factory):
    """Fits a text with options and returns what the model is, to the bit."""
    from sparsemix.cli import main

    folder = tmp_path_factory.mktemp("tables")

    def fit(name, text, *options):
        (folder / name).write_text(text, encoding="utf-8")
        arguments = ["fit", folder / name, "-o", folder / "m.smx", "-k", 3, "--json", "--quiet", *options]
        assert main([str(each) for each in arguments]) == 0
        return state_hash(read_payload(folder / "m.smx"))

    return fit


@pytest.mark.parametrize(
    ("name", "text", "options"),
    [
        ("bare.csv", text_of(LINES, header=False), ["--columns", "ad,keyword"]),
        ("semi.csv", text_of(LINES, ";"), ["--separator", ";"]),
        ("tab.csv", text_of(LINES, "\t"), ["--separator", r"\t"]),
        ("export.txt", text_of(LINES), ["--format", "csv"]),
        ("bare.tsv", text_of(LINES, "\t", header=False), ["--columns", "ad,keyword", "--row", "ad"]),
        ("marks.csv", text_of([(a, f"'{b}'") for a, b in LINES]), ["--quote", "'"]),
        (
            "bare.txt",
            text_of(LINES, "|", False),
            ["--format", "csv", "--separator", "|", "--columns", "ad,keyword"],
        ),
    ],
)
def test_a_table_is_the_same_in_any_form(fitted, name, text, options):
    assert fitted(name, text, *options) == fitted("plain.csv", text_of(LINES))


def test_marks_that_quote_nothing(sparsemix, tmp_path):
    path = tmp_path / "inches.csv"
    path.write_text('ad,keyword\n1,"5" nails\n2,6" nails\n')
    assert sparsemix("profile", path) == 1
    assert "If the file does not use quotation marks, pass --quote none." in sparsemix.err
    assert sparsemix("profile", path, "--quote", "none", "--json") == 0
    assert json.loads(sparsemix.out)["n_features"] == 2


def test_baskets_without_a_header(sparsemix, tmp_path):
    path = tmp_path / "baskets.txt"
    path.write_text("red,blue\ngreen\nred\n")
    options = ["--format", "baskets", "--delimiter", ",", "--json"]
    assert sparsemix("profile", path, *options) == 0
    found = json.loads(sparsemix.out)
    assert (found["n_rows"], found["n_features"], found["n_nonzero"]) == (3, 3, 4)


@pytest.mark.parametrize("command", ["score", "update", "assign", "report"])
def test_commands_with_a_model_read_other_forms_too(sparsemix, model, tmp_path, command):
    path, copy = tmp_path / "new.txt", tmp_path / "m.smx"
    path.write_text("1;mouse\n2;window cleaning\n")
    copy.write_bytes(model.read_bytes())
    outputs = {"assign": ["-o", tmp_path / "found.csv"], "report": ["-o", tmp_path / "report.html"]}
    form = ["--format", "csv", "--separator", ";", "--columns", "ad,keyword"]
    assert sparsemix(command, copy, path, *outputs.get(command, []), *form) == 0


def test_suggest_reads_other_forms_too(sparsemix, model, tmp_path):
    path = tmp_path / "new.csv.gz"
    path.write_bytes(gzip.compress(b"1|mouse\n2|window cleaning\n"))
    form = ["--separator", "|", "--columns", "ad,keyword"]
    assert sparsemix("suggest", model, "--ad", 2, "--input", path, *form, "--json") == 0
    assert json.loads(sparsemix.out)["accepted"] == ["window cleaning"]


def test_a_first_line_that_looks_like_data_is_asked_about(sparsemix, tmp_path):
    path = tmp_path / "bare.csv"
    path.write_text("1,red\n2,blue\n")
    assert sparsemix("profile", path) == 0
    assert "If its first line is no header, name the columns: --columns row,feature." in sparsemix.err
    assert sparsemix("profile", path, "--columns", "row,feature", "--json") == 0
    assert "first line" not in sparsemix.err
    assert json.loads(sparsemix.out)["n_rows"] == 2


COUNTS = "ad,keyword,times\n1,red,3\n1,blue,0\n2,green,1\n2,red,0\n3,green,7\n"
PRESENCE = (
    "Multinomial models take counts; models of presence ask only whether one is above 0, or above --binarize."
)


def test_counts_are_guessed_and_zeros_are_absent(sparsemix, tmp_path):
    path, model = tmp_path / "counts.csv", tmp_path / "m.smx"
    path.write_text(COUNTS)
    assert sparsemix("profile", path, "--json") == 0
    guess, presence, dropped = sparsemix.err.splitlines()
    assert guess == f"Guessed --row 'ad', --feature 'keyword', --count 'times' for {path}."
    assert presence == PRESENCE
    assert dropped == "dropped 2 pairs with a count of zero."
    assert json.loads(sparsemix.out)["n_nonzero"] == 3
    assert sparsemix("fit", path, "-o", model, "-k", 2) == 0
    assert PRESENCE in sparsemix.err
    assert sparsemix("suggest", model, "--keyword", "red", "-n", 9, "--json") == 0
    assert [each["keyword"] for each in json.loads(sparsemix.out)["suggestions"]] == ["green"]


def test_presence_is_what_the_note_says(sparsemix, tmp_path):
    hashes = []
    for times in (1, 5):
        path = tmp_path / f"{times}.csv"
        path.write_text("ad,keyword,n\n" + "".join(f"{row},word {row % 3},{times}\n" for row in range(30)))
        assert sparsemix("fit", path, "-o", tmp_path / "m.smx", "-k", 3) == 0
        hashes.append(state_hash(read_payload(tmp_path / "m.smx")))
    assert hashes[0] == hashes[1]


@pytest.mark.parametrize(
    "options", [["--row", "ad", "--feature", "keyword"], ["--row=ad", "--feature=keyword"]]
)
def test_counts_that_are_not_used_are_told(sparsemix, tmp_path, options):
    path = tmp_path / "counts.csv"
    path.write_text(COUNTS)
    assert sparsemix("profile", path, *options, "--json") == 0
    assert sparsemix.err == "Column 'times' may hold counts and is not used; --count times takes it.\n"
    found = json.loads(sparsemix.out)
    assert found["n_nonzero"] == 5
    assert found["report"]["unused_counts"] == ["times"]
    assert sparsemix("profile", path, *options, "--count", "times") == 0
    assert "may hold counts" not in sparsemix.err


@pytest.mark.parametrize(
    ("command", "options"),
    [("suggest", ["--keyword", "mouse", "--row", "ad"]), ("report", ["-o", "x.html", "--separator", ";"])],
)
def test_options_for_a_table_that_is_not_there(sparsemix, model, command, options):
    assert sparsemix(command, model, *options) == 2
    assert f"{options[-2]} says how to read a table, but no table was given." in sparsemix.err
