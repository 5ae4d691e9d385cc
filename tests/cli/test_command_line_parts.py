"""Blocks, the orderly stop, progress and printing, each alone."""

import io
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsemix import DataError
from sparsemix.cli import console, progress
from sparsemix.cli.blocks import cut
from sparsemix.cli.errors import in_options
from sparsemix.foundation.wording import counted

sizes = st.lists(st.integers(0, 20), max_size=6)
ends = st.lists(st.integers(1, 15), min_size=1, max_size=2)


def batches_of(lengths):
    rows = list(range(sum(lengths)))
    first = 0
    for length in lengths:
        yield rows[first : first + length]
        first += length


@given(sizes, ends, st.data())
def test_blocks_are_all_rows_in_order(lengths, multiples, data):
    start = data.draw(st.integers(0, sum(lengths)))
    blocks = list(cut(batches_of(lengths), multiples, start))
    assert [row for block in blocks for row in block] == list(range(start, sum(lengths)))
    assert all(blocks)


@given(sizes, ends, st.data())
def test_blocks_end_at_the_same_rows_wherever_one_begins(lengths, multiples, data):
    start = data.draw(st.integers(0, sum(lengths)))
    last_rows = [block[-1] for block in cut(batches_of(lengths), multiples)]
    resumed = [block[-1] for block in cut(batches_of(lengths), multiples, start)]
    assert resumed == [row for row in last_rows if row >= start]


def test_every_multiple_is_an_end():
    blocks = list(cut(batches_of([25]), [10, 4]))
    assert [len(block) for block in blocks] == [4, 4, 2, 2, 4, 4, 4, 1]


def test_a_table_that_is_too_short():
    with pytest.raises(DataError, match="has learnt 11 rows, but the input has only 10"):
        list(cut(batches_of([10]), [4], start=11))


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_for_terminals_only(monkeypatch, capsys):
    with progress.rows_progress("Learning", 100) as advance, progress.waiting("Reading"):
        advance(50)
    assert capsys.readouterr() == ("", "")
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    with (
        progress.rows_progress("Learning", 100, quiet=True) as advance,
        progress.waiting("Reading", quiet=True),
    ):
        advance(50)
    assert screen.getvalue() == ""


def test_progress_shows_rows_speed_and_time_left(monkeypatch):
    screen = Terminal()
    monkeypatch.setattr("sys.stderr", screen)
    monkeypatch.setenv("COLUMNS", "120")
    with progress.rows_progress("Learning", 3_000) as advance:
        for _ in range(3):
            advance(1_000)
    assert "Learning" in screen.getvalue()
    assert "3,000 rows" in screen.getvalue()
    assert "rows/s" in screen.getvalue()


def test_notes_go_to_stderr_on_one_line(capsys):
    console.note("one\ntwo \x1b[31mred")
    console.note("nothing", quiet=True)
    assert capsys.readouterr() == ("", "one\ufffdtwo \ufffd[31mred\n")


def test_json_is_strict_and_readable(capsys):
    console.show_json({"nan": float("nan"), "list": [float("inf"), 1.5, ("é", None)]})
    out = capsys.readouterr().out
    assert json.loads(out) == {"nan": None, "list": [None, 1.5, ["é", None]]}
    assert "é" in out


def test_markup_and_emoji_names_are_printed_as_they_are(capsys):
    console.show("[bold]ads[/bold] :smile: 42")
    assert capsys.readouterr().out == "[bold]ads[/bold] :smile: 42\n"


def test_letters_that_the_terminal_lacks(monkeypatch):
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii")
    monkeypatch.setattr("sys.stdout", terminal)
    console.show("7 猫")
    console.show_json({"é": "猫"})
    terminal.flush()
    shown, _, rest = terminal.buffer.getvalue().decode("ascii").partition("\n")
    assert shown == "7 ?"
    assert json.loads(rest) == {"é": "猫"}


@pytest.mark.parametrize(
    ("number", "noun", "shown"),
    [(0, "row", "0 rows"), (1, "row", "1 row"), (1.0, "row", "1 row"), (1_234, "keyword", "1,234 keywords")],
)
def test_numbers_and_nouns(number, noun, shown):
    assert counted(number, noun) == shown


@pytest.mark.parametrize(
    ("message", "shown"),
    [
        (
            "'level' of suggest must be a number in (0, 1), but it is 2.",
            "--level must be a number in (0, 1), but it is 2.",
        ),
        (
            "'columns' of read_table must be None for npz, but it is ['a'].",
            "--columns must be left out for npz, but it is ['a'].",
        ),
        (
            "'binarize' of X must be None or a number, but it is -1.",
            "--binarize must be a number, but it is -1.",
        ),
        (
            "For a table pass format='tsv' (with columns= if any).",
            "For a table pass --format tsv (with --columns if any).",
        ),
        ("pass separator='|'.", "pass --separator '|'."),
        ("pass quote=None.", "pass --quote none."),
        ("the folder 'row=3' does not exist", "the folder 'row=3' does not exist"),
        ("Set binarize=0 to count", "Set binarize=0 to count"),
        ("'y' of fit must be short", "'y' of fit must be short"),
    ],
)
def test_messages_speak_of_options(message, shown):
    assert in_options(message) == shown
