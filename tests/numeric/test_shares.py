"""Rows shared out in wide registers are shared out as the plain twin does it."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.numeric import shares
from sparsemix.numeric.jit import kernel


@kernel
def share_row(columns, values, span, least, row, factors, rates, total, sums):
    shares.share_row(columns, values, span, least, row, factors, rates, total, sums)


@given(seed=st.integers(0, 10_000), n_lines=st.integers(1, shares.MOST_LINES), n=st.integers(0, 9))
def test_compiled_and_plain_agree(seed, n_lines, n):
    rng = np.random.default_rng(seed)
    width, start = 8 * n_lines, int(rng.integers(3))
    columns = rng.integers(5, size=n + 4).astype(np.int32)
    values, row, factors = rng.integers(1, 4, n + 4).astype(float), rng.random(width), rng.random((5, width))
    row[rng.random(width) < 0.8] = 0.0
    least = 0.3 * n_lines  # some entries are below
    found = []
    for function in (share_row, shares.share_row):
        outs = rates, total, sums = np.full(n + 4, np.nan), np.full(width, np.nan), np.ones((5, width))
        function(columns, values, (start, start + n), least, row, factors, rates, total, sums)
        found.append(outs)
    for compiled, plain in zip(*found, strict=True):
        assert_allclose(compiled, plain, rtol=1e-12)
    assert_array_equal(np.isnan(found[0][0]), [not start <= e < start + n for e in range(n + 4)])


@pytest.mark.parametrize(
    ("width", "roomy"), [(1, 1), (3, 3), (4, 8), (8, 8), (9, 16), (20, 24), (32, 32), (33, 33), (40, 40)]
)
def test_tables_have_room_where_it_costs_little(width, roomy):
    table = shares.roomy(7, width)
    assert table.shape == (7, roomy)
    assert not table.any()
