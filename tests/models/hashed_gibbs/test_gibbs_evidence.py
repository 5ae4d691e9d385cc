"""Every family gives probabilities: over all rows that there may be, those of the next row sum to one.

Nothing is compared with anything else, so that kernels and equations cannot be wrong together. A new member of
`state.FAMILIES` has to say here what its rows are.
"""

import itertools

import gibbs_entries as entries
import numpy as np
import pytest
from gibbs_cases import FAMILIES, clusters_of, setting
from scipy.special import gammaln

from sparsemix.models.hashed_gibbs import equations, joint_kernels, state

MOST = 40
"""Counts of Poisson rows that are looked at. Given m rows with n of a feature its next count is negative binomial with
shape a + n and probability (b + m) / (b + m + 1): with a = 0.3 and b = 0.8, counts from 41 on have 1.5e-12 of it
without members, and at most 2e-21 with those below."""

MEMBERS = np.array([[2, 0], [1, 1]])


def every_row(family):
    """All rows of two features, (n, 2), and the logs of the factors that the rows alone have in their probability."""
    if family == "bernoulli":
        rows = np.array(list(itertools.product([0, 1], repeat=2)))
        return rows, np.zeros(4)
    if family == "multinomial":  # of seven words, which may come in any order
        rows = np.array([[n, 7 - n] for n in range(8)])
        return rows, gammaln(8.0) - gammaln(rows + 1.0).sum(axis=1)
    if family == "poisson":
        rows = np.array(list(itertools.product(range(MOST + 1), repeat=2)))
        return rows, -gammaln(rows + 1.0).sum(axis=1)
    raise NotImplementedError(f"what rows of the family {family!r} may be")


def by_target(case, held, row):
    """Log predictive of a row that is in no cluster."""
    target = entries.log_target(case.rows, row, case.prior, held, 0, -1)
    return target - np.log(held.sizes[0] + case.prior.concentration)


def by_joint(case, members):
    """Log evidence of the rows of a cluster, by the kernel."""
    sizes, counts = np.array([len(members)]), members.sum(axis=0)
    none = np.empty(2, np.int32)
    cells = (np.arange(2), np.full(2, -1), none, none, counts.astype(np.int32))
    joint = joint_kernels.log_joint(case.prior, sizes, np.array([counts.sum()]), *cells)
    return joint - equations.log_prior(case.prior, sizes)


@pytest.mark.parametrize("n_members", [0, 2])
@pytest.mark.parametrize("family", FAMILIES)
def test_probabilities_of_all_next_rows_sum_to_one(family, n_members):
    rows, log_factors = every_row(family)
    case = setting(family, dense=np.vstack([MEMBERS, rows]), n_clusters=1)
    members, held = case.dense[:n_members], clusters_of(case, np.zeros(n_members))
    found = {"target": [], "joint": [], "equation": []}
    for row in range(2, len(case.dense)):
        both = np.vstack([members, case.dense[row]])
        found["target"].append(by_target(case, held, row))
        found["joint"].append(by_joint(case, both) - by_joint(case, members))
        evidence = equations.log_evidence(case.prior, both)
        found["equation"].append(evidence - equations.log_evidence(case.prior, members))
    for way, logs in found.items():
        assert np.exp(np.array(logs) + log_factors).sum() == pytest.approx(1.0, abs=1e-9), way


def test_a_family_that_nobody_has_written_has_no_probability():
    case = setting("poisson", dense=MEMBERS, n_clusters=1)
    strange = case._replace(prior=case.prior._replace(family=max(state.FAMILIES.values()) + 1))
    assert np.isnan(entries.log_target(strange.rows, 0, strange.prior, clusters_of(strange, []), 0, -1))
    assert np.isnan(clusters_of(strange, [0]).constant[0, 0])
    assert np.isnan(by_joint(strange, MEMBERS))
    with pytest.raises(NotImplementedError, match="no evidence"):
        equations.log_evidence(strange.prior, MEMBERS)
