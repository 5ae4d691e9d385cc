"""Ctrl-C stops whatever is going on with one line: at once while nothing can be lost, else when it is saved."""

import itertools
import os
import signal
import subprocess
import sys
import threading
from contextlib import contextmanager

import pytest
from counted_texts import texts, write

import sparsemix as sm
from sparsemix.cli import stopping
from sparsemix.cli.stopping import remembering_ctrl_c, stop_between_blocks
from sparsemix.data import iter_batches
from sparsemix.foundation.wording import counted

STOPPED = "sparsemix: error: stopped; no file is left half written.\n"


def send(number=signal.SIGINT):
    os.kill(os.getpid(), number)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_first_signal_is_a_wish(number):
    before = signal.getsignal(number)
    with stop_between_blocks() as stop:
        assert not stop.wanted
        send(number)
        assert stop.wanted
        assert not stop.insisted
    assert signal.getsignal(number) is before


def test_the_second_stops_at_once():
    with stop_between_blocks() as stop:
        send()
        with pytest.raises(KeyboardInterrupt):
            send()
        assert stop.insisted
    with stop_between_blocks():
        send(signal.SIGTERM)
        assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


def test_a_signal_that_is_to_be_ignored_is():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with stop_between_blocks() as stop, remembering_ctrl_c() as was_pressed:
            send()
            assert not stop.wanted
            assert not was_pressed()
    finally:
        signal.signal(signal.SIGINT, before)


def blocks_with_a_signal(at, error=None):
    for block in range(4):
        if block == at:
            try:
                send()
            except KeyboardInterrupt:
                raise error or KeyboardInterrupt from None
        yield block


@pytest.mark.parametrize("error", [None, RuntimeError("Query interrupted")])
def test_a_wish_ends_the_reading_of_a_block(error):
    got = []
    with stop_between_blocks() as stop, pytest.raises(KeyboardInterrupt):
        got.extend(stop.reading(blocks_with_a_signal(2, error)))
    assert got == [0, 1]
    assert stop.wanted
    assert not stop.insisted


def test_a_wish_lets_work_on_a_block_end():
    worked = []

    def learn(stop):
        for block in stop.reading(range(4)):
            if block == 1:
                send()
            worked.append(block)

    with stop_between_blocks() as stop, pytest.raises(KeyboardInterrupt):
        learn(stop)
    assert worked == [0, 1]


def test_reading_gives_all_blocks_and_errors_as_they_are():
    def broken():
        yield 1
        raise ValueError("as it was")

    with stop_between_blocks() as stop:
        assert list(stop.reading(range(3))) == [0, 1, 2]
        with pytest.raises(ValueError, match="as it was"):
            list(stop.reading(broken()))


def test_other_threads_have_no_signals():
    found = []

    def work():
        with stop_between_blocks() as stop:
            found.append(list(stop.reading("ab")))

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [["a", "b"]]


@pytest.mark.parametrize(("quiet", "shown"), [(False, "Stopping soon."), (True, "")])
def test_who_has_to_wait_gets_an_answer(monkeypatch, capsys, quiet, shown):
    """The answer comes from another thread, for the main one may be in compiled code."""
    told = threading.Event()
    monkeypatch.setattr(stopping, "_PATIENCE", 0.0)
    monkeypatch.setattr(stopping, "note", lambda text: (sys.stderr.write(text), told.set()))
    with stop_between_blocks("Stopping soon.", quiet=quiet):
        send()
        assert told.wait(10 if shown else 0.05) == bool(shown)
    assert capsys.readouterr().err == shown


def test_who_does_not_gets_none(capsys):
    with stop_between_blocks("Stopping soon."):
        send()
    assert capsys.readouterr().err == ""


LOADING = """
import os, signal, sys
from importlib.abc import MetaPathFinder

class Interrupt(MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if name == {module!r}:
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Interrupt())
from sparsemix.cli import main
sys.argv[1:] = ["clusters", "absent.smx"]
code = main()
os.kill(os.getpid(), signal.SIGINT)
sys.exit(code)
"""


@pytest.mark.parametrize("module", ["typer", "sparsemix.model_io"])
def test_ctrl_c_while_the_program_is_loaded_and_once_more_at_its_end(module):
    run = subprocess.run(
        [sys.executable, "-c", LOADING.format(module=module)], capture_output=True, text=True, check=False
    )
    assert (run.returncode, run.stdout, run.stderr) == (130, "", STOPPED)


def endless_sort(stage):
    """What only Ctrl-C ends, while DuckDB is busy."""
    threading.Timer(0.1, send).start()
    while True:
        stage.connection.execute("SELECT sum(hash(range)) FROM range(10000000)")


COMMANDS = {
    "fit": ["-o", "new.smx", "--batch-rows", 100],
    "fit em": ["-o", "new.smx", "--batch-rows", 100, "--model", "multinomial"],
    "update": ["-o", "new.smx"],
    "assign": ["-o", "new.csv"],
    "score": [],
}


@pytest.mark.parametrize("command", COMMANDS)
def test_ctrl_c_while_rows_are_sorted(sparsemix, table, model, tmp_path, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sparsemix.data.staging.Stage.arrange", endless_sort)
    name = command.split()[0]
    files = [table] if name == "fit" else [model, table]
    # Scattered rows are what needs a sort.
    options = ["--row", "advertiser", "--feature", "keyword"]
    assert sparsemix(name, *files, *options, *COMMANDS[command], "--quiet") == 130
    assert sparsemix.err.splitlines(keepends=True)[-1] == STOPPED
    assert "fault of sparsemix" not in sparsemix.err
    assert list(tmp_path.iterdir()) == []


@pytest.fixture(scope="module")
def documents(tmp_path_factory):
    return write(tmp_path_factory.mktemp("texts") / "texts.csv", texts(own=0.5))


def interrupt_reading(monkeypatch, at_call, at_batch):
    """Send a signal while a batch is read; a table is read once in every call."""
    calls = itertools.count(1)

    def read(*args, **options):
        call = next(calls)
        for number, batch in enumerate(iter_batches(*args, **options), start=1):
            if (call, number) == (at_call, at_batch):
                send()
            yield batch

    monkeypatch.setattr("sparsemix.data.iter_batches", read)


SIZE = ["-k", 3, "--quiet"]
RUNS = {
    "online": (["--batch-rows", 50, "--priming-rows", 60], 1, 3, "100 rows"),
    "multinomial": (["--batch-rows", 50], 5, 2, None),
    "bernoulli-em": (["--batch-rows", 50], 5, 1, None),
}


@pytest.mark.parametrize("kind", RUNS)
def test_ctrl_c_while_rows_are_read_saves_what_is_learnt(sparsemix, documents, tmp_path, monkeypatch, kind):
    options, call, batch, learnt = RUNS[kind]
    whole, path = tmp_path / "whole.smx", tmp_path / "stopped.smx"
    command = ["fit", documents, "--model", kind, *SIZE, *options, "-o"]
    assert sparsemix(*command, whole) == 0
    with monkeypatch.context() as patch:
        interrupt_reading(patch, call, batch)
        assert sparsemix(*command, path) == 130
    first, second = sparsemix.err.splitlines()
    assert first.startswith(f"Stopped after {learnt or ''}")
    assert first.endswith(f"; what is learnt is saved in {path}. Go on with:")
    assert second.endswith(" --resume")
    assert sparsemix(*command, path, "--resume") == 0
    rows = sm.read_table(documents)
    assert (
        sm.load_model(path).predict_proba(rows).tolist() == sm.load_model(whole).predict_proba(rows).tolist()
    )


def test_ctrl_c_before_the_first_epoch_has_nothing_to_save(sparsemix, documents, tmp_path, monkeypatch):
    interrupt_reading(monkeypatch, 2, 1)
    options = ["--model", "multinomial", *SIZE, "--batch-rows", 50]
    assert sparsemix("fit", documents, "-o", tmp_path / "m.smx", *options) == 130
    assert sparsemix.err == STOPPED
    assert list(tmp_path.iterdir()) == []


def interrupt_epochs(monkeypatch, after, n_signals):
    """Send signals at the end of an epoch."""

    @contextmanager
    def progress(*_args, **_options):
        calls = itertools.count(1)

        def advance(_n_epochs):
            if next(calls) == after:
                for _ in range(n_signals):
                    send()

        yield advance

    monkeypatch.setattr("sparsemix.cli.epochs.rows_progress", progress)


@pytest.mark.parametrize("kind", ["multinomial", "bernoulli-em"])
@pytest.mark.parametrize("number", [1, 3])
def test_ctrl_c_in_an_epoch_waits_for_its_end(sparsemix, documents, tmp_path, monkeypatch, kind, number):
    whole, path = tmp_path / "whole.smx", tmp_path / "stopped.smx"
    command = ["fit", documents, "--model", kind, *SIZE, "--label", "topic", "-o"]
    assert sparsemix(*command, whole) == 0
    with monkeypatch.context() as patch:
        interrupt_epochs(patch, number, 1)
        assert sparsemix(*command, path) == 130
    first, second = sparsemix.err.splitlines()
    assert (
        first == f"Stopped after {counted(number, 'epoch')}; what is learnt is saved in {path}. Go on with:"
    )
    assert second.endswith(" --resume")
    assert sm.load_model(path).n_iter_ == number
    assert sparsemix(*command, path, "--resume", "--n-jobs", 2, "--max-iter", 90) == 0
    found, expected = sm.load_model(path), sm.load_model(whole)
    assert found.converged_
    rows = sm.read_table(documents)
    assert found.predict_proba(rows).tolist() == expected.predict_proba(rows).tolist()
    assert (found.max_iter, found.n_jobs) == (90, 2)


def test_ctrl_c_twice_in_an_epoch_saves_nothing(sparsemix, documents, tmp_path, monkeypatch):
    interrupt_epochs(monkeypatch, 3, 2)
    command = ["fit", documents, "--model", "multinomial", *SIZE, "-o", tmp_path / "m.smx"]
    assert sparsemix(*command) == 130
    assert sparsemix.err == STOPPED
    assert list(tmp_path.iterdir()) == []
