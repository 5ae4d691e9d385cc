"""Small streams for the tests of `StreamingTimeSensitiveMixture`, in the forms of the equations and of the kernels."""

import numpy as np
from scipy import sparse

from sparsemix.models.time_sensitive import stream_kernels, window_kernels
from sparsemix.models.time_sensitive.stream import Stream, stream_rows
from sparsemix.models.time_sensitive.stream_state import StreamRules


def threads(n_rows, rng, n_features=12, length=6):
    """Counts of threads that come and go, and their times, with ties."""
    times = np.cumsum(np.round(rng.exponential(1.0, n_rows), 1))
    topic = (times // 15).astype(int) + rng.integers(3, size=n_rows)
    centre = np.random.default_rng(1).dirichlet(np.full(n_features, 0.3), topic.max() + 1)
    return np.array([rng.multinomial(length, centre[t]) for t in topic]), times


def rules_of(prior, rate, *, assignment=0, is_held=1, negligible=1e-12):
    """Rules that say what a prior of the equations says."""
    log_least = np.log(negligible) + np.log(prior.concentration)
    numbers = (prior.family, prior.concentration, prior.a, prior.b, prior.n_features, rate, log_least)
    return StreamRules(*numbers, assignment, is_held)


def rows_of(dense, times):
    return stream_rows(sparse.csr_array(np.asarray(dense, np.int64)), np.asarray(times, float))


def stream_of(case, labels, n_window):
    """A stream after all rows of a case, with given clusters, that may still move the last `n_window` rows."""
    stream = Stream(rules_of(case.prior, case.timing.rate), n_window, 0)
    rows = rows_of(case.dense, case.timing.times)
    slots, slot_of = np.empty(labels.size, np.int64), {}
    for row, label in enumerate(labels):
        if label not in slot_of:
            slot_of[label] = stream_kernels.open_cluster(stream.clusters, rows.times[row])
        slots[row] = slot_of[label]
        stream_kernels.learn(rows, row, stream.rules, stream.clusters, stream.cells, slots[row], 1.0)
        stream.clusters.in_window[slots[row]] += 1
    stream._hold(rows, slots)
    window_kernels.retire(rows, labels.size - n_window, stream.rules, stream.clusters, slots)
    return stream, slots
