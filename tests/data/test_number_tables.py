"""Tables of real numbers: the same from every format, ids and labels, and what is no number."""

import gzip
import json

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sparsemix as sm
from sparsemix.data.number_tables import read_numbers

RECORDS = [
    {"flat_id": 7, "size": 20.5, "price": -510.0, "kind": "small"},
    {"flat_id": 9, "size": 1e-3, "price": 2.0, "kind": "large"},
    {"flat_id": 12, "size": 31.0, "price": 300.25, "kind": "small"},
]
NAMES = list(RECORDS[0])
MATRIX = [[20.5, -510.0], [1e-3, 2.0], [31.0, 300.25]]


def lines(separator):
    return [separator.join(NAMES), *(separator.join(map(str, record.values())) for record in RECORDS)]


def write(path, text):
    path.write_text(text, encoding="utf-8")
    return str(path)


def as_csv(folder):
    return write(folder / "t.csv", "\n".join(lines(",")) + "\n")


def as_tsv(folder):
    return write(folder / "t.tsv", "\n".join(lines("\t")))


def as_jsonl(folder):
    return write(folder / "t.jsonl", "\n".join(map(json.dumps, RECORDS)))


def as_parquet(folder):
    pq.write_table(pa.Table.from_pylist(RECORDS), folder / "t.parquet")
    return str(folder / "t.parquet")


def as_gzip(folder):
    (folder / "t.csv.gz").write_bytes(gzip.compress("\n".join(lines(",")).encode()))
    return str(folder / "t.csv.gz")


def as_folder(folder):
    head, *rest = lines(",")
    for i, line in enumerate(rest):
        write(folder / f"{i}.csv", f"{head}\n{line}\n")
    return str(folder)


@pytest.mark.parametrize("make", [as_csv, as_tsv, as_jsonl, as_parquet, as_gzip, as_folder])
def test_all_formats_say_the_same(tmp_path, make):
    table = read_numbers(make(tmp_path), label="kind")
    assert table.matrix.tolist() == MATRIX
    assert table.matrix.dtype == np.float64
    assert table.feature_names.tolist() == ["size", "price"]
    assert table.row_ids.tolist() == [7, 9, 12]
    assert table.labels.tolist() == [0, 1, 0]
    assert table.label_names.tolist() == ["small", "large"]
    assert table.report.guessed == {"row": "flat_id"}
    assert table.report.n_records == 3


def test_columns_can_be_named(tmp_path):
    path = as_csv(tmp_path)
    table = read_numbers(path, row="kind", features=["price", "flat_id"])
    assert table.feature_names.tolist() == ["price", "flat_id"]
    assert table.matrix.tolist() == [[-510.0, 7.0], [2.0, 9.0], [300.25, 12.0]]
    assert table.row_ids.tolist() == ["small", "large", "small"]
    assert table.labels is None
    assert table.report.guessed == {}


def test_without_ids_records_are_numbered(tmp_path):
    table = read_numbers(write(tmp_path / "t.csv", "size,price\n1,2\n3,4\n"))
    assert table.row_ids.tolist() == [0, 1]


def test_without_a_header(tmp_path):
    path = write(tmp_path / "t.txt", "1;2\n3;4\n")
    table = read_numbers(path, format="csv", separator=";", columns=["a", "b"])
    assert table.feature_names.tolist() == ["a", "b"]
    assert table.matrix.tolist() == [[1, 2], [3, 4]]


def test_labels_may_be_missing(tmp_path):
    table = read_numbers(write(tmp_path / "t.csv", "size,kind\n1,b\n2,\n3,a\n4,b\n"), label="kind")
    assert table.labels.tolist() == [0, -1, 1, 0]
    assert table.label_names.tolist() == ["b", "a"]


def test_rows_are_taken_and_split(tmp_path):
    table = read_numbers(as_csv(tmp_path), label="kind")
    assert table[1:].row_ids.tolist() == [9, 12]
    assert table[np.array([2, 0])].labels.tolist() == [0, 0]
    left, aside = table.split(0.4, 3)
    assert sorted([*left.row_ids, *aside.row_ids]) == [7, 9, 12]
    assert len(aside) == 1
    same = sm.Dataset.from_matrix(np.ones((3, 2)), row_ids=[7, 9, 12]).split(0.4, 3)[1]
    assert aside.row_ids.tolist() == same.row_ids.tolist()


def test_a_header_alone_is_no_row(tmp_path):
    assert read_numbers(write(tmp_path / "t.csv", "size,price\n")).matrix.shape == (0, 2)


@pytest.mark.parametrize(
    ("cell", "shown"),
    [
        ("big", "'big'"),
        ("", "''"),
        ("nan", "'nan'"),
        ("inf", "'inf'"),
        ("1_000", "'1_000'"),
        ("1e999", "'1e999'"),
    ],
)
def test_a_cell_that_is_no_number(tmp_path, cell, shown):
    path = write(tmp_path / "t.csv", f"size,price\n1,2\n3,{cell}\n")
    with pytest.raises(
        sm.DataError, match=rf"t\.csv, line 3: 'price' must be a finite number, but it is {shown}"
    ):
        read_numbers(path)


@pytest.mark.parametrize("value", [None, float("nan"), float("-inf")])
def test_a_number_that_is_none_in_parquet(tmp_path, value):
    pq.write_table(pa.table({"size": pa.array([1.0, value])}), tmp_path / "t.parquet")
    with pytest.raises(sm.DataError, match=r"row 1 \(from 0\): 'size' must be a finite number"):
        read_numbers(str(tmp_path / "t.parquet"))


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"size": 1}', "line 2: 'price' must be a finite number, but it is None"),
        ('{"size": 1, "price": "much"}', "line 2: 'price' must be a finite number, but it is 'much'"),
        ('{"size": 1, "price": [2]}', "line 2: 'price' must be text, a number"),
        ('{"size": 1, "price": {"a": 2}}', "line 2: 'price' must be text, a number"),
    ],
)
def test_json_that_is_no_number(tmp_path, line, message):
    path = write(tmp_path / "t.jsonl", '{"size": 1, "price": 2}\n' + line)
    with pytest.raises(sm.DataError, match=message):
        read_numbers(path)


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (pa.array([[1.0], [2.0]]), "Column 'size' of .* holds lists"),
        (pa.array([b"a", b"b"], pa.binary()), "'size' must be a column of numbers"),
        (pa.array([0, 1], pa.timestamp("s")), "'size' must be a column of numbers"),
    ],
)
def test_columns_of_other_types(tmp_path, column, message):
    pq.write_table(pa.table({"size": column}), tmp_path / "t.parquet")
    with pytest.raises(sm.DataError, match=message):
        read_numbers(str(tmp_path / "t.parquet"))


def test_ids_may_not_be_missing(tmp_path):
    path = write(tmp_path / "t.csv", "id,size\na,1\n,2\n")
    with pytest.raises(sm.DataError, match=r"t\.csv, line 3: 'row' must be there in every record"):
        read_numbers(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"row": "flat"}, "'row' of read_table must be one of the columns .* Did you mean 'flat_id'"),
        (
            {"features": ["sizes"]},
            "'feature' of read_table must be one of the columns .* Did you mean 'size'",
        ),
        (
            {"features": ["size", "size"]},
            "must be columns without any other use, each once, but it is 'size'",
        ),
        ({"row": "size", "features": ["size"]}, "must be columns without any other use, each once"),
        ({"label": "flat_id", "row": "flat_id"}, "must be columns without any other use, each once"),
    ],
)
def test_columns_that_cannot_be(tmp_path, options, message):
    with pytest.raises(sm.ParameterError, match=message):
        read_numbers(as_csv(tmp_path), **options)


def test_some_column_must_be_a_feature(tmp_path):
    with pytest.raises(sm.ParameterError, match="No column is left for features; the table has 'id'"):
        read_numbers(write(tmp_path / "t.csv", "id\n1\n"))


def test_a_name_that_stands_twice(tmp_path):
    with pytest.raises(sm.DataError, match="has 2 columns named 'size'"):
        read_numbers(write(tmp_path / "t.csv", "size,size\n1,2\n"))


def test_files_without_columns(tmp_path):
    with pytest.raises(
        sm.ParameterError, match="has no columns of real numbers, as its format is 'svmlight'"
    ):
        read_numbers(write(tmp_path / "t.svmlight", "1 1:2\n"))
    with pytest.raises(sm.DataError, match=r"t\.csv is empty"):
        read_numbers(write(tmp_path / "t.csv", ""))
