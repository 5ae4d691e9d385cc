"""The point estimate: against all partitions, against the draws, and what must not change it."""

import numpy as np
import pytest
from chain_cases import all_partitions, draws_of_partitions, noisy_draws, renamed
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal

from sparsemix.chains import point_estimate
from sparsemix.chains.equations import expected_variation_of_information
from sparsemix.chains.grouping import atoms
from sparsemix.chains.inputs import as_draws, by_first_appearance
from sparsemix.foundation.errors import ParameterError
from sparsemix.metrics import variation_of_information


def uniform_draws(rng, n_draws, n_rows):
    return rng.choice(all_partitions(n_rows), n_draws)


@pytest.mark.parametrize("n_rows", [3, 4, 5, 6])
@pytest.mark.parametrize("draw_set", [uniform_draws, noisy_draws])
def test_is_the_best_of_all_partitions_most_of_the_time(n_rows, draw_set):
    rng = np.random.default_rng(n_rows)
    partitions = all_partitions(n_rows)
    n_best = 0
    for _ in range(12):
        draws = draw_set(rng, int(rng.integers(2, 9)), n_rows)
        least = min(expected_variation_of_information(labels, draws) for labels in partitions)
        found = point_estimate(draws, random_state=0)
        assert found.expected_distance >= least - 1e-12
        n_best += found.expected_distance < least + 1e-9
    assert n_best >= 11


@given(draws_of_partitions(most_rows=9), st.integers(0, 100))
def test_is_never_worse_than_a_draw_and_says_its_distance(draws, seed):
    found = point_estimate(draws, random_state=seed)
    of_draws = [expected_variation_of_information(draw, draws) for draw in draws]
    assert found.expected_distance == pytest.approx(
        expected_variation_of_information(found.labels, draws), abs=1e-12
    )
    assert found.expected_distance <= min(of_draws) + 1e-12
    start = point_estimate(draws, max_iter=0)
    assert start.expected_distance == pytest.approx(min(of_draws), abs=1e-12)


@given(st.integers(0, 1_000))
def test_every_pass_helps(seed):
    draws = noisy_draws(np.random.default_rng(seed), 5, 40, 6, 0.5)
    distances = [
        point_estimate(draws, max_iter=n, random_state=seed).expected_distance for n in (0, 1, 2, 3, 100)
    ]
    assert distances == sorted(distances, reverse=True)
    assert distances[1] < distances[0]


def test_finds_what_all_draws_are_noisy_about():
    rng = np.random.default_rng(0)
    truth = rng.permutation(np.repeat(np.arange(4), 100))
    draws = np.where(rng.random((40, 400)) < 0.2, rng.integers(0, 4, (40, 400)), truth)
    found = point_estimate(draws, random_state=0)
    assert variation_of_information(found.labels, truth) < 0.02
    assert found.expected_distance < min(expected_variation_of_information(draw, draws) for draw in draws[:5])


def test_labels_count_up_in_order_of_first_appearance():
    found = point_estimate(noisy_draws(np.random.default_rng(1), 8, 60, 5), random_state=0)
    assert found.labels.dtype == np.int32
    assert_array_equal(found.labels, by_first_appearance(found.labels))


def test_equal_draws_are_their_own_estimate():
    labels, distance = point_estimate([[4, -3, 4, 0]] * 3)
    assert labels.tolist() == [0, 1, 0, 2]
    assert distance == 0.0
    assert point_estimate([[7]]) == ([0], 0.0)


def test_the_seed_decides_and_names_of_labels_do_not():
    rng = np.random.default_rng(2)
    draws = noisy_draws(rng, 10, 80, 5, 0.5)
    found = point_estimate(draws, random_state=3)
    again = point_estimate(renamed(draws, rng), random_state=np.random.default_rng(3))
    assert_array_equal(found.labels, again.labels)
    assert found.expected_distance == again.expected_distance


def test_rows_that_no_draw_parts_stay_together():
    draws = np.repeat(noisy_draws(np.random.default_rng(4), 6, 15, 4, 0.6), 3, axis=1)
    labels = point_estimate(draws, random_state=0).labels
    assert (labels.reshape(15, 3) == labels[::3, None]).all()
    found = atoms(as_draws(draws, "test"))
    assert_array_equal(found.codes[:, found.of_row], as_draws(draws, "test"))
    assert found.weights.tolist() == [3] * 15


def test_many_draws_start_from_some_of_them():
    draws = noisy_draws(np.random.default_rng(5), 80, 12, 3, 0.4)
    start = point_estimate(draws, max_iter=0)
    of_draws = [expected_variation_of_information(draw, draws) for draw in draws]
    assert min(of_draws) - 1e-12 <= start.expected_distance <= np.quantile(of_draws, 0.2)


@pytest.mark.parametrize("wrong", [{"max_iter": -1}, {"max_iter": 2.0}, {"random_state": "seed"}])
def test_parameters_have_rules(wrong):
    [name] = wrong
    with pytest.raises(ParameterError, match=f"'{name}' of point_estimate must be"):
        point_estimate([[0, 0]], **wrong)
