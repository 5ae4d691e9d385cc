"""What is refused with the parameter, the rule, the value and the remedy: nothing raw, and nothing in silence."""

import gzip
import json
import os
import re
import threading

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sparsemix.data import Dataset, guess_columns, iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError

READERS = [read_table, guess_columns, lambda path: list(iter_batches(path))]
LONG = "x" * 1_000_000


@pytest.fixture
def csv(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_text("ad,word\n1,red\n2,blue\n")
    return path


@pytest.mark.parametrize("reader", READERS)
def test_a_pipe_cannot_be_read_twice(reader, tmp_path):
    pipe = tmp_path / "ads.csv"
    os.mkfifo(pipe)
    with pytest.raises(DataError, match=r"is a pipe or a device, .* Save it to a file and pass that\."):
        reader(pipe)


def test_a_pipe_on_a_descriptor():
    out, into = os.pipe()
    writer = threading.Thread(target=lambda: (os.write(into, b"ad,word\n1,x\n"), os.close(into)))
    writer.start()
    with pytest.raises(DataError, match=f"/dev/fd/{out} is a pipe or a device"):
        read_table(f"/dev/fd/{out}", format="csv")
    writer.join()
    os.close(out)


@pytest.mark.parametrize("options", [{}, {"row": "ad", "feature": "word"}])
@pytest.mark.parametrize("odd", ["x,y", "ad,other"])
@pytest.mark.parametrize("kind", ["csv", "parquet"])
def test_the_file_whose_columns_differ_is_named(options, odd, kind, tmp_path):
    for name, header in {"a": "ad,word", "b": "word,ad,more", "c": odd}.items():
        columns = header.split(",")
        if kind == "csv":
            (tmp_path / f"{name}.csv").write_text(f"{header}\n{','.join('1' for _ in columns)}\n")
        else:
            pq.write_table(pa.table({column: ["1"] for column in columns}), tmp_path / f"{name}.parquet")
    shown = ", ".join(map(repr, odd.split(",")))
    words = f"a.{kind} has 'ad', 'word', but {tmp_path}/c.{kind} has {shown}."
    with pytest.raises(ParameterError, match=re.escape(words) + "$"):
        read_table(tmp_path, **options)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be", "utf-32-le"])
@pytest.mark.parametrize("kind", ["csv", "jsonl", "dat", "svmlight"])
def test_utf_16_without_a_mark_is_recognised(encoding, kind, tmp_path):
    path = tmp_path / f"ads.{kind}"
    path.write_bytes("ad,word\n1,окно\n".encode(encoding))
    with pytest.raises(DataError, match="looks like UTF-16 or UTF-32 without a byte-order mark"):
        read_table(path)


def test_a_zero_byte_in_a_keyword_is_a_character_like_any_other(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_bytes(b"ad,word\n1,re\0d and a longer keyword\n")
    assert read_table(path).feature_names.tolist() == ["re\0d and a longer keyword"]


@pytest.mark.parametrize("value", ['"\\ud800"', '["a", "\\udc00\\ud800"]', '"a", "other": "\\udfff"'])
def test_half_a_character_in_json(value, tmp_path):
    path = tmp_path / "ads.jsonl"
    path.write_text(f'{{"ad": 1, "word": "\\ud83d\\udecd"}}\n{{"ad": 1, "word": {value}}}\n')
    with pytest.raises(DataError, match=r"line 2: the text must be Unicode, but \\u[0-9a-f]{4} is only half"):
        read_table(path)


@pytest.mark.parametrize(
    "line", ['{"ad": 1, "word": "a", "word": "b"}', '{"ad": 1, "word": "a", "w\\u006frd": "b"}']
)
def test_a_key_that_stands_twice(line, tmp_path):
    path = tmp_path / "ads.jsonl"
    path.write_text('{"ad": 1, "word": "a"}\n\n' + line + "\n")
    with pytest.raises(
        DataError, match=r"line 3: the line must hold each key once, but 'word' stands twice\."
    ):
        read_table(path)


PARQUET_OF_WRONG_TYPE = {
    "row": pa.table({"ad": [{"a": 1}], "word": ["x"]}),
    "feature": pa.table({"ad": [1], "word": [[["x"]]]}),
    "count": pa.table({"ad": [1], "word": ["x"], "n": [[1]]}),
    "time": pa.table({"ad": [1], "word": ["x"], "t": [[1]]}),
    "group": pa.table({"ad": [1], "word": ["x"], "g": [b"\xff"]}),
}


@pytest.mark.parametrize("role", PARQUET_OF_WRONG_TYPE)
def test_a_column_of_the_wrong_type_names_its_file(role, tmp_path):
    path = tmp_path / "ads.parquet"
    table = PARQUET_OF_WRONG_TYPE[role]
    pq.write_table(table, path)
    roles = {
        "row": "ad",
        "feature": "word",
        role: {"row": "ad", "feature": "word"}.get(role, table.column_names[-1]),
    }
    with pytest.raises(DataError) as caught:
        read_table(path, **roles)
    assert str(caught.value).startswith(f"{path}, row 0 (from 0): '{role}' must be a column of ")


def test_columns_that_stand_twice(tmp_path):
    twice = pa.Table.from_arrays([pa.array([1]), pa.array(["x"]), pa.array([2])], names=["ad", "word", "ad"])
    pq.write_table(twice, tmp_path / "ads.parquet")
    for source, where in (
        (tmp_path / "ads.parquet", f"{tmp_path}/ads.parquet"),
        (twice, "a pyarrow table"),
        (pd.DataFrame([[1, "x", 2]], columns=["ad", "word", "ad"]), "a pandas table"),
    ):
        with pytest.raises(DataError, match=f"{where} has 2 columns named 'ad'. Rename them."):
            read_table(source, row="ad", feature="word")


def test_damaged_parquet_is_told_in_our_own_words(tmp_path):
    path = tmp_path / "ads.parquet"
    pq.write_table(pa.table({"ad": np.arange(1000), "word": [f"w{i % 50}" for i in range(1000)]}), path)
    whole, random = path.read_bytes(), np.random.default_rng(0)
    packed = gzip.compress(whole)
    broken = [whole[:-40], b"hello", packed[:-30], packed[:30] + b"\xff\xff\xff" + packed[33:]]
    for _ in range(100):
        content = np.frombuffer(whole, np.uint8).copy()
        content[random.integers(0, content.size, 3)] = random.integers(0, 256, 3)
        broken.append(content.tobytes())
    refusals = [refusal for content in broken if (refusal := refusal_in(path, content)) is not None]
    words = f"{path} is damaged or is no Parquet file. Write it again, or pass the format= that it has."
    assert {str(error) for error in refusals} == {words}
    assert all(error.__cause__ is not None for error in refusals)
    assert len(refusals) >= 10


def refusal_in(path, content):
    """The error of damaged content, None where the damage only hit a value or the name of a column."""
    path.write_bytes(content)
    try:
        read_table(path, row="ad", feature="word")
    except DataError as error:
        return error
    except ParameterError:
        return None
    return None


def test_damaged_text_in_memory():
    damaged = pa.table({"ad": [1], "word": pa.array([b"\xff"]).view(pa.string())})
    with pytest.raises(
        DataError, match="Column 'word' of a pyarrow table is damaged: not all of it is UTF-8"
    ):
        read_table(damaged, row="ad", feature="word")


@pytest.mark.parametrize("path", ["", "a\0.csv", ["ads.csv", ""]])
def test_what_is_no_path(path, csv, monkeypatch):
    monkeypatch.chdir(csv.parent)
    with pytest.raises(
        ParameterError, match="'path_or_table' of read_table must be a path of at least one character"
    ):
        read_table(path)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"quote": ","}, "'quote' of read_table must be another character than the separator, but it is ','"),
        ({"separator": '"'}, "'quote' of read_table must be another character than the separator"),
        ({"quote": "\n"}, "'quote' of read_table must be None or one ASCII character that ends no line"),
        (
            {"separator": "\n"},
            "'separator' of read_table must be None or one ASCII character that ends no line",
        ),
        ({"separator": "\0"}, "'separator' of read_table must be None or one ASCII character"),
        ({"columns": 1}, "'columns' of read_table must be a list of different names or None, but it is 1"),
        ({"columns": "ad"}, "'columns' of read_table must be a list of different names"),
        ({"columns": ["ad", "ad"]}, "'columns' of read_table must be a list of different names"),
        ({"columns": np.array(3)}, "'columns' of read_table must be a list of different names"),
        ({"delimiter": "\ud800"}, r"'delimiter' of read_table must be a text of .*, but it is '\\ud800'"),
        ({"format": np.array(["csv", "tsv"])}, "'format' of read_table must be one of parquet, csv"),
        *(
            (
                {role: ["a"]},
                f"'{role}' of read_table must be the name of a column or None, but it is \\['a'\\]",
            )
            for role in ("row", "feature", "count", "time", "group", "label")
        ),
    ],
)
@pytest.mark.parametrize("read", [read_table, iter_batches])
def test_arguments_of_reading(options, words, read, csv):
    with pytest.raises(ParameterError, match=words):
        read(csv, **options)


def test_vocabulary_is_a_word(csv):
    with pytest.raises(ParameterError, match="'vocabulary' of iter_batches must be one of growing, two-pass"):
        iter_batches(csv, vocabulary=np.array([1, 2]))


@pytest.mark.parametrize("share", ["x", None, 0, 1, 2.0, np.nan, True, np.array([0.1, 0.2])])
def test_shares_of_a_split(share):
    with pytest.raises(
        ParameterError, match=r"'test_share' of Dataset.split must be a number between 0 and 1, but it"
    ):
        Dataset.from_matrix(np.eye(3)).split(share)


@pytest.mark.parametrize("seed", ["x", -1, 1.5])
def test_seeds_of_a_split(seed):
    with pytest.raises(ParameterError, match=r"'random_state' of Dataset.split must be an integer >= 0"):
        Dataset.from_matrix(np.eye(3)).split(0.5, seed)


@pytest.mark.parametrize("n", ["x", None, 1.5, -1, True, np.array([1, 2])])
def test_lengths_of_a_head(n):
    with pytest.raises(ParameterError, match=r"'n' of Dataset.head must be an integer >= 0, but it is"):
        Dataset.from_matrix(np.eye(3)).head(n)
    assert len(Dataset.from_matrix(np.eye(3)).head(2**70)) == 3


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("row_ids", value) for value in (3, [[1], [2]])),
        ("groups", 3),
        *(("times", value) for value in (3, ["a", "b"], [[1], [2]])),
        *(("labels", value) for value in (3, ["a", "b"], [0.5, 1], [np.nan, 1])),
        *(("feature_names", value) for value in (3, "ab", np.array(3))),
    ],
)
def test_fields_of_a_data_set_from_a_matrix(name, value):
    with pytest.raises(ParameterError, match=f"'{name}' of Dataset.from_matrix must be a list of"):
        Dataset.from_matrix(np.eye(2), **{name: value})


def refusal_of(source, **options):
    with pytest.raises((DataError, ParameterError)) as caught:
        read_table(source, **options)
    return str(caught.value)


def test_long_values_are_cut_in_messages(tmp_path):
    path = tmp_path / "ads.csv"
    messages = []
    for text, options in (
        (f"ad,{LONG}\n1,x\n", {"row": "zzz"}),
        (f"{LONG},{LONG}\n1,x\n", {"row": LONG}),
        (",".join(f"c{i}" for i in range(100_000)) + "\n", {}),
        (f"ad,word,count\n1,x,{LONG}\n2,y,1\n", {}),
        (f"ad,word,{chr(0) * 100_000}{LONG}\n1,x,y\n", {"row": "zzz"}),
    ):
        path.write_text(text)
        messages.append(refusal_of(path, **options))
    path.write_text("ad,word\n1,x\n")
    messages.append(refusal_of(path, columns=[LONG]))
    path = tmp_path / "ads.jsonl"
    for line in ({"ad": 1, "word": {"x": LONG}}, {"ad": LONG, "word": {}}, [LONG]):
        path.write_text(json.dumps(line))
        messages.append(refusal_of(path, row="ad", feature="word"))
    path.write_text(f'{{"ad": 1, "{LONG}": 1, "{LONG}": 2}}')
    messages.append(refusal_of(path))
    names = [LONG, LONG + "y"]
    with pytest.raises(DataError) as caught:
        Dataset.from_matrix(np.array([[1, -1]]), feature_names=names)
    messages.append(str(caught.value))
    assert max(map(len, messages)) < 1_500
    assert not any("\0" in message for message in messages)
