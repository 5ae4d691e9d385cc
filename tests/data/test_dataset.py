"""The data set by itself: slices, splits, checks, and how it prints."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
from scipy import sparse

import sparsemix as sm
from sparsemix.data import Dataset, ReadReport, read_table
from sparsemix.foundation.errors import DataError, ParameterError


@pytest.fixture
def ads() -> Dataset:
    table = pa.table(
        {
            "ad": ["a", "a", "b", "c", "c", "c", "d"],
            "word": ["red", "blue", "red", "green", "red", "blue", "teal"],
            "n": [1, 2, 1, 1, 1, 1, 5],
            "who": ["A", "A", "B", None, None, None, "A"],
            "t": [1.0, 1, 2, 3, 3, 3, 4],
        }
    )
    return read_table(table, row="ad", feature="word", count="n", group="who", time="t", label="who")


def test_sizes(ads):
    assert len(ads) == ads.n_rows == 4
    assert (ads.n_features, ads.n_nonzero) == (4, 7)


@pytest.mark.parametrize("rows", [slice(1, 3), np.array([1, 2]), np.array([False, True, True, False])])
def test_slices_take_everything_along(ads, rows):
    part = ads[rows]
    assert part.row_ids.tolist() == ["b", "c"]
    assert part.matrix.toarray().tolist() == [[1, 0, 0, 0], [1, 1, 1, 0]]
    assert part.groups.tolist() == ["B", None]
    assert part.times.tolist() == [2, 3]
    assert part.labels.tolist() == [1, -1]
    assert part.label_names.tolist() == ["A", "B"]
    assert part.feature_names is ads.feature_names
    assert isinstance(part.matrix, sparse.csr_array)


def test_slices_of_any_size(ads):
    assert len(ads[:0]) == 0
    assert ads[:0].matrix.shape == (0, 4)
    assert len(ads[2:99]) == 2
    assert ads[::-1].row_ids.tolist() == ["d", "c", "b", "a"]
    assert len(ads.head(2)) == 2
    assert len(ads.head(99)) == 4


@pytest.mark.parametrize("rows", [1, "a", [0, 1], None])
def test_other_keys_are_refused(ads, rows):
    with pytest.raises(TypeError, match="Dataset takes a slice or an array of rows"):
        ads[rows]


def test_split_is_a_partition_that_the_seed_decides(ads):
    train, test = ads.split(test_share=0.25, random_state=3)
    assert (len(train), len(test)) == (3, 1)
    assert sorted([*train.row_ids, *test.row_ids]) == ["a", "b", "c", "d"]
    again, _ = ads.split(test_share=0.25, random_state=3)
    assert again.row_ids.tolist() == train.row_ids.tolist()
    for share in (0, 1, -1, 2):
        with pytest.raises(ParameterError, match=r"'test_share' of Dataset\.split"):
            ads.split(test_share=share)


def test_it_prints_short_and_readable(ads):
    assert repr(ads) == (
        "Dataset: 4 rows x 4 features, 7 non-zeros; groups, times, labels\n"
        "  a: red, blue x2\n"
        "  b: red\n"
        "  c: red, blue, green\n"
        "  ..."
    )
    wide = Dataset.from_matrix(np.ones((1, 1000), dtype=int), row_ids=["x" * 500])
    assert len(repr(wide)) < 200
    assert "and 995 more" in repr(wide)
    assert repr(ads[:0]).startswith("Dataset: 0 rows x 4 features")
    strange = Dataset.from_matrix(np.ones((1, 1)), feature_names=["two\nlines"], row_ids=["r\t1"])
    assert repr(strange).count("\n") == 1


def test_from_matrix_keeps_what_it_is_given():
    matrix = sparse.coo_array(([1, 2, 0], ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    dataset = Dataset.from_matrix(
        matrix, row_ids=[7, 8], feature_names=["x", "y"], groups=["A", None], times=[1, 2], labels=[0, -1]
    )
    assert dataset.matrix.toarray().tolist() == [[0, 3], [0, 0]]
    assert dataset.n_nonzero == 1
    assert dataset.groups.tolist() == ["A", None]
    assert (dataset.times.dtype, dataset.labels.dtype) == (np.float64, np.int64)
    assert dataset.report == ReadReport()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"row_ids": [1]}, "'row_ids' of Dataset must have 2 entries, but has 1"),
        ({"groups": [1, 2, 3]}, "'groups' of Dataset must have 2 entries"),
        ({"labels": [1]}, "'labels' of Dataset must have 2 entries"),
        ({"feature_names": ["a"]}, "'feature_names' of Dataset must have 3 entries"),
        ({"feature_names": ["a", "b", "a"]}, "must all be different"),
    ],
)
def test_lengths_and_names_are_checked(options, words):
    with pytest.raises(DataError, match=words):
        Dataset.from_matrix(np.eye(2, 3), **options)


@pytest.mark.parametrize(
    "matrix", [np.ones(3), "text", [[1, 2]], np.array([["a"]]), np.ones((1, 1), complex)]
)
def test_what_is_no_matrix(matrix):
    with pytest.raises(DataError, match="A matrix of counts must"):
        Dataset.from_matrix(matrix)


def test_reports_add_up():
    first = ReadReport(
        source="x", n_records=3, n_duplicates=1, n_conflicts={"group": 1}, guessed={"row": "a"}
    )
    second = ReadReport(source="x", n_records=4, n_null_rows=2, n_conflicts={"group": 2, "time": 1})
    total = first + second
    assert (total.n_records, total.n_duplicates, total.n_null_rows) == (7, 1, 2)
    assert total.n_conflicts == {"group": 3, "time": 1}
    assert total.guessed == {"row": "a"}


def test_a_data_set_needs_neither_arrow_nor_duckdb():
    code = (
        "import sys, numpy, sparsemix\n"
        "sparsemix.Dataset.from_matrix(numpy.eye(3)).filter(1).profile()\n"
        "print([name for name in ('duckdb', 'pyarrow', 'pandas', 'polars', 'numba') if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == "[]"


def test_public_names():
    assert sm.read_table is read_table
    assert sm.Dataset is Dataset
    with pytest.raises(AttributeError, match="no attribute 'read_excel'"):
        sm.data.read_excel  # noqa: B018
    assert len(sm.read_table(pd.DataFrame({"ad": [1], "keyword": ["x"]}))) == 1
