"""Samplers leave the posterior as it is: every state of tiny tables is enumerated."""

from functools import partial

import gibbs_entries as entries
import numpy as np
import pytest
from gibbs_cases import FAMILIES, PRIORS, TINY, all_assignments, clusters_of, setting
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from sparsemix.models.hashed_gibbs import (
    equations,
    exact_kernels,
    hash_kernels,
    index_kernels,
)
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
        self._known = {}

    def at(self, assigned):
        """Statistics and signatures of a state, which questions leave as they are."""
        key = tuple(map(int, assigned))
        if key not in self._known:
            clusters = clusters_of(self.case, assigned)
            self._known[key] = clusters, self.signatures(clusters) if "hash" in self.proposal else None
        return self._known[key]

    def log_target(self, assigned, row):
        own, clusters = int(assigned[row]), self.at(assigned)[0]
        return np.array(
            [
                entries.log_target(self.case.rows, row, self.case.prior, clusters, k, own)
                for k in range(self.case.n_clusters)
            ]
        )

    def log_proposal(self, assigned, row):
        own, n_clusters, (clusters, hashed) = int(assigned[row]), self.case.n_clusters, self.at(assigned)
        rows, prior, scores = self.case.rows, self.case.prior, np.empty(n_clusters)
        if self.proposal == "index":
            work = entries.workspace(rows, prior, clusters)
            n, total, top = entries.propose(rows, row, BUDGET, prior, clusters, own, work)
            return np.array(
                [entries.log_share(clusters, own, k, n, total, top, work) for k in range(n_clusters)]
            )
        if self.proposal == "exact":
            work, scores = np.empty((2, n_clusters + 1), np.float32), np.empty(n_clusters + 1, np.float32)
            entries.score_all(rows, row, prior, clusters, own, *work, scores, np.empty(4))
            scores = scores[:-1]
        else:
            n_words = hashed.bits.shape[1]
            products, bits = np.zeros(64 * n_words, np.int32), np.zeros(n_words, np.uint64)
            constant = np.empty(4)
            norm = entries.own_without(rows, row, prior, clusters, hashed, own, products, bits, constant)
            entries.score_by_bits(rows, row, prior, clusters, hashed, own, norm, bits, constant, scores)
        weights = np.empty(n_clusters, np.float32)
        entries.weigh(scores, exact_kernels.FLOOR, weights, np.empty(n_clusters))
        log_weights = np.log(weights.astype(float))
        return log_weights - logsumexp(log_weights)

    def signatures(self, clusters):
        """Those of a state, from the directions, scales and rows that are the same for all states."""
        mutable = ("products", "squares", "sums", "bits", "norms")
        fresh = {name: np.zeros_like(getattr(self._frozen, name)) for name in mutable}
        hashed = self._frozen._replace(**fresh)
        hash_kernels.project_clusters(self.case.prior, clusters, hashed)
        return hashed

    def landing(self, assigned, row, *uniforms):
        """Where a row ends that is visited as the samplers do it."""
        clusters, hashed = (copy_of(each) for each in self.at(assigned))
        state, moved = (self.case.rows, self.case.prior, clusters), np.array(assigned)
        visit = (np.array([row]), moved, np.array([uniforms]), np.zeros(3, np.int64))
        if self.proposal == "index":
            index_kernels.sweep_index(*state, BUDGET, *visit)
        elif self.proposal == "exact":
            exact_kernels.sweep_exact(*state, *visit)
        else:
            hash_kernels.sweep_hash(*state, hashed, *visit)
        return moved[row]


def copy_of(arrays):
    """The same tuple with arrays of its own."""
    return arrays and arrays._replace(
        **{k: v.copy() for k, v in arrays._asdict().items() if hasattr(v, "copy")}
    )


def transitions(machine, states, row, log_acceptance=equations.log_acceptance):
    """Matrix of one visit to a row, from the kernels' proposals and targets."""
    number = {tuple(each): i for i, each in enumerate(states)}
    matrix = np.zeros((len(states), len(states)))
    for i, assigned in enumerate(states):
        target, proposal = machine.log_target(assigned, row), machine.log_proposal(assigned, row)
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
        for row in range(assigned.size):
            expected = equations.log_full_conditional(case.prior, case.dense, assigned, row, case.n_clusters)
            found = machine.log_target(assigned, row)
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
    grid = (np.arange(5_000) + 0.5) / 5_000
    for row in range(4):
        own, work = int(assigned[row]), entries.workspace(case.rows, prior, clusters)
        n, total, top = entries.propose(case.rows, row, BUDGET, prior, clusters, own, work)
        drawn = [entries.draw_proposal(clusters, own, n, total, top, u, work) for u in grid]
        claimed = [np.exp(entries.log_share(clusters, own, k, n, total, top, work)) for k in range(4)]
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
    grid = (np.arange(40) + 0.5) / 40
    for assigned in ([0, 0, 1, 1], [0, 1, 2, 2]):
        for row in range(4):
            own, landing = assigned[row], partial(machine.landing, assigned, row)
            target, log_proposal = machine.log_target(assigned, row), machine.log_proposal(assigned, row)
            proposed = np.array([landing(first, 1.0 - 1e-15) for first in grid])  # what is drawn is taken
            for k in set(proposed) - {own}:
                first = grid[proposed == k][0]
                accepted = np.exp(equations.log_acceptance(target, log_proposal, own, k))
                assert landing(first, 1.0 - accepted * (1.0 - 1e-6)) == k
                if accepted < 1.0 - 1e-5:
                    assert landing(first, 1.0 - accepted * (1.0 + 1e-6)) == own
