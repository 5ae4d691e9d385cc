"""Looked-up rows are added as the plain twins add them, to the bit."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sparsemix.numeric import lanes
from sparsemix.numeric.jit import kernel


@kernel
def add_looked_up(tables, codes, i, row):
    lanes.add_looked_up(tables, codes, i, row)


@kernel
def add_to_looked_up(tables, codes, i, row):
    lanes.add_to_looked_up(tables, codes, i, row)


@pytest.mark.parametrize("name", ["add_looked_up", "add_to_looked_up"])
@given(
    seed=st.integers(0, 10_000),
    n_tables=st.integers(0, 20),
    width=st.sampled_from([0, 8, 16, 40]),
    step=st.integers(1, 3),
)
def test_compiled_and_plain_agree(name, seed, n_tables, width, step):
    rng = np.random.default_rng(seed)
    codes = rng.integers(256, size=(3, n_tables * step)).astype(np.uint8)[:, ::step]
    tables, row = rng.normal(size=(n_tables, 256, width)), rng.normal(size=width)
    found = []
    for function in (globals()[name], getattr(lanes, name)):
        copies = tables.copy(), row.copy()
        function(copies[0], codes, 1, copies[1])
        found.append(copies)
    for compiled, plain in zip(*found, strict=True):
        assert_array_equal(compiled, plain)


def test_widths():
    assert [lanes.padded(width) for width in (1, 8, 9, 100)] == [8, 8, 16, 104]
