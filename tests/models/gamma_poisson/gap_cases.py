"""Tables of counts from known factors, and kernels as they are compiled or plain."""

import numpy as np
from scipy import sparse

from sparsemix import GammaPoissonFactors
from sparsemix.models.gamma_poisson.engine import Table
from sparsemix.models.gamma_poisson.state import Factors, Prior, Rows, normalised
from sparsemix.persistence import state_hash

MODES = ["compiled", "interpreted"]


def as_mode(kernel, mode):
    """The kernel, or the plain function behind it; they are the same where compilation is switched off."""
    return getattr(kernel, "py_func", kernel) if mode == "interpreted" else kernel


def rows_of(dense):
    matrix = sparse.csr_array(np.asarray(dense, float))
    return Rows(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int32), matrix.data)


def table_of(dense):
    return Table(rows_of(dense), np.shape(dense)[1])


def draw_factors(rng, n_rows, n_features, n_components):
    users = rng.gamma(1.0, 2.0, (n_rows, n_components)) + 0.01
    return Factors(users, normalised(rng.gamma(0.3, 1.0, (n_features, n_components)) + 1e-3))


def draw_counts(seed=0, n_rows=60, n_features=12, n_components=3, scale=4.0):
    """Counts of users with known factors; the last row and column are empty."""
    rng = np.random.default_rng(seed)
    users, features = draw_factors(rng, n_rows, n_features, n_components)
    counts = rng.poisson(scale * users @ features.T)
    counts[-1], counts[:, -1] = 0, 0
    return counts


def flat(n_components):
    return Prior(np.ones(n_components), np.zeros(n_components))


def prior_of(n_components, shape, rate, concentration=1.0):
    return Prior(np.full(n_components, float(shape)), np.full(n_components, float(rate)), concentration)


def new_model(solver="map", **changes):
    plan = {"n_sweeps": 30, "burn_in": 10, "thin": 5} if solver == "gibbs" else {}
    return GammaPoissonFactors(**{"n_components": 3, "solver": solver, "random_state": 0, **plan, **changes})


def hash_of(model):
    return state_hash(model.to_payload())
