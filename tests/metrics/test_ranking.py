import math

import brute_force
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.metrics import recall_at

features = st.integers(0, 8)
cases = st.lists(
    st.tuples(st.sets(features, max_size=4), st.lists(features, unique=True, max_size=9)),
    min_size=1,
    max_size=5,
)


@given(case=cases, n=st.integers(1, 10))
def test_equals_the_definition(case, n):
    hidden, ranked = zip(*case, strict=True)
    assert recall_at(hidden, ranked, n) == pytest.approx(
        brute_force.recall_at(hidden, ranked, n), nan_ok=True
    )


def test_rows_without_hidden_features_do_not_count():
    assert recall_at([{"ants"}, set()], [["ants"], ["ants"]]) == 1.0
    assert math.isnan(recall_at([set()], [["ants"]]))


def test_wrong_input_is_named():
    with pytest.raises(ParameterError, match="'n' of recall_at must be an integer >= 1"):
        recall_at([{1}], [[1]], n=0)
    with pytest.raises(DataError, match="'hidden' and 'ranked'"):
        recall_at([{1}], [[1], [2]])
