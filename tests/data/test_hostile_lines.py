"""The same bad lines in every text format: the line is named, or what is meant is read."""

import pytest

from sparsemix.data import read_table
from sparsemix.foundation.errors import DataError

GOOD = {
    "csv": b"ad,word,n\n1,red,2\n2,blue,1\n",
    "jsonl": b'{"ad": 1, "word": "red", "n": 2}\n{"ad": 2, "word": "blue", "n": 1}\n',
    "dat": b"red green\ngreen blue\n",
    "svmlight": b"1 1:2 3:1\n-1 2:1\n",
}
LONG = b"x" * 10_000_000
OF_TEXT = "the text must be UTF-8"
OF_COUNT = "a whole number >= 0"
OF_CELL = "must be a column number, a colon and a"
BAD_LINES = [
    ("csv", b"3,red\n", "the record must have 3 values as the header, but has 2"),
    ("jsonl", b'{"ad": 3, "word"\n', "the line must be a JSON object"),
    ("svmlight", b"1 4:\n", OF_CELL),
    ("csv", b"3,\xfe\xff,1\n", OF_TEXT),
    ("jsonl", b'{"ad": 3, "word": "\xe9", "n": 1}\n', OF_TEXT),
    ("dat", b"t\xe9a\n", OF_TEXT),
    ("svmlight", b"1 4:1 # t\xe9a\n", OF_TEXT),
    ("jsonl", b'{"ad": 3, "word": "a\0b", "n": 1}\n', "the line must be a JSON object"),
    ("svmlight", b"1 4:\0 1\n", OF_CELL),
    ("svmlight", b"1 " + LONG + b"\n", OF_CELL),
    ("csv", b"3,red,1e400\n", OF_COUNT),
    ("jsonl", b'{"ad": 3, "word": "red", "n": 1e400}\n', OF_COUNT),
    ("svmlight", b"1 1:1e400\n", OF_COUNT),
    ("csv", b"3,red,99999999999999999999999999\n", OF_COUNT),
    ("jsonl", b'{"ad": 3, "word": "red", "n": 99999999999999999999999999}\n', OF_COUNT),
    ("svmlight", b"1 99999999999999999999:1\n", OF_CELL),
    ("csv", b"3,red,-2\n", OF_COUNT),
    ("jsonl", b'{"ad": 3, "word": "red", "n": -2}\n', OF_COUNT),
    ("svmlight", b"1 1:-2\n", OF_COUNT),
    ("csv", b'3,"red,1\n', "the quotation mark that opens here is never closed"),
    ("jsonl", b'{"ad": 3, "word": "red\n', "the line must be a JSON object"),
]
ODD_LINES = [
    ("csv", b"3,a\0b,1\n", "a\0b"),
    ("csv", b'3,"two\nlines",1\n', "two\nlines"),
    ("csv", b"3," + LONG + b",1\n", LONG.decode()),
    ("jsonl", b'{"ad": 3, "word": "two\\nlines", "n": 1}\n', "two\nlines"),
    ("jsonl", b'{"ad": 3, "word": "' + LONG + b'", "n": 1}\n', LONG.decode()),
    ("dat", LONG + b"\n", LONG.decode()),
    ("dat", b"a\0b\n", "a\0b"),
    ("dat", b"99999999999999999999999999\n", "99999999999999999999999999"),
]


def read(folder, kind, content):
    path = folder / f"table.{kind}"
    path.write_bytes(content)
    return read_table(
        path, **({"row": "ad", "feature": "word", "count": "n"} if kind in {"csv", "jsonl"} else {})
    )


def shortened(value):
    return value[:20].decode("latin-1") if isinstance(value, bytes) else value


@pytest.mark.parametrize(("kind", "line", "rule"), BAD_LINES, ids=shortened)
def test_a_bad_line_is_named_and_described(tmp_path, kind, line, rule):
    place = GOOD[kind].count(b"\n") + 1
    with pytest.raises(DataError) as caught:
        read(tmp_path, kind, GOOD[kind] + line + b"\n" + GOOD[kind])
    message = str(caught.value)
    assert message.startswith(f"{tmp_path / 'table'}.{kind}, line {place}: ")
    assert rule in message
    assert len(message) < 600


@pytest.mark.parametrize(("kind", "line", "word"), ODD_LINES, ids=lambda value: shortened(value)[:20])
def test_an_odd_line_is_read_as_it_is_meant(tmp_path, kind, line, word):
    found = read(tmp_path, kind, GOOD[kind] + line)
    assert found.feature_names[-1] == word
    assert found.n_rows == 3


@pytest.mark.parametrize("kind", GOOD)
@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-32", "utf-8-sig"])
def test_other_encodings_are_recognised(tmp_path, kind, encoding):
    content = GOOD[kind].decode().encode(encoding)
    if encoding == "utf-8-sig":
        assert read(tmp_path, kind, content).matrix.nnz == read(tmp_path, kind, GOOD[kind]).matrix.nnz
        return
    with pytest.raises(DataError, match="Convert it"):
        read(tmp_path, kind, content)
