"""Samplers leave the posterior as it is: every state of tiny tables is enumerated."""

import numpy as np
import pytest
from gibbs_cases import FAMILIES, PRIORS, TINY, all_assignments, clusters_of, setting
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from sparsemix.models.hashed_gibbs import (
    draw_kernels,
    equations,
    exact_kernels,
    hash_kernels,
    index_kernels,
)
from sparsemix.models.hashed_gibbs.kernels import log_target
from sparsemix.models.hashed_gibbs.signatures import HashForm, signatures_of

PROPOSALS = ("exact", "index", "hash", "raw hash")
BUDGET = 4  # entries of the index


class Machine:
    """One kind of proposal on one setting: its probabilities in any state."""

    def __init__(self, case, proposal, n_bits=64):
        self.case, self.proposal = case, proposal
        start = clusters_of(case, np.arange(case.dense.shape[0]) % case.n_clusters)
        form = HashForm(n_bits, is_raw=proposal == "raw hash", miss=0.5, tempering=0.8)
        self._frozen = signatures_of(case.rows, case.prior, start, form, np.random.default_rng(0))

    def log_target(self, clusters, assigned, row):
        own = int(assigned[row])
        return np.array(
            [
                log_target(self.case.rows, row, self.case.prior, clusters, k, own)
                for k in range(self.case.n_clusters)
            ]
        )

    def log_proposal(self, clusters, assigned, row):
        own, n_clusters = int(assigned[row]), self.case.n_clusters
        rows, prior, scores = self.case.rows, self.case.prior, np.empty(n_clusters)
        if self.proposal == "index":
            work = index_kernels.workspace(rows, prior, clusters)
            n, total, top = index_kernels.propose(rows, row, BUDGET, prior, clusters, own, work)
            return np.array(
                [index_kernels.log_share(clusters, own, k, n, total, top, work) for k in range(n_clusters)]
            )
        if self.proposal == "exact":
            work, scores = np.empty((2, n_clusters + 1), np.float32), np.empty(n_clusters + 1, np.float32)
            exact_kernels.score_all(rows, row, prior, clusters, own, *work, scores, np.empty(4))
            scores = scores[:-1]
        else:
            hashed = self.signatures(clusters)
            n_words = hashed.bits.shape[1]
            products, bits = np.zeros(64 * n_words, np.int32), np.zeros(n_words, np.uint64)
            constant = np.empty(4)
            norm = hash_kernels.own_without(rows, row, prior, clusters, hashed, own, products, bits, constant)
            hash_kernels.score_by_bits(rows, row, prior, clusters, hashed, own, norm, bits, constant, scores)
        weights = np.empty(n_clusters, np.float32)
        draw_kernels.weigh(scores, exact_kernels.FLOOR, weights, np.empty(n_clusters))
        log_weights = np.log(weights.astype(float))
        return log_weights - logsumexp(log_weights)

    def signatures(self, clusters):
        """Those of a state, from the directions, scales and rows that are the same for all states."""
        mutable = ("products", "squares", "sums", "bits", "norms")
        fresh = {name: np.zeros_like(getattr(self._frozen, name)) for name in mutable}
        hashed = self._frozen._replace(**fresh)
        hash_kernels.project_clusters(self.case.prior, clusters, hashed)
        return hashed

    def sweep(self, clusters, assigned, row, uniforms):
        """Visit one row as the samplers do; `clusters` and `assigned` change."""
        state = (self.case.rows, self.case.prior, clusters)
        visit = (np.array([row]), assigned, np.array([uniforms]), np.zeros(3, np.int64))
        if self.proposal == "index":
            index_kernels.sweep_index(*state, BUDGET, *visit)
        elif self.proposal == "exact":
            exact_kernels.sweep_exact(*state, *visit)
        else:
            hash_kernels.sweep_hash(*state, self.signatures(clusters), *visit)


def transitions(machine, states, row, log_acceptance=equations.log_acceptance):
    """Matrix of one visit to a row, from the kernels' proposals and targets."""
    number = {tuple(each): i for i, each in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, assigned in enumerate(states):
        clusters = clusters_of(machine.case, assigned)
        target = machine.log_target(clusters, assigned, row)
        proposal = machine.log_proposal(clusters, assigned, row)
        own = int(assigned[row])
        for k in range(machine.case.n_clusters):
            if k != own:
                moved = assigned.copy()
                moved[row] = k
                accepted = np.exp(log_acceptance(target, proposal, own, k))
                matrix[i, number[tuple(moved)]] = np.exp(proposal[k]) * accepted
        matrix[i, i] = 1.0 - matrix[i].sum()
    return matrix


@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("family", FAMILIES)
def test_targets_are_the_full_conditionals(family, process):
    case = setting(family, process)
    machine = Machine(case, "exact")
    for assigned in all_assignments(case)[::7]:
        clusters = clusters_of(case, assigned)
        for row in range(assigned.size):
            expected = equations.log_full_conditional(case.prior, case.dense, assigned, row, case.n_clusters)
            found = machine.log_target(clusters, assigned, row)
            assert_allclose(found - logsumexp(found), expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("family", FAMILIES)
def test_visit_to_a_row_leaves_the_posterior_as_it_is(family, process, proposal):
    case = setting(family, process, TINY[:4])
    machine = Machine(case, proposal)
    states = all_assignments(case)
    joints = np.array([equations.log_joint(case.prior, case.dense, each, case.n_clusters) for each in states])
    posterior = np.exp(joints - logsumexp(joints))
    for row in range(4):
        matrix = transitions(machine, states, row)
        flow = posterior[:, None] * matrix
        assert matrix.min() >= -1e-12
        assert_allclose(posterior @ matrix, posterior, rtol=0, atol=1e-10)
        assert_allclose(flow, flow.T, rtol=0, atol=1e-10)  # detailed balance


@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("assigned", [[0, 0, 1, 1], [0, 1, 1, 1], [2, 2, 2, 2], [0, 1, 2, 2]])
def test_draws_from_the_index_have_the_probabilities_that_are_claimed(process, assigned):
    case = setting("multinomial", process, TINY[:4], n_clusters=4)
    assigned = np.array(assigned)
    clusters, prior = clusters_of(case, assigned), case.prior
    grid = (np.arange(20_000) + 0.5) / 20_000
    for row in range(4):
        own, work = int(assigned[row]), index_kernels.workspace(case.rows, prior, clusters)
        n, total, top = index_kernels.propose(case.rows, row, BUDGET, prior, clusters, own, work)
        drawn = [index_kernels.draw_proposal(clusters, own, n, total, top, u, work) for u in grid]
        claimed = [np.exp(index_kernels.log_share(clusters, own, k, n, total, top, work)) for k in range(4)]
        assert_allclose(np.sum(claimed), 1.0, rtol=1e-12)
        assert_allclose(np.bincount(drawn, minlength=4) / grid.size, claimed, atol=1e-3)


def accept_all(_target, _proposal, _old, _new):
    return 0.0


def forget_the_proposal(target, _proposal, old, new):
    return min(0.0, target[new] - target[old])


def take_the_proposal_for_symmetric(target, proposal, old, new):
    return equations.log_acceptance(target, -proposal, old, new)


@pytest.mark.parametrize("broken", [accept_all, forget_the_proposal, take_the_proposal_for_symmetric])
@pytest.mark.parametrize("proposal", ["index", "hash", "raw hash"])
def test_a_wrong_acceptance_would_be_seen(proposal, broken):
    case = setting("multinomial", "dp", TINY[:4])
    machine, states = Machine(case, proposal), all_assignments(case)
    joints = np.array([equations.log_joint(case.prior, case.dense, each, case.n_clusters) for each in states])
    posterior = np.exp(joints - logsumexp(joints))
    matrix = transitions(machine, states, 0, broken)
    assert np.abs(posterior @ matrix - posterior).max() > 1e-3


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("family", FAMILIES)
def test_sweeps_accept_just_as_often_as_the_equation_says(family, process, proposal):
    case = setting(family, process, TINY[:4])
    machine = Machine(case, proposal)
    grid = (np.arange(60) + 0.5) / 60
    for assigned in ([0, 0, 1, 1], [0, 1, 2, 2]):
        for row in range(4):
            own, clusters = assigned[row], clusters_of(case, assigned)
            target = machine.log_target(clusters, np.array(assigned), row)
            log_proposal = machine.log_proposal(clusters, np.array(assigned), row)

            def landing(first, second, row=row, assigned=assigned):
                moved = np.array(assigned)
                machine.sweep(clusters_of(case, assigned), moved, row, (first, second))
                return moved[row]

            proposed = np.array([landing(first, 1.0 - 1e-15) for first in grid])  # what is drawn is taken
            for k in set(proposed) - {own}:
                first = grid[proposed == k][0]
                accepted = np.exp(equations.log_acceptance(target, log_proposal, own, k))
                assert landing(first, 1.0 - accepted * (1.0 - 1e-6)) == k
                if accepted < 1.0 - 1e-5:
                    assert landing(first, 1.0 - accepted * (1.0 + 1e-6)) == own
