"""Small tables and mixtures for the tests of EM's estimators."""

import numpy as np
from em_cases import topic_rows

from sparsemix import BernoulliMixture, MultinomialMixture
from sparsemix.persistence import state_hash

MIXTURES = {"bernoulli": BernoulliMixture, "multinomial": MultinomialMixture}
LETTERS = list("abcdefghi")
N_ROWS = 60


def new_model(name, **changes):
    """Three components from a fixed seed, and whatever differs."""
    return MIXTURES[name](**{"n_components": 3, "random_state": 0} | changes)


def table_of(name, n_rows=N_ROWS):
    """Rows of three topics, and their topics; topic t has the features t, t + 3 and t + 6."""
    return topic_rows(np.random.default_rng(0), name, n_rows)


def draw_shares(n_rows, n_components=3, seed=1):
    """Responsibilities to start from, (n_rows, n_components)."""
    return np.random.default_rng(seed).dirichlet(np.ones(n_components), n_rows)


def some_labels(topics):
    """Labels of every fourth row; the others are unknown."""
    return np.where(np.arange(topics.size) % 4, -1, topics)


def hash_of(model):
    return state_hash(model.to_payload())
