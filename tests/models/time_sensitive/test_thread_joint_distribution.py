"""Geweke's test: partitions and rows together, drawn from the prior, and by a chain that draws one given the other.

Both must agree in the mean of every function of them. An error in any part of a sweep, or in the prior of times, makes
the chain drift away. ``pytest -m slow tests/models/time_sensitive/test_thread_joint_distribution.py``
"""

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import norm
from thread_cases import KERNELS

from sparsemix.chains import effective_sample_size
from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import building, equations
from sparsemix.models.time_sensitive.engine import Chain
from sparsemix.models.time_sensitive.time_kernels import TimeKernel

pytestmark = pytest.mark.slow

TIMES = np.array([0.0, 0.5, 0.5, 1.0, 2.5, 2.5, 3.0, 4.5])
LENGTHS = np.array([3, 2, 4, 0, 3, 3, 1, 3])
N_FEATURES, N_DRAWS = 3, 6_000
A, B = 0.4, 0.9
FALSE_ALARM = 1e-6  # of one comparison, of which there are some hundred
FEWEST = 400  # independent draws below which nothing can be said


def draw_partition(kernel, concentration, rng, *, strict=False):
    """Rows come one after another, as the process has it; which rate each cluster has where it has its own."""
    labels, which = np.zeros(TIMES.size, np.int64), [draw_rate(kernel, rng)]
    logs = equations.log_weight_matrix(kernel, TIMES, strict=strict)
    for i in range(1, TIMES.size):
        if kernel.rates:
            logs = equations.log_weights_by_cluster(TIMES, labels, np.array(kernel.rates)[which])
        weights = np.bincount(labels[:i], np.exp(logs[i, :i]))
        shares = np.append(weights, concentration)
        labels[i] = rng.choice(shares.size, p=shares / shares.sum())
        if labels[i] == len(which):
            which.append(draw_rate(kernel, rng))
    return labels, np.array(which)


def draw_rate(kernel, rng):
    return rng.choice(len(kernel.rates), p=kernel.shares) if kernel.rates else 0


def draw_rows(family, labels, rng):
    """Rows of clusters whose profiles are drawn from their prior."""
    n_clusters = labels.max() + 1
    if family == "bernoulli":
        return (
            rng.random((TIMES.size, N_FEATURES)) < rng.beta(A, B, (n_clusters, N_FEATURES))[labels]
        ).astype(int)
    return rng.multinomial(LENGTHS, rng.dirichlet(np.full(N_FEATURES, A), n_clusters)[labels])


def statistics(kernel, labels, which, dense):
    """Functions of a partition, its rates and its rows."""
    sizes = np.bincount(labels)
    totals = np.zeros((sizes.size, N_FEATURES))
    np.add.at(totals, labels, dense)
    of_rates = [which.sum(), which[labels[-1]], which @ sizes] if kernel.rates else []
    return [
        *of_rates,
        sizes.size,
        np.sum(sizes**2),
        sizes[labels[-1]],
        labels[0] == labels[1],
        labels[1] == labels[2],
        labels[0] == labels[-1],
        labels[4] == labels[6],
        np.sum(totals**2),
        np.sum((dense[0] > 0) & (dense[-1] > 0)),
        dense[2] @ dense[4],
        np.max(dense.sum(axis=0)),
        np.sum(totals.max(axis=1)),
    ]


def from_the_prior(family, kernel, concentration, rng, *, strict=False):
    """(N_DRAWS, n_statistics) independent draws."""
    found = []
    for _ in range(N_DRAWS):
        labels, which = draw_partition(kernel, concentration, rng, strict=strict)
        found.append(statistics(kernel, labels, which, draw_rows(family, labels, rng)))
    return np.array(found, float)


def from_a_chain(family, kernel, state, concentration, rng, *, strict=False):
    """The same from sweeps given the rows, and rows given the partition."""
    timing = building.timing_of(kernel, TIMES, concentration, strict=strict)
    (labels, which), found = state, []
    for _ in range(N_DRAWS):
        dense = draw_rows(family, labels, rng)
        rows = building.rows_of(sparse.csr_array(dense), np.arange(TIMES.size))
        prior = building.prior_of(rows, N_FEATURES, family, concentration, A, B)
        chain = Chain(rows, prior, timing, 0.5, rng)
        assert chain.start(labels, which)
        chain.sweep()
        labels = by_first_appearance(chain.assigned).astype(np.int64)
        which = chain.chains.rate[chain.assigned[np.unique(labels, return_index=True)[1]]]
        found.append(statistics(kernel, labels, which, dense))
    return np.array(found, float)


def standard_errors_apart(independent, chain):
    """How far the means are from each other, for each statistic."""
    found = []
    for drawn, walked in zip(independent.T, chain.T, strict=True):
        n_effective = min(effective_sample_size(walked[None]), N_DRAWS)
        assert n_effective >= FEWEST, f"the chain mixes too slowly to judge: {n_effective:.0f} draws"
        error = np.sqrt(drawn.var() / N_DRAWS + walked.var() / n_effective)
        found.append((walked.mean() - drawn.mean()) / error)
    return np.array(found)


ALL = KERNELS | {"each cluster": TimeKernel.each_cluster([0.5, 4.0], [0.4, 0.6])}
CASES = [("multinomial", kernel, False) for kernel in ALL] + [
    ("bernoulli", "exponential", False),
    ("bernoulli", "short window", False),
    ("multinomial", "exponential", True),
]


@pytest.mark.parametrize(("family", "kernel", "strict"), CASES)
def test_prior_and_chain_agree(family, kernel, strict):
    rng, kernel = np.random.default_rng(1), ALL[kernel]
    independent = from_the_prior(family, kernel, 0.8, rng, strict=strict)
    state = draw_partition(kernel, 0.8, rng, strict=strict)
    chain = from_a_chain(family, kernel, state, 0.8, rng, strict=strict)
    assert np.abs(standard_errors_apart(independent, chain)).max() < norm.isf(FALSE_ALARM / 2)


@pytest.mark.parametrize("wrong", ["concentration", "kernel", "ties"])
def test_a_chain_with_another_prior_is_caught(wrong):
    rng, kernel = np.random.default_rng(2), ALL["exponential"]
    independent = from_the_prior("multinomial", kernel, 0.8, rng)
    other = ALL["power law"] if wrong == "kernel" else kernel
    concentration = 0.9 if wrong == "concentration" else 0.8
    state = (np.arange(TIMES.size), np.zeros(TIMES.size, np.int64))
    chain = from_a_chain("multinomial", other, state, concentration, rng, strict=wrong == "ties")
    assert np.abs(standard_errors_apart(independent, chain)).max() > norm.isf(FALSE_ALARM / 2)
