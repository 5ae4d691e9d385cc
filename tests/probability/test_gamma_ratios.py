"""Ratios of Gamma functions against sums of logarithms and SciPy."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode
from numpy.testing import assert_allclose
from scipy.special import gammaln

from sparsemix.probability.gamma_ratios import log_rising, sums_of_log_rising

modes = pytest.mark.parametrize("mode", MODES)


@modes
@given(start=st.floats(1e-12, 1e12), steps=st.integers(0, 60))
def test_whole_steps_are_a_sum_of_logarithms(mode, start, steps):
    expected = math.fsum(math.log(start + i) for i in range(steps))
    size = math.fsum(abs(math.log(start + i)) for i in range(steps))
    assert as_mode(log_rising, mode)(start, float(steps)) == pytest.approx(expected, abs=1e-14 * (100 + size))


@modes
@given(start=st.floats(1e-3, 300.0), steps=st.floats(0.0, 300.0))
def test_steps_that_are_not_whole(mode, start, steps):
    expected = gammaln(start + steps) - gammaln(start)
    assert as_mode(log_rising, mode)(start, steps) == pytest.approx(expected, abs=1e-11)


@modes
@given(start=st.floats(1.0, 1e10), first=st.floats(0.0, 50.0), second=st.floats(0.0, 50.0))
def test_steps_add_up(mode, start, first, second):
    rising = as_mode(log_rising, mode)
    whole = rising(start, first + second)
    parts = rising(start, first) + rising(start + first, second)
    assert whole == pytest.approx(parts, rel=1e-12, abs=1e-12)


@modes
@pytest.mark.parametrize("start", [1e6, 1e9, 1e15])
def test_halves_at_large_numbers_where_log_gamma_has_lost_them(mode, start):
    """G(x + 1/2) / G(x) = sqrt(x) (1 - 1/(8 x) + O(1/x^2))."""
    expected = 0.5 * math.log(start) - 1.0 / (8.0 * start)
    assert as_mode(log_rising, mode)(start, 0.5) == pytest.approx(expected, abs=1e-14)


@modes
@pytest.mark.parametrize("start", [1e-300, 1.0, 31.9, 32.0, 1e300])
def test_no_step_is_nothing(mode, start):
    assert as_mode(log_rising, mode)(start, 0.0) == pytest.approx(0.0, abs=1e-15)


@modes
def test_sums_go_over_the_entries(mode):
    starts, steps, found = np.array([[1.0, 2.0], [40.0, 0.5]]), np.array([3.0, 1.0]), np.full(2, np.nan)
    as_mode(sums_of_log_rising, mode)(starts, steps, found)
    assert_allclose(found, np.log([1 * 2 * 3 * 2, 40 * 41 * 42 * 0.5]))
