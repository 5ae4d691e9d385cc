"""JSON lines as they are found."""

import json
from pathlib import Path

import pytest
from dataset_checks import cells

from sparsemix.data import Dataset, guess_columns, read_table
from sparsemix.foundation.errors import DataError, ParameterError


def read_lines(folder: Path, text: str | bytes, **options) -> Dataset:
    path = folder / "ads.jsonl"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return read_table(path, **{"row": "ad", "feature": "word", **options})


@pytest.mark.parametrize(
    ("line", "row", "word"),
    [
        ('{"ad": 1, "word": "red"}', 1, "red"),
        ('{"ad": "1", "word": "red"}', "1", "red"),
        ('\ufeff{"ad": 1, "word": "red"}', 1, "red"),
        ('{"word": "say \\"hi\\"", "ad": 1}', 1, 'say "hi"'),
        ('{"ad": 1, "word": "\\ud83d\\udecd"}', 1, "\U0001f6cd"),
        ('{"ad": 1, "word": "a\\nb"}', 1, "a\nb"),
        ('{"ad": 1, "word": 7}', 1, "7"),
        ('{"ad": 1.0, "word": 7.0}', 1, "7"),
        ('{"ad": 1, "word": true}', 1, "true"),
        ('{"ad": -5, "word": "null"}', -5, "null"),
        ('  {"ad": 1, "word": "red"}  \r', 1, "red"),
    ],
)
def test_values_come_out_as_they_are_meant(tmp_path, line, row, word):
    assert cells(read_lines(tmp_path, line + "\n")) == {(row, word): 1}


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('{"ad": 1, "word": "red"', "must be a JSON object"),
        ("{'ad': 1, 'word': 'red'}", "must be a JSON object"),
        ('{"ad": 1} {"ad": 2}', "must be a JSON object"),
        ('[1, "red"]', "must be a JSON object"),
        ("null", "must be a JSON object"),
        ('"red"', "must be a JSON object"),
        ('{"ad": 1, "word": {"a": 1}}', "'feature' must be text, a number"),
        ('{"ad": [1], "word": "red"}', "'row' must be text, a number"),
        ('{"ad": 1, "word": [["a"]]}', "'feature' must be an array of text or numbers"),
        ('{"ad": 1, "word": [{"a": 1}]}', "'feature' must be an array of text or numbers"),
        ('{"ad": 1.5, "word": "red"}', "'row' must be text or an integer"),
        (b'{"ad": 1, "word": "\xe9"}', "must be UTF-8"),
    ],
)
def test_broken_lines_are_reported_with_their_number(tmp_path, line, words):
    good = b'{"ad": 1, "word": "red"}\n\n'
    bad = line if isinstance(line, bytes) else line.encode()
    with pytest.raises(DataError, match=words) as caught:
        read_lines(tmp_path, good + bad + b"\n" + good)
    assert "ads.jsonl, line 3:" in str(caught.value)


def test_a_missing_key_is_a_null(tmp_path):
    dataset = read_lines(
        tmp_path, '{"ad": 1}\n{"word": "red"}\n{"ad": null, "word": "x"}\n{"ad": 2, "word": "y"}\n'
    )
    assert dataset.row_ids.tolist() == [1, 2]
    assert dataset.report.n_null_features == 1
    assert dataset.report.n_null_rows == 2


def test_a_key_that_appears_late_is_found(tmp_path):
    text = '{"ad": 1}\n' * 3 + '{"ad": 2, "word": "red"}\n'
    assert cells(read_lines(tmp_path, text)) == {(2, "red"): 1}


def test_an_unknown_key_lists_those_that_exist(tmp_path):
    words = r"one of the columns \('ad', 'words'\), but it is 'word'. Did you mean 'words'"
    with pytest.raises(ParameterError, match=words):
        read_lines(tmp_path, '{"ad": 1, "words": ["red"]}\n')


@pytest.mark.parametrize("key", ["a/b", "a~b", "a.b", "a b", "it's", 'say "x"', "$", "group", "é", ""])
def test_any_key_can_be_a_column(tmp_path, key):
    text = json.dumps({"ad": 1, key: ["red", "blue"]}) + "\n"
    assert cells(read_lines(tmp_path, text, feature=key)) == {(1, "red"): 1, (1, "blue"): 1}


def test_arrays_and_single_words_may_mix(tmp_path):
    text = '{"ad": 1, "word": ["red", 7, null, "", "red"]}\n{"ad": 2, "word": "red"}\n'
    text += '{"ad": 3, "word": []}\n{"ad": 4}\n'
    dataset = read_lines(tmp_path, text)
    assert cells(dataset) == {(1, "red"): 1, (1, "7"): 1, (2, "red"): 1}
    assert dataset.row_ids.tolist() == [1, 2, 3, 4]
    report = dataset.report
    assert (report.n_null_features, report.n_empty_features, report.n_duplicates) == (2, 1, 1)


def test_without_an_id_each_array_is_a_row(tmp_path):
    text = '{"topic": "x", "words": ["red"]}\n{"topic": "y", "words": ["red", "blue"]}\n'
    dataset = read_lines(tmp_path, text, row=None, feature="words", label="topic")
    assert dataset.row_ids.tolist() == [0, 1]
    assert dataset.labels.tolist() == [0, 1]
    assert dataset.report.guessed == {"row": "(record number)"}


def test_a_row_of_many_keywords(tmp_path):
    words = [f"w{i}" for i in range(300_000)]
    text = json.dumps({"ad": 1, "word": words}) + '\n{"ad": 2, "word": ["w5"]}\n'
    dataset = read_lines(tmp_path, text)
    assert dataset.matrix.shape == (2, 300_000)
    assert dataset.n_nonzero == 300_001


def test_keys_are_guessed(tmp_path):
    path = tmp_path / "ads.jsonl"
    path.write_text('{"x": 1, "keywords": ["red"], "Ad ID": 2}\n')
    assert guess_columns(path) == {"row": "Ad ID", "feature": "keywords"}


def test_blank_files_are_errors(tmp_path):
    with pytest.raises(ParameterError, match="must be one of the columns"):
        read_lines(tmp_path, "\n\n")
