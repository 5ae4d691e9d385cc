"""Rows mean the same in every form that people have them in, and stay as they are."""

import numpy as np
import pandas as pd
import pytest
from contract_models import LETTERS, hash_of
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix import Dataset


def entries(rows):
    """Entries in disorder, each in two parts of which one is zero, that mean the rows."""
    matrix = sparse.coo_array(rows)
    order = np.random.default_rng(0).permutation(2 * matrix.nnz)
    value = np.concatenate([matrix.data, np.zeros_like(matrix.data)])[order]
    return value, np.tile(matrix.coords[0], 2)[order], np.tile(matrix.coords[1], 2)[order]


def compressed(kind, value, major, minor, shape):
    """CSR or CSC of triples as they are: unsorted, with duplicates and zeros."""
    order = np.argsort(major, kind="stable")
    n_major = shape[0] if kind is sparse.csr_array else shape[1]
    indptr = np.searchsorted(major[order], np.arange(n_major + 1))
    return kind((value[order], minor[order], indptr), shape=shape)


def sparse_forms(rows):
    for form in ("csr", "csc", "coo", "bsr"):
        yield form, getattr(sparse, f"{form}_array")(rows)
    yield "matrix", sparse.csr_matrix(rows)
    for indptr, indices in ((np.int32, np.int64), (np.int64, np.int32), (np.int64, np.int64)):
        matrix = sparse.csr_array(rows)
        matrix.indptr, matrix.indices = matrix.indptr.astype(indptr), matrix.indices.astype(indices)
        yield f"indptr {indptr.__name__}, indices {indices.__name__}", matrix
    backwards = sparse.csr_array(rows[:, ::-1])
    backwards.indices = (rows.shape[1] - 1 - backwards.indices).astype(np.int32)
    backwards.has_sorted_indices = False
    yield "unsorted", backwards
    full = sparse.csr_array(np.ones(rows.shape))
    full.data = rows.ravel().copy()
    yield "stored zeros", full
    value, row, column = entries(rows)
    yield "COO with duplicates", sparse.coo_array((value, (row, column)), shape=rows.shape)
    yield "CSR with duplicates", compressed(sparse.csr_array, value, row, column, rows.shape)
    yield "CSC with duplicates", compressed(sparse.csc_array, value, column, row, rows.shape)


def dense_forms(rows):
    for dtype in (np.int8, np.uint32, np.float32, float, ">f8"):
        yield f"dense {np.dtype(dtype)}", rows.astype(dtype)
        if np.dtype(dtype).isnative:
            yield f"sparse {np.dtype(dtype)}", sparse.csr_array(rows.astype(dtype))
    yield "dense objects", rows.astype(object)
    yield "Fortran", np.asfortranarray(rows)
    yield "list", rows.tolist()
    yield "Dataset", Dataset.from_matrix(rows)
    yield "pandas with numbered columns", pd.DataFrame(rows)


def parts_of(form):
    """The arrays behind a matrix."""
    return [form] if isinstance(form, np.ndarray) else [form.data, form.indices, form.indptr]


@pytest.mark.parametrize("forms", [sparse_forms, dense_forms], ids=["sparse", "dense"])
def test_rows_of_every_form_are_the_same(subject, forms):
    expected = subject.fitted()
    answers = subject.answers(expected)
    for form, rows in forms(subject.rows):
        assert hash_of(subject.learn(rows)) == hash_of(expected), form
        for question, found in subject.answers(expected, rows).items():
            assert_array_equal(found, answers[question], err_msg=f"{form}: {question}")


def test_truth_values_are_zeros_and_ones(subject):
    ones = np.minimum(subject.rows, 1)
    expected = hash_of(subject.learn(ones))
    for form in (ones > 0, sparse.csr_array(ones > 0), sparse.coo_array(ones > 0)):
        assert hash_of(subject.learn(form)) == expected


def test_arrays_that_cannot_be_written(subject, tmp_path):
    """Read-only, and mapped from a file that is read-only."""
    expected = hash_of(subject.fitted())
    matrix, dense = sparse.csr_array(subject.rows), subject.rows.copy()
    for part in ("data", "indices", "indptr"):
        np.save(tmp_path / part, getattr(matrix, part))
        setattr(matrix, part, np.load(tmp_path / f"{part}.npy", mmap_mode="r"))
    np.save(tmp_path / "dense", subject.rows)
    dense.flags.writeable = False
    messy = compressed(sparse.csr_array, *entries(subject.rows), subject.rows.shape)
    for part in parts_of(messy):
        part.flags.writeable = False
    for form in (matrix, dense, np.load(tmp_path / "dense.npy", mmap_mode="r"), messy):
        model = subject.learn(form)
        assert hash_of(model) == expected
        subject.answers(model, form)


def test_the_input_is_not_changed_and_not_kept(subject):
    """Neither by learning nor by answers; and whoever uses the arrays again does not change the model."""
    messy = compressed(sparse.csr_array, *entries(subject.rows), subject.rows.shape)
    forms = [messy, sparse.csr_array(subject.rows), subject.rows.copy(), np.asfortranarray(subject.rows)]
    for form in forms:
        before = [part.copy() for part in parts_of(form)]
        model = subject.learn(form)
        answers = subject.answers(model, form)
        for part, old in zip(parts_of(form), before, strict=True):
            assert_array_equal(part, old)
        expected = hash_of(model)
        for part in parts_of(form)[:2]:
            part[:] = 0
        assert hash_of(model) == expected
        for question, found in subject.answers(model).items():
            assert_array_equal(found, answers[question])


def test_a_table_is_not_changed(subject):
    rows = subject.rows
    table = rows if isinstance(rows, pd.DataFrame) else pd.DataFrame(rows, columns=list(LETTERS))
    before = table.copy(deep=True)
    subject.answers(subject.learn(table), table)
    pd.testing.assert_frame_equal(table, before)
