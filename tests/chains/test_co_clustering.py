import numpy as np
import pytest
from chain_cases import draws_of_partitions, noisy_draws, renamed
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sparsemix.chains import co_clustering, equations
from sparsemix.foundation.errors import DataError, ParameterError


@given(draws_of_partitions(), st.sampled_from([0.0, 0.2, 1 / 3, 0.5, 1.0]))
def test_equals_its_slow_twin(draws, min_probability):
    expected = equations.co_clustering(draws)
    expected[expected < min_probability - 1e-9] = 0.0
    found = co_clustering(draws, min_probability=min_probability)
    assert_array_equal(found.toarray(), expected)
    assert found.nnz == np.count_nonzero(expected)
    assert found.format == "csr"
    assert found.has_canonical_format
    assert_array_equal(found.diagonal(), 1.0)


@pytest.mark.parametrize("n_draws", [3, 7, 10, 49])
def test_a_pair_exactly_at_the_limit_stays(n_draws):
    for n_shared in range(1, n_draws + 1):
        draws = np.zeros((n_draws, 2), int)
        draws[n_shared:, 1] = 1
        assert co_clustering(draws, min_probability=n_shared / n_draws)[0, 1] == n_shared / n_draws


@given(draws_of_partitions(most_rows=6), st.lists(st.integers(0, 10), min_size=1, max_size=8))
def test_chosen_rows_in_their_order(draws, chosen):
    rows = np.array(chosen) % draws.shape[1]
    expected = equations.co_clustering(draws)[np.ix_(rows, rows)]
    assert_array_equal(co_clustering(draws, rows=rows).toarray(), expected)


def test_names_of_labels_have_no_effect():
    rng = np.random.default_rng(0)
    draws = noisy_draws(rng, 6, 30)
    assert_array_equal(
        co_clustering(draws).toarray(), co_clustering(renamed(draws, rng).astype(np.int8)).toarray()
    )


def test_large_and_sparse():
    rng = np.random.default_rng(0)
    groups = np.arange(50_000) // 5
    draws = np.where(rng.random((20, 50_000)) < 0.1, groups + 10_000, groups)
    found = co_clustering(draws)
    assert found.nnz == 50_000 * 5
    assert_allclose(found[:5, :5].toarray(), equations.co_clustering(draws[:, :5]))


def test_too_many_pairs_are_refused():
    draws = np.array([[0, 0, 0, 1], [0, 0, 1, 1]])  # pairs 01, 02, 12, 23
    assert co_clustering(draws, max_pairs=4).nnz == 4 + 8
    with pytest.raises(ParameterError, match="of 4 rows there are more, but it is 3"):
        co_clustering(draws, max_pairs=3)
    assert co_clustering(draws, max_pairs=3, min_probability=1.0).nnz == 4 + 2
    assert co_clustering(draws, max_pairs=0, rows=[0, 3]).nnz == 2


def test_a_huge_cluster_is_refused_at_once():
    draws = np.zeros((3, 1_000_000), np.int8)
    with pytest.raises(
        ParameterError, match=r"of 1,000,000 rows there are 499,999,500,000 in an average draw"
    ):
        co_clustering(draws, min_probability=0.5)


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([], "with at least one"),
        ([0, 3], "must be from 0 to 2, but there is 3"),
        ([-1], "there is -1"),
        ([True, False, True], "numpy.flatnonzero"),
        ([0.0], "its type float64"),
        ([[0]], r"its shape is (1, 1)"),
    ],
)
def test_rows_that_are_none(rows, words):
    with pytest.raises(DataError) as raised:
        co_clustering([[0, 0, 1]], rows=rows)
    assert words in str(raised.value)


@pytest.mark.parametrize(
    "wrong", [{"min_probability": 1.5}, {"min_probability": "0"}, {"max_pairs": -1}, {"max_pairs": 1.5}]
)
def test_parameters_have_rules(wrong):
    [name] = wrong
    with pytest.raises(ParameterError, match=f"'{name}' of co_clustering must be"):
        co_clustering([[0, 0]], **wrong)
