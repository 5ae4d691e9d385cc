"""Seeds and generators from what users give for `random_state`."""

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils import check_random_state

from sparsemix.foundation.errors import parameter_error

WORD = 32  # bits of each number of a state


def seed_of(value: Any, owner: str) -> int:
    """A seed drawn from what scikit-learn takes for `random_state`; a generator goes on."""
    try:
        return int(check_random_state(value).randint(2**31 - 1))
    except ValueError as error:
        rule = "an integer from 0 to 2**32 - 1, a numpy.random.RandomState or None"
        raise parameter_error("random_state", owner, rule, value) from error


def stream(seed: np.random.SeedSequence, number: int) -> np.random.Generator:
    """The generator of that number which belongs to a seed; unlike `spawn` it does not depend on what was asked before.

    Examples
    --------
    >>> seed = np.random.SeedSequence(0)
    >>> draws = [stream(seed, number).random() for number in (3, 3, 4)]
    >>> draws[0] == draws[1], draws[0] == draws[2]
    (True, False)
    """
    key = (*seed.spawn_key, number)
    return np.random.default_rng(np.random.SeedSequence(seed.entropy, spawn_key=key))


def generator(value: Any, owner: str) -> np.random.Generator:
    """NumPy's generator for a seed, or itself."""
    try:
        return np.random.default_rng(value)
    except (TypeError, ValueError) as error:
        rule = "an integer >= 0, a numpy.random.Generator or None"
        raise parameter_error("random_state", owner, rule, value) from error


def state_of(rng: np.random.Generator) -> NDArray[np.int64]:
    """Where a generator of NumPy's default kind stands in its stream: (6,) numbers below 2**32, which a file can hold.

    Examples
    --------
    >>> rng, other = np.random.default_rng(0), np.random.default_rng(0)
    >>> draws = rng.random(3)
    >>> go_to(other, state_of(rng))
    >>> bool(other.random() == rng.random())
    True
    """
    found: Any = rng.bit_generator.state
    place = found["state"]["state"]
    words = [place >> WORD * k & 2**WORD - 1 for k in range(4)]
    return np.array([*words, found["has_uint32"], found["uinteger"]], np.int64)


def go_to(rng: np.random.Generator, state: NDArray[np.int64]) -> None:
    """Put a generator where another one with the same seed has stood, see `state_of`."""
    found: Any = rng.bit_generator.state
    *words, found["has_uint32"], found["uinteger"] = state.tolist()
    found["state"]["state"] = sum(word << WORD * k for k, word in enumerate(words))
    rng.bit_generator.state = found
