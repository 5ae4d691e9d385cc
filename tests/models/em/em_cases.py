"""Small mixtures, rows and statistics for the tests of EM, and the dense twin of an epoch."""

from typing import NamedTuple

import numpy as np
from numpy.testing import assert_array_equal
from scipy import sparse

from sparsemix.models.em import equations
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Prior, Rows, Statistics

MODES = ["compiled", "interpreted"]
NAMES = sorted(FAMILIES)
FLAT = Prior(0.0, 0.0)


def as_mode(kernel, mode):
    """The kernel, or the plain function behind it; they are the same where compilation is switched off."""
    return getattr(kernel, "py_func", kernel) if mode == "interpreted" else kernel


def rows_of(dense, labels=None, row_weights=None):
    """Rows as the engine reads them; nothing is known, and each counts once."""
    matrix = sparse.csr_array(np.atleast_2d(np.asarray(dense, float)))
    n_rows = matrix.shape[0]
    labels = np.full(n_rows, -1) if labels is None else labels
    weights = np.ones(n_rows) if row_weights is None else row_weights
    return Rows(
        matrix.indptr.astype(np.int64),
        matrix.indices.astype(np.int32),
        matrix.data,
        np.asarray(labels, np.int64),
        np.asarray(weights, float),
    )


def draw_rows(rng, name, n_rows=12, n_features=6, *, mean=0.8):
    """Counts, or zeros and ones; about one row in ten is empty."""
    dense = rng.poisson(mean, (n_rows, n_features)).astype(float)
    dense[rng.random(n_rows) < 0.1] = 0.0
    return np.minimum(dense, 1.0) if name == "bernoulli" else dense


def topic_rows(rng, name, n_rows=60, n_topics=3, n_features=9):
    """Rows of topics with features of their own, and a little noise; their topics."""
    topics = np.arange(n_rows) % n_topics
    own = np.arange(n_features) % n_topics == topics[:, None]
    dense = rng.poisson(np.where(own, 1.5, 0.05)).astype(float)
    return (np.minimum(dense, 1.0) if name == "bernoulli" else dense), topics


def draw_statistics(rng, n_components=3, n_features=6):
    """Expected rows and counts that fit either family: no feature is held more often than there are rows."""
    sizes = rng.gamma(2.0, 3.0, n_components)
    return Statistics(sizes, sizes * rng.random((n_features, n_components)))


def draw_seeds(rng, n_components=3, n_features=6):
    """More pseudo-counts for a few features, (n_features, n_components)."""
    dense = rng.gamma(1.0, 2.0, (n_features, n_components)) * (rng.random((n_features, n_components)) < 0.3)
    return sparse.csr_array(dense)


class Dense(NamedTuple):
    """A mixture as the equations read it: `weights` (n_components,), `profiles` (n_components, n_features)."""

    weights: np.ndarray
    profiles: np.ndarray


# No component makes the first row: the one lacks its third feature, the other its first.
APART = Dense(np.array([0.25, 0.75]), np.array([[0.5, 0.5, 0.0], [0.0, 0.5, 0.5]]))
IMPOSSIBLE = np.array([[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [0.0, 1.0, 1.0]])


def draw_mixture(rng, name, n_components=3, n_features=6, *, zeros=0.0):
    """A mixture with about this share of impossible features, and with certain ones if it is of Bernoullis."""
    profiles = rng.uniform(1e-3, 0.999, (n_components, n_features))
    profiles[rng.random(profiles.shape) < zeros] = 0.0
    if name == "bernoulli":
        profiles[rng.random(profiles.shape) < zeros / 2] = 1.0
    else:
        profiles[profiles.sum(axis=1) == 0.0] = 1.0
        profiles /= profiles.sum(axis=1, keepdims=True)
    weights = rng.gamma(1.0, 1.0, n_components) + 1e-3
    return Dense(weights / weights.sum(), profiles)


def parameters_of(name, dense):
    """The parameters whose statistics are the mixture itself."""
    return FAMILIES[name].maximize(
        Statistics(dense.weights, (dense.weights[:, None] * dense.profiles).T), FLAT
    )


def dense_of(name, parameters):
    return Dense(np.exp(parameters.log_weights), FAMILIES[name].profiles(parameters))


def log_joint_of(name, dense, rows):
    likelihoods = {
        "multinomial": equations.multinomial_log_likelihoods,
        "bernoulli": equations.bernoulli_log_likelihoods,
    }
    return equations.log_joint(dense.weights, likelihoods[name](np.atleast_2d(rows), dense.profiles))


def dense_seeds(prior):
    return 0.0 if prior.seeds is None else prior.seeds.toarray().T


def maximize(name, sizes, counts, prior):
    """The M step by the equations; `counts` are (n_components, n_features)."""
    weights = equations.maximize_weights(sizes, prior.class_weight)
    if name == "bernoulli":
        profiles = equations.maximize_bernoulli(sizes, counts, prior.smoothing, dense_seeds(prior))
        return Dense(weights, profiles)
    return Dense(weights, equations.maximize_multinomial(counts, prior.smoothing + dense_seeds(prior)))


def log_prior(name, dense, prior):
    """What the prior adds to the objective, by the equations."""
    of_weights = equations.log_prior(dense.weights, prior.class_weight)
    if name == "bernoulli":
        return of_weights + equations.bernoulli_log_prior(dense.profiles, prior.smoothing, dense_seeds(prior))
    return of_weights + equations.multinomial_log_prior(dense.profiles, prior.smoothing + dense_seeds(prior))


def expect(name, dense, rows, labels, *, is_hard):
    """The E step by the equations: log joint and responsibilities."""
    joint = log_joint_of(name, dense, rows)
    step = equations.hard_responsibilities if is_hard else equations.soft_responsibilities
    return joint, equations.clamp(step(joint, dense.weights), labels)


def draw_labels(rng, n_rows, n_components, share=0.3):
    return np.where(rng.random(n_rows) < share, rng.integers(n_components, size=n_rows), -1)


def assert_same_bits(one, other):
    assert_array_equal(one.sizes, other.sizes)
    assert_array_equal(one.counts, other.counts)
    assert one.log_likelihood == other.log_likelihood
    assert one.n_impossible == other.n_impossible
