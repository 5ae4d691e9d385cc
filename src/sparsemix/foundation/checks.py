"""Rules that parameters of several models share; each raises ParameterError with the rule and the value."""

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np

from sparsemix.foundation.errors import parameter_error

# Pseudo-counts between these neither vanish nor overflow, added or multiplied several times.
SMALLEST, LARGEST = 1e-50, 1e50
LARGEST_FLOAT = sys.float_info.max

MOST_DRAWN_ROWS = 10**9
MOST_DRAWS = 1e8  # words, or features that are on, in one call; some five gigabytes
MOST_THREADS = 256


def at_least(name: str, owner: str, value: Any, least: int, rule: str = "", most: float = np.inf) -> None:
    """Raise ParameterError unless `value` is an integer from `least` to `most`."""
    is_integer = isinstance(value, Integral) and not isinstance(value, bool | np.bool_)
    if not is_integer or not least <= int(value) <= most:
        limit = f", at most {int(most):,}" if most < np.inf else ""
        raise parameter_error(name, owner, rule or f"an integer >= {least}{limit}", value)


def burn_in(owner: str, value: Any, n_sweeps: int) -> None:
    """Raise ParameterError unless `value` is a number of first sweeps that leaves some of all."""
    rule = f"an integer from 0 to n_sweeps - 1, which is {n_sweeps - 1}"
    if is_number(value) and value >= n_sweeps:
        remedy = f"Set it to half of the sweeps, {n_sweeps // 2}, or make more sweeps."
        raise parameter_error("burn_in", owner, rule, value, remedy)
    at_least("burn_in", owner, value, 0, rule)


def rows_to_draw(value: Any, owner: str = "sample") -> None:
    """Raise ParameterError unless `value` is a number of rows that can be drawn."""
    at_least("n_rows", owner, value, 0, f"an integer from 0 to {MOST_DRAWN_ROWS:,}", MOST_DRAWN_ROWS)


def draws(n_rows: int, length: float) -> None:
    """Raise ParameterError if drawn rows of this mean length would fit no memory."""
    if n_rows * max(length, 1.0) > MOST_DRAWS:
        rule = f"so small that at most {MOST_DRAWS:.0e} features are drawn"
        remedy = f"Rows of this model have {length:.3g} on average."
        raise parameter_error("n_rows", "sample", rule, n_rows, remedy)


def level(value: Any, owner: str) -> None:
    """Raise ParameterError unless `value` can be the mass of an interval."""
    inside("level", owner, value, "a number in (0, 1)", 0.0, 1.0, open_low=True)


def share(name: str, owner: str, value: Any) -> None:
    """Raise ParameterError unless `value` is in [0, 1]."""
    inside(name, owner, value, "a number in [0, 1]", 0.0, np.nextafter(1.0, 2.0))


def truth_value(name: str, owner: str, value: Any) -> None:
    """Raise ParameterError unless `value` is True or False."""
    if not isinstance(value, bool | np.bool_):
        raise parameter_error(name, owner, "True or False", value)


def one_of(name: str, owner: str, value: Any, words: tuple[str, ...]) -> None:
    """Raise ParameterError unless `value` is one of some words."""
    if not isinstance(value, str) or value not in words:
        raise parameter_error(name, owner, f"one of {', '.join(map(repr, words))}", value)


def is_word(value: Any, word: str) -> bool:
    """Whether `value` is that word."""
    return isinstance(value, str) and value == word


def pseudo_count(name: str, owner: str, value: Any, other: str = "") -> None:
    """Raise ParameterError unless `value` is a positive number; `other` says what else it may be."""
    rule = f"{other}a number > 0, from {SMALLEST} to {LARGEST}"
    inside(name, owner, value, rule, SMALLEST, np.nextafter(LARGEST, np.inf))


def inside(
    name: str, owner: str, value: Any, rule: str, low: float, high: float, *, open_low: bool = False
) -> None:
    """Raise ParameterError unless `value` is a number from `low` (excluded with `open_low`) to below `high`."""
    # As Python's numbers, for NumPy's would narrow a bound to the type of the value. What no float holds is refused.
    plain = value.item() if isinstance(value, np.generic) else value
    low, high = float(low), min(float(high), LARGEST_FLOAT)
    if not is_number(value) or not (low < plain if open_low else low <= plain) or not plain < high:
        raise parameter_error(name, owner, rule, value)


def is_number(value: Any) -> bool:
    """Whether `value` is a real number and no truth value."""
    return isinstance(value, Real) and not isinstance(value, bool | np.bool_)


def threshold(owner: str, value: Any) -> None:
    """Raise ParameterError unless `value` can be the threshold of presence, which leaves zeros absent, or is None."""
    if value is not None:
        rule = f"None or a number >= 0, below {LARGEST_FLOAT:.1e}"
        inside("binarize", owner, value, rule, 0.0, LARGEST_FLOAT)


def callable_or_none(name: str, owner: str, value: Any) -> None:
    """Raise ParameterError unless the value is None or can be called."""
    if value is not None and not callable(value):
        raise parameter_error(name, owner, "callable or None", value)


def n_threads(n_jobs: Any, owner: str) -> int:
    """Threads by scikit-learn's convention: None is one, -1 all processors, -2 all but one."""
    from joblib import effective_n_jobs

    if n_jobs is not None:
        is_whole = isinstance(n_jobs, int | np.integer) and not isinstance(n_jobs, bool)
        if not is_whole or n_jobs == 0:
            raise parameter_error("n_jobs", owner, "None or an integer other than 0", n_jobs)
    return min(int(effective_n_jobs(n_jobs)), MOST_THREADS)
