"""What happens to nulls, repeats, counts, times, groups and labels."""

import datetime as dt
import decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from dataset_checks import TABLES, cells, make_source

from sparsemix.data import read_table
from sparsemix.foundation.errors import DataError, ParameterError

ALL_KINDS = ["parquet", "csv", "tsv", "jsonl", *TABLES]


def read(columns: dict, **options):
    return read_table(pa.table(columns), **{"row": "ad", "feature": "word", **options})


def test_missing_features_are_counted_and_their_row_stays():
    dataset = read({"ad": [1, 1, 2, 3], "word": ["red", None, "", "red"]})
    assert dataset.row_ids.tolist() == [1, 2, 3]
    assert np.diff(dataset.matrix.indptr).tolist() == [1, 0, 1]
    report = dataset.report
    assert (report.n_records, report.n_null_features, report.n_empty_features) == (4, 1, 1)


def test_records_without_row_id_are_dropped_and_counted():
    dataset = read({"ad": ["a", None, "", "b"], "word": ["red", "lost", "lost", "blue"]})
    assert cells(dataset) == {("a", "red"): 1, ("b", "blue"): 1}
    assert dataset.feature_names.tolist() == ["red", "blue"]
    assert (dataset.report.n_null_rows, dataset.report.n_empty_rows) == (1, 1)


def test_nothing_but_nulls():
    nothing = pa.table({"ad": pa.nulls(3), "word": pa.nulls(3)})
    dataset = read_table(nothing, row="ad", feature="word")
    assert dataset.matrix.shape == (0, 0)
    assert dataset.report.n_null_rows == 3


def test_repeated_pairs_mark_presence_without_counts():
    dataset = read({"ad": [1, 1, 2, 1], "word": ["red", "red", "red", "red"]})
    assert cells(dataset) == {(1, "red"): 1, (2, "red"): 1}
    assert dataset.report.n_duplicates == 2


def test_repeated_pairs_add_their_counts():
    dataset = read({"ad": [1, 1, 2], "word": ["red", "red", "red"], "n": [2, 3, 4]}, count="n")
    assert cells(dataset) == {(1, "red"): 5, (2, "red"): 4}
    assert dataset.report.n_duplicates == 1


def test_zero_counts_leave_no_feature_but_the_row():
    dataset = read({"ad": [1, 2], "word": ["red", "blue"], "n": [0, 1]}, count="n")
    assert dataset.row_ids.tolist() == [1, 2]
    assert dataset.feature_names.tolist() == ["blue"]
    assert dataset.report.n_zero_counts == 1


@pytest.mark.parametrize("kind", ALL_KINDS)
@pytest.mark.parametrize("bad", [-1, 0.5, float("nan"), None, float("inf"), 2.0**60])
def test_what_is_no_count_is_reported_with_its_place(kind, bad, tmp_path):
    records = [{"ad": i, "word": "red", "n": 2.0} for i in range(4)]
    records[2]["n"] = bad
    source = make_source(kind, tmp_path, records, ["ad", "word", "n"])
    place = {"csv": "line 4", "tsv": "line 4", "jsonl": "line 3"}.get(kind, r"row 2 \(from 0\)")
    with pytest.raises(DataError, match=rf"{place}: 'count' must be a whole number >= 0"):
        read_table(source, row="ad", feature="word", count="n")


@pytest.mark.parametrize("bad", ["three", "1_000", "1,5", "", "0x10"])
def test_text_that_is_no_count(bad):
    with pytest.raises(DataError, match=r"row 1 \(from 0\): 'count' must be a whole number"):
        read({"ad": [1, 2], "word": ["red", "red"], "n": ["1", bad]}, count="n")


@pytest.mark.parametrize(
    "counts",
    [
        pa.array([1, 2], pa.uint8()),
        pa.array([1.0, 2.0], pa.float32()),
        pa.array(["1", "2.0"]),
        pa.array(["1", "2"]).dictionary_encode(),
        pa.array([decimal.Decimal("1.00"), decimal.Decimal("2.00")]),
    ],
)
def test_counts_of_any_number_type(counts):
    assert read({"ad": [1, 2], "word": ["a", "b"], "n": counts}, count="n").matrix.data.tolist() == [1, 2]


def test_truth_values_are_counts_of_one_and_zero():
    dataset = read({"ad": [1, 2], "word": ["a", "b"], "clicked": [True, False]}, count="clicked")
    assert cells(dataset) == {(1, "a"): 1}


def test_large_counts_stay_exact():
    dataset = read({"ad": [1, 1], "word": ["a", "a"], "n": [2**24, 1]}, count="n")
    assert dataset.matrix.dtype == np.float64
    assert dataset.matrix.data.tolist() == [2**24 + 1]
    assert read({"ad": [1], "word": ["a"], "n": [2**24]}, count="n").matrix.dtype == np.float32


def test_counts_need_long_form():
    with pytest.raises(ParameterError, match="'count' of read_table must be None in basket form"):
        read({"ad": [1], "word": [["a"]], "n": [1]}, count="n")


def test_delimiter_needs_text():
    for words in ([["a"]], [7]):
        with pytest.raises(ParameterError, match="'delimiter' of read_table must be None for a column"):
            read({"ad": [1], "word": words}, delimiter=";")


@pytest.mark.parametrize(("delimiter", "text"), [(" ", "  a  b\tc "), (", ", "a, b, c"), ("||", "a||b||c||")])
def test_delimiters_of_any_length(delimiter, text):
    dataset = read({"ad": [1], "word": [text]}, delimiter=delimiter)
    assert dataset.feature_names.tolist() == ["a", "b", "c"]
    assert dataset.report.n_empty_features == (delimiter == "||")


def test_marks_inside_a_delimited_cell_are_ordinary():
    assert read({"ad": [1], "word": ['"a;b";c']}, delimiter=";").feature_names.tolist() == ['"a', 'b"', "c"]


@pytest.mark.parametrize(
    "lists",
    [
        pa.array([["a", "b"], None, [], ["a", None, ""]]),
        pa.array([["a", "b"], None, [], ["a", None, ""]], pa.large_list(pa.large_string())),
        pa.array([["a", "b"], None, [], ["a", None, ""]], pa.list_(pa.dictionary(pa.int8(), pa.string()))),
    ],
)
def test_lists_of_any_type(lists):
    dataset = read({"ad": [1, 2, 3, 4], "word": lists})
    assert cells(dataset) == {(1, "a"): 1, (1, "b"): 1, (4, "a"): 1}
    assert dataset.row_ids.tolist() == [1, 2, 3, 4]
    assert (dataset.report.n_null_features, dataset.report.n_empty_features) == (2, 1)


@pytest.mark.skipif(not hasattr(pa, "list_view"), reason="this release of Arrow has no views")
def test_views_are_read_like_the_rest():
    views = pa.array([["a", "b"], None, ["a"]], pa.list_view(pa.string()))
    assert cells(read({"ad": [1, 2, 3], "word": views})) == {(1, "a"): 1, (1, "b"): 1, (3, "a"): 1}
    ids = pa.array(["3", "1"], pa.string_view())
    assert cells(read({"ad": ids, "word": ids})) == {("3", "3"): 1, ("1", "1"): 1}
    assert read({"ad": ids, "word": ids}, delimiter=";", count=None).n_nonzero == 2


def test_lists_of_integers_are_names():
    assert cells(read({"ad": [1], "word": [[7, 7, 8]]})) == {(1, "7"): 1, (1, "8"): 1}


@pytest.mark.parametrize(
    ("ids", "wanted"),
    [
        (pa.array([3, 1], pa.int8()), [3, 1]),
        (pa.array([3, 1], pa.uint64()), [3, 1]),
        (pa.array([3.0, 1.0]), [3, 1]),
        (pa.array(["3", "1"]), ["3", "1"]),
        (pa.array(["b", "a", "b"])[:2].dictionary_encode(), ["b", "a"]),
        (pa.array([b"b", b"a"]), ["b", "a"]),
        (pa.array([True, False]), ["true", "false"]),
        (pa.array([dt.date(2024, 1, 2), dt.date(2024, 1, 1)]), ["2024-01-02", "2024-01-01"]),
    ],
)
def test_ids_of_any_type_are_categories(ids, wanted):
    dataset = read({"ad": ids, "word": ["x", "y"]})
    assert dataset.row_ids.tolist() == wanted
    assert read({"ad": ["p", "q"], "word": ids}).feature_names.tolist() == [str(name) for name in wanted]


def test_categories_come_in_order_of_appearance_not_of_the_dictionary():
    ids = pa.DictionaryArray.from_arrays(pa.array([2, 0, 2], pa.int8()), pa.array(["a", "unused", "z"]))
    dataset = read({"ad": ids, "word": pd.Categorical(["v", "u", "u"], categories=["u", "never", "v"])})
    assert dataset.row_ids.tolist() == ["z", "a"]
    assert dataset.feature_names.tolist() == ["v", "u"]


@pytest.mark.parametrize(
    ("ids", "words"),
    [
        (pa.array([1.5, 2.0]), r"row 0 \(from 0\): 'row' must be text or an integer"),
        (pa.array([{"a": 1}, {"a": 2}]), "'row' must be a column of text or integers"),
        (pa.array([b"\xff", b"a"]), "'row' must be a column of text or integers"),
    ],
)
def test_what_is_no_id(ids, words):
    with pytest.raises(DataError, match=words):
        read({"ad": ids, "word": ["x", "y"]})


@pytest.mark.parametrize(
    "times",
    [
        ["2024-05-31T12:00:00Z", "1970-01-01T00:00:00.5Z", None],
        ["2024-05-31 14:00:00+02:00", "1970-01-01 00:00:00.500000", ""],
        ["1717156800", "0.5", None],
        pa.array(["2024-05-31T12:00:00+0000", "1970-01-01T00:00:00.500000000", None]).dictionary_encode(),
        pa.array([1717156800.0, 0.5, float("nan")]),
        pa.array([1717156800_000, 500, None], pa.timestamp("ms")),
        pa.array([1717156800_000_000_000, 500_000_000, None], pa.timestamp("ns", tz="Europe/Berlin")),
        pa.array(pd.to_datetime(["2024-05-31 12:00:00", "1970-01-01 00:00:00.5", None], format="ISO8601")),
        pl.Series([dt.datetime(2024, 5, 31, 12), dt.datetime(1970, 1, 1, 0, 0, 0, 500_000), None]).to_arrow(),
    ],
)
def test_times_of_any_form(times):
    dataset = read({"ad": [1, 2, 3], "word": ["x", "x", "x"], "t": times}, time="t")
    assert dataset.times[:2].tolist() == [1717156800.0, 0.5]
    assert np.isnan(dataset.times[2])


def test_dates_are_midnight_utc():
    times = pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 31)])
    assert read({"ad": [1, 2], "word": ["x", "x"], "t": times}, time="t").times.tolist() == [86400, -86400]


@pytest.mark.parametrize("bad", ["yesterday", "01/02/2024", "2024-13-01", "nan", float("inf")])
def test_what_is_no_time(bad):
    with pytest.raises(DataError, match=r"row 1 \(from 0\): 'time' must be an ISO 8601 time"):
        read({"ad": [1, 2], "word": ["x", "x"], "t": [type(bad)(0), bad]}, time="t")


def test_spans_are_no_times():
    with pytest.raises(DataError, match="'time' must be a column of times"):
        read({"ad": [1], "word": ["x"], "t": pa.array([1], pa.duration("s"))}, time="t")


def test_the_first_value_of_a_row_stays_and_conflicts_are_counted():
    dataset = read(
        {
            "ad": [1, 1, 1, 2, 2, 3],
            "word": list("abcabc"),
            "who": [None, "A", "B", "C", "C", None],
            "topic": ["x", "x", None, "y", "z", "y"],
            "t": [5.0, 5.0, 6.0, float("nan"), 1.0, 2.0],
        },
        group="who",
        label="topic",
        time="t",
    )
    assert dataset.groups.tolist() == ["A", "C", None]
    assert dataset.label_names.tolist() == ["x", "y"]
    assert dataset.labels.tolist() == [0, 1, 1]
    assert dataset.times.tolist() == [5.0, 1.0, 2.0]
    assert dataset.report.n_conflicts == {"group": 1, "time": 1, "label": 1}


def test_integer_groups_stay_integers():
    dataset = read({"ad": [1, 2, 3], "word": list("abc"), "who": [7, None, 9]}, group="who")
    assert dataset.groups.tolist() == [7, None, 9]
    assert dataset.groups.dtype == object


def test_attributes_of_a_table_without_rows():
    empty = {
        "ad": pa.array([], pa.int64()),
        "word": pa.array([], pa.string()),
        "x": pa.array([], pa.string()),
    }
    dataset = read(empty, group="x", label="x", time="x")
    assert (len(dataset), len(dataset.groups), len(dataset.times), len(dataset.labels)) == (0, 0, 0, 0)
    assert dataset.label_names.tolist() == []


def test_rows_and_features_stand_in_order_of_first_appearance():
    dataset = read({"ad": [2, 1, 2, 3], "word": ["b", "c", "a", "b"]})
    assert dataset.row_ids.tolist() == [2, 1, 3]
    assert dataset.feature_names.tolist() == ["b", "a", "c"]  # read row by row: 2 has b, a; then 1 has c


def test_the_input_is_not_changed():
    frame = pd.DataFrame({"ad": [2, 1, 2], "word": ["b", None, "b"], "n": [1, 2, 3]})
    before = frame.copy(deep=True)
    read_table(frame, row="ad", feature="word", count="n")
    pd.testing.assert_frame_equal(frame, before)


def test_named_index_levels_of_pandas_are_columns():
    frame = pd.DataFrame({"word": ["b", "a"]}, index=pd.Index([5, 6], name="ad"))
    assert cells(read_table(frame)) == {(5, "b"): 1, (6, "a"): 1}
    plain = pd.DataFrame({"ad": [5], "word": ["b"]}, index=[99])
    assert cells(read_table(plain)) == {(5, "b"): 1}


def test_other_tables_with_an_arrow_interface():
    table = pa.table({"ad": [5, 6], "word": ["b", "a"]})
    for source in (
        table.to_batches()[0],
        pa.RecordBatchReader.from_batches(table.schema, table.to_batches()),
    ):
        assert cells(read_table(source)) == {(5, "b"): 1, (6, "a"): 1}
    with pytest.raises(ParameterError, match="LazyFrame"):
        read_table(pl.LazyFrame({"ad": [1], "word": ["a"]}))
    with pytest.raises((DataError, ParameterError)):
        read_table(pd.Series([1, 2]))


def test_a_column_of_mixed_types_is_named():
    frame = pd.DataFrame({"ad": [1, "x"], "word": ["b", "a"], "other": [object(), 1]})
    with pytest.raises(DataError, match="Column 'ad' cannot be converted to Arrow"):
        read_table(frame, row="ad", feature="word")
    assert len(read_table(frame.assign(ad=[1, 2]), row="ad", feature="word")) == 2


def test_the_report_reads_well():
    dataset = read_table(
        pa.table({"ad": [1, 1, None, 2, 1], "keyword": ["a", "a", "b", None, "c"], "g": list("xyxxx")}),
        group="g",
    )
    assert str(dataset.report) == (
        "read 5 records from a pyarrow table\n"
        "guessed row = ad\n"
        "guessed feature = keyword\n"
        "dropped 1 record without a row id\n"
        "dropped 1 null or empty feature\n"
        "merged 1 repeated pair\n"
        "kept the first group of 1 row with several"
    )
    assert dataset.report.to_dict()["n_duplicates"] == 1
