"""Columns of tables of events, from every form of table, and what is refused."""

import numpy as np
import pandas as pd
import pytest

from sparsemix import DataError, ParameterError
from sparsemix.data.event_tables import has_column, read_events

COLUMNS = {"user": "who", "ad": "ad", "event": "did", "count": "n"}
TABLE = pd.DataFrame(
    {"n": [3, 1, 0], "did": ["impression", "click", "click"], "ad": ["tea", "tea", "car"], "who": [7, 12, 7]}
)


def written(folder, ending):
    path = folder / f"events.{ending}"
    if ending == "parquet":
        TABLE.to_parquet(path)
    elif ending == "jsonl":
        TABLE.to_json(path, orient="records", lines=True)
    else:
        TABLE.to_csv(path, index=False, sep="\t" if ending == "tsv" else ",")
    return str(path)


@pytest.mark.parametrize("ending", ["csv", "tsv", "parquet", "jsonl"])
def test_all_forms_give_the_same_columns(tmp_path, ending):
    path = written(tmp_path, ending)
    found = read_events(path, COLUMNS)
    assert found["user"].tolist() == [7, 12, 7]
    assert found["ad"].tolist() == ["tea", "tea", "car"]
    assert found["event"].tolist() == TABLE["did"].tolist()
    assert found["count"].tolist() == [3.0, 1.0, 0.0]
    assert has_column(path, "n")
    assert not has_column(path, "count")


def test_ids_are_numbers_where_all_are_and_the_source_does_not_say_text(tmp_path):
    wanted = {"user": "who"}
    (tmp_path / "a.csv").write_text("who\n7\n8\n")
    (tmp_path / "b.csv").write_text("who\n7\neight\n")
    (tmp_path / "c.csv").write_text("who\n007\n8\n")
    assert read_events(str(tmp_path / "a.csv"), wanted)["user"].dtype == np.int64
    assert read_events(str(tmp_path / "b.csv"), wanted)["user"].tolist() == ["7", "eight"]
    assert read_events(str(tmp_path / "c.csv"), wanted)["user"].tolist() == ["007", "8"]
    pd.DataFrame({"who": ["7", "8"]}).to_parquet(tmp_path / "text.parquet")
    assert read_events(str(tmp_path / "text.parquet"), wanted)["user"].tolist() == ["7", "8"]


def test_several_files_are_one_table(tmp_path):
    for number, rows in enumerate((TABLE[:1], TABLE[1:])):
        rows.to_csv(tmp_path / f"{number}.csv", index=False)
    assert read_events(str(tmp_path), COLUMNS)["count"].tolist() == [3.0, 1.0, 0.0]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("who,ad,did,n\n,tea,click,1\n", "line 2: 'user' must be there in every record"),
        ("who,ad,did,n\n1,tea,click,1\n2,tea,click,0.5\n", "line 3: 'count' must be a whole number >= 0"),
        ("who,ad,did,n\n", "no record"),
    ],
)
def test_bad_values_are_told_with_their_place(tmp_path, text, message):
    (tmp_path / "t.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        read_events(str(tmp_path / "t.csv"), COLUMNS)


def test_missing_columns_and_files_without_columns(tmp_path):
    path = written(tmp_path, "csv")
    with pytest.raises(
        ParameterError, match=r"'ad' of read_table must be one of the columns .*Did you mean 'ad'"
    ):
        read_events(path, {"ad": "adx"})
    (tmp_path / "b.dat").write_text("1 2 3\n")
    with pytest.raises(ParameterError, match="has no columns, but user, ad, event, count are wanted"):
        read_events(str(tmp_path / "b.dat"), COLUMNS)
    assert not has_column(str(tmp_path / "b.dat"), "count")
