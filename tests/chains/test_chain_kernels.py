"""Every kernel equals its slow twin, compiled and plain."""

import numpy as np
import pytest
from chain_cases import MODES, as_mode, draws_of_partitions
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_array_equal
from scipy import sparse
from scipy.special import xlogy

from sparsemix.chains import equations, kernels
from sparsemix.chains.grouping import cluster_bounds
from sparsemix.chains.inputs import as_draws, by_first_appearance

modes = pytest.mark.parametrize("mode", MODES)
seeds = st.integers(0, 1_000)


class Tables:
    """A partition and its contingency tables with draws, rows of weight one or more."""

    def __init__(self, codes, clusters, weights):
        self.codes, self.clusters, self.weights = codes, clusters, weights
        self.draws = np.ascontiguousarray(codes.T)
        n_draws, n_rows = codes.shape
        starts = cluster_bounds(codes) + np.arange(n_draws)[:, None] * n_rows
        n_cells = np.zeros((n_draws, starts.shape[1] - 1), np.int32)
        self.cells = (starts, n_cells, np.zeros(codes.size, np.int32), np.zeros(codes.size, np.int32))
        self.sizes = np.bincount(clusters, weights, minlength=n_rows).astype(np.int64)
        numbers = np.arange(weights.sum() + 1)
        self.x_log_x = xlogy(numbers, numbers)

    def fill(self, mode):
        order = np.argsort(self.clusters, kind="stable")
        as_mode(kernels.fill_cells, mode)(order, self.clusters, self.draws, self.weights, *self.cells)
        return self

    def sweep(self, mode, order):
        return as_mode(kernels.sweep, mode)(
            np.asarray(order),
            self.draws,
            self.weights,
            self.x_log_x,
            1e-12,
            *self.cells,
            self.sizes,
            self.clusters,
            np.zeros(self.sizes.size),
            np.empty(self.sizes.size, np.int32),
            np.zeros(self.sizes.size, np.bool_),
            np.empty(self.sizes.size, np.int32),
        )

    def as_dict(self):
        """Rows in each cell: (draw, cluster of the draw, cluster of the partition)."""
        starts, n_cells, clusters, counts = self.cells
        return {
            (d, own, int(clusters[at])): int(counts[at])
            for d, own in np.ndindex(n_cells.shape)
            for at in range(starts[d, own], starts[d, own] + n_cells[d, own])
        }

    def expected_dict(self):
        found: dict[tuple[int, int, int], int] = {}
        for (d, row), own in np.ndenumerate(self.codes):
            cell = (d, int(own), int(self.clusters[row]))
            found[cell] = found.get(cell, 0) + int(self.weights[row])
        return found

    def distance(self):
        """Expected variation of information, each row as often as it weighs."""
        return equations.expected_variation_of_information(
            np.repeat(self.clusters, self.weights), np.repeat(self.codes, self.weights, axis=1)
        )


def tables_of(draws, seed):
    rng = np.random.default_rng(seed)
    codes = as_draws(draws, "test")
    clusters = by_first_appearance(rng.integers(0, 4, codes.shape[1]))
    return Tables(codes, clusters, rng.integers(1, 4, codes.shape[1]))


@modes
@given(draws=draws_of_partitions(), fewest=st.integers(1, 3))
def test_pairs(mode, draws, fewest):
    codes = as_draws(draws, "test")
    n_draws, n_rows = codes.shape
    rows = (
        np.ascontiguousarray(codes.T),
        cluster_bounds(codes),
        np.argsort(codes, axis=1, kind="stable").astype(np.int32),
    )
    expected = equations.co_clustering(draws)
    expected[expected < (fewest - 0.5) / n_draws] = 0.0
    np.fill_diagonal(expected, 1.0)
    sizes = np.zeros(n_rows, np.int64)
    n_pairs = as_mode(kernels.count_pairs, mode)(*rows, fewest, 1_000, sizes)
    assert 2 * n_pairs + n_rows == np.count_nonzero(expected)
    assert_array_equal(sizes, np.count_nonzero(expected, axis=1) - 1)
    indptr = np.concatenate([[0], np.cumsum(sizes + 1)])
    columns, shared, cursors = np.zeros(indptr[-1], np.int32), np.zeros(indptr[-1]), indptr[:-1].copy()
    as_mode(kernels.fill_pairs, mode)(*rows, fewest, cursors, columns, shared)
    assert_array_equal(cursors, indptr[1:])
    assert_array_equal(
        sparse.csr_array((shared / n_draws, columns, indptr), (n_rows, n_rows)).toarray(), expected
    )


@modes
def test_counting_stops_above_the_limit(mode):
    codes = np.zeros((1, 100), np.int32)
    rows = (codes.T.copy(), cluster_bounds(codes), np.arange(100, dtype=np.int32)[None])
    assert as_mode(kernels.count_pairs, mode)(*rows, 1, 10, np.zeros(100, np.int64)) == 99


@modes
@given(draws=draws_of_partitions(), seed=seeds)
def test_joint_terms(mode, draws, seed):
    tables = tables_of(draws, seed)
    members = np.argsort(tables.clusters, kind="stable")
    bounds = cluster_bounds(tables.clusters[None])[0]
    known = (members, bounds, tables.codes, tables.weights, tables.x_log_x)
    scratch = (np.zeros(members.size, np.int64), np.empty(members.size, np.int32))
    found = as_mode(kernels.joint_terms, mode)(*known, *scratch)
    cells = np.array(list(tables.expected_dict().values()))
    assert found == pytest.approx(xlogy(cells, cells).sum(), abs=1e-9)


@modes
@given(draws=draws_of_partitions(), seed=seeds)
def test_cells_and_moves_keep_the_contingency_tables(mode, draws, seed):
    tables = tables_of(draws, seed).fill(mode)
    assert tables.as_dict() == tables.expected_dict()
    rng = np.random.default_rng(seed)
    for row in rng.integers(0, tables.clusters.size, 10):
        source, target = tables.clusters[row], rng.integers(tables.clusters.size)
        if source != target:
            as_mode(kernels.move_row, mode)(
                row, source, target, tables.draws, tables.weights[row], *tables.cells
            )
            tables.clusters[row] = target
        assert tables.as_dict() == tables.expected_dict()


@modes
@given(draws=draws_of_partitions(most_draws=4), seed=seeds)
def test_a_row_goes_where_the_distance_is_least(mode, draws, seed):
    tables = tables_of(draws, seed).fill(mode)
    for row in range(tables.clusters.size):
        before = tables.clusters.copy()
        distances = []
        for labels in equations.single_moves(before, row):
            tables.clusters = labels
            distances.append(tables.distance())
        tables.clusters = before
        stayed = tables.distance()
        moved = tables.sweep(mode, [row])
        assert tables.distance() == pytest.approx(min(distances), abs=1e-9)
        assert moved == (stayed > min(distances) + 1e-9)


@modes
@given(draws=draws_of_partitions(), seed=seeds)
def test_sweeps_keep_tables_and_sizes_and_end(mode, draws, seed):
    tables = tables_of(draws, seed).fill(mode)
    rng = np.random.default_rng(seed)
    distance = tables.distance()
    for _ in range(50):
        moved = tables.sweep(mode, rng.permutation(tables.clusters.size))
        assert tables.as_dict() == tables.expected_dict()
        expected_sizes = np.bincount(tables.clusters, tables.weights, minlength=tables.sizes.size)
        assert_array_equal(tables.sizes, expected_sizes)
        assert tables.distance() < distance if moved else tables.distance() == pytest.approx(distance)
        distance = tables.distance()
        if not moved:
            return
    pytest.fail("rows move for ever")
