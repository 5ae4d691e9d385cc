"""The start by leader clustering: the kernel does what the equations say, and the start is one for any table."""

import numpy as np
import pytest
from gibbs_cases import PRIORS, setting
from numpy.testing import assert_array_equal

import sparsemix as sm
from sparsemix.models.hashed_gibbs import equations, leading
from sparsemix.models.hashed_gibbs.leader_kernels import LONG_LIST, lead
from sparsemix.models.hashed_gibbs.state import Leaders


def led_by_kernel(case, base, n_places, order):
    rows = case.rows
    starts = np.concatenate([[0], np.cumsum(rows.n_rows_with)])
    n_cells = rows.columns.size
    whole = [np.empty(n_cells, np.int32), np.empty(n_cells, np.int32)]
    leaders = Leaders(
        starts[:-1], np.zeros(rows.n_rows_with.size, np.int64), *whole, np.empty(n_cells, np.float32)
    )
    assigned = np.full(rows.lengths.size, -1)
    return lead(rows, case.prior, base, n_places, order, leaders, assigned), assigned


def topics(rng, n_rows, n_topics, own=4, common=10):
    """Rows of five own words and three that all rows have, and their topics."""
    truth = rng.integers(n_topics, size=n_rows)
    dense = np.zeros((n_rows, n_topics * own + common), int)
    for row, topic in enumerate(truth):
        np.add.at(dense[row], own * topic + rng.integers(own, size=5), 1)
        np.add.at(dense[row], own * n_topics + rng.integers(common, size=3), 1)
    return dense, truth


@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("n_places", [1, 4, 60])
def test_the_kernel_is_the_equation(process, n_places):
    rng = np.random.default_rng(n_places)
    dense, _ = topics(rng, 60, 6)
    dense[7] = 0
    case, order = setting("multinomial", process, dense, 10), rng.permutation(60)
    base = 0.3 * dense.sum(axis=0) / 60
    n_live, assigned = led_by_kernel(case, base, n_places, order)
    assert_array_equal(assigned, equations.leaders(case.prior, dense, base, n_places, order, LONG_LIST))
    assert n_live == assigned.max() + 1
    assert assigned[7] == -1


def test_features_of_long_lists_say_nothing():
    n_rows = LONG_LIST + 40
    dense = np.hstack([np.eye(n_rows, dtype=int), np.ones((n_rows, 1), int)])
    dense = np.vstack([dense, dense[0] * 0 + np.eye(n_rows + 1, dtype=int)[-1]])  # the last has nothing else
    case, order = setting("multinomial", "finite", dense, 10), np.arange(n_rows + 1)
    base = dense.sum(axis=0) / n_rows
    _, assigned = led_by_kernel(case, base, 4 * n_rows, order)
    assert_array_equal(assigned, equations.leaders(case.prior, dense, base, 4 * n_rows, order, LONG_LIST))
    assert assigned[-1] == -1


@pytest.mark.parametrize("n_clusters", [1, 30, 400])
def test_no_more_clusters_than_may_be_and_the_largest_first(n_clusters):
    rng = np.random.default_rng(3)
    dense, truth = topics(rng, 300, 20)
    case = setting("multinomial", "finite", dense, n_clusters)
    assigned = leading.led(case.rows, case.prior, n_clusters, rng.permutation(300))
    sizes = np.bincount(assigned[assigned >= 0])
    assert sizes.size <= n_clusters
    assert np.all(np.diff(sizes) <= 0)
    assert np.all(sizes > 0)
    if n_clusters > 1:
        known = assigned >= 0
        assert sm.metrics.adjusted_rand(truth[known], assigned[known]) > 0.8


@pytest.mark.parametrize("family", ["multinomial", "bernoulli", "poisson"])
@pytest.mark.parametrize("process", ["finite", "dp"])
def test_topics_of_short_rows_are_found_at_once(family, process):
    dense, truth = topics(np.random.default_rng(4), 600, 40)
    rows = np.minimum(dense, 1) if family == "bernoulli" else dense
    chosen = {"family": family, "process": process, "n_sweeps": 3, "burn_in": 2, "thin": 1, "random_state": 0}
    model = sm.HashedGibbsMixture(60, **chosen).fit(rows)
    assert sm.metrics.adjusted_rand(truth, model.labels_) > 0.9


@pytest.mark.parametrize("rows", [[[0, 0], [0, 0]], [[1, 0]], [[5, 5], [5, 5], [5, 5]]])
def test_rows_that_cannot_be_told_apart_enter(rows):
    model = sm.HashedGibbsMixture(2, n_sweeps=2, burn_in=1, random_state=0).fit(np.array(rows))
    assert model.labels_.size == len(rows)
