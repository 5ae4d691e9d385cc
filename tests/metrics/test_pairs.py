import brute_force
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparsemix.foundation.errors import DataError, ParameterError
from sparsemix.metrics import pair_rates, pair_roc, pairs


@st.composite
def labelled_responsibilities(draw):
    n_rows, n_components = draw(st.integers(1, 15)), draw(st.integers(1, 4))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    return rng.integers(0, 3, n_rows), rng.dirichlet(np.full(n_components, 0.5), n_rows)


@pytest.mark.parametrize("block_rows", [1, 4, 1000])
@given(case=labelled_responsibilities())
def test_equals_the_definition_in_any_blocks(block_rows, case):
    true, responsibilities = case
    thresholds = [0.0, 0.31, 0.5, 0.93]
    expected = np.array([brute_force.pair_rates(true, responsibilities, level) for level in thresholds])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(pairs, "_BLOCK_ROWS", block_rows)
        curve = pair_roc(true, responsibilities, thresholds)
    np.testing.assert_allclose(np.column_stack([curve.true_positive, curve.false_positive]), expected)
    assert pair_rates(true, responsibilities, 0.31) == pytest.approx(expected[1], nan_ok=True)


def test_labels_are_sure_responsibilities():
    true, labels = [0, 0, 1, 1, 2], ["x", "x", "x", "y", "z"]
    one_hot = np.array([[1, 0, 0]] * 3 + [[0, 1, 0], [0, 0, 1]])
    assert pair_rates(true, labels) == pair_rates(true, one_hot) == (0.5, 2 / 8)


def test_the_curve_falls_with_the_threshold():
    rng = np.random.default_rng(0)
    curve = pair_roc(rng.integers(0, 3, 200), rng.dirichlet(np.ones(3), 200))
    np.testing.assert_allclose(curve.thresholds, np.arange(1, 10) / 10)
    assert (np.diff(curve.true_positive) <= 0).all()
    assert (np.diff(curve.false_positive) <= 0).all()


def test_a_rate_without_pairs_is_not_a_number():
    assert np.isnan(pair_rates([0, 1], [0, 1]).true_positive)
    assert np.isnan(pair_rates([0, 0], [0, 1]).false_positive)


def test_wrong_input_is_named():
    with pytest.raises(ParameterError, match=r"'thresholds' of pair_roc must be numbers in \[0, 1\)"):
        pair_rates([0, 1], [0, 1], threshold=1.0)
    with pytest.raises(DataError, match="same number of rows"):
        pair_rates([0, 1], [0, 1, 1])
    with pytest.raises(DataError, match="'predicted' must hold probabilities"):
        pair_rates([0, 1], [[1.5, -0.5], [1.0, 0.0]])
    with pytest.raises(DataError, match="'predicted' must hold probabilities"):
        pair_rates([0, 1], [[np.nan, 1.0], [1.0, 0.0]])
