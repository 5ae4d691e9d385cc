"""Mail that no person writes: endless words, signs and comments are read in time that grows with their length."""

import pytest

from sparsemix.data.mail_parts import author_of, parse
from sparsemix.data.mail_quotes import split_text
from sparsemix.data.mail_words import words_of

ENDLESS = ("a", "a.", "a-", "_", "[", "@", "a@", "://", "a://", "www.", "'", "-- ", " ", ">", "a>", "=*-_")


@pytest.mark.parametrize("sign", ENDLESS)
def test_endless_signs_are_read(sign):
    text = f"{sign * 400_000}\ntea"
    own, quoted = split_text(text)
    assert words_of(text)[-1] == "tea"
    assert words_of(own)[-1:] == ["tea"] or quoted


@pytest.mark.parametrize(
    ("text", "left"),
    [
        ("see(https://example.org/a) tea", ["see", "tea"]),
        ("@ann a@ tea@ @@b tea", ["ann", "tea", "tea"]),
        ("1.www.example.org:// tea", ["tea"]),
        ("a://b@c d@ e", []),
    ],
)
def test_addresses_at_their_edges(text, left):
    assert words_of(text) == left


def test_comments_nested_too_deep_leave_what_stands_there():
    raw = "(" * 20_000
    assert author_of(parse(f"From: {raw}\n\ntea".encode())) == raw
