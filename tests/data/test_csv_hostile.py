"""CSV and TSV as they are found: quotation marks, line ends, byte-order marks, long cells, broken lines."""

import codecs
import csv
import gzip
from pathlib import Path

import pytest
from dataset_checks import cells
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from sparsemix.data import Dataset, read_table
from sparsemix.data.byte_stream import read_pieces
from sparsemix.data.csv_records import Dialect, careful_records, record_pieces
from sparsemix.foundation.errors import DataError, ParameterError

COMMA = Dialect(",", '"')


def read_text(folder: Path, text: str | bytes, name: str = "ads.csv", **options) -> Dataset:
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, **{"row": "ad", "feature": "word", **options})


def names(dataset: Dataset) -> list[str]:
    return dataset.feature_names.tolist()


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('ad,word\n1,"red, shoes"\n', "red, shoes"),
        ('ad,word\n1,"say ""hi"""\n', 'say "hi"'),
        ('ad,word\n1,"two\nlines"\n', "two\nlines"),
        ('ad,word\r\n1,"two\r\nlines"\r\n', "two\r\nlines"),
        ('ad,word\n1,5" nails\n', '5" nails'),
        ('ad,word\n1,a"b"c\n', 'a"b"c'),
        ('"ad","word"\n"1","red"\n', "red"),
        ("ad,word\r\n1,red\r\n", "red"),
        ("\ufeffad,word\n1,red\n", "red"),
        ('\ufeff"ad","word"\n1,red', "red"),
        ("ad,word\n\n1,red\n\n\n", "red"),
        ("\n\nad,word\n1,red\n", "red"),
        ("ad,word\r\n1,red\n", "red"),
        ("ad,word\n1, red \n", " red "),
        ("ad,word\n1,NULL\n", "NULL"),
        ("ad,word\n1,nan\n", "nan"),
        ("ad,word\n1,\\N\n", "\\N"),
        ("ad,word\n1,a\x00b\n", "a\x00b"),
        ('ad,word\n1,"a\rb"\n', "a\rb"),
        ("ad,word\n1,日本語 🛍\n", "日本語 🛍"),
        ("ad,word\n1,e\u0301\n", "e\u0301"),
    ],
)
def test_words_come_out_as_they_are_meant(tmp_path, text, word):
    dataset = read_text(tmp_path, text)
    assert names(dataset) == [word]
    assert dataset.row_ids.tolist() == [1]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ('ad,word\n1,red\n2,"hello" world\n', 3, "text follows a closing quotation mark"),
        ('ad,word\n1,red\n2,"hello\n3,blue\n', 3, "never closed"),
        ('ad,word\n1,"a\nb"\n2,"hello\n3,blue\n', 4, "never closed"),
        ("ad,word\n1,red\n2\n3,blue\n", 3, "must have 2 values as the header, but has 1"),
        ("ad,word\n1,red\n2,a,b\n", 3, "must have 2 values as the header, but has 3"),
        ("ad,word\n1,red,\n", 2, "but has 3"),
        ('ad,word\n1,"a\nb\nc"\n\n2\n', 6, "but has 1"),
        ('ad,word\n1,5" nails\n2\n', 3, "but has 1"),
        ("ad,word\n1,a\rb\n", 2, "carriage return"),
        (b"ad,word\n1,red\n2,\xe9t\xe9\n", 3, "must be UTF-8"),
        (b'ad,word\n1,5" nails\n2,\xe9t\xe9\n', 3, "must be UTF-8"),
    ],
)
def test_broken_records_are_reported_with_their_line(tmp_path, text, line, words):
    with pytest.raises(DataError, match=words) as caught:
        read_text(tmp_path, text)
    assert f"ads.csv, line {line}:" in str(caught.value)


def test_loose_quotes_have_a_way_out(tmp_path):
    text = 'ad,word\n1,"hello" world\n2,"open\n'
    with pytest.raises(DataError, match="pass quote=None"):
        read_text(tmp_path, text)
    assert names(read_text(tmp_path, text, quote=None)) == ['"hello" world', '"open']


def test_tsv_without_quoting_keeps_marks(tmp_path):
    dataset = read_text(tmp_path, 'ad\tword\n1\t"red\n2\tblue"\n', "ads.tsv", quote=None)
    assert names(dataset) == ['"red', 'blue"']


def test_another_quotation_mark_and_separator(tmp_path):
    dataset = read_text(tmp_path, "ad;word\n1;'red; \"shoes\"'\n", separator=";", quote="'")
    assert names(dataset) == ['red; "shoes"']


def test_semicolons_are_hinted_at(tmp_path):
    with pytest.raises(ParameterError, match="pass separator=';'"):
        read_text(tmp_path, "ad;word\n1;red\n")


def test_file_without_header(tmp_path):
    dataset = read_text(tmp_path, "1,red\n2,blue\n", columns=["ad", "word"])
    assert cells(dataset) == {(1, "red"): 1, (2, "blue"): 1}
    with pytest.raises(ParameterError, match=r"must name 2 columns, .* it names 'ad', 'word', 'more'"):
        read_text(tmp_path, "1,red\n", columns=["ad", "word", "more"])


def test_only_a_header_is_a_table_without_rows(tmp_path):
    dataset = read_text(tmp_path, "ad,word\n")
    assert dataset.matrix.shape == (0, 0)
    assert dataset.report.n_records == 0
    assert len(read_text(tmp_path, "ad,word")) == 0


def test_repeated_column_names(tmp_path):
    assert names(read_text(tmp_path, "ad,word,x,x\n1,red,2,3\n")) == ["red"]
    with pytest.raises(DataError, match="2 columns named 'word'"):
        read_text(tmp_path, "ad,word,word\n1,red,2\n")


@pytest.mark.parametrize(
    ("name", "mark", "encoding"),
    [
        ("UTF-16", codecs.BOM_UTF16_LE, "utf-16-le"),
        ("UTF-16", codecs.BOM_UTF16_BE, "utf-16-be"),
        ("UTF-32", codecs.BOM_UTF32_LE, "utf-32-le"),
        ("UTF-32", codecs.BOM_UTF32_BE, "utf-32-be"),
    ],
)
def test_wide_text_is_refused_by_its_name(tmp_path, name, mark, encoding):
    with pytest.raises(DataError, match=f"is {name}, but text files must be UTF-8"):
        read_text(tmp_path, mark + "ad,word\n1,red\n".encode(encoding))


def test_gzip_is_known_by_content_not_by_name(tmp_path):
    data = b"ad,word\n1,red\n"
    assert names(read_text(tmp_path, gzip.compress(data), "ads.csv")) == ["red"]
    assert names(read_text(tmp_path, data, "plain.csv.gz")) == ["red"]
    both = gzip.compress(data) + gzip.compress(b"2,blue\n")
    assert names(read_text(tmp_path, both, "members.csv.gz")) == ["red", "blue"]


def test_cut_off_gzip_is_an_error(tmp_path):
    data = gzip.compress(b"ad,word\n" + b"1,red\n" * 100_000)
    with pytest.raises(DataError, match="damaged or cut off"):
        read_text(tmp_path, data[:-20], "ads.csv.gz")


def test_a_cell_of_a_million_keywords(tmp_path):
    words = ";".join(f"w{i}" for i in range(1_000_000))
    dataset = read_text(tmp_path, f'ad,words\n1,"{words}"\n2,w3;w3\n', feature="words", delimiter=";")
    assert dataset.matrix.shape == (2, 1_000_000)
    assert dataset.n_nonzero == 1_000_001


def test_long_cells_beside_marks_that_need_care(tmp_path):
    words = ";".join(f"w{i}" for i in range(100_000))
    limit = csv.field_size_limit()
    dataset = read_text(tmp_path, f'ad,words\n1,5" nails;w1\n2,{words}\n', feature="words", delimiter=";")
    assert dataset.matrix.shape == (2, 100_001)
    assert csv.field_size_limit() == limit


def test_line_numbers_of_bad_values_count_line_breaks_inside_quotes(tmp_path):
    text = 'ad,word,n\n1,"a\nb",2\n\n2,blue,-3\n'
    with pytest.raises(DataError, match=r"ads.csv, line 5: 'count' must be .*, but it is '-3'"):
        read_text(tmp_path, text, count="n")


def test_pieces_are_cut_where_records_end(tmp_path):
    text = 'ad,word\n1,"a\nb"\n2,"c,""d"""\n3,"e\n\n"\n4,f\n'
    path = tmp_path / "ads.csv"
    path.write_text(text, newline="")
    for size in range(1, len(text) + 1):
        pieces = list(record_pieces(read_pieces(path, size=size), COMMA))
        assert b"".join(piece for piece, _ in pieces) == text.encode()
        assert all(is_plain for _, is_plain in pieces)
        for piece, _ in pieces:
            assert piece.count(b'"') % 2 == 0


def strict_records(data: bytes, path: Path) -> list[list[str]] | None:
    """What Python's strict reader makes of some bytes, None if it objects."""
    try:
        return [record for part in careful_records([data], COMMA, 2, 2, path) for record in part.values]
    except DataError:
        return None


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=st.text(alphabet='a",\n\r', max_size=24))
@example(text='""a\n')
@example(text='a"\n"a\n')
def test_quick_way_agrees_with_the_strict_reader(tmp_path, text):
    path = tmp_path / "any.csv"
    path.write_bytes(b"x,y\n" + text.encode())
    strict = strict_records(text.encode(), path)
    if strict is None:
        with pytest.raises(DataError):
            read_table(path, row="x", feature="y")
    else:
        found = read_table(path, row="x", feature="y")
        assert set(cells(found)) == {(x, y) for x, y in strict if x and y}


@settings(max_examples=150, deadline=None)
@given(text=st.text(alphabet='a",\n\r', max_size=24), size=st.integers(1, 24))
def test_pieces_can_be_read_one_by_one(text, size):
    path = Path("any.csv")
    data = text.encode()
    pieces = list(record_pieces([data[i : i + size] for i in range(0, len(data), size)], COMMA))
    assert b"".join(piece for piece, _ in pieces) == data
    plain = [piece for piece, is_plain in pieces if is_plain]
    rest = b"".join(piece for piece, is_plain in pieces if not is_plain)
    parts = [strict_records(piece, path) for piece in [*plain, rest]]
    whole = strict_records(data, path)
    if whole is None:
        assert None in parts
    else:
        assert [record for part in parts for record in part] == whole
