"""Anything that a user hands to an estimator becomes the same sparse rows, or an error that says where and why."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import sparse

from sparsemix.data import inputs
from sparsemix.data.count_inputs import as_count_rows
from sparsemix.data.dataset import Dataset
from sparsemix.data.inputs import BinaryRows, RowBlock, as_binary_rows
from sparsemix.foundation.errors import DataError

ROWS = np.array([[0, 1, 1, 0], [0, 0, 0, 0], [1, 0, 1, 1]])
NAMES = ["red", "green", "blue", "grey"]
FORMATS = ["csr", "csc", "coo", "bsr", "dia", "dok", "lil"]


def to_array(rows):
    return rows.block(0, rows.n_rows).to_csr(rows.n_features).toarray()


def assert_sorted(rows):
    block = rows.block(0, rows.n_rows)
    for first, last in zip(block.indptr[:-1], block.indptr[1:], strict=True):
        assert np.all(np.diff(block.columns[first:last]) > 0)


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32, float, object])
@pytest.mark.parametrize("order", ["C", "F"])
def test_dense_arrays(dtype, order):
    np.testing.assert_array_equal(to_array(as_binary_rows(np.array(ROWS, dtype, order=order))), ROWS)


def test_lists():
    np.testing.assert_array_equal(to_array(as_binary_rows(ROWS.tolist())), ROWS)


@pytest.mark.parametrize("kind", ["array", "matrix"])
@pytest.mark.parametrize("dtype", [bool, np.int8, np.float32, float])
@pytest.mark.parametrize("form", FORMATS)
def test_sparse_matrices(form, kind, dtype):
    matrix = getattr(sparse, f"{form}_{kind}")(ROWS.astype(dtype))
    found = as_binary_rows(matrix)
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert_sorted(found)


@given(rows=arrays(bool, st.tuples(st.integers(0, 5), st.integers(1, 5))), form=st.sampled_from(FORMATS))
def test_sparse_and_dense_agree(rows, form):
    np.testing.assert_array_equal(to_array(as_binary_rows(sparse.csr_array(rows).asformat(form))), rows)
    np.testing.assert_array_equal(to_array(as_binary_rows(rows)), rows)


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("indptr", [np.int32, np.int64])
@pytest.mark.parametrize("indices", [np.int32, np.int64])
def test_index_types_in_any_mix(form, indptr, indices):
    matrix = sparse.csr_array(ROWS).asformat(form)
    matrix.indptr, matrix.indices = matrix.indptr.astype(indptr), matrix.indices.astype(indices)
    found = as_binary_rows(matrix)
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert (found.block(0, 3).indptr.dtype, found.block(0, 3).columns.dtype) == (np.int64, np.int32)


def stored_as(form, row, column, value, shape):
    """A matrix of those triples, repeated ones and all."""
    if form == "coo":
        return sparse.coo_array((value, (row, column)), shape=shape)
    outer, inner = (row, column) if form == "csr" else (column, row)
    order = np.argsort(outer, kind="stable")
    indptr = np.searchsorted(outer[order], np.arange(shape[form == "csc"] + 1))
    return getattr(sparse, f"{form}_array")((value[order], inner[order], indptr), shape=shape)


def refusal(X, binarize):
    with pytest.raises(DataError) as caught:
        as_binary_rows(X, binarize=binarize)
    return str(caught.value)


REPEATED = {
    "halves": ([0.5, 0.5], True, {0.0: True, 0.5: True, 1.0: False}),
    "opposites": ([2.0, -1.0], True, {0.0: True, 0.5: True, 1.0: False}),
    "nothing left": ([1.0, -1.0], False, {0.0: False, 0.5: False}),
    "ones": ([1, 1], None, {0.0: True, 1.0: True, 2.0: False}),
    "thirty": ([1.0] * 30, None, {0.0: True, 29.5: True, 30.0: False}),
    "narrow integers": (np.full(4, 100, np.int8), None, {0.0: True, 399.0: True, 400.0: False}),
    "negative": ([1.0, -2.0], None, {0.0: False, 1.0: False}),
    "infinite": ([np.inf, -np.inf], None, {0.0: None}),
    "truth values": ([True, True], True, {0.0: True, 0.5: True, 1.0: False}),
}


@pytest.mark.parametrize("case", REPEATED)
@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_entries_stored_several_times_add_up_first(form, case):
    """Equal matrices give the same rows, or the same error, however they are stored; None stands for an error."""
    values, plain, binarized = REPEATED[case]
    values = np.concatenate([values, np.asarray([1, 1], np.asarray(values).dtype)])
    row, column = np.array([*[0] * (values.size - 2), 0, 1]), np.array([*[2] * (values.size - 2), 0, 1])
    backwards = np.arange(values.size)[::-1]
    matrix = stored_as(form, row[backwards], column[backwards], values[backwards], (3, 4))
    parts = ("data", "col" if form == "coo" else "indices")
    before = [getattr(matrix, part).copy() for part in parts]
    with np.errstate(invalid="ignore"):
        dense = np.zeros((3, 4), bool if values.dtype == bool else float)
        np.add.at(dense, (row, column), values)
    for binarize, present in {None: plain, **binarized}.items():
        if present is None:
            assert refusal(matrix, binarize) == refusal(dense, binarize)
            continue
        found = as_binary_rows(matrix, binarize=binarize)
        np.testing.assert_array_equal(to_array(found), to_array(as_binary_rows(dense, binarize=binarize)))
        assert to_array(found)[0, 2] == present
        assert_sorted(found)
    assert matrix.nnz == values.size
    for part, old in zip(parts, before, strict=True):
        np.testing.assert_array_equal(getattr(matrix, part), old)


def test_blocks_stored_twice_add_up():
    blocks, indices, indptr = np.full((2, 1, 2), 0.5), np.array([1, 1]), np.array([0, 2])
    matrix = sparse.bsr_array((blocks, indices, indptr), shape=(1, 4))
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix)), [[0, 0, 1, 1]])


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
def test_stored_zeros_are_zeros(form):
    row, column = np.array([0, 0, 1, 2, 2]), np.array([0, 1, 1, 3, 3])
    triples = (np.array([0.0, 1.0, 0.0, 0.0, 1.0]), (row, column))
    matrix = sparse.coo_array(triples, shape=(3, 4))
    if form == "csr":
        matrix = sparse.csr_array((triples[0], column, np.array([0, 2, 3, 5])), shape=(3, 4))
    elif form == "csc":
        matrix = sparse.csc_array((triples[0], row, np.array([0, 1, 3, 3, 5])), shape=(3, 4))
    assert matrix.nnz == 5
    np.testing.assert_array_equal(
        to_array(as_binary_rows(matrix)), [[0, 1, 0, 0], [0, 0, 0, 0], [0, 0, 0, 1]]
    )


def damaged(kind, indices, indptr):
    matrix = getattr(sparse, f"{kind}_array")((4, 4))
    matrix.data, matrix.indices, matrix.indptr = np.ones(3), np.array(indices), np.array(indptr)
    return matrix


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
def test_numbers_of_another_machine_are_read(kind):
    matrix = sparse.coo_array(ROWS.astype(float)).asformat(kind)
    matrix.data = matrix.data.astype(matrix.data.dtype.newbyteorder())
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix)), ROWS)


@pytest.mark.parametrize("kind", ["csr", "csc"])
@pytest.mark.parametrize(
    ("indices", "indptr"),
    [
        ([0, 1, 7], [0, 1, 2, 3, 3]),
        ([0, -1, 2], [0, 1, 2, 3, 3]),
        ([0, 1, 2], [0, 3, 1, 3, 3]),
        ([-1, 1, 2], [0, 3, 3, 3, 3]),
        ([0, 1, 4], [0, 0, 3, 3, 3]),
        ([0, 1, 2], [0, 2**40, 3, 3, 3]),
        ([0, 1, 2], [0, 3, 3, 3, 0]),
        ([0, 1, 2], [0, 3, 3, 3, -1]),
        ([0, 1, 2], [1, 1, 2, 3, 3]),
        ([0, 1, 2], [0, 1, 2, 3, 9]),
        ([0, 1, 2], [0, 1, 3]),
    ],
)
@pytest.mark.parametrize("values", [np.float64, ">f8", bool])
def test_damaged_sparse_matrices_are_refused(kind, indices, indptr, values):
    matrix = damaged(kind, indices, indptr)
    matrix.data = matrix.data.astype(values)
    for read in (as_binary_rows, as_count_rows, Dataset.from_matrix):
        with pytest.raises(DataError, match=r"is a damaged sparse matrix: .* Build it anew"):
            read(matrix)


def test_pointers_of_blocks_that_come_down_again_are_refused():
    matrix = sparse.bsr_array(np.ones((4, 4)), blocksize=(2, 2))
    matrix.indptr[-1] = 0
    with pytest.raises(DataError, match="index pointers must not decrease"):
        as_binary_rows(matrix)


def lengthened(matrix):
    matrix.data[1].append(1.0)


def shortened(matrix):
    matrix.rows = matrix.rows[:-1]


def without_a_list(matrix):
    matrix.rows[0] = None


def without_places(matrix):
    matrix.indices = None


def list_of_values(matrix):
    matrix.data = list(matrix.data)


def blocks_of_no_width(matrix):
    matrix.data = matrix.data[:, :, :0]


def fractional(matrix):
    matrix.indices = matrix.indices + 0.5


def of_one_direction(matrix):
    matrix.coords = matrix.coords[:1]


def flat(matrix):
    matrix.data = matrix.data[0]


def without_offsets(matrix):
    matrix.offsets = matrix.offsets[:-1]


def fractional_offsets(matrix):
    matrix.offsets = matrix.offsets + 0.5


def fractional_place(matrix):
    matrix.rows[0][0] = 0.5


def fractional_key(matrix):
    matrix._dict[(1.5, 2)] = 1.0


def key_of_three(matrix):
    matrix._dict[(1, 2, 3)] = 1.0


@pytest.mark.parametrize(
    ("form", "damage"),
    [
        ("lil", lengthened),
        ("lil", shortened),
        ("lil", without_a_list),
        ("csr", without_places),
        ("csr", list_of_values),
        ("bsr", blocks_of_no_width),
        ("csc", fractional),
        ("coo", of_one_direction),
        ("dia", flat),
        ("dia", without_offsets),
        ("dia", fractional_offsets),
        ("lil", fractional_place),
        ("dok", fractional_key),
        ("dok", key_of_three),
    ],
)
def test_sparse_matrices_damaged_in_other_ways_are_refused(form, damage):
    matrix = sparse.coo_array(ROWS.astype(float)).asformat(form)
    damage(matrix)
    for read in (as_binary_rows, Dataset.from_matrix):
        with pytest.raises(DataError, match=r"is a damaged sparse matrix: .* Build it anew"):
            read(matrix)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr"])
def test_numbers_of_half_precision_are_read(form):
    matrix = sparse.coo_array(ROWS.astype(np.float32)).asformat(form)
    matrix.data = matrix.data.astype(np.float16)
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix)), ROWS)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "bsr", "dia"])
def test_a_sparse_matrix_of_objects_is_refused(form):
    matrix = sparse.coo_array(ROWS.astype(float)).asformat(form)
    matrix.data = matrix.data.astype(object)
    with pytest.raises(DataError, match=r"its values are objects.*X\.astype\(float\)"):
        as_binary_rows(matrix)


@pytest.mark.parametrize("form", [*FORMATS, "dense", "pandas"])
@pytest.mark.parametrize(
    ("value", "binarize", "words"),
    [
        (3, None, r"must hold only 0 and 1, but column {} of row 2 is 3.*binarize=0.*model for counts"),
        (-1, None, r"must hold only 0 and 1, but column {} of row 2 is -1"),
        (0.5, None, r"must hold only 0 and 1, but column {} of row 2 is 0.5"),
        (np.nan, None, r"must hold only 0 and 1, but column {} of row 2 is NaN.*0 where a feature is absent"),
        (np.inf, None, r"must hold only 0 and 1, but column {} of row 2 is inf"),
        (np.nan, 0.0, r"must hold finite numbers, but column {} of row 2 is NaN"),
        (-np.inf, 0.0, r"must hold finite numbers, but column {} of row 2 is -inf"),
    ],
)
def test_wrong_values_are_named_with_their_place(form, value, binarize, words):
    rows = ROWS.astype(float)
    rows[2, 3] = value
    if form == "pandas":
        given_rows = pd.DataFrame(rows, columns=NAMES)
    else:
        given_rows = rows if form == "dense" else sparse.csr_array(rows).asformat(form)
    column = "'grey'" if form == "pandas" else "3"
    with pytest.raises(DataError, match="'X' of Model " + words.format(column)):
        as_binary_rows(given_rows, binarize=binarize, owner="Model")


def test_a_wrong_value_late_in_a_large_matrix_is_found(monkeypatch):
    monkeypatch.setattr(inputs, "_VALUES_PER_CHECK", 2)
    rows = ROWS * 1.0
    rows[2, 2] = 7
    for matrix in (rows, sparse.csr_array(rows), sparse.csc_array(rows)):
        with pytest.raises(DataError, match="column 2 of row 2 is 7"):
            as_binary_rows(matrix)


@pytest.mark.parametrize("form", [*FORMATS, "dense"])
def test_binarize(form):
    rows = np.array([[0.5, 0.1, -2.0], [0.0, 0.9, 3.0]])
    matrix = rows if form == "dense" else sparse.csr_array(rows).asformat(form)
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix, binarize=0.0)), rows > 0)
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix, binarize=0.5)), rows > 0.5)


FRAMES = {
    "pandas": pd.DataFrame,
    "pandas nullable": lambda rows: pd.DataFrame(rows).astype("Int8"),
    "pandas booleans": lambda rows: pd.DataFrame(rows).astype("boolean"),
    "pandas sparse": lambda rows: pd.DataFrame(rows).astype(pd.SparseDtype(np.int8, 0)),
    "pandas sparse booleans": lambda rows: pd.DataFrame(rows).astype(pd.SparseDtype(bool, False)),
    "pandas sparse around one": lambda rows: pd.DataFrame(rows).astype(pd.SparseDtype(np.int8, 1)),
    "pandas of mixed types": lambda rows: pd.DataFrame(rows).astype({"red": bool, "blue": float}),
    "pandas of Arrow types": lambda rows: pd.DataFrame(rows).astype("bool[pyarrow]"),
    "polars": pl.DataFrame,
    "polars booleans": lambda rows: pl.DataFrame(rows).cast(pl.Boolean),
    "Arrow table": pa.table,
    "Arrow booleans": lambda rows: pa.table(
        {name: pa.array(map(bool, column), pa.bool_()) for name, column in rows.items()}
    ),
    "Arrow batch": pa.RecordBatch.from_pydict,
    "Arrow batch of booleans": lambda rows: pa.RecordBatch.from_pydict(
        {name: pa.array(map(bool, column), pa.bool_()) for name, column in rows.items()}
    ),
}


@pytest.mark.parametrize("kind", FRAMES)
def test_tables_with_a_column_per_feature(kind):
    columns = {name: column.tolist() for name, column in zip(NAMES, ROWS.T, strict=True)}
    found = as_binary_rows(FRAMES[kind](columns))
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert found.names.tolist() == NAMES


@pytest.mark.parametrize(
    "table",
    [
        pd.DataFrame({"red": [1, None], "blue": [0, 1]}),
        pd.DataFrame({"red": [1, None], "blue": [0, 1]}).astype("Int64"),
        pd.DataFrame({"red": [True, None], "blue": [0, 1]}).astype({"red": "boolean"}),
        pl.DataFrame({"red": [1, None], "blue": [0, 1]}),
        pa.table({"red": [1, None], "blue": [0, 1]}),
        pa.table({"red": [True, None], "blue": [False, True]}),
    ],
)
def test_missing_values_are_named(table):
    with pytest.raises(DataError, match="column 'red' of row 1 is NaN"):
        as_binary_rows(table)


@pytest.mark.parametrize(
    "table",
    [pd.DataFrame(ROWS)[[]], pl.DataFrame(), pa.table({}), np.zeros((3, 0)), sparse.csr_array((3, 0))],
)
def test_no_columns(table):
    with pytest.raises(DataError, match=r"0 feature\(s\) .* while a minimum of 1 is required"):
        as_binary_rows(table)


def test_numbered_columns_have_no_names():
    assert as_binary_rows(pd.DataFrame(ROWS)).names is None


def test_data_sets():
    found = as_binary_rows(Dataset.from_matrix(ROWS, feature_names=NAMES))
    np.testing.assert_array_equal(to_array(found), ROWS)
    assert found.names.tolist() == NAMES
    with pytest.raises(DataError, match="column 'blue' of row 0 is 2"):
        as_binary_rows(Dataset.from_matrix(np.array([[0, 1, 2, 0]]), feature_names=NAMES))


def test_zero_rows():
    for empty in (ROWS[:0], sparse.csr_array((0, 4)), sparse.coo_array((0, 4)), pd.DataFrame(ROWS)[:0]):
        found = as_binary_rows(empty)
        assert (found.n_rows, found.n_features, list(found.blocks())) == (0, 4, [])


def snapshot(matrix):
    return [getattr(matrix, part).copy() for part in ("data", "indices", "indptr")]


@pytest.mark.parametrize("form", ["csr", "csc"])
@pytest.mark.parametrize("binarize", [None, 0.5])
def test_the_input_is_never_changed(form, binarize):
    indices, indptr = np.array([2, 0, 2, 3, 1, 1]), np.array([0, 3, 3, 5, 6])
    matrix = getattr(sparse, f"{form}_array")(
        (np.array([0.5, 0, 0.5, 1, 1, 1]), indices, indptr), shape=(4, 4)
    )
    before = snapshot(matrix)
    as_binary_rows(matrix, binarize=binarize)
    for old, new in zip(before, snapshot(matrix), strict=True):
        np.testing.assert_array_equal(old, new)


def test_read_only_arrays(tmp_path):
    matrix = sparse.csr_array(ROWS)
    for name in ("data", "indices", "indptr"):
        path = tmp_path / f"{name}.npy"
        np.save(path, getattr(matrix, name))
        setattr(matrix, name, np.load(path, mmap_mode="r"))
    np.testing.assert_array_equal(to_array(as_binary_rows(matrix)), ROWS)
    dense = ROWS.copy()
    dense.flags.writeable = False
    np.testing.assert_array_equal(to_array(as_binary_rows(dense)), ROWS)


def test_canonical_matrices_are_not_copied():
    matrix = sparse.csr_array(ROWS.astype(np.float32))
    assert np.shares_memory(as_binary_rows(matrix).block(0, 3).columns, matrix.indices)


def test_rows_in_blocks(monkeypatch):
    monkeypatch.setattr(inputs, "ROWS_PER_BLOCK", 2)
    blocks = list(as_binary_rows(ROWS).blocks())
    assert [block.n_rows for block in blocks] == [2, 1]
    np.testing.assert_array_equal(np.vstack([block.to_csr(4).toarray() for block in blocks]), ROWS)


def test_renamed_columns_are_sorted_again():
    block = as_binary_rows(ROWS).block(0, 3, np.array([5, 2, 0, 9], np.int32))
    assert block.columns.tolist() == [0, 2, 0, 5, 9]
    assert block.indptr.tolist() == [0, 2, 2, 5]


def test_slices_of_a_block():
    block = as_binary_rows(ROWS).block(0, 3).slice(1, 3)
    assert (block.indptr.tolist(), block.columns.tolist()) == ([0, 0, 3], [0, 2, 3])


def test_rows_that_hold_only_unknown_columns():
    rows = np.array([[0, 0, 0, 0], [0, 0, 1, 1], [1, 0, 0, 1], [0, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0]])
    block = as_binary_rows(rows).block(0, 6)
    assert np.flatnonzero(block.unknown(2)).tolist() == [1, 3]
    assert np.flatnonzero(block.unknown(0)).tolist() == [1, 2, 3, 4]
    assert not block.unknown(4).any()
    assert block.slice(0, 0).unknown(2).tolist() == []
    assert as_binary_rows(rows[:1]).block(0, 1).unknown(2).tolist() == [False]


def test_more_than_two_to_the_31_entries_are_addressed():
    """One entry stands for all: its array is as long as the pointers say, but takes four bytes."""

    class Fake:
        shape = (3, 5)
        indptr = np.array([0, 2**31 + 5, 2**31 + 7, 2**32 + 9])
        indices = np.broadcast_to(np.int32(3), 2**32 + 9)

    rows = BinaryRows(Fake, None)
    assert rows.block(1, 2).indptr.tolist() == [0, 2]
    assert rows.block(1, 2).columns.tolist() == [3, 3]
    whole = RowBlock(Fake.indptr, Fake.indices)
    assert whole.slice(1, 3).indptr.tolist() == [0, 2, 2**31 + 4]
    assert whole.slice(1, 3).columns.size == 2**31 + 4


def test_more_columns_than_numbers_for_them():
    wide = sparse.csr_array((np.ones(1), np.array([2**32 + 5]), np.array([0, 1])), shape=(1, 2**33))
    with pytest.raises(DataError, match="must have at most 2147483647 columns, but it has 8589934592"):
        as_binary_rows(wide)


def test_fortran_order_is_checked_some_rows_at_a_time(monkeypatch):
    monkeypatch.setattr(inputs, "_VALUES_PER_CHECK", 4)
    rows = np.asfortranarray(np.where(np.arange(12).reshape(3, 4) == 10, 5, ROWS))
    with pytest.raises(DataError, match="column 2 of row 2 is 5"):
        as_binary_rows(rows)
