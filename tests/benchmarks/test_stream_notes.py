import pytest

from harness.stream_notes import Notes


def never():
    pytest.fail("this is known already")


def test_what_is_known_is_not_computed_again():
    notes = Notes(None)
    assert notes.get("a", lambda: [1, None]) == [1, None]
    assert notes.get("a", never) == [1, None]


def test_notes_on_disk_are_read_again(tmp_path):
    Notes(tmp_path / "notes.json").get("a", lambda: [0.1, "x"])
    again = Notes(tmp_path / "notes.json")
    assert again.get("a", never) == [0.1, "x"]
    assert again.get("b", lambda: 2) == 2
