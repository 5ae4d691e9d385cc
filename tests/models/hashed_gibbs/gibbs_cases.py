"""Tiny tables, priors and states of the sampler, with everything that tests need to know about them."""

import itertools
from typing import Any, NamedTuple

import numpy as np
from gibbs_entries import add_row
from scipy import sparse

from sparsemix.models.hashed_gibbs import building, state

FAMILIES = tuple(state.FAMILIES)
PRIORS = ("finite", "dp", "pitman-yor")
TINY = np.array([[2, 0, 1, 0], [0, 1, 0, 3], [1, 0, 1, 0], [0, 0, 0, 0], [0, 2, 1, 1]])


class Setting(NamedTuple):
    """Rows, dense and indexed, and a prior."""

    dense: Any
    rows: state.Rows
    prior: state.Prior
    n_clusters: int


def setting(
    family: str, process: str = "finite", dense: Any = TINY, n_clusters: int = 3, a: float = 0.3
) -> Setting:
    """A setting for a small table; counts become presence for Bernoulli rows."""
    dense = np.asarray(dense)
    if family == "bernoulli":
        dense = (dense > 0).astype(int)
    matrix = sparse.csr_array(dense)
    rows = building.rows_of(matrix.indptr, matrix.indices, matrix.data, dense.shape[1])
    prior = building.prior_of(
        rows,
        family=family,
        process="finite" if process == "finite" else "dp",
        concentration=0.7,
        discount=0.25 if process == "pitman-yor" else 0.0,
        a=a,
        b=0.8,
    )
    return Setting(dense, rows, prior, n_clusters)


def clusters_of(case: Setting, assigned: Any) -> state.Clusters:
    """Statistics of an assignment, row by row."""
    clusters = building.no_clusters(case.rows, case.prior, case.n_clusters)
    for row, cluster in enumerate(assigned):
        add_row(case.rows, row, case.prior, clusters, int(cluster), 1)
    return clusters


def all_assignments(case: Setting) -> list[Any]:
    """Every assignment of rows to labelled clusters."""
    n_rows = case.dense.shape[0]
    return [np.array(each) for each in itertools.product(range(case.n_clusters), repeat=n_rows)]
