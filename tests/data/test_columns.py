"""Guesses of columns, and wrong names."""

import json
from datetime import UTC, datetime
from decimal import Decimal

import pyarrow as pa
import pytest

from sparsemix.data import guess_columns, iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError


def table(*names: str) -> pa.Table:
    return pa.table({name: ["x"] for name in names})


@pytest.mark.parametrize(
    ("names", "row", "feature"),
    [
        (["ad_id", "keyword"], "ad_id", "keyword"),
        (["keyword", "ad"], "ad", "keyword"),
        (["advertiser", "Ad ID", "Keyword", "n"], "Ad ID", "Keyword"),
        (["userId", "country", "item"], "userId", "item"),
        (["document", "word", "count"], "document", "word"),
        (["id", "title", "tokens", "label"], "id", "tokens"),
        (["article", "tag_id", "tag"], "article", "tag"),
        (["ad", "ad_id", "term"], "ad_id", "term"),
        (["plot", "genre"], "plot", "genre"),
        (["x", "word"], "x", "word"),
        (["word", "x"], "x", "word"),
        (["ad", "user"], "ad", "user"),
        (["row", "feature", "value"], "row", "feature"),
    ],
)
def test_obvious_choices(names, row, feature):
    assert guess_columns(table(*names)) == {"row": row, "feature": feature}


@pytest.mark.parametrize(
    "names",
    [
        ["a", "b", "c"],
        ["ad", "user", "keyword"],
        ["ad", "keyword", "tag"],
        ["ad_id", "x", "y"],
        ["keyword"],
        [],
    ],
)
def test_no_obvious_choice_lists_the_columns(names):
    with pytest.raises(ParameterError, match="no one obvious choice") as caught:
        guess_columns(table(*names))
    for name in names:
        assert repr(name) in str(caught.value)


def test_what_is_given_is_not_guessed():
    columns = table("ad", "user", "keyword")
    assert read_table(columns, row="user").report.guessed == {"feature": "keyword"}
    assert read_table(columns, row="user", feature="ad").report.guessed == {}
    assert read_table(table("a", "b", "c"), row="b", group="c").report.guessed == {"feature": "a"}


def counted_table(**columns: list[object]) -> pa.Table:
    return pa.table({"ad": [1, 1, 2], "keyword": ["red", "blue", "red"], **columns})


@pytest.mark.parametrize(
    "name", ["count", "Counts", "n", "times", "quantity", "qty", "frequency", "occurrences"]
)
@pytest.mark.parametrize("values", [[3, 0, 1], [3.0, 0.0, 1.0], ["3", "0", "1"]])
def test_counts_are_guessed_with_the_other_columns(name, values):
    dataset = read_table(counted_table(**{name: values}))
    assert dataset.report.guessed == {"row": "ad", "feature": "keyword", "count": name}
    assert dataset.report.unused_counts == ()
    assert dataset.matrix.toarray().tolist() == [[3], [1]]
    assert guess_columns(counted_table(**{name: values})) == dataset.report.guessed


def test_one_guessed_column_is_enough_for_counts():
    dataset = read_table(counted_table(count=[3, 2, 1]), feature="keyword")
    assert dataset.report.guessed == {"row": "ad", "count": "count"}
    unknown = pa.table({"x": [1], "keyword": ["red"], "count": [2]})
    assert guess_columns(unknown) == {"row": "x", "feature": "keyword", "count": "count"}


@pytest.mark.parametrize(
    ("values", "record", "shown"),
    [
        ([2, 0, -1], 2, "-1"),
        ([0.5, 0.0, 1.0], 0, "0.5"),
        ([None, 1, 1], 0, "None"),
        ([3.0, float("nan"), 1.0], 1, "nan"),
        ([Decimal("1.5"), Decimal(1), Decimal(0)], 0, "Decimal('1.5')"),
        (["0", "2", "-1"], 2, "'-1'"),
        (["many", "few", "1"], 0, "'many'"),
        (["1", "", "0"], 1, "''"),
    ],
)
@pytest.mark.parametrize("read", [read_table, lambda table: list(iter_batches(table))])
def test_one_bad_value_does_not_turn_counts_into_presence(values, record, shown, read):
    with pytest.raises(DataError) as caught:
        read(counted_table(count=values))
    assert str(caught.value) == (
        f"row {record} (from 0): 'count' must be a whole number >= 0, but it is {shown}. Correct it, name another "
        f"count=, or name row= and feature= and no count= if there is none."
    )
    named = read_table(counted_table(count=values), row="ad", feature="keyword")
    assert named.report.unused_counts == ("count",)


@pytest.mark.parametrize("bad", ["-1", "0.5", "", "x"])
def test_the_line_of_a_bad_count_is_named(tmp_path, bad):
    path = tmp_path / "ads.csv"
    path.write_text(f"ad,keyword,count\n1,red,2\n1,blue,0\n2,red,{bad}\n")
    with pytest.raises(DataError, match=f"line 4: 'count' must be a whole number >= 0, but it is '{bad}'"):
        read_table(path)


@pytest.mark.parametrize("bad", ["-1", "0.5", "null", '"x"', "[1]", "{}"])
def test_the_line_of_a_bad_count_in_json_is_named(tmp_path, bad):
    path = tmp_path / "ads.jsonl"
    good = [{"ad": 1, "keyword": "red", "count": 2}] * 1_001
    lines = "".join(json.dumps(one) + "\n" for one in good)
    path.write_text(f'{lines}{{"ad": 2, "keyword": "red", "count": {bad}}}\n')
    with pytest.raises(DataError, match=r"line 1002: 'count' must be "):
        read_table(path)


@pytest.mark.parametrize(
    "values",
    [
        ["many", "few", "some"],
        ["", "", ""],
        [None, None, None],
        [[1], [], []],
        [{"n": 1}, None, None],
        [datetime(2024, 5, 31, tzinfo=UTC)] * 3,
    ],
)
def test_what_are_no_counts_is_left_out_and_reported(values):
    dataset = read_table(counted_table(count=values))
    assert dataset.report.guessed == {"row": "ad", "feature": "keyword"}
    assert dataset.report.unused_counts == ("count",)
    assert "left out column count, which may hold counts: count= takes it" in str(dataset.report)
    assert dataset.n_nonzero == 3


def test_counts_are_not_guessed_where_all_else_is_named_or_there_are_two():
    both = counted_table(n=[1, 2, 3], times=[1, 1, 1])
    assert read_table(both).report.unused_counts == ("n", "times")
    named = read_table(counted_table(n=[3, 2, 1]), row="ad", feature="keyword")
    assert (named.report.guessed, named.report.unused_counts) == ({}, ("n",))
    assert named.matrix.data.tolist() == [1, 1, 1]
    assert read_table(both, count="n").report.unused_counts == ()


def test_the_name_of_a_count_may_be_another_role():
    assert guess_columns(pa.table({"ad": [1], "n": [7]})) == {"row": "ad", "feature": "n"}
    assert read_table(counted_table(n=[3, 2, 1]), row="n", feature="keyword").report.unused_counts == ()


def test_baskets_have_no_counts():
    baskets = pa.table({"ad": [1, 2], "keywords": [["red"], ["red", "blue"]], "n": [1, 2]})
    report = read_table(baskets).report
    assert (report.guessed, report.unused_counts) == ({"row": "ad", "feature": "keywords"}, ())
    texts = pa.table({"ad": [1, 2], "keywords": ["red", "red;blue"], "count": [1, 2]})
    assert read_table(texts, delimiter=";").report.unused_counts == ()


def test_a_count_that_breaks_the_rule_later_is_an_error_that_says_how_to_go_on(monkeypatch):
    monkeypatch.setattr("sparsemix.data.arrow_tables.RECORDS_PER_BLOCK", 2)
    with pytest.raises(DataError, match=r"row 2 .*name row= and feature= and no count="):
        read_table(counted_table(count=[3, 2, -1]))


def test_the_guess_of_counts_is_the_same_in_batches(tmp_path):
    path = tmp_path / "ads.csv"
    path.write_text("ad,keyword,times\n1,red,3\n1,blue,0\n2,red,1\n")
    whole, [batch] = read_table(path), iter_batches(path)
    assert (
        whole.report.guessed == batch.report.guessed == {"row": "ad", "feature": "keyword", "count": "times"}
    )
    assert whole.matrix.toarray().tolist() == batch.matrix.toarray().tolist() == [[3], [1]]


def test_a_wrong_name_lists_those_that_exist():
    with pytest.raises(ParameterError) as caught:
        read_table(table("ad_id", "keyword", "who"), row="ad", feature="keyword")
    assert str(caught.value) == (
        "'row' of read_table must be one of the columns ('ad_id', 'keyword', 'who'), but it is 'ad'. "
        "Did you mean 'ad_id'?"
    )


@pytest.mark.parametrize("role", ["row", "feature", "count", "time", "group", "label"])
def test_every_role_is_checked(role):
    with pytest.raises(ParameterError, match=f"'{role}' of read_table must be one of the columns"):
        read_table(table("ad", "keyword"), **{role: "zzz"})


def test_row_and_feature_must_differ():
    with pytest.raises(ParameterError, match="must be another column than feature="):
        read_table(table("ad", "keyword"), row="ad", feature="ad")


def test_a_guessed_plural_of_text_needs_a_delimiter():
    baskets = pa.table({"ad": [1], "keywords": ["red;blue"]})
    with pytest.raises(ParameterError, match="pass delimiter=, else name the column with feature="):
        read_table(baskets)
    assert read_table(baskets, delimiter=";").feature_names.tolist() == ["red", "blue"]
    assert read_table(baskets, feature="keywords").feature_names.tolist() == ["red;blue"]
    assert read_table(pa.table({"ad": [1], "keywords": [["red"]]})).feature_names.tolist() == ["red"]


def test_baskets_without_id_are_numbered():
    baskets = pa.table({"topic": ["p", "q"], "text": ["red blue", "red"]})
    dataset = read_table(baskets, feature="text", delimiter=" ", label="topic")
    assert dataset.row_ids.tolist() == [0, 1]
    assert dataset.report.guessed == {"row": "(record number)"}


def test_a_guess_can_be_passed_on():
    for baskets in (pa.table({"topic": ["p"], "words": [["red"]]}), table("ad", "keyword")):
        guessed = guess_columns(baskets)
        assert read_table(baskets, **guessed).n_nonzero == 1
    assert guess_columns(pa.table({"topic": ["p"], "words": [["red"]]})) == {"feature": "words"}


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"delimiter": ""}, "'delimiter' of read_table must be a text of at least one character"),
        ({"separator": ";;"}, "'separator' of read_table must be None or one ASCII character"),
        ({"quote": ""}, "'quote' of read_table must be None or one ASCII character"),
        ({"format": "csv"}, "'format' of read_table must be None for a table in memory"),
        ({"columns": ["a"]}, "'columns' of read_table must be None for a table in memory"),
    ],
)
def test_arguments_that_do_not_fit(options, words):
    with pytest.raises(ParameterError, match=words):
        read_table(table("ad", "keyword"), **options)


@pytest.mark.parametrize("source", [7, None, {"ad": [1]}, [1, 2], object()])
def test_what_is_no_table(source):
    with pytest.raises(ParameterError, match="'path_or_table' of read_table must be a path"):
        read_table(source)
