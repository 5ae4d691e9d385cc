"""Nothing is replaced that the command has not written itself."""

import os
from pathlib import Path

import pytest

from sparsemix.cli.own_files import ASSIGNMENT_COLUMNS, is_model_file, is_report, is_table_of


@pytest.fixture(scope="module")
def written(table, model, tmp_path_factory):
    """A folder with a file of each kind that the commands read and write."""
    from sparsemix.cli import main

    folder = tmp_path_factory.mktemp("written")
    (folder / "ads.csv").write_bytes(Path(table).read_bytes())
    (folder / "m.smx").write_bytes(Path(model).read_bytes())
    (folder / "notes.txt").write_text("notes")
    (folder / "page.html").write_text("<html>my own page</html>")
    for name in ("found.csv", "found.parquet"):
        assert main(["assign", str(model), str(table), "-o", str(folder / name), "--quiet"]) == 0
    assert main(["report", str(model), "-o", str(folder / "report.html"), "--quiet"]) == 0
    return folder


@pytest.fixture
def place(written, tmp_path, monkeypatch):
    for path in written.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_kinds_are_told_apart(written):
    kinds = {path.name: (is_model_file(path), is_report(path)) for path in written.iterdir()}
    assert {name for name, (is_model, _) in kinds.items() if is_model} == {"m.smx"}
    assert {name for name, (_, is_page) in kinds.items() if is_page} == {"report.html"}
    assert {path.name for path in written.iterdir() if is_table_of(path, ASSIGNMENT_COLUMNS)} == {
        "found.csv",
        "found.parquet",
    }


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("fit ads.csv -o ads.csv", "it is the table to read"),
        ("fit ads.csv -o ./ads.csv", "it is the table to read"),
        ("fit a*.csv -o ads.csv", "it is the table to read"),
        ("fit ads.csv -o notes.txt", "is not a model file"),
        ("fit ads.csv -o found.csv", "is not a model file"),
        ("update m.smx ads.csv -o ads.csv", "it is the table to read"),
        ("update m.smx ads.csv -o report.html", "is not a model file"),
        ("assign m.smx ads.csv -o ads.csv", "it is the table to read"),
        ("assign m.smx found.csv --row row --feature cluster -o found.csv", "it is the table to read"),
        ("assign m.smx found.csv --row row --feature cluster -o ads.csv", "is not a table of assignments"),
        ("assign m.smx . -o new.csv", "would be a part of the table in '.'"),
        ("report m.smx -o page.html", "is not a report of sparsemix"),
        ("report m.smx -o m.smx", "is not a report of sparsemix"),
        ("report m.smx ads.csv -o ads.csv", "it is the table to read"),
    ],
)
def test_other_files_stay(sparsemix, place, arguments, message):
    before = {path.name: path.read_bytes() for path in place.iterdir()}
    assert sparsemix(*arguments.split()) == 2
    assert message in sparsemix.err
    assert {path.name: path.read_bytes() for path in place.iterdir()} == before


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes with names are for POSIX")
@pytest.mark.parametrize(
    "arguments",
    [
        "fit ads.csv -o pipe",
        "fit ads.csv -o pipe --model click-rate",
        "fit ads.csv -o pipe --model time-sensitive --time day",
        "update m.smx ads.csv -o pipe",
        "assign m.smx ads.csv -o pipe.csv",
        "report m.smx -o pipe",
    ],
)
def test_what_is_no_regular_file_stays(sparsemix, place, arguments):
    for name in ("pipe", "pipe.csv"):
        os.mkfifo(place / name)
    assert sparsemix(*arguments.split(), "--quiet") == 2
    name = arguments.split()[arguments.split().index("-o") + 1]
    assert sparsemix.err == (
        f"sparsemix: error: cannot write '{name}': it is no regular file. Give the name of a file.\n"
    )
    assert (place / name).is_fifo()


def test_a_linked_table_is_known_too(sparsemix, place):
    (place / "link.csv").symlink_to(place / "ads.csv")
    assert sparsemix("assign", "m.smx", "ads.csv", "-o", "link.csv") == 2
    assert "it is the table to read" in sparsemix.err


@pytest.mark.parametrize(
    ("arguments", "name"),
    [
        ("fit ads.csv -o m.smx -k 3", "m.smx"),
        ("assign m.smx ads.csv -o found.csv", "found.csv"),
        ("assign m.smx ads.csv -o found.parquet", "found.parquet"),
        ("report m.smx ads.csv -o report.html", "report.html"),
        ("fit ads.csv -o empty -k 3", "empty"),
        ("assign m.smx ads.csv -o empty.csv", "empty.csv"),
        ("report m.smx -o empty", "empty"),
    ],
)
def test_own_and_empty_files_are_replaced(sparsemix, place, arguments, name):
    (place / "empty").touch()
    (place / "empty.csv").touch()
    before = (place / name).stat().st_ino
    assert sparsemix(*arguments.split(), "--quiet") == 0
    assert (place / name).stat().st_ino != before


@pytest.mark.parametrize(
    "command", ["fit ads.csv", "assign m.smx ads.csv", "report m.smx", "update m.smx ads.csv"]
)
def test_a_folder_that_may_not_be_written_is_found_before_the_work(sparsemix, place, monkeypatch, command):
    monkeypatch.setattr(os, "access", lambda path, _mode: Path(path) != place)
    monkeypatch.setattr(
        "sparsemix.cli.inputs.Source.stream", lambda *_args: pytest.fail("the table was read")
    )
    name = {"fit": "new.smx", "update": "new.smx", "assign": "new.csv", "report": "new.html"}[
        command.split()[0]
    ]
    assert sparsemix(*command.split(), "-o", name) == 1
    assert sparsemix.err == f"sparsemix: error: Permission denied ({place}).\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="nothing is forbidden to the superuser")
def test_files_that_may_not_be_read_are_trouble(sparsemix, place):
    (place / "ads.csv").chmod(0)
    (place / "m.smx").chmod(0)
    assert sparsemix("profile", "ads.csv") == 1
    assert "Permission denied" in sparsemix.err
    assert sparsemix("clusters", "m.smx") == 1
    assert "Permission denied" in sparsemix.err
