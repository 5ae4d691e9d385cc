"""Cosines of sparse rows are those of dense ones, for any number of threads."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix.probability.kernels import add_products
from sparsemix.probability.similarity import cosines, unit_rows


def random_rows(seed, n_rows, n_features=9):
    rng = np.random.default_rng(seed)
    return rng.integers(0, 4, (n_rows, n_features)) * (rng.random((n_rows, n_features)) < 0.3)


@given(seed=st.integers(0, 2**20), n_rows=st.integers(0, 8), n_others=st.integers(0, 8))
def test_cosines_are_those_of_dense_rows(seed, n_rows, n_others):
    rows, others = random_rows(seed, n_rows), random_rows(seed + 1, n_others)
    lengths = np.outer(np.linalg.norm(rows, axis=1), np.linalg.norm(others, axis=1))
    expected = np.divide(rows @ others.T, lengths, where=lengths > 0, out=np.zeros(lengths.shape))
    found = cosines(sparse.csr_array(rows), sparse.csr_array(others))
    assert_allclose(found, expected, rtol=1e-12)


@pytest.mark.parametrize("n_threads", [2, 3])
def test_threads_change_no_bit(n_threads):
    rows, others = sparse.csr_array(random_rows(0, 40) / 3.0), sparse.csr_array(random_rows(1, 30))
    assert_array_equal(cosines(rows, others, n_threads), cosines(rows, others))


@pytest.mark.parametrize("scale", [1e-140, 1.0, 1e140])
def test_unit_rows_have_length_one_at_any_scale(scale):
    rows = random_rows(2, 20)
    lengths = np.linalg.norm(unit_rows(sparse.csr_array(rows * scale)).toarray(), axis=1)
    assert_allclose(lengths, rows.any(axis=1), rtol=1e-12)


@pytest.mark.parametrize("mode", MODES)
def test_products_are_added_for_the_rows_of_the_part_alone(mode):
    rows, others = sparse.csr_array(random_rows(3, 6) * 1.0), sparse.csr_array(random_rows(4, 5) * 1.0)
    turned, found = others.tocsc(), np.ones((6, 5))
    as_mode(add_products, mode)(
        rows.indptr, rows.indices, rows.data, 2, 5, turned.indptr, turned.indices, turned.data, found
    )
    expected = 1.0 + (rows @ others.T).toarray()
    expected[[0, 1, 5]] = 1.0
    assert_array_equal(found, expected)
