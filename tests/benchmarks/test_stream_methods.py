from itertools import combinations

import numpy as np
import pytest
from scipy.sparse import csr_array

from harness.stream_methods import pair_f1, slices, told_by_time
from harness.stream_settings import Settings, climb, foreseen
from harness.streams import Stream
from sparsemix.models.time_sensitive import TimeKernel, building, equations


def a_stream(threads=(0, 1, 0, 1, 2, 2, 0, 3), seed=0):
    rng = np.random.default_rng(seed)
    rows = csr_array(rng.integers(1, 4, size=(len(threads), 3)).astype(float))
    return Stream(rows, np.sort(rng.random(len(threads))) * 10.0, np.array(threads))


def test_pair_f1_counts_pairs():
    rng = np.random.default_rng(1)
    threads, labels = rng.integers(3, size=(2, 20))
    pairs = [(threads[i] == threads[j], labels[i] == labels[j]) for i, j in combinations(range(20), 2)]
    both, gold, found = np.sum([(a and b, a, b) for a, b in pairs], axis=0)
    assert pair_f1(threads, labels) == pytest.approx(2.0 * both / (gold + found))


def test_slices_are_as_many_as_threads_and_equally_large():
    assert slices(a_stream()).tolist() == [0, 0, 1, 1, 2, 2, 3, 3]


def test_gain_by_time_is_the_difference_of_the_best_priors():
    stream = a_stream()
    told = told_by_time(stream)
    kernels = TimeKernel.exponential(np.log(2.0) / told.half_life), TimeKernel.step()
    alphas = told.concentration, told.step_concentration
    timed, untimed = (
        equations.log_prior(equations.log_weight_matrix(kernel, stream.times), stream.threads, alpha)
        for kernel, alpha in zip(kernels, alphas, strict=True)
    )
    assert told.gain * stream.times.size == pytest.approx(timed - untimed)


def test_texts_are_foreseen_from_those_before_them():
    """With so small a concentration all rows are in one cluster."""
    stream, settings = a_stream(), Settings(0.3, 1e-9, None)
    rows = stream.rows.toarray().astype(int)
    prior = building.prior_of(building.rows_of(stream.rows, np.arange(8)), 3, "multinomial", 1e-9, 0.3, 1.0)
    expected = sum(equations.log_predictive(prior, rows[:row], rows[row]) for row in range(1, 8))
    assert foreseen(stream, settings) == pytest.approx(expected, rel=1e-6)


def test_climbing_finds_the_best_of_each_number():
    best, quality = climb(
        Settings(0.1, 1.0, 5.0),
        {"smoothing": (0.1, 0.2, 0.3), "concentration": (1.0, 2.0, 3.0), "half_life": (5.0, 6.0)},
        lambda one: -((one.smoothing - 0.3) ** 2) - (one.concentration - 2.0) ** 2 + one.half_life,
    )
    assert best == Settings(0.3, 2.0, 6.0)
    assert quality == pytest.approx(6.0)


def test_climbing_stays_where_nothing_is_better():
    begun = Settings(0.1, 1.0, None)
    assert climb(begun, {"smoothing": (0.2,)}, lambda one: -one.smoothing) == (begun, -0.1)
