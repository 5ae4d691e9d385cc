"""SciPy, Matrix Market and svmlight files, and files of baskets."""

import gzip
import io as bytes_io
from pathlib import Path

import numpy as np
import pytest
from dataset_checks import assert_canonical, assert_same, cells, gzip_file, join
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import io, sparse

from sparsemix.data import guess_columns, iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError

COUNTS = np.array([[0, 2, 0, 1], [0, 0, 0, 0], [1, 0, 0, 3]])


def write(folder: Path, kind: str) -> Path:
    path = folder / f"counts.{kind}"
    if kind == "npz":
        sparse.save_npz(path, sparse.csr_matrix(COUNTS))
    elif kind == "mtx":
        io.mmwrite(path, sparse.coo_matrix(COUNTS))
    else:
        path.write_text("x 2:2 4:1\ny\n\nx 1:1 4:3 # a remark\n")
    return path


@pytest.mark.parametrize("kind", ["npz", "mtx", "svmlight"])
def test_values_are_counts_and_columns_have_no_names(kind, tmp_path):
    dataset = read_table(write(tmp_path, kind))
    assert dataset.matrix.toarray().tolist() == COUNTS.tolist()
    assert dataset.row_ids.tolist() == [0, 1, 2]
    assert dataset.feature_names is None
    assert dataset.report.n_records == 3
    assert_canonical(dataset)
    assert guess_columns(tmp_path / f"counts.{kind}") == {}


@pytest.mark.parametrize("kind", ["mtx", "svmlight"])
def test_gzipped(kind, tmp_path):
    plain = write(tmp_path, kind)
    assert_same(read_table(gzip_file(plain)), read_table(plain))


@pytest.mark.parametrize("kind", ["npz", "mtx", "svmlight"])
@pytest.mark.parametrize("rows", [1, 2, 3, 10])
def test_batches_join_to_the_whole(kind, rows, tmp_path):
    path = write(tmp_path, kind)
    whole = read_table(path)
    batches = list(iter_batches(path, rows=rows))
    assert [len(batch) for batch in batches[:-1]] == [rows] * (len(batches) - 1)
    assert_same(join(batches), whole, but_report=True)
    rest = list(iter_batches(path, rows=rows, skip_rows=1))
    assert_same(join(rest), whole[1:], but_report=True)
    with pytest.raises(DataError, match="the table has only 3 rows"):
        list(iter_batches(path, skip_rows=4))


def test_columns_cannot_be_named(tmp_path):
    for kind in ("npz", "mtx", "svmlight"):
        with pytest.raises(ParameterError, match=f"'row' of read_table must be None for {kind}"):
            read_table(write(tmp_path, kind), row="ad")


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "bsr"])
def test_npz_of_any_sparse_format(format, tmp_path):
    path = tmp_path / "counts.npz"
    sparse.save_npz(path, sparse.coo_array(COUNTS.astype(bool)).asformat(format))
    assert read_table(path).matrix.toarray().tolist() == COUNTS.astype(bool).tolist()


def test_npz_with_objects_is_never_unpickled(tmp_path):
    path = tmp_path / "evil.npz"

    class Evil:
        def __reduce__(self):
            return (Path.touch, (tmp_path / "executed",))

    np.savez(path, format=np.array(b"csr"), shape=[1, 1], data=np.array([Evil()], dtype=object), indices=[0])
    with pytest.raises(DataError, match="is damaged or is no matrix file"):
        read_table(path)
    assert not (tmp_path / "executed").exists()


def test_npz_with_indices_out_of_bounds(tmp_path):
    path = tmp_path / "bad.npz"
    for indices, indptr in (([9], [0, 1]), ([-1], [0, 1]), ([0], [0, 99]), ([0], [1, 0])):
        np.savez(
            path,
            format=np.array(b"csr"),
            shape=np.array([1, 2]),
            data=np.ones(1),
            indices=np.array(indices, np.int32),
            indptr=np.array(indptr, np.int32),
        )
        with pytest.raises(DataError, match="is damaged or is no matrix file"):
            read_table(path)


@pytest.mark.parametrize("kind", ["npz", "mtx", "svmlight"])
def test_damaged_files(kind, tmp_path):
    path = tmp_path / f"bad.{kind}"
    path.write_bytes(b"%%MatrixMarket no such thing\n" + bytes(range(100)))
    with pytest.raises(DataError, match=r"bad\."):
        read_table(path)
    np.savez(tmp_path / "dense.npz", x=np.ones(3))
    with pytest.raises(DataError, match="no matrix file"):
        read_table(tmp_path / "dense.npz")


@pytest.mark.parametrize("bad", [-1.0, 0.5, np.nan, np.inf])
def test_values_that_are_no_counts_name_row_and_column(bad, tmp_path):
    values = COUNTS.astype(float)
    values[2, 3] = bad
    sparse.save_npz(tmp_path / "bad.npz", sparse.csr_matrix(values))
    io.mmwrite(tmp_path / "bad.mtx", sparse.coo_matrix(values))
    (tmp_path / "bad.svmlight").write_text(f"x 2:1\n\ny 1:1 4:{bad}\n")
    for kind in ("npz", "mtx"):
        with pytest.raises(DataError, match=rf"bad.{kind}: Counts must be .*, but row 2, column 3 is"):
            read_table(tmp_path / f"bad.{kind}")
    with pytest.raises(DataError, match=r"bad.svmlight, line 3: 'column:count' must be"):
        read_table(tmp_path / "bad.svmlight")


def test_svmlight_labels_comments_queries_and_repeats(tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("# title\n3,7 qid:5 1:1 1:2\n-1 2:0 3:1\n1:4\n3,7\r\n")
    dataset = read_table(path)
    assert dataset.label_names.tolist() == ["3,7", "-1"]
    assert dataset.labels.tolist() == [0, 1, -1, 0]
    assert dataset.matrix.toarray().tolist() == [[3, 0, 0], [0, 0, 1], [4, 0, 0], [0, 0, 0]]
    assert (dataset.report.n_duplicates, dataset.report.n_zero_counts) == (1, 1)


def test_svmlight_columns_count_from_zero_if_one_does(tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("x 1:1\nx 0:1 2:1\n")
    assert read_table(path).matrix.toarray().tolist() == [[0, 1, 0], [1, 0, 1]]
    path.write_text("x 1:1\nx 3:1\n")
    assert read_table(path).matrix.toarray().tolist() == [[1, 0, 0], [0, 0, 1]]
    assert read_table(path).labels.tolist() == [0, 0]
    path.write_text("1:1\n")
    assert read_table(path).labels is None


@pytest.mark.parametrize(
    "token", ["1", "a:1", "1:", ":1", "1:x", "-1:1", "1:1:1", "99999999999:1", "2147483648:1"]
)
def test_svmlight_tokens_that_cannot_be_read(token, tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text(f"x 1:1\nx 2:1 {token}\n")
    with pytest.raises(DataError, match=r"a.svmlight, line 2: 'column:count' must be"):
        read_table(path)


@pytest.mark.parametrize("read", [read_table, lambda path: list(iter_batches(path))])
def test_svmlight_column_numbers_that_no_memory_holds(read, tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("x 1:1\nx 2:1 2000000000:1\n")
    with pytest.raises(DataError) as caught:
        read(path)
    assert str(caught.value) == (
        f"{path}, line 2: 'column:count' must be a column number up to 134,217,728, since columns without entries "
        f"take memory too, but it is '2000000000:1'. Number the columns anew, or give names instead of numbers, as "
        f"lists of features in JSON lines."
    )
    path.write_text(f"x {2**27}:1\n")
    assert read_table(path).matrix.shape == (1, 2**27)


MTX = "%%MatrixMarket matrix"


@pytest.mark.parametrize("packed", [False, True])
@pytest.mark.parametrize(
    ("text", "words"),
    [
        (
            f"{MTX} coordinate integer general\n99999999999 99999999999 1\n1 1 1\n",
            "for 1 non-zero, but rows and",
        ),
        (
            f"{MTX} coordinate pattern general\n2 99999999999 1\n1 1\n",
            "declares 2 rows and 99,999,999,999 columns",
        ),
        (f"{MTX} coordinate pattern symmetric\n99999999 99999999 99999999999\n1 1\n", "but has only "),
        (f"{MTX} array integer general\n99999999999 99999999999\n1\n", "but has only "),
    ],
)
def test_sizes_that_a_file_only_declares(text, words, packed, tmp_path):
    path = tmp_path / "huge.mtx"
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    with pytest.raises(DataError, match=words) as caught:
        read_table(path)
    assert str(caught.value).startswith(f"{path} declares ")
    assert str(caught.value).endswith("Correct the size that it declares, or leave out what is empty.")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f"{MTX} coordinate pattern general\n2 2 4\n1 1\n1 2\n2 1\n2 2", [[1, 1], [1, 1]]),
        (f"{MTX} array integer general\n2 2\n1\n0\n0\n1", [[1, 0], [0, 1]]),
        (f"{MTX} array integer symmetric\n2 2\n1\n0\n1", [[1, 0], [0, 1]]),
        (f"{MTX} coordinate integer general\n0 0 0\n", []),
    ],
)
def test_small_files_hold_what_they_declare(text, expected, tmp_path):
    path = tmp_path / "small.mtx"
    path.write_text(text)
    assert read_table(path).matrix.toarray().tolist() == expected


def test_npz_with_a_shape_that_no_memory_holds(tmp_path):
    path = tmp_path / "huge.npz"
    sparse.save_npz(path, sparse.coo_array((np.ones(1), ([5], [5])), shape=(2**40, 9)))
    with pytest.raises(DataError, match=r"declares 1,099,511,627,776 rows and 9 columns"):
        read_table(path)


def test_a_matrix_that_memory_does_not_hold_is_not_called_damaged(tmp_path, monkeypatch):
    def exhausted(_file):
        raise MemoryError

    monkeypatch.setattr("sparsemix.data.matrix_files._load_npz", exhausted)
    with pytest.raises(DataError, match=r"takes more memory than there is, .* Write its rows as svmlight"):
        read_table(write(tmp_path, "npz"))


def test_a_file_of_remarks_has_no_rows(tmp_path):
    path = tmp_path / "a.svmlight"
    path.write_text("# nothing\n\n")
    assert read_table(path).matrix.shape == (0, 0)


def test_only_one_matrix_at_a_time(tmp_path):
    first, second = write(tmp_path, "npz"), tmp_path / "b.npz"
    second.write_bytes(first.read_bytes())
    with pytest.raises(DataError, match=r"Only one .npz file can be read at a time"):
        read_table([first, second])


def test_several_svmlight_files(tmp_path):
    first = write(tmp_path, "svmlight")
    assert read_table([first, first]).matrix.toarray().tolist() == [*COUNTS.tolist(), *COUNTS.tolist()]


@settings(max_examples=20, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(counts=st.lists(st.lists(st.integers(0, 3), min_size=4, max_size=4), min_size=1, max_size=5))
def test_round_trips(tmp_path, counts):
    matrix = sparse.csr_matrix(np.array(counts))
    sparse.save_npz(tmp_path / "r.npz", matrix)
    io.mmwrite(tmp_path / "r.mtx", matrix)
    lines = ["0 " + " ".join(f"{j}:{x}" for j, x in enumerate(row)) for row in counts]
    (tmp_path / "r.svmlight").write_text("\n".join(lines))
    for kind in ("npz", "mtx", "svmlight"):
        assert read_table(tmp_path / f"r.{kind}").matrix.toarray().tolist() == counts


@pytest.mark.parametrize("end", ["\n", "\r\n", " \n"])
def test_fimi_lines_are_rows(end, tmp_path):
    path = tmp_path / "retail.dat"
    path.write_text(end.join(["0 1 2", "1 1", "", "30  2"]) + end, newline="")
    dataset = read_table(path)
    assert dataset.row_ids.tolist() == [0, 1, 2, 3]
    assert dataset.feature_names.tolist() == ["0", "1", "2", "30"]
    assert list(cells(dataset)) == [(0, "0"), (0, "1"), (0, "2"), (1, "1"), (3, "2"), (3, "30")]
    assert dataset.report.n_duplicates == 1
    assert dataset.report.n_empty_features == dataset.report.n_null_features == 0
    assert guess_columns(path) == dataset.report.guessed == {}
    assert_same(read_table(gzip_file(path)), dataset)
    assert_same(join(list(iter_batches(path, rows=2))), dataset)


def test_baskets_with_another_delimiter(tmp_path):
    path = tmp_path / "groceries.csv"
    path.write_text("whole milk,butter \nyogurt\n\nwhole milk,,\n")
    dataset = read_table(path, format="baskets", delimiter=",")
    assert dataset.feature_names.tolist() == ["whole milk", "butter", "yogurt"]
    assert len(dataset) == 4
    assert dataset.report.n_empty_features == 2


def test_a_table_named_dat_is_noticed(tmp_path):
    path = tmp_path / "table.dat"
    path.write_text("1 2\n1\t2\n")
    with pytest.raises(DataError, match=r"table.dat, line 2: .*pass format='tsv'"):
        read_table(path)
    assert len(read_table(path, format="baskets")) == 2
    with pytest.raises(ParameterError, match="'row' of read_table must be None for baskets"):
        read_table(path, row="ad")


def test_gzipped_mtx_is_known_by_content(tmp_path):
    path = write(tmp_path, "mtx")
    path.write_bytes(gzip.compress(path.read_bytes()))
    assert read_table(path).n_nonzero == 4
    stream = bytes_io.BytesIO()
    sparse.save_npz(stream, sparse.csr_matrix(COUNTS))
    (tmp_path / "plain.npz").write_bytes(stream.getvalue())
    assert read_table(tmp_path / "plain.npz").n_nonzero == 4
