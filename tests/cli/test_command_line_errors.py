"""Errors are one line on stderr, with the exit code of their kind."""

import subprocess
import sys
import warnings

import pytest

from sparsemix import ModelFileError, ParameterError
from sparsemix.cli import app, main
from sparsemix.cli.errors import exit_code, one_line


def run(capsys, *arguments):
    code = main(arguments)
    out, err = capsys.readouterr()
    return code, out, err


def raising(monkeypatch, error):
    """Let every command line end in an error."""

    def fail(*_args, **_kwargs):
        raise error

    monkeypatch.setattr(app, "app", fail)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fitt"], "No such command 'fitt'"),
        (["fit"], "INPUT"),
        (["fit", "ads.csv"], "--output"),
        (["fit", "ads.csv", "-o", "m.smx", "-k", "many"], "Invalid value for"),
        (["fit", "ads.csv", "-o", "m.smx", "--batch-rows", "0"], "--batch-rows"),
        (["clusters", "m.smx", "--by", "size"], "size"),
        (["clusters", "m.smx", "-n", "0"], "-n must be at least 1, but it is 0."),
        (["suggest", "m.smx", "--keywords", "a"], "--keywords"),
        (["--nonsense"], "--nonsense"),
    ],
)
def test_wrong_usage(capsys, arguments, message):
    code, out, err = run(capsys, *arguments)
    assert code == 2
    assert out == ""
    assert message in err
    assert err.count("\n") == 1
    assert err.startswith("sparsemix: error: ")
    assert err.rstrip().endswith("--help'.")


@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (ParameterError("'k' must be >= 1."), 2, "'k' must be >= 1."),
        (ModelFileError("it is\ndamaged."), 1, "it is damaged."),
        (FileNotFoundError(2, "No such file", "ads.csv"), 1, "No such file (ads.csv)."),
        (OSError("odd"), 1, "OSError: odd."),
        (MemoryError(), 1, "--batch-rows"),
        (
            ZeroDivisionError("oops"),
            1,
            "ZeroDivisionError: oops. This is a fault of sparsemix; --debug shows",
        ),
    ],
)
def test_one_line_and_exit_code(monkeypatch, capsys, error, code, message):
    raising(monkeypatch, error)
    found, out, err = run(capsys, "fit")
    assert (found, out) == (code, "")
    assert message in err
    assert err.count("\n") == 1
    assert "Traceback" not in err


@pytest.mark.parametrize("arguments", [["--debug", "fit"], ["fit", "--debug"]])
def test_debug_shows_the_trace(monkeypatch, capsys, arguments):
    raising(monkeypatch, ParameterError("'k' must be >= 1."))
    code, _out, err = run(capsys, *arguments)
    assert code == 2
    assert "Traceback" in err
    assert "ParameterError: 'k' must be >= 1." in err


def test_a_stop_by_the_user_has_its_own_code():
    assert exit_code(KeyboardInterrupt()) == 130
    assert "no file is left half written" in one_line(KeyboardInterrupt(), "sparsemix")


def test_a_closed_pipe_is_no_error():
    code = "import sys; from sparsemix.cli import main; sys.exit(main(['--help']))"
    producer = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    producer.stdout.close()
    assert producer.stderr.read() == ""
    producer.stderr.close()
    producer.wait()


def test_warnings_are_notes(monkeypatch, capsys):
    def warn(*_args, **_kwargs):
        warnings.simplefilter("default")
        warnings.warn("rows without keywords", stacklevel=1)

    monkeypatch.setattr(app, "app", warn)
    code, _out, err = run(capsys, "fit")
    assert code == 0
    assert err == "warning: rows without keywords\n"
