"""Small tables and models for the tests of the estimator."""

import numpy as np

from sparsemix import HashedGibbsMixture
from sparsemix.models.hashed_gibbs import state
from sparsemix.persistence import state_hash

FAMILIES = tuple(state.FAMILIES)
LETTERS = list("abcdefghi")
N_ROWS = 60


def new_model(family="multinomial", **changes):
    """Few short sweeps from a fixed seed, and whatever differs."""
    few = {"n_components": 8, "n_sweeps": 12, "burn_in": 6, "thin": 2, "random_state": 0}
    return HashedGibbsMixture(**few | {"family": family} | changes)


def table_of(family="multinomial", n_rows=N_ROWS, mean=2.0):
    """Rows of three topics, and their topics; topic t has the features t, t + 3 and t + 6."""
    topics = np.arange(n_rows) % 3
    own = np.arange(9) % 3 == topics[:, None]
    rows = np.random.default_rng(0).poisson(np.where(own, mean, 0.05))
    return (np.minimum(rows, 1) if family == "bernoulli" else rows), topics


def hash_of(model):
    return state_hash(model.to_payload())
