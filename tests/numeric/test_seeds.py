"""Seeds and generators: the same for the same, going on where they should, and clear where they are none."""

import numpy as np
import pytest

from sparsemix.foundation.errors import ParameterError
from sparsemix.numeric.seeds import generator, go_to, seed_of, state_of


def test_a_seed_gives_the_same_seed():
    assert seed_of(0, "M") == seed_of(np.int64(0), "M") == seed_of(np.random.RandomState(0), "M")
    assert seed_of(0, "M") != seed_of(1, "M")
    assert 0 <= seed_of(2**32 - 1, "M") < 2**31
    assert isinstance(seed_of(3, "M"), int)


def test_a_random_state_goes_on():
    state = np.random.RandomState(0)
    first, second = seed_of(state, "M"), seed_of(state, "M")
    assert first != second
    again = np.random.RandomState(0)
    assert [seed_of(again, "M"), seed_of(again, "M")] == [first, second]


def test_no_seed_is_any_seed():
    """Equal ones among eight by chance: about one run in 10^8."""
    assert len({seed_of(None, "M") for _ in range(8)}) == 8


def test_the_global_state_is_left_alone_by_seeds():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    seed_of(5, "M"), generator(5, "sample").random()
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


@pytest.mark.parametrize("value", ["abc", -1, 1.5, 2**32, [1, 2], np.random.default_rng(0), {}, b"1", np.nan])
def test_what_is_no_seed(value):
    words = (
        r"'random_state' of M must be an integer from 0 to 2\*\*32 - 1, a numpy.random.RandomState or None"
    )
    with pytest.raises(ParameterError, match=words):
        seed_of(value, "M")


def test_a_generator_is_itself_and_goes_on():
    rng = np.random.default_rng(0)
    assert generator(rng, "sample") is rng
    assert generator(3, "sample").random() == np.random.default_rng(3).random()
    assert generator(None, "sample").random() != generator(None, "sample").random()


@pytest.mark.parametrize("value", ["abc", -1, 1.5, {}, np.nan, [1.5]])
def test_what_is_no_generator(value):
    with pytest.raises(
        ParameterError, match=r"'random_state' of sample must be an integer >= 0, a numpy.random.Gen"
    ):
        generator(value, "sample")


def test_a_generator_goes_on_where_another_stood():
    for n_small in (0, 1):  # with half a word left over or not
        rng, other = np.random.default_rng(7), np.random.default_rng(7)
        rng.integers(10, size=n_small)
        state = state_of(rng)
        go_to(other, state)
        assert state[4] == n_small
        assert other.integers(10, size=5).tolist() == rng.integers(10, size=5).tolist()
        assert other.random(5).tolist() == rng.random(5).tolist()
