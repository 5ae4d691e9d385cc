"""`sparsemix assign` and `score` on workers: what one process writes and prints, to the byte."""

import os
import signal

import numpy as np
import pytest

from sparsemix import GammaPoissonFactors, HashedGibbsMixture, MultinomialMixture, read_table, save_model
from sparsemix.cli import main, spread_answers, worker_answers

COLUMNS = ["--row", "ad", "--feature", "keyword"]


def write_ads(file, first_ad, n_ads, seed, words="word"):
    """Ads of two kinds; returns the file."""
    rng, lines = np.random.default_rng(seed), ["ad,keyword"]
    for ad in range(first_ad, first_ad + n_ads):
        lines += [f"{ad},{words} {word}" for word in rng.choice(8, 4, replace=False) + 8 * (ad % 2)]
    file.write_text("\n".join(lines))
    return file


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Ads in files of many sizes; the model knows no keyword of one of them."""
    folder = tmp_path_factory.mktemp("ads")
    first_ad = 1
    for number, (n_ads, words) in enumerate([(60, "word"), (7, "other"), (90, "word"), (1, "word")]):
        write_ads(folder / f"ads-{number}.csv", first_ad, n_ads, number, words)
        first_ad += n_ads
    return folder


@pytest.fixture(scope="module")
def model(folder, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "ads.smx"
    options = ["-k", "2", "--priming-rows", "40", "--quiet", "--json"]
    assert main(["fit", str(folder / "ads-0.csv"), "-o", str(path), *COLUMNS, *options]) == 0
    return path


@pytest.fixture
def small_parts(monkeypatch):
    """As many rows at a time as `--batch-rows 25`."""
    monkeypatch.setattr(spread_answers, "ROWS_PER_BATCH", 25)
    monkeypatch.setattr(worker_answers, "ROWS_PER_BATCH", 25)


@pytest.fixture
def command(client, capsys):
    """Runs a command line on the workers of this process; returns the exit code, and keeps what was printed."""

    def run(*words, address=client.scheduler.address):
        capsys.readouterr()
        where = ["--dask", address] if address else []
        code = main([str(word) for word in [*words, *where]])
        run.out, run.err = capsys.readouterr()
        return code

    return run


@pytest.mark.parametrize("ending", ["csv", "parquet"])
@pytest.mark.usefixtures("small_parts")
def test_the_same_bytes(command, folder, model, tmp_path, ending):
    files = [tmp_path / f"{name}.{ending}" for name in ("one", "many")]
    assert command("assign", model, folder, "-o", files[0], "--batch-rows", 25, address=None) == 0
    said = command.err
    assert command("assign", model, folder, "-o", files[1]) == 0
    assert files[0].read_bytes() == files[1].read_bytes()
    assert command.err == said.replace("one", "many")
    assert "do not know" not in said
    assert "Rows with only keywords that the model does not know: 7 of 158." in said


@pytest.mark.usefixtures("small_parts")
@pytest.mark.parametrize("more", [[], ["--json"], ["--quiet"]])
def test_the_same_scores(command, folder, model, more):
    assert command("score", model, folder, "--batch-rows", 25, *more, address=None) == 0
    printed = command.out, command.err
    assert command("score", model, folder, *more) == 0
    assert (command.out, command.err) == printed


def test_ids_are_text_in_all_files_if_they_are_in_one(command, model, tmp_path):
    table = tmp_path / "ads"
    table.mkdir()
    write_ads(table / "a.csv", 1, 20, 0)
    (table / "b.csv").write_text("ad,keyword\nA7,word 1\nA7,word 3\n,word 1\n")
    (table / "c.csv").write_text("ad,keyword\n")
    for name, address in (("one.csv", {"address": None}), ("many.csv", {})):
        assert command("assign", model, table, "-o", tmp_path / name, **address) == 0
        assert "dropped 1 record without a row id" in command.err
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()


def test_records_are_numbered_over_all_files(command, tmp_path):
    for name in "ab":
        (tmp_path / f"{name}.dat").write_text("1 2\n\n3 4 2\n5 1\n")
    save_model(MultinomialMixture(2, random_state=0).fit(read_table(tmp_path)), tmp_path / "m.smx")
    for name, address in (("one.csv", {"address": None}), ("many.csv", {})):
        assert (
            command("assign", tmp_path / "m.smx", tmp_path / "*.dat", "-o", tmp_path / name, **address) == 0
        )
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "many.csv").read_bytes()
    assert len((tmp_path / "one.csv").read_text().splitlines()) == 1 + 8


def test_no_row_gives_a_table_without_any(command, model, tmp_path):
    (tmp_path / "a.csv").write_text("ad,keyword\n")
    assert command("assign", model, tmp_path / "a.csv", "-o", tmp_path / "found.csv") == 0
    assert (tmp_path / "found.csv").read_text() == '"row","cluster","probability","entropy"\n'
    assert command("score", model, tmp_path / "a.csv") == 1
    assert "there is no row to score" in command.err


def test_keywords_that_the_model_does_not_know_at_all(command, folder, model, tmp_path):
    for address in ({"address": None}, {}):
        assert command("assign", model, folder / "ads-1.csv", "-o", tmp_path / "found.csv", **address) == 1
        assert command.err.splitlines()[-1].startswith(
            "sparsemix: error: the model knows none of 15 keywords"
        )
    assert not (tmp_path / "found.csv").exists()


def test_a_row_in_two_files_is_told(command, model, tmp_path):
    write_ads(tmp_path / "a.csv", 1, 20, 0)
    write_ads(tmp_path / "b.csv", 20, 20, 0)
    assert command("assign", model, tmp_path / "*.csv", "-o", tmp_path / "found.parquet") == 1
    assert "records of row '20' lie in several files" in command.err
    assert not (tmp_path / "found.parquet").exists()


def test_a_damaged_file_is_named_and_what_was_there_stays(command, folder, model, tmp_path):
    old = tmp_path / "found.csv"
    assert command("assign", model, folder, "-o", old) == 0
    before = old.read_bytes()
    write_ads(tmp_path / "a.csv", 1, 20, 0)
    (tmp_path / "b.csv").write_text('ad,keyword\n1,"word\n')
    assert command("assign", model, tmp_path / "[ab].csv", "-o", old) == 1
    assert str(tmp_path / "b.csv") in command.err
    assert len(command.err.splitlines()) == 2
    assert old.read_bytes() == before
    assert {path.name for path in tmp_path.iterdir()} == {"found.csv", "a.csv", "b.csv"}


def test_ctrl_c_leaves_no_file(command, folder, model, tmp_path, monkeypatch):
    plain = spread_answers.SpreadAnswers._found

    def interrupted(answers):
        found = plain(answers)
        yield next(found)
        os.kill(os.getpid(), signal.SIGINT)
        yield from found

    monkeypatch.setattr(spread_answers.SpreadAnswers, "_found", interrupted)
    assert command("assign", model, folder, "-o", tmp_path / "found.csv") == 130
    assert command.err.splitlines()[-1] == "sparsemix: error: stopped; no file is left half written."
    assert list(tmp_path.iterdir()) == []


def numbers():
    return HashedGibbsMixture(2, family="gaussian", n_sweeps=2, burn_in=1, random_state=0)


@pytest.mark.parametrize(
    ("name", "new", "words"),
    [
        (
            "score",
            lambda: GammaPoissonFactors(2, random_state=0),
            "not for a GammaPoissonFactors without clusters",
        ),
        pytest.param(
            "assign", numbers, "not for a HashedGibbsMixture of real numbers", marks=pytest.mark.slow
        ),  # compiles the sampler
    ],
)
def test_other_models_are_not_for_workers(command, folder, tmp_path, name, new, words):
    save_model(new().fit(np.random.default_rng(0).integers(1, 9, (20, 3)).astype(float)), tmp_path / "m.smx")
    output = [] if name == "score" else ["-o", tmp_path / "found.csv"]
    assert command(name, tmp_path / "m.smx", folder, *output) == 2
    assert words in command.err


@pytest.mark.parametrize(
    ("more", "words"),
    [
        (["--workers", "2"], "Leave one out"),
        (["--batch-rows", "10"], "--batch-rows is not for --workers and --dask, where each file is a batch"),
    ],
)
def test_what_answers_of_workers_do_not_take(command, folder, model, tmp_path, more, words):
    assert command("assign", model, folder, "-o", tmp_path / "found.csv", *more) == 2
    assert words in command.err


@pytest.mark.slow
def test_processes_of_this_machine_write_the_same(command, folder, model, tmp_path):
    files = [tmp_path / "one.parquet", tmp_path / "many.parquet"]
    assert command("assign", model, folder, "-o", files[0], address=None) == 0
    assert command("assign", model, folder, "-o", files[1], "--workers", "9", address=None) == 0
    assert "4 files, so 4 workers." in command.err
    assert files[0].read_bytes() == files[1].read_bytes()
