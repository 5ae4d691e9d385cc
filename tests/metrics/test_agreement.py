import brute_force
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparsemix.foundation.errors import DataError
from sparsemix.metrics import adjusted_rand, normalized_mutual_information, variation_of_information

METRICS = [adjusted_rand, normalized_mutual_information, variation_of_information]


def label_pairs():
    labels = st.integers(-1, 3)
    return st.lists(st.tuples(labels, labels), min_size=2, max_size=12).map(
        lambda rows: tuple(zip(*rows, strict=True))
    )


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@settings(deadline=None)  # the first call loads scikit-learn
@given(pair=label_pairs())
def test_equals_the_definition(metric, pair):
    expected = getattr(brute_force, metric.__name__)(*pair)
    assert metric(*pair) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
@given(pair=label_pairs())
def test_is_symmetric_and_blind_to_names(metric, pair):
    first, second = pair
    renamed = [{-1: "z", 0: None, 1: 7, 2: "a", 3: "b"}[label] for label in second]
    assert metric(first, renamed) == pytest.approx(metric(second, first), abs=1e-12)


@given(triple=st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=12))
def test_variation_of_information_is_a_distance(triple):
    a, b, c = zip(*triple, strict=True)
    assert variation_of_information(a, a) == 0.0
    assert (
        variation_of_information(a, c)
        <= variation_of_information(a, b) + variation_of_information(b, c) + 1e-12
    )


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.__name__)
def test_wrong_input_is_named(metric):
    with pytest.raises(
        DataError, match=r"'true' and 'predicted' must have the same number of rows.* 3 and 2"
    ):
        metric([0, 1, 1], [0, 1])
    with pytest.raises(DataError, match="'true' must be a vector"):
        metric(np.zeros((2, 2)), [0, 1])
    with pytest.raises(DataError, match="at least one row"):
        metric([], [])
