"""Kernels compile wherever the package may be installed."""

import numba
import pytest

from sparsemix.numeric import jit


@pytest.mark.parametrize("decorator", [jit.kernel, jit.reordering_kernel])
def test_kernels_work_where_nothing_can_be_cached(decorator, monkeypatch):
    njit = numba.njit

    def without_a_place(*arguments, cache=False, **options):
        if cache:
            raise RuntimeError("cannot cache function: no locator available")
        return njit(*arguments, **options)

    monkeypatch.setattr(numba, "njit", without_a_place)
    assert decorator(lambda x: x + 1)(1) == 2


def test_minus_infinity_survives():
    assert jit.kernel(lambda x: x - 1.0)(-float("inf")) == -float("inf")
