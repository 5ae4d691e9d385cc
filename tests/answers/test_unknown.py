"""The warning about rows of which a model knows nothing."""

import warnings

import pytest

from sparsemix.answers.unknown import warn_of_unknown_rows
from sparsemix.foundation.errors import UnknownFeaturesWarning


def method(n_unknown, n_rows):
    return helper(n_unknown, n_rows)


def helper(n_unknown, n_rows):
    warn_of_unknown_rows(n_unknown, n_rows)


def test_it_counts_rows_and_says_how_to_find_them():
    words = (
        r"^1,200 of 34,000 rows hold features, but none that the model knows: .* unknown_rows\(X\) says which"
    )
    with pytest.warns(UnknownFeaturesWarning, match=words):
        method(1_200, 34_000)


def test_it_points_at_the_line_that_calls_the_method():
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        method(1, 2)
    [one] = told
    assert one.filename == __file__
    with open(__file__, encoding="utf-8") as file:  # noqa: PTH123
        assert file.readlines()[one.lineno - 1].strip() == "method(1, 2)"


def test_it_can_be_an_error():
    with warnings.catch_warnings():
        warnings.simplefilter("error", UnknownFeaturesWarning)
        with pytest.raises(UnknownFeaturesWarning):
            method(1, 2)
