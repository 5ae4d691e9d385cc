"""Faults of other systems that touch reading and sparse input; each test is named after the symptom."""

import numpy as np
import pyarrow as pa
import pytest
from scipy import sparse

from sparsemix.data import Dataset, iter_batches, read_table
from sparsemix.data.canonical import canonical_counts
from sparsemix.data.pair_matrix import build_matrix
from sparsemix.foundation.errors import DataError


def test_one_index_stored_thirty_times_gives_no_probability_of_ten():
    """A CSR matrix with one index stored 30 times in a row."""
    stored = sparse.csr_matrix((np.ones(30), np.zeros(30, int), [0, 30]), shape=(1, 2))
    assert canonical_counts(stored).toarray().tolist() == [[30, 0]]
    assert stored.nnz == 30
    table = pa.table({"ad": [1] * 30, "word": ["x"] * 30})
    assert read_table(table, row="ad", feature="word").matrix.toarray().tolist() == [[1]]


@pytest.mark.parametrize("value", [np.int8(100), np.uint8(200), np.bool_(True), np.float32(2**24 - 1)])
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_what_is_stored_twice_means_the_same_in_every_format_and_type(form, value):
    row, column, values = np.zeros(3, int), np.zeros(3, int), np.full(3, value)
    matrix = {
        "csr": lambda: sparse.csr_array((values, column, [0, 3]), shape=(1, 1)),
        "csc": lambda: sparse.csc_array((values, row, [0, 3]), shape=(1, 1)),
        "coo": lambda: sparse.coo_array((values, (row, column)), shape=(1, 1)),
    }[form]()
    assert Dataset.from_matrix(matrix).matrix.toarray().tolist() == [[3 * float(value)]]
    matrix.data[1:] = 0
    if matrix.dtype.kind not in "bu":
        matrix.data[1] = -1
        with pytest.raises(DataError, match="row 0, column 0 is -1"):
            Dataset.from_matrix(matrix)


@pytest.mark.parametrize("indices", [np.int32, np.int64])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
def test_any_mix_of_index_widths_is_taken(indices, indptr):
    matrix = sparse.csr_array(np.array([[0, 2], [1, 0]]))
    matrix.indices, matrix.indptr = matrix.indices.astype(indices), matrix.indptr.astype(indptr)
    found = Dataset.from_matrix(matrix).matrix
    assert found.toarray().tolist() == [[0, 2], [1, 0]]
    assert found.indices.dtype == found.indptr.dtype == np.int32
    assert (matrix.indices.dtype, matrix.indptr.dtype) == (indices, indptr)


def test_index_arithmetic_does_not_overflow_beyond_two_to_the_31():
    """A row number times a width that exceeds 32 bits, without that many entries."""
    rows = np.array([0, 2**20, 2**21 - 1], dtype=np.int32)
    features = np.array([2**31 - 2, 5, 2**31 - 2], dtype=np.int32)
    matrix = build_matrix(rows, features, None, (2**21, 2**31 - 1))
    assert matrix.shape[0] * matrix.shape[1] > 2**51
    assert matrix.nnz == 3
    assert matrix[2**21 - 1 :].indices.tolist() == [2**31 - 2]


def test_an_all_zero_row_is_kept_and_counted_not_undefined():
    dataset = Dataset.from_matrix(np.array([[0, 0], [1, 0]]))
    assert len(dataset) == 2
    assert dataset.profile().n_empty_rows == 1
    table = pa.table({"ad": [1, 2], "word": [None, "x"]})
    assert read_table(table, row="ad", feature="word").profile().n_empty_rows == 1


def test_a_row_that_is_empty_after_the_vocabulary_cut_is_no_error():
    dataset = Dataset.from_matrix(np.array([[1, 0, 0], [0, 1, 0], [0, 1, 0]]))
    assert dataset.filter(min_rows_per_feature=2).row_ids.tolist() == [1, 2]
    assert dataset.filter(min_rows_per_feature=4).matrix.shape == (0, 0)


@pytest.mark.parametrize(
    "value", [-1, 0.5, np.nan, np.inf], ids=["negative", "fractional", "nan", "infinite"]
)
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array, sparse.csc_matrix, sparse.coo_array])
def test_values_outside_the_family_are_no_silent_likelihood(value, make):
    values = np.array([[1.0, 0.0], [0.0, value]])
    with pytest.raises(DataError, match=r"row 1, column 1 \('blue'\)"):
        Dataset.from_matrix(make(values), feature_names=["red", "blue"])


@pytest.mark.parametrize("format", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint16, np.int64, np.float32, np.float64])
def test_any_sparse_format_equals_dense_and_is_not_changed(format, dtype):
    dense = np.array([[0, 1, 0], [0, 0, 0], [1, 1, 0]], dtype=dtype)
    matrix = sparse.coo_array(dense).asformat(format)
    before = matrix.copy()
    assert Dataset.from_matrix(matrix).matrix.toarray().tolist() == dense.astype(int).tolist()
    assert (matrix != before).nnz == 0
    assert matrix.dtype == before.dtype


def test_unsorted_indices_repeats_and_stored_zeros():
    data, indices = np.array([0, 2, 1, 0, 3]), np.array([2, 1, 0, 1, 2])
    matrix = sparse.csr_array((data, indices, [0, 3, 3, 5]), shape=(3, 3))
    keep = (data.copy(), indices.copy())
    found = Dataset.from_matrix(matrix).matrix
    assert found.toarray().tolist() == [[1, 2, 0], [0, 0, 0], [0, 0, 3]]
    assert found.nnz == 3
    assert found.has_canonical_format
    np.testing.assert_array_equal(matrix.data, keep[0])
    np.testing.assert_array_equal(matrix.indices, keep[1])


def test_read_only_arrays_are_taken():
    matrix = sparse.csr_array(np.eye(3))
    for part in (matrix.data, matrix.indices, matrix.indptr):
        part.flags.writeable = False
    assert Dataset.from_matrix(matrix).n_nonzero == 3


@pytest.mark.parametrize("shape", [(0, 0), (0, 4), (4, 0), (1, 1)])
def test_no_rows_no_columns_one_row(shape):
    dataset = Dataset.from_matrix(sparse.csr_array(shape))
    assert dataset.matrix.shape == shape
    assert len(dataset[:1]) == min(1, shape[0])


def test_integer_ids_are_categories_not_numbers():
    """Keyword 1000000 makes one column, not a million."""
    table = pa.table({"ad": [10**12, 3], "word": [1_000_000, 5]})
    dataset = read_table(table, row="ad", feature="word")
    assert dataset.matrix.shape == (2, 2)
    assert dataset.row_ids.tolist() == [10**12, 3]
    assert dataset.feature_names.tolist() == ["1000000", "5"]


def test_a_wide_batch_is_never_densified():
    """10,000 rows over 250,000 features: dense they would take 20 GB."""
    random = np.random.default_rng(0)
    table = pa.table(
        {
            "ad": np.repeat(np.arange(10_000), 5),
            "word": random.integers(0, 250_000, 50_000).astype(str),
        }
    )
    whole = read_table(table, row="ad", feature="word")
    stored = sum(part.nbytes for part in (whole.matrix.data, whole.matrix.indices, whole.matrix.indptr))
    assert stored < 1e6
    assert sum(batch.n_nonzero for batch in iter_batches(table, rows=4_000)) == whole.n_nonzero


def test_only_complete_rows_get_a_place_is_not_our_rule():
    """A row with a missing group, time or label is a row like any other."""
    table = pa.table({"ad": [1, 2], "word": ["x", "y"], "g": [None, "A"], "t": [None, 1.0]})
    dataset = read_table(table, row="ad", feature="word", group="g", time="t", label="g")
    assert len(dataset) == 2
    assert dataset.labels.tolist() == [-1, 0]


def test_missing_cells_are_what_the_documentation_says():
    """NaN in a column of ids or words is a missing value, in a column of counts an error."""
    table = pa.table(
        {"ad": [1.0, float("nan"), 2.0], "word": ["x", "y", None], "n": [1.0, 1.0, float("nan")]}
    )
    dataset = read_table(table, row="ad", feature="word")
    assert dataset.row_ids.tolist() == [1, 2]
    assert (dataset.report.n_null_rows, dataset.report.n_null_features) == (1, 1)
    with pytest.raises(DataError, match="'count' must be a whole number"):
        read_table(table, row="ad", feature="word", count="n")


def test_a_reordered_table_gives_the_same_matrix_by_name():
    table = pa.table({"ad": [1, 1, 2], "word": ["x", "y", "y"], "n": [1, 2, 3]})
    shuffled = table.select(["n", "word", "ad"])
    first = read_table(table, row="ad", feature="word", count="n")
    second = read_table(shuffled, row="ad", feature="word", count="n")
    assert (first.matrix != second.matrix).nnz == 0
    assert first.feature_names.tolist() == second.feature_names.tolist()


def test_a_document_of_a_million_tokens_is_one_row():
    text = " ".join(f"w{i % 1000}" for i in range(1_000_000))
    dataset = read_table(pa.table({"id": [1], "text": [text]}), row="id", feature="text", delimiter=" ")
    assert dataset.matrix.shape == (1, 1000)
    assert dataset.report.n_duplicates == 999_000
