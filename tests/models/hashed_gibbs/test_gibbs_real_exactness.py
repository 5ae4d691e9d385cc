"""Samplers of real rows leave the posterior as it is: every state of tiny tables is enumerated."""

import itertools

import gibbs_real_entries as entries
import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import logsumexp

from sparsemix.models.hashed_gibbs import equations, real_building, real_hash_kernels, real_kernels
from sparsemix.models.hashed_gibbs.exact_kernels import FLOOR
from sparsemix.models.hashed_gibbs.real_engine import RealChain
from sparsemix.models.hashed_gibbs.real_signatures import signatures_of, statistics_of
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES
from sparsemix.models.hashed_gibbs.signatures import HashForm

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

TINY = np.array([[0.3, 1.0], [0.5, -1.0], [2.0, 0.1], [2.2, 0.9], [100.0, -50.0]])
PRIORS = {"finite": ("finite", 0.0), "dp": ("dp", 0.0), "pitman-yor": ("dp", 0.25)}
PROPOSALS = ("exact", "hash", "raw hash")
families = pytest.mark.parametrize("family", REAL_FAMILIES)
priors = pytest.mark.parametrize("process", PRIORS)
proposals = pytest.mark.parametrize("proposal", PROPOSALS)


class Machine:
    """One kind of proposal on one setting: its probabilities in any state."""

    def __init__(self, family, process, proposal="exact", rows=TINY[:4], n_clusters=3):
        name, discount = PRIORS[process]
        hyper = real_building.hyperparameters_of(rows, family, name, 0.7, discount, 0.3)
        self.rows, self.n_clusters, self.proposal = rows, n_clusters, proposal
        self.prior = real_building.prior_of(hyper)
        form = HashForm(64, is_raw=proposal == "raw hash", miss=0.5, tempering=0.8)
        start = self.clusters(np.arange(len(rows)) % n_clusters)
        self._frozen = signatures_of(rows, self.prior, start, form, np.random.default_rng(0))

    def clusters(self, assigned):
        return real_building.clusters_of(self.rows, self.prior, np.asarray(assigned), self.n_clusters)

    def states(self):
        return [np.array(each) for each in itertools.product(range(self.n_clusters), repeat=len(self.rows))]

    def posterior(self):
        joints = [equations.log_joint(self.prior, self.rows, each, self.n_clusters) for each in self.states()]
        return np.exp(joints - logsumexp(joints))

    def without(self, assigned, row):
        """Statistics from which the row was taken out as the sweeps do."""
        clusters = self.clusters(assigned)
        entries.remove_row(
            clusters.statistics, clusters.n_empty, self.prior.gaussian, self.rows[row], assigned[row]
        )
        return clusters

    def log_target(self, assigned, row):
        clusters, work = self.without(assigned, row), np.empty(self.rows.shape[1])
        state = (self.rows, row, self.prior, clusters)
        return np.array([entries.log_target(*state, k, work) for k in range(self.n_clusters)])

    def log_proposal(self, assigned, row):
        clusters, scores = self.without(assigned, row), np.empty(self.n_clusters)
        if self.proposal == "exact":
            entries.score_all(self.rows, row, self.prior, clusters, scores)
        else:
            hashed = self.signatures(clusters)
            entries.score_by_bits(row, self.prior, clusters, hashed, scores)
        scores = np.maximum(scores - scores.max(), FLOOR)
        return scores - logsumexp(scores)

    def signatures(self, clusters):
        fresh = {name: np.zeros_like(getattr(self._frozen, name)) for name in ("bits", "norms", "constants")}
        hashed = self._frozen._replace(**fresh)
        real_hash_kernels.renew_all(self.prior, clusters, hashed)
        return hashed

    def landing(self, assigned, row, uniforms):
        """Where a row ends that the sampler visits."""
        clusters, moved = self.clusters(assigned), np.array(assigned)
        visit = (np.array([row]), moved, np.array([uniforms]), np.zeros(3, np.int64))
        state = (self.rows, self.prior, clusters)
        if self.proposal == "exact":
            real_kernels.sweep_exact(*state, *visit)
        else:
            real_hash_kernels.sweep_hash(*state, self.signatures(clusters), *visit)
        return moved[row]

    def transitions(self, row, log_acceptance=equations.log_acceptance):
        """Matrix of one visit to a row, from the kernels' proposals and targets."""
        states = self.states()
        number = {tuple(each): i for i, each in enumerate(states)}
        matrix = np.zeros((len(states), len(states)))
        for i, assigned in enumerate(states):
            target, proposal = self.log_target(assigned, row), self.log_proposal(assigned, row)
            for k in set(range(self.n_clusters)) - {int(assigned[row])}:
                moved = assigned.copy()
                moved[row] = k
                accepted = np.exp(log_acceptance(target, proposal, int(assigned[row]), k))
                matrix[i, number[tuple(moved)]] = np.exp(proposal[k]) * accepted
            matrix[i, i] = 1.0 - matrix[i].sum()
        return matrix


@priors
@families
def test_targets_are_the_full_conditionals(family, process):
    machine = Machine(family, process, rows=TINY)
    for assigned in machine.states()[::7]:
        for row in range(assigned.size):
            state = (machine.prior, TINY, assigned, row, machine.n_clusters)
            found = machine.log_target(assigned, row)
            assert_allclose(found - logsumexp(found), equations.log_full_conditional(*state), atol=1e-10)


@families
def test_evidence_is_that_of_the_families(family):
    machine = Machine(family, "finite", rows=TINY)
    clusters = machine.clusters([0, 0, 1, 0, 1])
    found = real_building.log_evidence(machine.prior, clusters)
    for k, members in enumerate(([0, 1, 3], [2, 4], [])):
        assert_allclose(
            found[k], equations.log_evidence_of_real_rows(machine.prior, TINY[members]), atol=1e-10
        )


@proposals
@priors
@families
def test_visit_to_a_row_leaves_the_posterior_as_it_is(family, process, proposal):
    machine = Machine(family, process, proposal)
    posterior = machine.posterior()
    for row in range(4):
        matrix = machine.transitions(row)
        flow = posterior[:, None] * matrix
        assert matrix.min() >= -1e-12
        assert_allclose(posterior @ matrix, posterior, rtol=0, atol=1e-10)
        assert_allclose(flow, flow.T, rtol=0, atol=1e-10)  # detailed balance


@proposals
@families
def test_five_rows_of_which_one_lies_far_off(family, proposal):
    machine = Machine(family, "dp", proposal, rows=TINY)
    posterior = machine.posterior()
    for row in (0, 4):
        matrix = machine.transitions(row)
        assert_allclose(posterior @ matrix, posterior, rtol=0, atol=1e-10)


def forget_the_proposal(target, _proposal, old, new):
    return min(0.0, target[new] - target[old])


@pytest.mark.parametrize("proposal", ["hash", "raw hash"])
@families
def test_a_wrong_acceptance_would_be_seen(family, proposal):
    machine = Machine(family, "dp", proposal)
    posterior, matrix = machine.posterior(), machine.transitions(0, forget_the_proposal)
    assert np.abs(posterior @ matrix - posterior).max() > 1e-3


@proposals
@priors
@families
def test_sweeps_accept_just_as_often_as_the_equation_says(family, process, proposal):
    machine = Machine(family, process, proposal)
    grid = (np.arange(60) + 0.5) / 60
    for assigned in ([0, 0, 1, 1], [0, 1, 2, 2]):
        for row in range(4):
            own = assigned[row]
            target, log_proposal = machine.log_target(assigned, row), machine.log_proposal(assigned, row)
            proposed = np.array([machine.landing(assigned, row, (first, 1.0 - 1e-15)) for first in grid])
            share = np.exp(log_proposal[own])
            assert abs(np.mean(proposed == own) - share) <= 2.0 / 60
            for k in set(proposed) - {own}:
                first = grid[proposed == k][0]
                accepted = np.exp(
                    equations.log_acceptance(target, log_proposal, own, k)
                )  # draws know it to 4e-6
                assert machine.landing(assigned, row, (first, 1.0 - accepted * (1.0 - 1e-5))) == k
                if accepted < 1.0 - 1e-4:
                    assert machine.landing(assigned, row, (first, 1.0 - accepted * (1.0 + 1e-5))) == own


@families
def test_parameters_are_those_of_the_families(family):
    rows = np.random.default_rng(1).normal(size=(30, 3)) * [1.0, 5.0, 0.1] + [3.0, 0.0, 100.0]
    machine = Machine(family, "finite", rows=rows, n_clusters=4)
    clusters = machine.clusters(np.arange(30) % 3)
    kind, state = real_building.family_of(machine.prior), clusters.statistics
    expected = kind.expected_natural_parameters(state)
    statistics = statistics_of(rows, machine.prior, state.shift)
    centred = rows - state.shift
    if machine.prior.is_full:
        squares = np.einsum("ni,kij,nj->nk", centred, expected.quadratic, centred)
    else:
        squares = centred**2 @ expected.quadratic.T
    densities = centred @ expected.linear.T + squares - expected.log_partition
    for k in range(4):
        theta = np.empty(statistics.shape[1])
        partition = real_hash_kernels.natural_parameters(
            machine.prior.gaussian, clusters.statistics, k, theta
        )
        assert_allclose(statistics @ theta - partition, densities[:, k], rtol=1e-9)


def error_of_bits(machine, n_bits):
    """How far scores by bits are from those by the products, up to what is the same for all clusters."""
    clusters = machine.clusters(np.arange(len(machine.rows)) % 3)
    shift = machine.rows.mean(axis=0)
    exact, theta = np.empty((len(machine.rows), 3)), np.empty(machine._frozen.centre.size)
    for k in range(3):
        partition = real_hash_kernels.natural_parameters(
            machine.prior.gaussian, clusters.statistics, k, theta
        )
        exact[:, k] = statistics_of(machine.rows, machine.prior, shift) @ theta - partition
    exact += np.log(clusters.sizes + 0.7)
    squares = []
    for seed in range(8):
        rng = np.random.default_rng(seed)
        hashed = signatures_of(machine.rows, machine.prior, clusters, HashForm(n_bits), rng)
        found = np.empty_like(exact)
        for row, scores in enumerate(found):
            entries.score_by_bits(row, machine.prior, clusters, hashed, scores)
        gaps = found - exact
        squares.append(np.mean((gaps - gaps.mean(axis=1, keepdims=True)) ** 2))
    return np.sqrt(np.mean(squares))


@families
def test_scores_by_many_bits_come_near_the_products(family):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(40, 2)) + 4.0 * rng.integers(3, size=(40, 1))
    machine = Machine(family, "finite", rows=rows)
    assert error_of_bits(machine, 4096) < 0.2 * error_of_bits(machine, 64)


@proposals
@families
def test_rows_taken_out_and_put_back_leave_no_trace(family, proposal):
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 3)) * [1e-6, 1.0, 1e6] + [5.0, 1e4, 0.0]
    machine = Machine(family, "dp", proposal, rows=rows, n_clusters=6)
    assigned = rng.integers(6, size=60)
    clusters = machine.clusters(assigned)
    hashed = machine.signatures(clusters)
    for _ in range(200):
        order, tally = rng.permutation(60), np.zeros(3, np.int64)
        visit = (order, assigned, rng.random((60, 2)), tally)
        if proposal == "exact":
            real_kernels.sweep_exact(rows, machine.prior, clusters, *visit)
        else:
            real_hash_kernels.sweep_hash(rows, machine.prior, clusters, hashed, *visit)
    anew = machine.clusters(assigned)
    assert clusters.n_empty[0] == np.count_nonzero(clusters.sizes == 0)
    expected = real_building.log_evidence(machine.prior, anew)
    assert_allclose(real_building.log_evidence(machine.prior, clusters), expected, rtol=1e-9, atol=1e-9)


@families
def test_log_joint_is_that_of_the_equations(family):
    machine = Machine(family, "pitman-yor", rows=TINY)
    chain = RealChain(TINY, machine.prior, 3, None, np.random.SeedSequence(0))
    joints = []
    for assigned in machine.states()[::11]:
        chain.start(assigned)
        expected = equations.log_joint(machine.prior, TINY, assigned, 3)
        joints.append((chain.log_joint(), expected))
    found, expected = np.array(joints).T
    assert_allclose(found - found[0], expected - expected[0], atol=1e-9)
