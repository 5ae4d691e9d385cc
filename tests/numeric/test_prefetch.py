"""Asking for memory changes nothing, also beyond the end."""

import numpy as np
from numpy.testing import assert_array_equal

from sparsemix.numeric.jit import inner_inlined_kernel, kernel
from sparsemix.numeric.prefetch import prefetch


@kernel
def ask(array, index):
    prefetch(array, index)


@inner_inlined_kernel
def twice(x):
    return 2.0 * x


@kernel
def four_times(x):
    return twice(twice(x))


def test_asking_changes_nothing():
    for numbers in (np.arange(3), np.zeros(0, np.float32), np.arange(4, dtype=np.int32)[::2]):
        before = numbers.copy()
        for index in (0, 2, 10**15, -5):
            ask(numbers, index)
            prefetch(numbers, index)
        assert_array_equal(numbers, before)


def test_inlined_kernels_are_functions():
    assert four_times(1.5) == 6.0
