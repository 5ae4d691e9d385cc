"""Every function of draws refuses the same hostile input with the same words, and changes nothing."""

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from sparsemix.chains import co_clustering, point_estimate, posterior_of_n_clusters
from sparsemix.chains.inputs import as_draws
from sparsemix.foundation.errors import DataError

FUNCTIONS = [co_clustering, point_estimate, posterior_of_n_clusters]
functions = pytest.mark.parametrize("function", FUNCTIONS, ids=lambda function: function.__name__)


@functions
@pytest.mark.parametrize(
    ("draws", "words"),
    [
        ([[0, 1, 1], [0, 1]], "Each draw must hold a label for every row"),
        ([[0.0, 1.0]], "its type float64"),
        ([[True, False]], "its type bool"),
        ([["a", "b"]], "must be integer labels"),
        (np.array([[0, None]], object), "its type object"),
        ([0, 1, 1], r"its shape is (3,)"),
        (np.zeros((2, 2, 2), int), "its shape is (2, 2, 2)"),
        (np.zeros((0, 4), int), "at least one draw"),
        (np.zeros((4, 0), int), "one row"),
        ([], "its shape is (0,)"),
        (None, "must be integer labels"),
    ],
)
def test_hostile_draws(function, draws, words):
    with pytest.raises(DataError) as raised:
        function(draws)
    assert words in str(raised.value)
    assert f"'draws' of {function.__name__}" in str(raised.value)


@functions
def test_draws_stay_as_they_were(function):
    draws = np.array([[3, -1, 3], [0, 0, 5]])
    draws.setflags(write=False)
    function(draws)


def test_codes_are_those_of_the_partition():
    assert_array_equal(as_draws([[9, -1, 9, 4], [0, 1, 0, 2]], "test"), [[0, 1, 0, 2]] * 2)
