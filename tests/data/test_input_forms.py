"""What is no table of numbers is refused with the argument, the rule, what it is and what to do instead."""

import re
from datetime import date
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from scipy import sparse

from sparsemix import DataError, Dataset, iter_batches, read_table
from sparsemix.data.input_cells import FOR_FRAMES, FOR_LISTS
from sparsemix.data.inputs import as_binary_rows

ADS = [["red", "blue"], ["red"]]
PAIRS = {"ad": [1, 2], "keyword": ["red", "blue"]}
ROWS = np.array([[0, 1], [1, 0], [1, 1]])

FILE = "Read a file with sparsemix.read_table"
SHAPE = "Reshape your data to (n_rows, n_features)"
NUMBERS = "Turn the values into 1 where"

REFUSED = {
    "text": ("ads.csv", "it is 'ads.csv'", FILE),
    "path": (Path("ads.csv"), "it is PosixPath('ads.csv')", FILE),
    "None": (None, "it is None", FILE),
    "bytes": (b"ads", "it is of the type bytes", "Give a Dataset, a sparse matrix"),
    "number": (7, "it is of the type int", "Give a Dataset"),
    "dict": ({"a": [1, 0]}, "it is of the type dict", "Give a Dataset"),
    "set": ({1, 2}, "it is of the type set", "Give a Dataset"),
    "class": (pd.DataFrame, "it is of the type type", "Give a Dataset"),
    "batches": (iter_batches(pd.DataFrame(PAIRS)), "type generator, which can be read only once", "partial_fit"),
    "lazy frame": (pl.DataFrame(PAIRS).lazy(), "it is of the type LazyFrame", "Call its collect() first"),
    "array of one dimension": (np.zeros(4), "its shape is (4,)", SHAPE),
    "list of numbers": ([0, 1, 1], "its shape is (3,)", "a single row goes in brackets, [X]"),
    "truth values": ([True, False], "its shape is (2,)", SHAPE),
    "no rows in a list": ([], "its shape is (0,)", SHAPE),
    "Series": (pd.Series([0, 1]), "its shape is (2,)", SHAPE),
    "three dimensions": (np.zeros((2, 2, 2)), "its shape is (2, 2, 2)", SHAPE),
    "sparse of one dimension": (sparse.coo_array(np.ones(3)), "its shape is (3,)", SHAPE),
    "keywords": (ADS, "it holds text, such as 'red'", FOR_LISTS),
    "as many keywords": ([["red", "tea"], ["blue", "tea"]], "it holds text, such as 'red'", FOR_LISTS),
    "keywords of one ad": (["red", "blue"], "it holds text, such as 'red'", FOR_LISTS),
    "keywords late": ([[], ["red"]], "it holds text, such as 'red'", FOR_LISTS),
    "Series of keywords": (pd.Series(ADS), "it holds text, such as 'red'", FOR_LISTS),
    "Series of lists": (pl.Series(ADS), "it holds text, such as 'red'", FOR_LISTS),
    "Series of text": (pl.Series(["red"]), "it holds text, such as 'red'", FOR_LISTS),
    "sets": ([{"red"}, {"blue"}], "its rows are of the type set", FOR_LISTS),
    "dicts": ([{"red": 1}], "its rows are of the type dict", FOR_LISTS),
    "array of text": (np.array([["red", "blue"]]), "it holds text, such as 'red'", FOR_LISTS),
    "objects with text": (np.array([[0, "red"]], object), "column 1 of row 0 is 'red'", FOR_LISTS),
    "numbers as text": (np.array([["0", "1"]]), "it holds text, such as '0'", "Turn the text into numbers"),
    "number text in objects": (np.array([[1, "1"]], object), "row 0 is '1'", "Turn the text into numbers"),
    "uneven": ([[0, 1], [0, 1], [1]], "row 0 has 2 values and row 2 has 1", "Give each row a value for each"),
    "uneven deep inside": ([[[1], [1, 2]], [[1], [1, 2]]], "NumPy makes no array of it", "Give a Dataset"),
    "uneven arrays": ([np.zeros(2), np.zeros(3)], "row 0 has 2 values and row 1 has 3", "for each feature"),
    "number among rows": ([[0, 1], 1], "NumPy makes no array of it", "Give a Dataset"),
    "complex": (ROWS * 1j, "it holds complex numbers", "Complex data not supported"),
    "complex sparse": (sparse.csr_array(ROWS * 1j), "it holds complex numbers", "Complex data not supported"),
    "complex objects": (np.array([[1j, 0]], object), "column 0 of row 0 is 1j", NUMBERS),
    "dates": (np.array([["2024-01-01"]], "M8[D]"), "it holds dates", NUMBERS),
    "durations": (np.array([[1]], "m8[D]"), "it holds durations", NUMBERS),
    "records": (np.array([[(1, 2)]], dtype="i4,i4"), "it holds records", NUMBERS),
    "pandas' missing": (np.array([[pd.NA, 1]], object), "column 0 of row 0 is <NA>", NUMBERS),
    "masked": (np.ma.array(ROWS, mask=ROWS == 1), "some of its values are masked", "X.filled(0)"),
}  # fmt: skip


@pytest.mark.parametrize("kind", REFUSED)
def test_what_is_no_table_of_numbers_is_named_with_a_remedy(kind):
    given, found, remedy = REFUSED[kind]
    with pytest.raises(DataError) as caught:
        as_binary_rows(given, owner="Model")
    message = str(caught.value)
    assert message.startswith("'X' of Model must be a table of numbers, rows x features, but ")
    assert found in message
    assert remedy in message
    assert len(message) < 400
    assert "\n" not in message


FRAMES = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "Arrow": pa.table}


@pytest.mark.parametrize("library", FRAMES)
@pytest.mark.parametrize(
    ("columns", "found", "remedy"),
    [
        (PAIRS, "column 'keyword' of row 0 is 'red'", FOR_FRAMES),
        ({"keywords": ADS}, "column 'keywords' of row 0 is ", FOR_FRAMES),
        ({"n": ["1", "0"]}, "column 'n' of row 0 is '1'", "Turn the text into numbers"),
        ({"n": [0, 1], "day": [date(2024, 1, 1), None]}, "column 'day' ", NUMBERS),
    ],
)
def test_frames_of_other_things_than_numbers(library, columns, found, remedy):
    with pytest.raises(DataError) as caught:
        as_binary_rows(FRAMES[library](columns), owner="Model")
    assert found in str(caught.value)
    assert remedy in str(caught.value)


def test_the_remedies_work():
    """What the messages say to do makes the data set that was meant."""
    (call,) = re.findall(r"sparsemix\.(read_table\(.*\))\.$", FOR_LISTS)
    found = eval(call, {"read_table": read_table, "pyarrow": pa, "X": ADS})
    assert found.feature_names.tolist() == ["red", "blue"]
    assert found.matrix.toarray().tolist() == [[1, 1], [1, 0]]
    (call,) = re.findall(r"sparsemix\.(read_table\(.*\))\.$", FOR_FRAMES)
    for frame in (pd.DataFrame(PAIRS), pl.DataFrame({"keywords": ADS})):
        found = eval(call, {"read_table": read_table, "X": frame})
        assert as_binary_rows(found).names.tolist() == ["red", "blue"]


def test_a_long_value_is_cut():
    with pytest.raises(DataError) as caught:
        as_binary_rows(pd.DataFrame({"w" * 999: ["x" * 9_999]}))
    assert len(str(caught.value)) < 400


def test_long_form_with_numbered_keywords_is_pointed_to_the_reader():
    with pytest.raises(DataError, match=r"column 'ad' of row 0 is 17\.0\. .* is for sparsemix\.read_table\."):
        as_binary_rows(pd.DataFrame({"ad": [17, 17], "keyword_id": [1, 5]}))
    with pytest.raises(DataError, match=r"column 'a' of row 0 is 2\.0\. .* a model for counts\.$"):
        as_binary_rows(Dataset.from_matrix(np.array([[2, 1]]), feature_names=["a", "b"]))


@pytest.mark.parametrize("columns", [["a", 1], [0, "b"]])
def test_columns_of_which_only_some_have_names(columns):
    with pytest.raises(DataError, match=r"names for all of its columns or for none, but [01] is no text"):
        as_binary_rows(pd.DataFrame(ROWS, columns=columns))


def test_objects_that_are_numbers_are_taken():
    values = [Fraction(1), Decimal(0), np.True_, True, np.int8(0), 1.0]
    found = as_binary_rows(np.array([values], object))
    assert found.block(0, 1).columns.tolist() == [0, 2, 3, 5]


@pytest.mark.parametrize(("value", "shown"), [(None, "NaN"), (10**400, "inf"), (-(10**400), "-inf")])
def test_objects_beyond_floats_are_named_with_their_place(value, shown):
    with pytest.raises(DataError, match=f"column 1 of row 0 is {shown}"):
        as_binary_rows([[0, value]])


def test_other_containers_of_arrays_are_taken():
    with pytest.warns(PendingDeprecationWarning):
        old = np.matrix(ROWS)
    for given in (old, np.ma.array(ROWS), tuple(map(tuple, ROWS)), list(ROWS), [pd.Series(r) for r in ROWS]):
        assert as_binary_rows(given).block(0, 3).columns.tolist() == [1, 0, 0, 1]


def test_classes_derived_from_frames_keep_their_names():
    class Ads(pd.DataFrame):
        """A frame of one's own."""

    assert as_binary_rows(Ads(ROWS, columns=["a", "b"])).names.tolist() == ["a", "b"]


def test_a_frame_of_mixed_columns_is_not_changed():
    frame = pd.DataFrame({"a": [True, False], "b": [0, 1], "c": pd.array([1, None], "Int8")})
    before = frame.copy(deep=True)
    with pytest.raises(DataError, match="column 'c' of row 1 is NaN"):
        as_binary_rows(frame)
    pd.testing.assert_frame_equal(frame, before)
    assert as_binary_rows(frame[["a", "b"]]).block(0, 2).columns.tolist() == [0, 1]


def test_a_data_set_may_be_without_features_because_it_can_grow():
    empty = Dataset.from_matrix(sparse.csr_array((3, 0)), feature_names=[])
    assert as_binary_rows(empty).n_features == 0
    assert as_binary_rows(empty).block(0, 3, np.empty(0, np.int32)).n_rows == 3
    with pytest.raises(DataError, match=r"must have at least one column, but it has 0 feature\(s\)"):
        as_binary_rows(Dataset.from_matrix(sparse.csr_array((3, 0))))
