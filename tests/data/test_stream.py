"""Batches: joined they are the whole, wherever the records of a row stand."""

import gc
import tempfile
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dataset_checks import assert_same, join, make_source
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsemix.data import iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError

ROLES = {"row": "ad", "feature": "word", "count": "n", "group": "who", "time": "t", "label": "topic"}
RECORD = st.fixed_dictionaries(
    {
        "ad": st.one_of(st.none(), st.sampled_from(["", "1", "2", "x", "03", "11", "é"])),
        "word": st.one_of(st.none(), st.sampled_from(["", "red", "blue", "green", "teal"])),
        "n": st.integers(0, 3),
        "who": st.one_of(st.none(), st.sampled_from(["", "A", "B"])),
        "t": st.one_of(st.none(), st.floats(-1e9, 1e9)),
        "topic": st.one_of(st.none(), st.sampled_from(["p", "q", "r"])),
    }
)


def scattered(n_records: int = 2_000, n_rows: int = 150, seed: int = 0) -> pa.Table:
    """Records whose rows are anywhere in the table."""
    random = np.random.default_rng(seed)
    return pa.table(
        {
            "ad": random.integers(0, n_rows, n_records),
            "word": [f"w{i}" for i in random.zipf(1.5, n_records) % 300],
            "n": random.integers(0, 4, n_records),
            "who": [f"g{i}" for i in random.integers(0, 5, n_records)],
            "t": random.normal(size=n_records),
            "topic": [None if i == 0 else f"l{i}" for i in random.integers(0, 4, n_records)],
        }
    )


@settings(max_examples=12, deadline=None)
@given(
    records=st.lists(RECORD, min_size=1, max_size=20),
    rows=st.integers(1, 6),
    vocabulary=st.sampled_from(["growing", "two-pass"]),
    block=st.integers(1, 8),
)
def test_batches_join_to_the_whole(records, rows, vocabulary, block):
    columns = {name: [record[name] for record in records] for name in ROLES.values()}
    text = {"ad", "word", "who", "topic"}
    table = pa.table(
        {name: pa.array(values, pa.string() if name in text else None) for name, values in columns.items()}
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("sparsemix.data.arrow_tables.RECORDS_PER_BLOCK", block)
        whole = read_table(table, **ROLES)
        batches = list(iter_batches(table, rows=rows, vocabulary=vocabulary, **ROLES))
    assert_same(whole, read_table(table, **ROLES))
    if len(whole):
        assert_same(join(batches), whole)
    else:
        assert batches == []


@pytest.mark.parametrize("kind", ["parquet", "csv", "tsv.gz", "jsonl", "pandas"])
@pytest.mark.parametrize("vocabulary", ["growing", "two-pass"])
def test_batches_of_any_source(kind, vocabulary, tmp_path):
    records = [{"ad": ad, "word": word} for ad, word in [(7, "a"), (5, "b"), (7, "c"), (9, None), (5, "a")]]
    source = make_source(kind, tmp_path, records, ["ad", "word"])
    batches = list(iter_batches(source, rows=2, vocabulary=vocabulary))
    assert [batch.row_ids.tolist() for batch in batches] == [[7, 5], [9]]
    assert_same(join(batches), read_table(source))


def test_a_growing_vocabulary_only_adds_columns():
    table = scattered()
    whole = read_table(table, **ROLES)
    seen = 0
    for batch in iter_batches(table, rows=10, **ROLES):
        assert batch.n_features >= seen
        assert batch.feature_names.tolist() == whole.feature_names[: batch.n_features].tolist()
        assert batch.matrix.indices.max() < batch.n_features
        seen = batch.n_features
    assert seen == whole.n_features
    sizes = {batch.n_features for batch in iter_batches(table, rows=10, vocabulary="two-pass", **ROLES)}
    assert sizes == {whole.n_features}


@pytest.mark.parametrize("skip", [1, 10, 149, 150])
@pytest.mark.parametrize("vocabulary", ["growing", "two-pass"])
def test_going_on_gives_what_would_have_come(skip, vocabulary):
    table = scattered()
    options = {**ROLES, "vocabulary": vocabulary}
    whole = read_table(table, **ROLES)
    rest = list(iter_batches(table, rows=10, skip_rows=skip, **options))
    assert sum(map(len, rest)) == len(whole) - skip
    if rest:
        assert_same(join(rest), whole[skip:], but_report=True)
        up_to_here = next(iter_batches(table, rows=skip + len(rest[0]), **options))
        assert rest[0].n_features == up_to_here.n_features


def test_more_rows_to_skip_than_there_are():
    with pytest.raises(
        DataError, match="'skip_rows' of iter_batches is 151, but the table has only 150 rows"
    ):
        next(iter_batches(scattered(), skip_rows=151, **ROLES))


@pytest.mark.parametrize("threads", [1, 2, 7])
def test_any_number_of_threads_gives_the_same(threads, monkeypatch):
    connect = duckdb.connect

    def with_threads(*arguments, config, **options):
        return connect(*arguments, config={**config, "threads": threads}, **options)

    monkeypatch.setattr(duckdb, "connect", with_threads)
    table = scattered(n_records=150_000, n_rows=20_000)
    assert_same(join(list(iter_batches(table, rows=7_000, **ROLES))), read_table(table, **ROLES))


def test_a_small_memory_limit_spills_to_disk(tmp_path):
    path = tmp_path / "ads.parquet"
    table = scattered(n_records=150_000, n_rows=30_000)
    pq.write_table(table, path)
    batches = list(iter_batches(path, rows=20_000, memory_limit="40MB", **ROLES))
    assert_same(join(batches), read_table(path, **ROLES))


def test_the_temporary_folder_is_removed(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    batches = iter_batches(scattered(), rows=10, **ROLES)
    assert list(tmp_path.iterdir()) == []
    next(batches)
    assert len(list(tmp_path.iterdir())) == 1
    batches.close()
    assert list(tmp_path.iterdir()) == []
    next(iter_batches(scattered(), rows=10, **ROLES))
    gc.collect()
    assert list(tmp_path.iterdir()) == []


def test_bad_records_leave_no_temporary_folder(tmp_path, monkeypatch):
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    table = pa.table({"ad": [1], "word": ["a"], "n": [-1]})
    with pytest.raises(DataError, match="'count' must be"):
        list(iter_batches(table, row="ad", feature="word", count="n"))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"rows": 0}, "'rows' of iter_batches must be an integer >= 1"),
        ({"rows": 1.5}, "'rows' of iter_batches must be an integer >= 1"),
        ({"rows": True}, "'rows' of iter_batches must be an integer >= 1"),
        ({"skip_rows": -1}, "'skip_rows' of iter_batches must be an integer >= 0"),
        ({"vocabulary": "fixed"}, "'vocabulary' of iter_batches must be one of growing, two-pass"),
        ({"row": "zzz"}, "'row' of read_table must be one of the columns"),
    ],
)
def test_arguments_are_checked_at_the_call(options, words):
    with pytest.raises(ParameterError, match=words):
        iter_batches(scattered(), **{**ROLES, **options})


def test_a_memory_limit_that_makes_no_sense():
    with pytest.raises(ParameterError, match="'memory_limit' of iter_batches must be a size"):
        next(iter_batches(scattered(), memory_limit="plenty", **ROLES))


def test_an_unknown_argument_is_an_error():
    with pytest.raises(TypeError, match=r"^iter_batches\(\) got an unexpected keyword argument 'colour'"):
        iter_batches(scattered(), colour="red")


def test_a_missing_file_is_noticed_at_the_call(tmp_path):
    with pytest.raises(DataError, match="does not exist"):
        iter_batches(Path(tmp_path) / "absent.csv")


def test_unsigned_ids_keep_one_type_over_all_batches():
    ids = pa.array([1, 2**64 - 1], pa.uint64())
    batches = list(iter_batches(pa.table({"ad": ids, "word": ["a", "b"]}), rows=1))
    assert [batch.row_ids.dtype for batch in batches] == [np.uint64, np.uint64]


def test_a_table_without_rows_has_no_batches():
    table = pa.table({"ad": pa.array([], pa.int64()), "word": pa.array([], pa.string())})
    assert list(iter_batches(table)) == []
