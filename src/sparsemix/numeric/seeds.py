"""Seeds and generators from what users give for `random_state`."""

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from sparsemix.foundation.errors import parameter_error


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
