"""An interrupted `sparsemix fit` goes on to the very same model, whatever stopped it."""

from pathlib import Path

import pytest
from model_files import hash_of

from sparsemix import load_model
from sparsemix.cli import main

KILL, INTERRUPT, TERMINATE = 9, 2, 15
SMALL = ["-k", "8", "--priming-rows", "400", "--json", "--quiet"]
WHOLE_TABLE = [*SMALL, "--checkpoint-every", "200"]
STREAMED = [*SMALL, "--checkpoint-every", "200", "--batch-rows", "350"]
LEARN = "sparsemix.models.online_profiles.engine.learn"


@pytest.fixture(scope="module")
def expected(table, tmp_path_factory):
    """Hashes of runs that nothing interrupts."""
    hashes = {}
    for options in (WHOLE_TABLE, STREAMED):
        path = tmp_path_factory.mktemp("whole") / "ads.smx"
        assert main(["fit", str(table), "-o", str(path), *options]) == 0
        hashes[tuple(options)] = hash_of(path)
    return hashes


# Saving flushes the file, then the folder: call 1 is before there is any file, call 3 in the second checkpoint.
@pytest.mark.parametrize(
    ("options", "call", "learnt"), [(WHOLE_TABLE, 1, 0), (WHOLE_TABLE, 3, 200), (STREAMED, 11, 1000)]
)
def test_power_cut_while_saving(sparsemix, program, table, expected, tmp_path, options, call, learnt):
    path = tmp_path / "ads.smx"
    run = program("fit", table, "-o", path, *options, target="os.fsync", call=call, number=KILL)
    assert run.returncode == -KILL
    assert path.exists() == (learnt > 0)
    if learnt:
        assert load_model(path).n_rows_seen_ == learnt
    assert sparsemix("fit", table, "-o", path, *options, "--resume") == 0
    assert hash_of(path) == expected[tuple(options)]


@pytest.mark.parametrize("options", [WHOLE_TABLE, STREAMED])
def test_power_cut_while_learning(sparsemix, program, table, expected, tmp_path, options):
    path = tmp_path / "ads.smx"
    run = program("fit", table, "-o", path, *options, target=LEARN, call=3, number=KILL)
    assert run.returncode == -KILL
    assert sparsemix("fit", table, "-o", path, *options, "--resume") == 0
    assert hash_of(path) == expected[tuple(options)]


@pytest.mark.parametrize("number", [INTERRUPT, TERMINATE])
def test_a_stop_by_the_user_saves_and_says_how_to_go_on(
    sparsemix, program, table, expected, tmp_path, number
):
    path = tmp_path / "my ads.smx"
    run = program("fit", table, "-o", path, *STREAMED, target=LEARN, call=2, number=number)
    assert (run.returncode, run.stdout) == (130, "")
    first, second = run.stderr.splitlines()
    assert first.startswith("Stopped after ")
    assert first.endswith(f" rows; what is learnt is saved in {path}. Go on with:")
    assert second.startswith(f"  sparsemix fit {table} -o '{path}' ")
    assert second.endswith(" --resume")
    assert load_model(path).n_rows_seen_ < 1_500
    assert sparsemix("fit", table, "-o", path, *STREAMED, "--resume") == 0
    assert hash_of(path) == expected[tuple(STREAMED)]


def test_ctrl_c_in_update_leaves_the_model(program, table, model):
    before = Path(model).read_bytes()
    run = program("update", model, table, "--quiet", target=LEARN, call=1, number=INTERRUPT)
    expected = "sparsemix: error: stopped; no file is left half written.\n"
    assert (run.returncode, run.stderr) == (130, expected)
    assert Path(model).read_bytes() == before


FITTED = ["-k", 25, "--clutter", "--priming-rows", 600]


def test_resuming_a_finished_run_changes_nothing(sparsemix, table, model, tmp_path):
    path = tmp_path / "ads.smx"
    path.write_bytes(Path(model).read_bytes())
    assert sparsemix("fit", table, "-o", path, *FITTED, "--resume") == 0
    assert hash_of(path) == hash_of(model)


def test_resume_without_a_file_starts_at_the_first_row(sparsemix, table, model, tmp_path):
    path = tmp_path / "ads.smx"
    assert sparsemix("fit", table, "-o", path, *FITTED, "--resume") == 0
    assert f"There is no {path} to go on with; starting at the first row." in sparsemix.err
    assert hash_of(path) == hash_of(model)


def test_another_parameter_is_refused(sparsemix, table, model, tmp_path):
    path = tmp_path / "ads.smx"
    path.write_bytes(Path(model).read_bytes())
    assert sparsemix("fit", table, "-o", path, "-k", 30, "--resume") == 2
    assert "--n-components must be 25 as in the interrupted run" in sparsemix.err
    assert path.read_bytes() == Path(model).read_bytes()


def test_another_table_is_refused(sparsemix, model, tmp_path):
    path, other, short = tmp_path / "ads.smx", tmp_path / "other.csv", tmp_path / "short.csv"
    path.write_bytes(Path(model).read_bytes())
    short.write_text("ad,keyword\n1,mouse\n")
    assert sparsemix("fit", short, "-o", path, "--resume") == 1
    assert "has learnt 1,500 rows, but the input has only 1" in sparsemix.err
    other.write_text("ad,keyword\n" + "".join(f"{row},word {row % 9}\n" for row in range(2_000)))
    assert sparsemix("fit", other, "-o", path, "--resume") == 1
    assert "other keywords than the run that was interrupted" in sparsemix.err
    assert path.read_bytes() == Path(model).read_bytes()
