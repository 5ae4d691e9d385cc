"""Tables, models and what makes two of them equal, for tests on clusters."""

import numpy as np

from sparsemix import BernoulliMixture, MultinomialMixture, OnlineBernoulliMixture
from sparsemix.persistence import state_hash

EM = {"multinomial": MultinomialMixture, "bernoulli": BernoulliMixture}


def topics(n_rows, n_topics=4, n_features=24, seed=0):
    """Rows of zeros and ones about one of a few topics each."""
    rng = np.random.default_rng(seed)
    profiles = np.where(rng.random((n_topics, n_features)) < 0.3, 0.5, 0.03)
    return (rng.random((n_rows, n_features)) < profiles[rng.integers(n_topics, size=n_rows)]).astype(float)


def mixture(name="bernoulli", **options):
    return EM[name](**{"n_components": 4, "random_state": 0, "tol": 1e-2} | options)


def online(**options):
    return OnlineBernoulliMixture(**{"n_components": 4, "random_state": 0, "priming_rows": 200} | options)


def state(model):
    return state_hash(model.to_payload())


def in_batches(model, batches):
    """What one learner makes of the same batches."""
    for batch in batches:
        model.partial_fit(*batch if isinstance(batch, tuple) else (batch,))
    return model.prime()


def pieces(rows, size):
    return [rows[first : first + size] for first in range(0, len(rows), size)]
