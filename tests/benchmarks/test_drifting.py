"""Streams for the benchmark of one pass: clusters live for a while and move, orders are what they say."""

import numpy as np
import pytest

from harness.drifting import CHARACTERISTIC, drifting_clusters, in_order


def test_clusters_live_for_a_while_and_change():
    rows, clusters = drifting_clusters(8_000, 600, 20, seed=0)
    assert rows.shape == (8_000, 600)
    assert set(rows.data) == {1.0}
    for k in np.unique(clusters)[5:8]:
        seen = np.flatnonzero(clusters == k)
        assert seen[-1] - seen[0] < 0.62 * 8_000
        parts = np.array_split(seen, 8)
        early, late = (rows[part].mean(axis=0) for part in (parts[0], parts[-1]))
        assert np.sum(np.abs(early - late) > 0.08) > CHARACTERISTIC / 4


@pytest.mark.parametrize("kind", ["sorted", "clutter first"])
def test_unkind_orders(kind):
    clusters = np.random.default_rng(0).integers(-1, 4, 400)
    ordered = clusters[in_order(kind, clusters, seed=0)]
    assert np.all(np.diff(ordered[ordered >= 0]) >= 0)
    first_clutter = np.flatnonzero(ordered < 0)[: np.sum(ordered < 0) // 2]
    assert (first_clutter.max() < 60) == (kind == "clutter first")


def test_shuffled_rows_stay_as_they_are():
    assert in_order("shuffled", np.array([2, -1, 0]), seed=0).tolist() == [0, 1, 2]
