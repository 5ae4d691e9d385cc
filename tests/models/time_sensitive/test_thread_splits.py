"""Moves that cut and join clusters leave the posterior as it is: all partitions and all draws are enumerated."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from split_moves import by_metropolis_hastings, check_balance, moves_of, posterior_of, transitions
from thread_cases import FAMILIES, RULES, all_partitions, chains_of, setting

from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import building, equations, split_kernels
from sparsemix.models.time_sensitive.engine import Chain

N_ROWS = 5
CASES = [("multinomial", *rule) for rule in RULES] + [
    ("bernoulli", "exponential", False),
    ("bernoulli", "step", False),
]
cases = pytest.mark.parametrize(("family", "kernel", "strict"), CASES)


def without_the_proposal(splits, _log_q, ratio):
    return np.exp(min(0.0, ratio if splits else -ratio))


@cases
def test_moves_leave_the_posterior_as_it_is(family, kernel, strict):
    case, partitions = setting(family, kernel, strict=strict), all_partitions(N_ROWS)
    posterior = posterior_of(case, partitions)
    for pair in ((0, 1), (3, 1), (1, 4)):
        check_balance(posterior, transitions(case, partitions, *pair, by_metropolis_hastings))


def test_a_wrong_acceptance_would_be_seen():
    case, partitions = setting(), all_partitions(N_ROWS)
    posterior = posterior_of(case, partitions)
    matrix = transitions(case, partitions, 0, 3, without_the_proposal)
    assert np.abs(posterior @ matrix - posterior).max() > 1e-3


@cases
def test_ratios_are_those_of_the_equations(family, kernel, strict):
    case = setting(family, kernel, strict=strict)
    for labels in all_partitions(N_ROWS):
        whole = equations.log_joint(case.prior, case.dense, case.logs, labels)
        if np.isneginf(whole) or labels[1] != labels[3]:
            continue
        moves = list(moves_of(case, labels, 1, 3))
        assert_allclose(sum(np.exp(log_q) for _, log_q, _ in moves), 1.0, rtol=1e-12)
        for moved, _, ratio in moves:
            cut = equations.log_joint(case.prior, case.dense, case.logs, moved)
            assert_allclose(ratio, cut - whole, rtol=1e-10, atol=1e-11)


@cases
def test_moves_are_accepted_just_as_often_as_the_ratio_says(family, kernel, strict):
    case = setting(family, kernel, strict=strict)
    rng, n_tried = np.random.default_rng(0), 0
    for labels in all_partitions(N_ROWS):
        if np.isneginf(equations.log_prior(case.logs, labels, case.prior.concentration)):
            continue
        draws = rng.random(N_ROWS)
        proposed = tuple(landing(case, labels, draws, 1e-300))
        for moved, log_q, ratio in moves_of(case, labels, 0, 2):
            chance = by_metropolis_hastings(labels[0] == labels[2], log_q, ratio)
            if tuple(by_first_appearance(moved)) != proposed or not 1e-200 < chance < 1.0 - 1e-5:
                continue
            n_tried += 1
            assert tuple(landing(case, labels, draws, chance * 0.999999)) == proposed
            assert tuple(landing(case, labels, draws, chance * 1.000001)) == tuple(labels)
    assert n_tried >= 5


def landing(case, labels, draws, uniform):
    """Partition after a proposal, as labels in the order of first appearance; chains must stay whole."""
    chains = chains_of(case, labels)
    pairs, uniforms = np.array([[0, 2]]), np.array([uniform])
    state = (case.rows, case.prior, case.timing, chains)
    n_done, _ = split_kernels.split_and_merge(*state, pairs, uniforms, draws, building.no_halves(case.rows))
    assert n_done == 1
    again = chains_of(case, by_first_appearance(chains.assigned).astype(np.int64))
    for name in ("before", "after", "weight"):
        assert_allclose(getattr(chains, name), getattr(again, name), rtol=1e-12)
    return by_first_appearance(chains.assigned)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_whole_sweeps_visit_partitions_as_often_as_the_posterior_says(family):
    case, partitions = setting(family), all_partitions(N_ROWS)
    posterior = posterior_of(case, partitions)
    chain = Chain(case.rows, case.prior, case.timing, 1.0, np.random.default_rng(0))
    chain.start(np.full(N_ROWS, -1))
    number = {tuple(each): k for k, each in enumerate(partitions)}
    seen = np.zeros(len(partitions))
    for _ in range(30_000):
        assert chain.sweep().n_clusters
        seen[number[tuple(by_first_appearance(chain.assigned))]] += 1
    assert 0.5 * np.abs(seen / seen.sum() - posterior).sum() < 0.025


def test_moves_wait_for_draws_when_these_are_used_up():
    case = setting()
    chains = chains_of(case, np.zeros(N_ROWS, int))
    pairs, uniforms = np.array([[0, 1]] * 3), np.full(3, 1.0)
    state = (case.rows, case.prior, case.timing, chains)
    n_done, _ = split_kernels.split_and_merge(
        *state, pairs, uniforms, np.full(7, 0.5), building.no_halves(case.rows)
    )
    assert n_done < 3
    assert building.no_clusters(3).n_free[0] == 3
