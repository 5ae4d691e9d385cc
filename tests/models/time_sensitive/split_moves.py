"""Moves that cut and join clusters, enumerated: all partitions, all draws, and how probable each is."""

import itertools

import numpy as np
from numpy.testing import assert_allclose
from scipy.special import logsumexp
from thread_cases import chains_of
from thread_entries import collect, log_q_of_sides, log_split_ratio

from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import building, equations


def posterior_of(case, partitions):
    joints = np.array([equations.log_joint(case.prior, case.dense, case.logs, each) for each in partitions])
    return np.exp(joints - logsumexp(joints))


def moves_of(case, labels, first, second):
    """Partitions that a pair may lead to, each with the log of its proposal and the log ratio of cut to whole."""
    halves, chains = building.no_halves(case.rows), chains_of(case, labels)
    members, side = halves.members, halves.side
    own, other = labels[first], labels[second]
    n = collect(chains, own, -1 if own == other else other, members)
    taken = [row for row in members[:n] if row not in (first, second)]
    for sides in itertools.product((0, 1), repeat=len(taken)):
        cut = dict(zip(taken, sides, strict=True)) | {first: 0, second: 1}
        side[:n] = [cut[row] for row in members[:n]]
        if own != other and not np.array_equal(side[:n], labels[members[:n]] != own):
            continue
        state = (case.rows, case.prior, case.timing, halves, n)
        rates = (0, 0)
        log_q = log_q_of_sides(*state, first, second, rates)
        ratio = log_split_ratio(*state, rates)
        assert not halves.counts.any()
        moved = labels.copy()
        moved[members[:n]] = labels.max() + 1 + side[:n] if own == other else own
        yield moved, log_q, ratio


def transitions(case, partitions, first, second, accept):
    """Matrix of one move for a pair of rows."""
    number = {tuple(each): k for k, each in enumerate(partitions)}
    matrix = np.zeros((len(partitions), len(partitions)))
    possible = np.flatnonzero(posterior_of(case, partitions))
    for k in possible:
        labels = partitions[k]
        for moved, log_q, ratio in moves_of(case, labels, first, second):
            splits = labels[first] == labels[second]
            chance = np.exp(log_q) if splits else 1.0
            matrix[k, number[tuple(by_first_appearance(moved))]] += chance * accept(splits, log_q, ratio)
        matrix[k, k] += 1.0 - matrix[k].sum()
    return matrix


def by_metropolis_hastings(splits, log_q, ratio):
    return np.exp(min(0.0, (ratio - log_q) if splits else (log_q - ratio)))


def check_balance(posterior, matrix):
    """Moves are reversible, leave the posterior as it is, and some are made."""
    flow = posterior[:, None] * matrix
    assert matrix.min() >= -1e-12
    assert_allclose(posterior @ matrix, posterior, rtol=0, atol=1e-10)
    assert_allclose(flow, flow.T, rtol=0, atol=1e-10)
    assert matrix[posterior > 0].max(axis=0).sum() > 1.0
