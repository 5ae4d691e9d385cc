"""Six rows, with ties in time: every move leaves the posterior over all 203 partitions as it is.

Those of all kernels, families, rules of ties and pairs of rows: ``pytest -m slow tests/models/time_sensitive``.
"""

import itertools

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from split_moves import by_metropolis_hastings, check_balance, posterior_of, transitions
from stream_cases import rows_of, stream_of
from thread_cases import (
    FAMILIES,
    KERNELS,
    RULES,
    SIX,
    SIX_TIMES,
    all_partitions,
    compiled_conditional,
    setting,
)

from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import window_kernels

PARTITIONS = all_partitions(6)
NUMBER = {tuple(each): k for k, each in enumerate(PARTITIONS)}


def case_of(family, kernel, strict=False):
    return setting(family, kernel, SIX, SIX_TIMES, strict=strict)


def visits(posterior, row, conditional):
    """Matrix of a visit to a row, from the shares of the clusters that it may join; -1 is a new one."""
    matrix = np.zeros((203, 203))
    for k in np.flatnonzero(posterior):
        for cluster, log_share in zip(*conditional(PARTITIONS[k], row), strict=True):
            moved = PARTITIONS[k].copy()
            moved[row] = cluster if cluster >= 0 else 6
            matrix[k, NUMBER[tuple(by_first_appearance(moved))]] += np.exp(log_share)
    return matrix


def check_visits(case, conditional, rows=range(6)):
    posterior = posterior_of(case, PARTITIONS)
    for row in rows:
        matrix = visits(posterior, row, conditional)
        assert_allclose(matrix[posterior > 0].sum(axis=1), 1.0, rtol=1e-12)
        check_balance(posterior, matrix)


@pytest.mark.parametrize("kernel", KERNELS)
def test_visits_leave_the_posterior_as_it_is(kernel):
    case = case_of("multinomial", kernel)
    check_visits(case, lambda labels, row: compiled_conditional(case, labels, row), rows=(2, 4))


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "strict"), RULES)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_visits_leave_the_posterior_as_it_is(family, kernel, strict):
    case = case_of(family, kernel, strict)
    check_visits(case, lambda labels, row: compiled_conditional(case, labels, row))


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "strict"), RULES)
@pytest.mark.parametrize("family", FAMILIES)
def test_all_cuts_and_joins_leave_the_posterior_as_it_is(family, kernel, strict):
    case = case_of(family, kernel, strict)
    posterior = posterior_of(case, PARTITIONS)
    for pair in [*itertools.combinations(range(6), 2), (4, 1), (5, 0)]:
        check_balance(posterior, transitions(case, PARTITIONS, *pair, by_metropolis_hastings))


@pytest.mark.slow
@pytest.mark.parametrize("kernel", ["exponential", "step"])
@pytest.mark.parametrize("family", FAMILIES)
def test_all_visits_in_the_window_of_a_stream_leave_the_posterior_as_it_is(family, kernel):
    case = case_of(family, kernel)

    def conditional(labels, row):
        stream, slots = stream_of(case, labels, 6)
        rows = rows_of(case.dense, case.timing.times)
        state = (stream.rules, stream.clusters, stream.cells)
        window_kernels.take_out(rows, row, *state, slots[row])
        n = window_kernels.score_again(rows, row, *state, slots, *np.empty((3, stream.clusters.ids.size)))
        scores = stream.clusters.scores[:n]
        # Ids are given in the order of the labels.
        return [*stream.clusters.ids[stream.active][: n - 1], -1], scores - logsumexp(scores)

    check_visits(case, conditional)
