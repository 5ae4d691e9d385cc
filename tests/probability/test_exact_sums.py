"""Sums that are undone: what is added and taken away again leaves nothing."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kernel_modes import MODES, as_mode

from sparsemix.probability.exact_sums import add_to, plus

modes = pytest.mark.parametrize("mode", MODES)
values = st.lists(st.floats(-1e12, 1e12), max_size=40)


def summed(mode, numbers, start=(0.0, 0.0)):
    for number in numbers:
        start = as_mode(plus, mode)(*start, number)
    return start


@modes
@given(numbers=values)
def test_sums_are_right_to_a_hundred_bits_of_the_largest(mode, numbers):
    high, low = summed(mode, numbers)
    wrong = abs(Fraction(high) + Fraction(low) - sum(map(Fraction, numbers)))
    assert wrong <= Fraction(sum(map(abs, numbers))) / 2**98
    assert high == high + low  # the first number is the rounded sum


@modes
@given(numbers=values, base=st.floats(-1e6, 1e6))
def test_what_comes_and_goes_leaves_nothing(mode, numbers, base):
    start = (base, 0.0)
    high, low = summed(mode, [-number for number in numbers], summed(mode, numbers, start))
    assert math.isclose(high + low, base, rel_tol=1e-15, abs_tol=1e-15)


@modes
def test_plain_doubles_would_lose_it(mode):
    assert (1.0 + 1e20) - 1e20 == 0.0
    assert summed(mode, [1.0, 1e20, -1e20])[0] == 1.0


@modes
def test_one_of_many_sums(mode):
    high, low = np.array([1.0, 2.0]), np.zeros(2)
    as_mode(add_to, mode)(high, low, 1, 1e-20)
    assert high.tolist() == [1.0, 2.0]
    assert low.tolist() == [0.0, 1e-20]
