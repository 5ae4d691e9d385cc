"""What rounds on a cluster cost, as the benchmark works it out."""

import numpy as np
import pytest

from harness.cluster_costs import BYTES_PER_ENTRY, Costs, changed_entries, most_workers, round_of
from sparsemix import OnlineBernoulliMixture
from sparsemix.models.online_profiles import deltas

COSTS = Costs(rows_per_second=10_000.0, seconds_per_entry=1e-7, link=1e9)


def test_the_parts_of_a_round():
    found = round_of(COSTS, n_workers=10, rows_per_worker=50_000, entries=1e6, explicit=1e6)
    assert found.learning == 5.0
    assert found.messages == pytest.approx(10 * 1e6 * BYTES_PER_ENTRY / 1e9)
    assert found.adding == pytest.approx(1.0)
    assert found.seconds == pytest.approx(sum(found))


def test_a_join_takes_as_long_as_the_learning_with_the_most_workers():
    n_workers = most_workers(COSTS, 50_000, 1e6)
    found = round_of(COSTS, n_workers, 50_000, 1e6, 1e6)
    assert found.messages + found.adding == pytest.approx(found.learning)
    assert found.share_of_join < 0.5


def test_entries_of_a_message_are_foreseen_from_the_posterior():
    rng = np.random.default_rng(0)
    profiles = np.where(rng.random((4, 80)) < 0.2, 0.4, 0.01)
    rows = (rng.random((4_000, 80)) < profiles[rng.integers(4, size=4_000)]).astype(float)
    model = OnlineBernoulliMixture(4, priming_rows=500, random_state=0).fit(rows[:3_000])
    start = model._learner.begin_round(2)
    block = next(model._rows(rows[3_000:3_040]).blocks())
    message = deltas.child(start, block, np.full(40, -1), 80, model._learner.settings)
    assert changed_entries(start.posterior, 80, 40) == pytest.approx(message.feature.size, rel=0.3)
