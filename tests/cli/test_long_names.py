"""Names that are too long to be read are cut in tables and sentences, and whole in JSON."""

import json
import re

import pytest

LONG = "x" * 1_000_000
CUT = "x" * 59 + "…"


@pytest.fixture(scope="module")
def long_table(tmp_path_factory):
    path = tmp_path_factory.mktemp("long") / "long.csv"
    lines = [f"{row},{word}" for row in range(9) for word in (LONG, "red", "blue")]
    path.write_text("\n".join(["ad,keyword", *lines]) + "\n")
    return path


@pytest.fixture
def long_model(sparsemix, long_table, tmp_path):
    path = tmp_path / "m.smx"
    assert sparsemix("fit", long_table, "-o", path, "-k", 1, "-q") == 0
    return path


def test_fit_shows_what_can_be_read_and_typed(sparsemix, long_table, long_model):
    assert sparsemix("fit", long_table, "-o", long_model, "-k", 1) == 0
    assert CUT in sparsemix.out
    assert max(map(len, sparsemix.out.splitlines())) < 200
    assert re.search(r"--keyword (red|blue)\n", sparsemix.out)
    assert sparsemix("fit", long_table, "-o", long_model, "-k", 1, "--json") == 0
    assert LONG in sparsemix.out


@pytest.mark.parametrize(
    "command",
    [
        ["clusters"],
        ["clusters", "--component", "0"],
        ["suggest", "--keyword", "red"],
        ["suggest", "--keyword", LONG],
        ["suggest", "--keyword", "red", "--reject", LONG],
    ],
)
def test_tables_are_short_and_json_is_whole(sparsemix, long_model, command):
    name, *options = command
    assert sparsemix(name, long_model, *options) == 0
    assert CUT in sparsemix.out
    assert len(sparsemix.out) < 1_000
    assert sparsemix(name, long_model, *options, "--json") == 0
    assert LONG in json.dumps(json.loads(sparsemix.out))


def test_errors_and_notes_are_short(sparsemix, long_table, long_model, table, model, tmp_path):
    assert sparsemix("suggest", long_model, "--keyword", "y" + LONG) == 2
    assert f"does not know 'y{CUT[1:]}'" in sparsemix.err
    assert len(sparsemix.err) < 200
    assert sparsemix("suggest", long_model, "--keyword", "redd") == 2
    assert "did you mean 'red'?" in sparsemix.err
    assert sparsemix("assign", model, long_table, "-o", tmp_path / "a.csv") == 1
    assert len(sparsemix.err.splitlines()[-1]) < 300
    assert sparsemix("suggest", model, "--ad", LONG, "--input", table) == 2
    assert f"has no row '{CUT}'" in sparsemix.err
    known = tmp_path / "known.csv"
    known.write_text(f"ad,keyword,kind\n1,mouse,\n2,mouse,{LONG}\n3,{LONG},\n")
    assert sparsemix("fit", known, "-o", tmp_path / "k.smx", "-k", 2, "--label", "kind") == 0
    assert f"Clusters of known rows: 0 {CUT}." in sparsemix.err
    assert sparsemix("suggest", model, "--ad", 1, "--input", known, "-q") == 0
    known.write_text(f"ad,keyword\n1,mouse\n1,{LONG}\n")
    assert sparsemix("suggest", model, "--ad", 1, "--input", known) == 0
    assert f"does not know 1 of 2 keywords of row '1': {CUT}" in sparsemix.err


def test_the_page_of_a_report_is_short(sparsemix, long_model, tmp_path):
    assert sparsemix("report", long_model, "-o", tmp_path / "r.html") == 0
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "x" * 199 + "…" in page
    assert len(page) < 50_000


@pytest.mark.parametrize(
    "line", ["fit T -o N", "clusters M", "suggest M --keyword mouse", "score M T", "profile T"]
)
def test_piped_lines_end_in_no_blanks(sparsemix, table, model, tmp_path, line):
    places = {"T": table, "M": model, "N": tmp_path / "new.smx"}
    assert (
        sparsemix(*[places.get(word, word) for word in line.split()], "-q" if "fit" in line else "--debug")
        == 0
    )
    assert sparsemix.out
    assert [text for text in sparsemix.out.split("\n") if text != text.rstrip()] == []
