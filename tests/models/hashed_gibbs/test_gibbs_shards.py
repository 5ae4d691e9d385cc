"""Shards: the answer does not depend on threads, and every copy of the clusters ends where the assignment says."""

import numpy as np
import pytest
from gibbs_cases import setting
from gibbs_models import hash_of, new_model, table_of
from numpy.testing import assert_array_equal

from sparsemix import HashedGibbsMixture
from sparsemix.foundation.errors import ParameterError
from sparsemix.models.hashed_gibbs import building
from sparsemix.models.hashed_gibbs.engine import Chain, plan_of
from sparsemix.models.hashed_gibbs.kernels import add_rows
from sparsemix.models.hashed_gibbs.signatures import HashForm

shards = pytest.mark.parametrize("n_shards", [2, 256])
proposals = pytest.mark.parametrize("proposal", ["exact", "index"])


def sums_of(clusters, n_features):
    """All counts, (n_features, n_clusters), and what is kept beside them."""
    dense = np.zeros((n_features, clusters.sizes.size))
    for w in range(n_features):
        if clusters.mask[w] < 0:
            dense[w] = clusters.cell_counts[clusters.start[w] + np.arange(clusters.sizes.size)]
        else:
            cells = clusters.start[w] + np.arange(clusters.n_listed[w])
            dense[w, clusters.keys[cells]] = clusters.cell_counts[cells]
    return dense, clusters.sizes, clusters.totals, clusters.constant, clusters.off, np.sort(clusters.empty)


@shards
@proposals
@pytest.mark.parametrize(
    ("family", "process"), [("multinomial", "finite"), ("poisson", "dp"), ("bernoulli", "finite")]
)
def test_copies_are_statistics_of_the_assignment(n_shards, proposal, family, process):
    rng = np.random.default_rng(n_shards)
    dense = rng.integers(2 if family == "bernoulli" else 4, size=(60, 12)) * (rng.random((60, 12)) < 0.4)
    case = setting(family, process, dense, n_clusters=150)
    plan = plan_of(proposal, 150, HashForm(64), 40)._replace(n_shards=n_shards, n_threads=2)
    chain = Chain(case.rows, case.prior, 150, plan, np.random.SeedSequence(3))
    chain.start(rng.integers(0, 9, 60))
    n_moved = 0
    for _ in range(4):
        done = chain.sweep(adapts=True)
        n_moved += done.n_moved
        recounted = building.no_clusters(case.rows, case.prior, 150)
        add_rows(case.rows, case.prior, recounted, chain.assigned)
        expected = sums_of(recounted, 12)
        assert len(chain._shards.copies) == n_shards
        for copy in chain._shards.copies:
            for found, wanted in zip(sums_of(copy, 12), expected, strict=True):
                assert_array_equal(found, wanted)
    assert n_moved > 20


@shards
@proposals
def test_threads_change_nothing(n_shards, proposal):
    rows, _ = table_of()
    models = [
        new_model(proposal=proposal, n_shards=n_shards, n_jobs=n_jobs, n_chains=n_chains).fit(rows)
        for n_chains in (1, 2)
        for n_jobs in (1, 4)
    ]
    for first, *others in (models[:2], models[2:]):
        for other in others:
            assert hash_of(other.set_params(n_jobs=first.n_jobs)) == hash_of(first)


def test_shards_find_the_topics():
    rows, topics = table_of()
    found = new_model(n_shards=4).fit(rows)
    alone = new_model().fit(rows)
    assert not np.array_equal(found.draws_, alone.draws_)
    together = topics[:, None] == topics
    for model in (found, alone):
        assert np.mean((model.labels_[:, None] == model.labels_) == together) > 0.9


@pytest.mark.parametrize("options", [{"proposal": "hash"}, {"family": "gaussian"}])
def test_what_has_no_shards(options):
    with pytest.raises(
        ParameterError, match="'n_shards' of HashedGibbsMixture must be 1 with proposal='hash'"
    ):
        HashedGibbsMixture(2, n_shards=2, **options).fit(np.eye(4))
