"""Counts in any form become the same sparse rows, or an error that says where and why."""

from itertools import product

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from sparsemix.data import count_inputs
from sparsemix.data.count_inputs import CountRows, as_count_rows
from sparsemix.data.dataset import Dataset
from sparsemix.foundation.errors import DataError

ROWS = np.array([[0, 1, 3, 0], [0, 0, 0, 0], [2, 0, 1, 7]])
NAMES = ["red", "green", "blue", "grey"]
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def to_array(rows):
    block = rows.block(0, rows.n_rows)
    assert (block.indptr.dtype, block.columns.dtype, block.values.dtype) == (np.int64, np.int32, np.float64)
    assert np.all(block.values != 0.0)
    for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
        assert np.all(np.diff(block.columns[first:last]) > 0)
    return sparse.csr_array(
        (block.values, block.columns, block.indptr), shape=(rows.n_rows, rows.n_features)
    ).toarray()


@pytest.mark.parametrize("dtype", [np.int8, np.uint64, np.float16, np.float32, float, np.longdouble, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays(dtype, order):
    np.testing.assert_array_equal(to_array(as_count_rows(np.array(ROWS, dtype, order=order))), ROWS)


def test_booleans_and_lists():
    np.testing.assert_array_equal(to_array(as_count_rows(ROWS > 0)), ROWS > 0)
    np.testing.assert_array_equal(to_array(as_count_rows(ROWS.tolist())), ROWS)
    np.testing.assert_array_equal(to_array(as_count_rows(sparse.csr_array(ROWS > 0))), ROWS > 0)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [np.int8, np.int64, np.float32, float])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_matrices(form, kind, dtype):
    matrix = getattr(sparse, f"{form}_{kind}")(ROWS.astype(dtype))
    np.testing.assert_array_equal(to_array(as_count_rows(matrix)), ROWS)


counts = arrays(
    np.float64, st.tuples(st.integers(0, 5), st.integers(1, 5)), elements=st.sampled_from([0, 0.25, 1, 9])
)


@given(rows=counts, form=st.sampled_from(FORMATS))
def test_sparse_and_dense_agree(rows, form):
    np.testing.assert_array_equal(to_array(as_count_rows(sparse.csr_array(rows).asformat(form))), rows)
    np.testing.assert_array_equal(to_array(as_count_rows(rows)), rows)


@pytest.mark.parametrize(
    ("form", "indptr", "indices"), [*product(["csr", "csc"], *[[np.int32, np.int64]] * 2)]
)
def test_index_types_in_any_mix(form, indptr, indices):
    matrix = sparse.csr_array(ROWS).asformat(form)
    matrix.indptr, matrix.indices = matrix.indptr.astype(indptr), matrix.indices.astype(indices)
    np.testing.assert_array_equal(to_array(as_count_rows(matrix)), ROWS)


def stored_thirty_times(form, value):
    """A matrix whose entry (0, 2) stands in it thirty times, in disorder."""
    row, column = np.array([0] * 31 + [1]), np.array([2] * 20 + [0] + [2] * 10 + [1])
    matrix = sparse.coo_array((np.full(32, value), (row, column)), shape=(3, 4))
    if form == "coo":
        return matrix
    outer, inner = (row, column) if form == "csr" else (column, row)
    order = np.argsort(outer, kind="stable")
    indptr = np.searchsorted(outer[order], np.arange((3 if form == "csr" else 4) + 1))
    kind = sparse.csr_array if form == "csr" else sparse.csc_array
    return kind((matrix.data, inner[order], indptr), shape=(3, 4))


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize(
    "value", [np.float64(0.5), np.int8(100), np.float32(2**24), np.uint8(255), np.bool_(True)]
)
def test_entries_stored_twice_add_up_whatever_the_type(form, value):
    """In a narrow type their sum would wrap around, stay, or lose its last digits."""
    matrix = stored_thirty_times(form, value)
    assert matrix.nnz == 32
    one = float(value)
    expected = [[one, 0, 30 * one, 0], [0, one, 0, 0], [0, 0, 0, 0]]
    np.testing.assert_array_equal(to_array(as_count_rows(matrix)), expected)


def test_blocks_stored_twice_add_up():
    blocks, indices, indptr = np.ones((2, 1, 2)), np.array([1, 1]), np.array([0, 2])
    matrix = sparse.bsr_array((blocks, indices, indptr), shape=(1, 4))
    np.testing.assert_array_equal(to_array(as_count_rows(matrix)), [[0, 0, 2, 2]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_opposite_entries_do_not_hide_each_other(form):
    row, column, value = np.array([0, 0]), np.array([1, 1]), np.array([3.0, -1.0])
    matrix = {
        "coo": lambda: sparse.coo_array((value, (row, column)), shape=(1, 2)),
        "csr": lambda: sparse.csr_array((value, column, [0, 2]), shape=(1, 2)),
        "csc": lambda: sparse.csc_array((value, row, [0, 0, 2]), shape=(1, 2)),
    }[form]()
    with pytest.raises(DataError, match=r"column 1 of row 0 is -1.0. Negative values in data are no counts"):
        as_count_rows(matrix)


@pytest.mark.parametrize("zero", [0.0, -0.0])
def test_stored_zeros_are_left_out(zero):
    matrix = sparse.csr_array(
        (np.array([zero, 2.0, zero]), np.array([0, 1, 3]), np.array([0, 2, 2, 3])), shape=(3, 4)
    )
    found = as_count_rows(matrix)
    assert found.block(0, 3).columns.tolist() == [1]
    assert matrix.nnz == 3


def damaged(kind, indices, indptr):
    matrix = getattr(sparse, f"{kind}_array")((4, 4))
    matrix.data, matrix.indices, matrix.indptr = np.ones(3), np.array(indices), np.array(indptr)
    return matrix


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([0, 1, 7], [0, 1, 2, 3, 3]),
        ([0, -1, 2], [0, 1, 2, 3, 3]),
        ([0, 1, 2], [0, 3, 1, 3, 3]),
        ([0, 1, 2], [1, 1, 2, 3, 3]),
        ([0, 1, 2], [0, 1, 2, 3, 9]),
        ([0, 1, 2], [0, 1, 3]),
    ],
)
def test_damaged_sparse_matrices_are_refused(kind, indices, indptr):
    with pytest.raises(DataError, match="'X' of M is a damaged sparse matrix"):
        as_count_rows(damaged(kind, indices, indptr), owner="M")


def test_damaged_blocks_and_triples_are_refused():
    blocks, triples = sparse.bsr_array(np.eye(4), blocksize=(2, 2)), sparse.coo_array(np.eye(4))
    blocks.indices[0] = 9
    triples.coords[1][0] = 9
    for matrix in (blocks, triples):
        with pytest.raises(DataError, match="'X' of M is a damaged sparse matrix"):
            as_count_rows(matrix, owner="M")


@pytest.mark.parametrize("form", [*FORMATS, "dense", "pandas"])
@pytest.mark.parametrize(
    ("value", "words"),
    [
        (-1, "is -1.0. Negative values in data are no counts."),
        (-0.5, "is -0.5. Negative values in data are no counts."),
        (np.nan, "is NaN. Counts are at most 1e.50; put 0 where a feature is absent."),
        (np.inf, "is inf. Counts are at most 1e.50"),
        (-np.inf, "is -inf. Negative"),
        (1e60, "is 1e.60. Counts are at most"),
    ],
)
def test_wrong_values_are_named_with_their_place(form, value, words):
    rows = ROWS.astype(float)
    rows[2, 3] = value
    if form == "pandas":
        given_rows = pd.DataFrame(rows, columns=NAMES)
    else:
        given_rows = rows if form == "dense" else sparse.csr_array(rows).asformat(form)
    column = "'grey'" if form == "pandas" else "3"
    with pytest.raises(
        DataError, match=f"'X' of M must hold finite numbers >= 0, but column {column} of row 2 {words}"
    ):
        as_count_rows(given_rows, owner="M")


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda rows: pd.DataFrame(rows).astype("Int8"),
    "pandas sparse": lambda rows: pd.DataFrame(rows).astype(pd.SparseDtype(np.int8, 0)),
    "pandas of mixed types": lambda rows: pd.DataFrame(rows).astype({"red": "Int16", "blue": float}),
    "polars": pl.DataFrame,
    "Arrow table": pa.table,
    "Arrow batch": pa.RecordBatch.from_pydict,
}


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_with_a_column_per_feature(kind):
    found = as_count_rows(
        FRAMES[kind]({name: column.tolist() for name, column in zip(NAMES, ROWS.T, strict=True)})
    )
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert found.names.tolist() == NAMES


@pytest.mark.parametrize(
    "table", [pd.DataFrame({"a": [1, None]}), pl.DataFrame({"a": [1, None]}), pa.table({"a": [1, None]})]
)
def test_missing_values_are_named(table):
    with pytest.raises(DataError, match="column 'a' of row 1 is NaN"):
        as_count_rows(table)


def test_data_sets():
    found = as_count_rows(Dataset.from_matrix(ROWS, feature_names=NAMES))
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert found.names.tolist() == NAMES
    assert as_count_rows(pd.DataFrame(ROWS)).names is None


def test_zero_rows():
    for empty in (ROWS[:0], sparse.csr_array((0, 4)), sparse.coo_array((0, 4)), pd.DataFrame(ROWS)[:0]):
        found = as_count_rows(empty)
        assert (found.n_rows, found.n_features, list(found.blocks())) == (0, 4, [])


@pytest.mark.parametrize("form", ["csr", "csc"])
def test_the_input_is_never_changed(form):
    indices, indptr = np.array([2, 0, 2, 3, 1, 1]), np.array([0, 3, 3, 5, 6])
    matrix = getattr(sparse, f"{form}_array")((np.array([1, 0, 4, 1, 2, 1.0]), indices, indptr), shape=(4, 4))
    before = [getattr(matrix, part).copy() for part in ("data", "indices", "indptr")]
    as_count_rows(matrix)
    for part, old in zip(("data", "indices", "indptr"), before, strict=True):
        np.testing.assert_array_equal(getattr(matrix, part), old)


@pytest.mark.parametrize("sorted_columns", [True, False])
def test_arrays_on_disk_that_cannot_be_written(tmp_path, sorted_columns):
    matrix = sparse.csr_array(ROWS)
    if not sorted_columns:
        matrix.indices[:2], matrix.data[:2] = matrix.indices[1::-1], matrix.data[1::-1]
        matrix.has_sorted_indices = False
    for name in ("data", "indices", "indptr"):
        path = tmp_path / f"{name}.npy"
        np.save(path, getattr(matrix, name))
        setattr(matrix, name, np.load(path, mmap_mode="r"))
    np.testing.assert_array_equal(to_array(as_count_rows(matrix)), ROWS)
    np.testing.assert_array_equal(to_array(CountRows(as_count_rows(matrix)._matrix, None)), ROWS)


def test_canonical_matrices_are_not_copied():
    matrix = sparse.csr_array(ROWS.astype(np.float64))
    block = as_count_rows(matrix).block(0, 3)
    assert np.shares_memory(block.columns, matrix.indices)
    assert np.shares_memory(block.values, matrix.data)


def test_rows_in_blocks(monkeypatch):
    monkeypatch.setattr(count_inputs, "ROWS_PER_BLOCK", 2)
    blocks = list(as_count_rows(ROWS).blocks())
    assert [block.indptr.tolist() for block in blocks] == [[0, 2, 2], [0, 3]]
    assert [block.values.tolist() for block in blocks] == [[1, 3], [2, 1, 7]]


def test_renamed_columns_are_sorted_again_with_their_counts():
    rows = as_count_rows(ROWS)
    block = rows.block(0, 3, np.array([5, 2, 0, 9], np.int32))
    assert block.columns.tolist() == [0, 2, 0, 5, 9]
    assert block.values.tolist() == [3, 1, 1, 2, 7]
    assert block.indptr.tolist() == [0, 2, 2, 5]
    np.testing.assert_array_equal(to_array(rows), ROWS)


def test_more_than_two_to_the_31_entries_are_addressed():
    """One entry stands for all: its array is as long as the pointers say, but takes a few bytes."""

    class Fake:
        shape = (3, 5)
        indptr = np.array([0, 2**31 + 5, 2**31 + 7, 2**32 + 9])
        indices = np.broadcast_to(np.int32(3), 2**32 + 9)
        data = np.broadcast_to(np.float64(2), 2**32 + 9)

    block = CountRows(Fake, None).block(1, 2)
    assert (block.indptr.tolist(), block.columns.tolist(), block.values.tolist()) == ([0, 2], [3, 3], [2, 2])


def test_more_columns_than_numbers_for_them():
    wide = sparse.csr_array((np.ones(1), np.array([2**32 + 5]), np.array([0, 1])), shape=(1, 2**33))
    with pytest.raises(DataError, match="must have at most 2147483647 columns, but it has 8589934592"):
        as_count_rows(wide)


@pytest.mark.parametrize(
    "thing", ["ads.csv", None, [1, 2], [["red"], ["blue"]], np.zeros((2, 2), complex), {"a": 1}]
)
def test_what_is_no_table_of_numbers(thing):
    with pytest.raises(DataError, match="'X' of M must "):
        as_count_rows(thing, owner="M")
