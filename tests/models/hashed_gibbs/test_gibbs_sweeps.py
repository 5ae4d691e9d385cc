"""The sweeps as they run: frequencies of a long chain, statistics after it, compiled and plain."""

import numpy as np
import pytest
from gibbs_cases import FAMILIES, PRIORS, TINY, all_assignments, clusters_of, setting
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import logsumexp

from sparsemix.models.hashed_gibbs import equations
from sparsemix.models.hashed_gibbs.exact_kernels import sweep_exact
from sparsemix.models.hashed_gibbs.hash_kernels import project_clusters, sweep_hash
from sparsemix.models.hashed_gibbs.index_kernels import place, sweep_index
from sparsemix.models.hashed_gibbs.signatures import HashForm, signatures_of

PROPOSALS = ("exact", "index", "hash")


def partition(assigned):
    """The assignment without the labels."""
    seen = {}
    return tuple(seen.setdefault(int(k), len(seen)) for k in assigned)


def sweeper(case, proposal, clusters):
    """A function that runs one sweep."""
    hashed = signatures_of(case.rows, case.prior, clusters, HashForm(64), np.random.default_rng(5))

    def run(order, assigned, uniforms, tally):
        common = (order, assigned, uniforms, tally)
        if proposal == "exact":
            sweep_exact(case.rows, case.prior, clusters, *common)
        elif proposal == "index":
            sweep_index(case.rows, case.prior, clusters, 4, *common)
        else:
            sweep_hash(case.rows, case.prior, clusters, hashed, *common)

    return run, hashed


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize(
    ("family", "process"), [("multinomial", "dp"), ("poisson", "finite"), ("bernoulli", "pitman-yor")]
)
def test_long_chain_visits_states_by_their_posterior(family, process, proposal):
    case = setting(family, process, TINY[[0, 1, 2, 4]])
    n_rows, n_sweeps, rng = 4, 12_000, np.random.default_rng(11)
    assigned = np.zeros(n_rows, np.int64)
    run, _ = sweeper(case, proposal, clusters_of(case, assigned))
    visits, tally = dict.fromkeys(map(partition, all_assignments(case)), 0.0), np.zeros(3, np.int64)
    uniforms = rng.random((n_sweeps, n_rows, 2))
    for sweep in range(n_sweeps):
        run(np.arange(n_rows), assigned, uniforms[sweep], tally)
        visits[partition(assigned)] += 1.0 / n_sweeps
    states = all_assignments(case)
    joints = np.array([equations.log_joint(case.prior, case.dense, each, case.n_clusters) for each in states])
    for each, probability in zip(states, np.exp(joints - logsumexp(joints)), strict=True):
        visits[partition(each)] -= probability
    assert 0.5 * sum(map(abs, visits.values())) < 0.03
    assert tally[2] == n_sweeps * n_rows
    assert 0 < tally[1] <= tally[0] <= tally[2]


@pytest.mark.parametrize("proposal", PROPOSALS)
@pytest.mark.parametrize("process", PRIORS)
@pytest.mark.parametrize("family", FAMILIES)
def test_statistics_after_many_moves_are_those_of_the_assignment(family, process, proposal):
    rng = np.random.default_rng(3)
    case = setting(family, process, rng.poisson(0.5, (40, 30)), n_clusters=9)
    assigned = rng.integers(0, 9, 40)
    clusters = clusters_of(case, assigned)
    run, hashed = sweeper(case, proposal, clusters)
    tally = np.zeros(3, np.int64)
    for _ in range(30):
        run(rng.permutation(40), assigned, rng.random((40, 2)), tally)
    assert tally[1] >= 20
    fresh = clusters_of(case, assigned)
    assert_array_equal(clusters.sizes, fresh.sizes)
    assert_array_equal(clusters.totals, fresh.totals)
    assert clusters.n_empty[0] == fresh.n_empty[0]
    assert set(clusters.empty[: clusters.n_empty[0]]) == set(np.flatnonzero(clusters.sizes == 0))
    assert_allclose(clusters.constant, fresh.constant, rtol=1e-12)
    assert_array_equal(counts_of(case, clusters), counts_of(case, fresh))
    if proposal == "hash":
        again = hashed._replace(
            products=np.zeros_like(hashed.products), squares=np.zeros_like(hashed.squares)
        )
        again = again._replace(sums=np.zeros_like(hashed.sums), bits=np.zeros_like(hashed.bits))
        project_clusters(case.prior, fresh, again)
        assert_array_equal(hashed.products, again.products)
        assert_array_equal(hashed.squares, again.squares)
        assert_array_equal(hashed.bits, again.bits)


def counts_of(case, clusters):
    """Counts of all features in all clusters, dense."""
    dense = np.zeros((case.n_clusters, case.dense.shape[1]), int)
    for w, (start, mask) in enumerate(zip(clusters.start, clusters.mask, strict=True)):
        n_cells = case.n_clusters if mask < 0 else mask + 1
        for j in range(n_cells):
            k = j if mask < 0 else clusters.keys[start + j]
            if k >= 0:
                dense[k, w] += clusters.cell_counts[start + j]
    return dense


def test_rows_are_placed_one_after_another():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 200)
    is_own = np.arange(20) // 10 == truth[:, None]
    case = setting("multinomial", "dp", rng.poisson(np.where(is_own, 1.2, 0.03)), n_clusters=50)
    clusters = clusters_of(case, [])
    assigned = np.full(200, -1)
    place(case.rows, case.prior, clusters, 1000, rng.permutation(200), assigned, rng.random(200))
    assert_array_equal(np.bincount(assigned, minlength=50), clusters.sizes)
    largest = np.argsort(-clusters.sizes)[:2]
    shares = [truth[assigned == k].mean() for k in largest]
    assert clusters.sizes[largest].sum() > 150
    assert min(shares) < 0.1
    assert max(shares) > 0.9
