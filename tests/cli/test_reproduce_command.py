"""`sparsemix reproduce`: files, tables, and what stands in the way."""

import json
import sys

import pytest

from sparsemix.cli.options import Paper
from sparsemix.reproduction import PAPERS, Curves, Table, ads, fastex

RESULTS = [
    Table("table_1", "Costs", ("clusters", "µs"), [(10, 1.25), (20, 2.5)]),
    Curves("convergence_10", "VI", ("sampler", "seconds", "VI"), [("hash", 0.1, 2.0)]),
]


@pytest.fixture
def asked(monkeypatch):
    wishes = []

    def results(wish, tell):
        wishes.append(wish)
        tell("Sampling.")
        yield from RESULTS

    monkeypatch.setattr(fastex, "results", results)
    return wishes


def test_files_and_tables(sparsemix, asked, tmp_path):
    out = tmp_path / "new" / "folder"
    command = ["reproduce", "fastex", "--out", out]
    assert (
        sparsemix(*command, "--quick", "--clusters", 9, "--clusters", 5, "--rows", 500, "--features", 700)
        == 0
    )
    assert asked[0] == (True, (9, 5), 500, 700, None, None)
    assert sparsemix.err == "Sampling.\n"
    names = ["table_1.csv", "table_1.html", "convergence_10.csv", "convergence_10.html"]
    assert sparsemix.out.splitlines()[-5:] == ["Written:", *(f"  {out / name}" for name in names)]
    assert [line.split() for line in sparsemix.out.splitlines()[2:5]] == [
        ["clusters", "µs"],
        ["10", "1.25"],
        ["20", "2.5"],
    ]
    assert (out / "table_1.csv").read_text("utf-8") == "clusters,µs\n10,1.25\n20,2.5\n"
    assert sparsemix(*command, "--json", "--quiet") == 0
    found = json.loads(sparsemix.out)
    assert sparsemix.err == ""
    assert [each["name"] for each in found["results"]] == ["table_1", "convergence_10"]
    assert found["results"][0]["rows"] == [[10, 1.25], [20, 2.5]]
    assert asked[1] == (False, None, None, None, None, None)


@pytest.mark.parametrize("name", ["table_1.csv", "table_1.html", "ads.csv"])
def test_a_folder_with_files_of_others_is_refused_before_anything_is_sampled(
    sparsemix, asked, tmp_path, name
):
    (tmp_path / name).write_text("mine,alone\n")
    assert sparsemix("reproduce", "fastex", "--out", tmp_path) == 2
    assert (
        f"{name}' is no file of 'sparsemix reproduce'. Give a folder of its own with --out." in sparsemix.err
    )
    assert (tmp_path / name).read_text() == "mine,alone\n"
    assert not asked


def test_the_command_knows_all_papers():
    assert [str(paper) for paper in Paper] == list(PAPERS)


@pytest.mark.parametrize("options", [["fastex", "--data-sets", 3], ["fastex", "--clusters", 1]])
def test_wrong_use_leaves_no_folder(sparsemix, tmp_path, options):
    assert sparsemix("reproduce", *options, "--quick", "--out", tmp_path / "new" / "folder") == 2
    assert not any(tmp_path.iterdir())


def test_a_file_where_a_folder_should_be(sparsemix, asked, tmp_path):
    (tmp_path / "file").touch()
    assert sparsemix("reproduce", "fastex", "--out", tmp_path / "file" / "folder") == 2
    assert f"'{tmp_path / 'file'}' is a file. Choose another folder with --out." in sparsemix.err
    assert not asked


def test_wrong_use(sparsemix, asked, tmp_path):
    (tmp_path / "file").write_text("")
    table = tmp_path / "ads.tsv"
    table.write_text("ad\tkeyword\towner\n1\tx\to\n2\tx\to\n")
    for options, message in (
        (["fastex", "--out", tmp_path / "file"], "is a file. Choose another folder with --out."),
        (["nature", "--out", tmp_path], "PAPER must be one of 'ads', "),
        (["fastex"], "Missing option '--out'"),
        (["fastex", "--out", tmp_path, "--clusters", 0], "--clusters must be "),
        (["fastex", "--out", tmp_path, "--clusters", 1], "--clusters must be an integer >= 2"),
        (["fastex", "--out", tmp_path, "--data-sets", 2], "--data-sets must be left out for fastex"),
        (["gap", "--out", tmp_path, "--data-sets", 0], "--data-sets must be "),
        (["fastex", "--out", tmp_path, "--rows", 1], "--rows must be "),
        (["fastex", "--out", tmp_path, "--table", table], "--table must be left out for fastex"),
        (["ads", "--out", tmp_path, "--features", 200], "--features must be left out for ads"),
        (["ads", "--out", tmp_path, "--group", "owner"], "--group must be left out for made-up ads"),
        (["ads", "--out", tmp_path, "--table", table], "--group must be the column of the advertisers"),
        (["ads", "--out", tmp_path, "--table", table, "--group", "firm"], "'firm'"),
        (["ads", "--out", tmp_path, "--table", table, "--group", "owner"], "--clusters must be at most 1"),
    ):
        assert sparsemix("reproduce", *options) == 2
        assert message in sparsemix.err
    assert not asked


def test_a_table_of_ads_is_read_with_its_advertisers(sparsemix, tmp_path, monkeypatch):
    (tmp_path / "ads.csv").write_text("number,words,owner\n1,a;b,acme\n2,b,zeta\n")
    wishes = []
    monkeypatch.setattr(ads, "results", lambda wish, _tell: wishes.append(wish) or iter(RESULTS))
    table = [
        tmp_path / "ads.csv",
        "--row",
        "number",
        "--feature",
        "words",
        "--delimiter",
        ";",
        "--group",
        "owner",
    ]
    assert sparsemix("reproduce", "ads", "--out", tmp_path / "new", "--quick", "--table", *table) == 0
    [wish] = wishes
    assert wish.ads.groups.tolist() == ["acme", "zeta"]
    assert wish.ads.matrix.toarray().tolist() == [[1, 1], [0, 1]]


def test_without_plotly_nothing_is_begun(sparsemix, asked, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert sparsemix("reproduce", "fastex", "--out", tmp_path / "new") == 1
    assert "pip install 'sparsemix[report]'" in sparsemix.err
    assert not asked
    assert not (tmp_path / "new").exists()
