"""Readings that end early: Ctrl-C is one, and what a killed process leaves on disk is removed by the next."""

import os
import signal
import subprocess
import sys
import tempfile
import threading

import pyarrow as pa
import pytest

from sparsemix.data import iter_batches
from sparsemix.data.duck import interruptible, open_duckdb
from sparsemix.data.scratch import scratch_folder
from sparsemix.data.staging import Stage

KILLED = """
import os, signal
from sparsemix.data.scratch import scratch_folder
with scratch_folder() as folder:
    (folder / "stage").write_bytes(b"x")
    os.kill(os.getpid(), signal.SIGKILL)
"""

ENDLESS = "SELECT sum(hash(range)) FROM range(1000000000000)"

needs_locks = pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such locks and signals")


@pytest.fixture
def scratch(tmp_path, monkeypatch):
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return tmp_path


@needs_locks
def test_what_a_killed_process_left_is_removed_and_nothing_else(scratch):
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    [left] = scratch.iterdir()
    for name in ("sparsemix-mine", "other"):
        (scratch / name).mkdir()
    (scratch / "sparsemix-link").symlink_to(left)
    with scratch_folder() as first:
        assert not left.exists()
        with scratch_folder() as second:
            assert first.exists()
            kept = {"sparsemix-mine", "other", "sparsemix-link", first.name, second.name}
            assert {path.name for path in scratch.iterdir()} == kept
    assert not first.exists()


@needs_locks
def test_a_folder_behind_a_link_stays(scratch, tmp_path_factory):
    elsewhere = tmp_path_factory.mktemp("elsewhere")
    (elsewhere / "in_use").touch()
    (scratch / "sparsemix-link").symlink_to(elsewhere)
    with scratch_folder():
        assert (elsewhere / "in_use").exists()


@pytest.mark.usefixtures("scratch")
def test_a_reading_that_is_left_early_leaves_nothing(scratch):
    table = pa.table({"ad": [1, 2, 3], "word": ["x", "y", "z"]})
    batches = iter_batches(table, rows=1)
    next(batches)
    assert len(list(scratch.iterdir())) == 1
    batches.close()
    assert list(scratch.iterdir()) == []


@needs_locks
def test_ctrl_c_during_a_query_is_a_keyboard_interrupt():
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
    with pytest.raises(KeyboardInterrupt):
        ask_without_end(interrupt)
    interrupt.join()


def ask_without_end(interrupt):
    with open_duckdb() as connection:
        interrupt.start()
        interruptible(connection, lambda: connection.execute(ENDLESS))


@needs_locks
def test_ctrl_c_during_a_sort_is_one_and_leaves_nothing(scratch, monkeypatch):
    interrupt = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))

    def arrange(stage):
        interrupt.start()
        stage.table(ENDLESS)

    monkeypatch.setattr(Stage, "arrange", arrange)
    with pytest.raises(KeyboardInterrupt):
        next(iter_batches(pa.table({"ad": [1], "word": ["x"]})))
    interrupt.join()
    assert list(scratch.iterdir()) == []


@pytest.mark.parametrize("words", ["Query interrupted", "something else"])
def test_other_errors_stay_what_they_are(words):
    expected = KeyboardInterrupt if words == "Query interrupted" else RuntimeError
    with pytest.raises(expected), open_duckdb():
        raise RuntimeError(words)
