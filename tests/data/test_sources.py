"""Folders, patterns, lists of files, and files that are not there."""

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from dataset_checks import assert_same, cells

from sparsemix.data import guess_columns, iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError

PARTS = {
    "a.csv": "ad,word\n1,red\n2,blue\n",
    "b.csv": "word,ad,extra\ngreen,1,x\n",
    "deep/c.csv": "ad,word\n3,red\n",
}


@pytest.fixture
def folder(tmp_path):
    for name, text in PARTS.items():
        path = tmp_path / "parts" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path / "parts"


def test_a_folder_is_read_with_its_subfolders_in_order_of_names(folder):
    dataset = read_table(folder)
    assert list(cells(dataset)) == [(1, "red"), (1, "green"), (2, "blue"), (3, "red")]
    assert dataset.report.source.endswith("a.csv and 2 more")


def test_patterns_and_lists(folder):
    whole = read_table(folder)
    assert_same(read_table(f"{folder}/**/*.csv"), whole)
    assert_same(read_table([folder / "a.csv", folder / "b.csv", folder / "deep"]), whole)
    assert len(read_table(f"{folder}/*.csv")) == 2


def test_gzipped_and_plain_parts_mix(folder):
    whole = read_table(folder)
    packed = folder / "b.csv.gz"
    packed.write_bytes(gzip.compress((folder / "b.csv").read_bytes()))
    (folder / "b.csv").unlink()
    assert_same(read_table(folder), whole)


def test_files_that_are_no_data_are_left_out_of_a_folder(folder):
    whole = read_table(folder)
    for name in ("_SUCCESS", ".a.csv.crc", "README.md", "_tmp.csv", ".hidden.csv"):
        (folder / name).write_text("no data")
    assert_same(read_table(folder), whole)


def test_several_formats_in_a_folder(folder):
    (folder / "d.tsv").write_text("ad\tword\n9\tred\n")
    with pytest.raises(DataError, match=r"several formats \(csv, tsv\)"):
        read_table(folder)


def test_parts_of_different_types_agree_on_text(tmp_path):
    pq.write_table(pa.table({"ad": pa.array([1], pa.int32()), "word": ["x"]}), tmp_path / "1.parquet")
    pq.write_table(pa.table({"ad": ["1"], "word": ["y"]}), tmp_path / "2.parquet")
    dataset = read_table(tmp_path)
    assert cells(dataset) == {("1", "x"): 1, ("1", "y"): 1}


def test_a_column_that_one_part_lacks(folder):
    (folder / "z.csv").write_text("ad,other\n1,x\n")
    with pytest.raises(ParameterError, match=r"one of the columns \('ad'\)"):
        read_table(folder, row="ad", feature="word")


@pytest.mark.parametrize("reader", [read_table, guess_columns, lambda path: list(iter_batches(path))])
def test_sources_that_are_not_there(reader, tmp_path):
    (tmp_path / "none").mkdir()
    (tmp_path / "ads.csv").touch()
    (tmp_path / "ads.txt").write_text("ad,word\n")
    (tmp_path / "ads.xlsx.gz").write_text("ad,word\n")
    for name, words in {
        "absent.csv": "does not exist",
        "*.parquet": "No file matches",
        "none": "holds no file of a known format",
        "ads.csv": "is empty",
        "ads.txt": "has no known suffix",
        "ads.xlsx.gz": r"has no known suffix .*pass format=",
    }.items():
        with pytest.raises(DataError, match=words):
            reader(str(tmp_path / name))
    with pytest.raises(DataError, match="list of files is empty"):
        reader([])


def test_gzipped_nothing_is_empty(tmp_path):
    for name in ("ads.csv.gz", "ads.tsv.gz"):
        path = tmp_path / name
        path.write_bytes(gzip.compress(b""))
        with pytest.raises(DataError, match="is empty"):
            read_table(path)


def test_format_overrides_the_suffix(tmp_path):
    path = tmp_path / "ads.txt"
    path.write_text("ad,word\n1,red\n")
    assert cells(read_table(path, format="csv")) == {(1, "red"): 1}
    with pytest.raises(ParameterError, match="'format' of read_table must be one of parquet, csv"):
        read_table(path, format="excel")


@pytest.mark.parametrize(
    "data", [b"PAR1 no parquet PAR1", b"plain text", gzip.compress(b"plain text", mtime=0)]
)
def test_damaged_parquet(data, tmp_path):
    path = tmp_path / "ads.parquet"
    path.write_bytes(data)
    with pytest.raises(DataError, match="is damaged or is no Parquet file"):
        read_table(path)


def test_cut_off_parquet(tmp_path):
    path = tmp_path / "ads.parquet"
    pq.write_table(pa.table({"ad": list(range(1000)), "word": ["x"] * 1000}), path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(DataError, match="is damaged or is no Parquet file"):
        read_table(path)


def test_a_name_with_magic_characters_is_a_plain_file_first(tmp_path):
    path = tmp_path / "ads[1].csv"
    path.write_text("ad,word\n1,red\n")
    assert len(read_table(path)) == 1
