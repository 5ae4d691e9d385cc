"""Rules of parameters: what passes, what does not, and that the message says rule and value."""

import re
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from sparsemix.foundation import checks
from sparsemix.foundation.errors import ParameterError, SparsemixError, listed, parameter_error, shorten

NO_NUMBERS = ["1", b"1", None, [1], np.array([1]), {}, 1j, Decimal(1), pd.NA, True, np.True_, object]


def refuses(check, value, rule):
    with pytest.raises(ParameterError, match=f"^'x' of f must be {re.escape(rule)}, but it is ") as caught:
        check(value)
    assert str(caught.value).endswith(f"{shorten(value)}.")


@pytest.mark.parametrize("value", [1, 2, 10**400, np.int8(1), np.uint64(2**63)])
def test_integers_that_are_large_enough(value):
    checks.at_least("x", "f", value, 1)


@pytest.mark.parametrize(
    "value", [0, -1, -(10**400), np.int64(0), 1.0, np.float64(2), Fraction(2), np.nan, *NO_NUMBERS]
)
def test_what_is_no_integer_or_too_small(value):
    refuses(lambda x: checks.at_least("x", "f", x, 1), value, "an integer >= 1")


@pytest.mark.parametrize("value", [-1, 1.0, "1", None, 10**9 + 1, 2**70])
def test_rows_that_cannot_be_drawn(value):
    with pytest.raises(
        ParameterError, match=r"'n_rows' of sample must be an integer from 0 to 1,000,000,000, but it is"
    ):
        checks.rows_to_draw(value)
    checks.rows_to_draw(10**9)


def test_what_is_shown_is_short_and_can_be_written():
    assert shorten("\ud800\0") == r"'\ud800\x00'"
    assert shorten(10**5000) == "<int too long to show>"
    assert len(shorten("x" * 10**6)) <= 80
    assert listed([]) == "none"
    assert listed(["a", "b", "c"], most=2) == "'a', 'b' and 1 more"
    assert len(listed(["x" * 1000] * 1000)) < 1000


def test_integers_have_a_largest_and_a_rule_of_their_own():
    checks.at_least("x", "f", 5, 1, "small", most=5)
    refuses(lambda x: checks.at_least("x", "f", x, 1, "small", most=5), 6, "small")


@pytest.mark.parametrize(
    "value", [1e-9, 0.5, np.float32(0.5), np.float16(0.999), Fraction(1, 3), np.nextafter(1.0, 0.0)]
)
def test_levels(value):
    checks.level(value, "f")


@pytest.mark.parametrize("value", [0, 0.0, 1, 1.0, -0.1, 1.1, np.nan, np.inf, -np.inf, *NO_NUMBERS])
def test_what_is_no_level(value):
    with pytest.raises(ParameterError, match=r"^'level' of f must be a number in \(0, 1\), but it is "):
        checks.level(value, "f")


@pytest.mark.parametrize("value", [0, 1, 0.0, 1.0, np.float32(1), np.int8(0), Fraction(1, 2), 5e-324])
def test_shares(value):
    checks.share("x", "f", value)


@pytest.mark.parametrize("value", [-5e-324, np.nextafter(1.0, 2.0), 2, -1, np.nan, np.inf, *NO_NUMBERS])
def test_what_is_no_share(value):
    refuses(lambda x: checks.share("x", "f", x), value, "a number in [0, 1]")


@pytest.mark.parametrize("value", [1e-50, 1e50, 1, np.float32(1e30), 10**50, Fraction(1, 7)])
def test_pseudo_counts(value):
    checks.pseudo_count("x", "f", value)


@pytest.mark.parametrize(
    "value", [0, 5e-324, 9e-51, 1.1e50, 10**51, 10**400, -1, np.nan, np.inf, *NO_NUMBERS]
)
def test_what_is_no_pseudo_count(value):
    refuses(lambda x: checks.pseudo_count("x", "f", x), value, "a number > 0, from 1e-50 to 1e+50")


def test_a_pseudo_count_may_be_a_word_instead():
    rule = "'auto' or a number > 0, from 1e-50 to 1e+50"
    refuses(lambda x: checks.pseudo_count("x", "f", x, "'auto' or "), 0, rule)


@pytest.mark.parametrize(("low", "open_low", "good"), [(0.0, False, True), (0.0, True, False)])
def test_the_low_end_counts_or_not(low, open_low, good):
    if good:
        checks.inside("x", "f", low, "low", low, 1.0, open_low=open_low)
    else:
        refuses(lambda x: checks.inside("x", "f", x, "low", low, 1.0, open_low=open_low), low, "low")


def test_narrow_types_do_not_narrow_the_bounds():
    """NumPy would bring the bound into the type of the value, where it overflows or rounds."""
    checks.inside("x", "f", np.float16(3), "any", 0.0, 1e300)
    checks.inside("x", "f", np.float32(1e-40), "any", 0.0, 1e300, open_low=True)
    refuses(lambda x: checks.inside("x", "f", x, "any", np.float64(0.1), 1.0), np.float32(0.099999994), "any")


@pytest.mark.parametrize(
    ("value", "expected"), [("auto", True), (np.str_("auto"), True), ("Auto", False), (b"auto", False)]
)
def test_words(value, expected):
    assert checks.is_word(value, "auto") is expected


@pytest.mark.parametrize("value", [np.array(["auto", "auto"]), ["auto"], None, 1, pd.NA])
def test_containers_are_no_words(value):
    assert checks.is_word(value, "auto") is False


def test_numbers_and_truth_values():
    assert all(
        checks.is_number(value) for value in (0, 1.5, np.nan, np.int8(3), np.float16(1), Fraction(1, 2))
    )
    assert not any(checks.is_number(value) for value in NO_NUMBERS)


def test_errors_are_values_out_of_range():
    error = parameter_error("x", "f", "small", "y" * 500, "Shorten it.")
    assert isinstance(error, ParameterError)
    assert isinstance(error, SparsemixError)
    assert isinstance(error, ValueError)
    assert re.fullmatch(r"'x' of f must be small, but it is 'y{70,80}…. Shorten it\.", str(error))
    assert str(parameter_error("x", "f", "small", 3)) == "'x' of f must be small, but it is 3."


def test_long_values_are_cut_to_one_line():
    assert shorten(np.arange(10_000).reshape(100, 100)).count("\n") == 0
    assert len(shorten("x" * 500, width=30)) <= 30
    assert shorten([1, 2]) == "[1, 2]"
