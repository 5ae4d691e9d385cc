"""The same content gives the same data set, whatever holds it."""

import string

import pyarrow as pa
import pytest
from dataset_checks import TABLES, WRITERS, assert_equals_records, assert_same, gzip_file, make_source
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparsemix.data import read_table

SOURCES = [*WRITERS, *TABLES]
UNPACKED = [kind for kind in SOURCES if not kind.endswith(".gz")]
QUICK = settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
HOSTILE = [
    '"',
    '""',
    "'",
    ",",
    ";",
    "\t",
    "\n",
    "\r\n",
    " ",
    "\\",
    "#",
    ":",
    "NULL",
    "nan",
    "é",
    "ß",
    "日本語",
    "🛍",
]


def names_like(prefix: str) -> st.SearchStrategy[str]:
    """Text that never looks like an integer, made of letters and troublemakers."""
    piece = st.one_of(st.text(string.ascii_letters, min_size=1, max_size=3), st.sampled_from(HOSTILE))
    return st.lists(piece, min_size=0, max_size=4).map(lambda parts: prefix + "".join(parts))


def records_of(row: st.SearchStrategy, **others: st.SearchStrategy) -> st.SearchStrategy:
    word = st.one_of(names_like(""), st.sampled_from(["", None]))
    return st.lists(st.fixed_dictionaries({"ad": row, "word": word, **others}), min_size=1, max_size=12)


@pytest.mark.parametrize("kind", UNPACKED)
@QUICK
@given(records=records_of(st.one_of(names_like("ad"), st.sampled_from(["", None]))))
def test_text_ids_survive_every_format(kind, tmp_path, records):
    source = make_source(kind, tmp_path, records, ["ad", "word"])
    dataset = read_table(source, row="ad", feature="word")
    if any(record["ad"] for record in records):
        assert_equals_records(dataset, records)
    else:
        assert dataset.matrix.shape == (0, 0)


@pytest.mark.parametrize("kind", UNPACKED)
@QUICK
@given(records=records_of(st.integers(-(2**63), 2**63 - 1), n=st.integers(0, 5)))
def test_integer_ids_and_counts_survive_every_format(kind, tmp_path, records):
    source = make_source(kind, tmp_path, records, ["ad", "word", "n"])
    dataset = read_table(source, row="ad", feature="word", count="n")
    assert dataset.row_ids.dtype == "int64"
    assert_equals_records(dataset, records)


@pytest.mark.parametrize("kind", SOURCES)
def test_all_roles_at_once(kind, tmp_path):
    records = [
        {"ad": 7, "word": "red", "n": 2, "who": "A", "when": "2024-01-01T00:00:00Z", "topic": "x"},
        {"ad": 9, "word": "red", "n": 1, "who": None, "when": None, "topic": None},
        {"ad": 7, "word": "blue", "n": 3, "who": "A", "when": "2024-01-01T01:00:00+01:00", "topic": "x"},
        {"ad": 3, "word": "red", "n": 1, "who": "B", "when": "1970-01-01T00:00:10", "topic": "y"},
    ]
    source = make_source(kind, tmp_path, records, list(records[0]))
    dataset = read_table(source, row="ad", feature="word", count="n", group="who", time="when", label="topic")
    assert_equals_records(dataset, records)
    assert dataset.groups.tolist() == ["A", None, "B"]
    assert dataset.groups.dtype == object
    assert dataset.times.tolist()[::2] == [1704067200.0, 10.0]
    assert dataset.times[1] != dataset.times[1]
    assert dataset.labels.tolist() == [0, -1, 1]
    assert dataset.label_names.tolist() == ["x", "y"]
    assert dataset.report.n_conflicts == {"group": 0, "time": 0, "label": 0}


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "pandas", "polars", "arrow"])
@QUICK
@given(
    baskets=st.lists(
        st.one_of(st.none(), st.lists(st.one_of(names_like(""), st.sampled_from(["", None])), max_size=5)),
        min_size=1,
        max_size=6,
    )
)
def test_list_column_equals_long_form(kind, tmp_path, baskets):
    records = [{"ad": f"ad{i}", "words": basket} for i, basket in enumerate(baskets)]
    if kind in ("polars", "arrow", "parquet") and not any(baskets):
        records.append({"ad": "last", "words": ["x"]})
    if not any(isinstance(record["words"], list) for record in records):
        records.append({"ad": "last", "words": ["x"]})
    found = read_table(make_source(kind, tmp_path, records, ["ad", "words"]), row="ad", feature="words")
    long = []
    for record in records:
        long.append({"ad": record["ad"], "word": None})
        long += [{"ad": record["ad"], "word": word} for word in record["words"] or []]
    assert_equals_records(found, long)


@pytest.mark.parametrize("kind", SOURCES)
def test_delimited_text_equals_long_form(kind, tmp_path):
    records = [{"ad": 1, "words": "a; b c ;d"}, {"ad": 2, "words": "d"}, {"ad": 1, "words": "é;a"}]
    source = make_source(kind, tmp_path, records, ["ad", "words"])
    long = [{"ad": 1, "word": w} for w in ("a", "b c", "d")] + [{"ad": 2, "word": "d"}]
    long += [{"ad": 1, "word": "é"}, {"ad": 1, "word": "a"}]
    assert_equals_records(read_table(source, row="ad", feature="words", delimiter=";"), long)


def test_parquet_gzipped_as_a_whole(tmp_path):
    records = [{"ad": 1, "word": "red"}, {"ad": 2, "word": "blue"}]
    plain = make_source("parquet", tmp_path, records, ["ad", "word"])
    assert_same(read_table(gzip_file(plain)), read_table(plain))


def test_digits_are_text_where_the_source_says_so(tmp_path):
    records = [{"ad": "1", "word": "red"}, {"ad": "02", "word": "7"}, {"ad": "3", "word": "7"}]
    for kind in SOURCES:
        dataset = read_table(make_source(kind, tmp_path, records, ["ad", "word"]))
        assert_equals_records(dataset, records)
    for record in records:
        record["ad"] = str(int(record["ad"]))
    for kind in SOURCES:
        ids = read_table(make_source(kind, tmp_path, records, ["ad", "word"])).row_ids
        assert ids.tolist() == ([1, 2, 3] if kind.startswith(("csv", "tsv")) else ["1", "2", "3"])


def test_unsigned_ids_beyond_int64(tmp_path):
    records = [{"ad": 2**64 - 1, "word": "red"}, {"ad": 1, "word": "red"}]
    sources = [make_source(kind, tmp_path, records, ["ad", "word"]) for kind in ("csv", "jsonl", "tsv.gz")]
    ids = pa.array([record["ad"] for record in records], pa.uint64())
    for source in [*sources, pa.table({"ad": ids, "word": ["red", "red"]})]:
        dataset = read_table(source)
        assert dataset.row_ids.dtype == "uint64"
        assert dataset.row_ids.tolist() == [2**64 - 1, 1]
