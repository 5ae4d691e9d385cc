"""Chains against the exact posterior of a table so small that all splits can be listed; Geweke's joint test."""

import itertools

import numpy as np
import pytest
from gap_cases import draw_counts, draw_factors, prior_of, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.stats import norm

from sparsemix.chains import effective_sample_size
from sparsemix.models.gamma_poisson import equations, sampling
from sparsemix.models.gamma_poisson.sampling import Chain, Plan
from sparsemix.models.gamma_poisson.state import Factors, normalised

FALSE_ALARM = 1e-6
TINY = np.array([[2, 1], [0, 2]])


def chain_of(counts, prior, seed=0, n_components=2):
    start = draw_factors(np.random.default_rng(seed), *np.shape(counts), n_components)
    return Chain(table_of(counts), start, prior, (seed, 0))


def in_order(run_part, parts):
    for part in parts:
        run_part(part)


def z_score(values, expected):
    """Standard errors between the mean of a chain and what it should be."""
    values = np.asarray(values, float)
    ess = effective_sample_size(values)
    assert ess >= 100, f"chain mixes too slowly to judge: ESS {ess:.0f}"
    return (values.mean() - expected) / (values.std() / np.sqrt(ess))


def assert_mean(values, expected):
    assert abs(z_score(values, expected)) < norm.isf(FALSE_ALARM / 2)


def exact_posterior(counts, prior):
    """Probability of each pair of summed splits, over all splits of the counts over two components."""
    cells = [[(k, n - k) for k in range(n + 1)] for n in counts.ravel()]
    weights = {}
    for chosen in itertools.product(*cells):
        H = np.array(chosen).reshape(*counts.shape, 2)
        key = (*H.sum(axis=1).ravel(), *H.sum(axis=0).ravel())
        evidence = equations.log_evidence_of_split(H, prior.shape, prior.rate, prior.concentration)
        weights[key] = weights.get(key, 0.0) + np.exp(evidence)
    total = sum(weights.values())
    return {key: weight / total for key, weight in weights.items()}


def visited(chain, n_sweeps):
    found = []
    for _ in range(n_sweeps):
        split = chain.sweep(in_order)
        found.append((*split.user_counts.astype(int).ravel(), *split.feature_counts.astype(int).ravel()))
    return found


@pytest.mark.parametrize("most", [8, 0])  # an event at a time, or all by binomials
def test_the_chain_has_the_exact_posterior(most):
    prior = prior_of(2, 0.8, 0.5, 0.7)._replace(shape=np.array([0.8, 1.6]))
    chain = chain_of(TINY, prior)
    chain.most = most
    chain.parts = [chain._part(*part) for part in chain.table.parts]
    expected, found = exact_posterior(TINY, prior), visited(chain, 4_000)
    assert set(found) <= set(expected)
    for key, probability in expected.items():
        if probability > 0.02:
            assert_mean([each == key for each in found], probability)


def test_a_wrong_chain_is_caught():
    """The same test, with a rate that the chain does not know of."""
    prior = prior_of(2, 0.8, 0.5, 0.7)
    expected = exact_posterior(TINY, prior._replace(shape=np.array([0.8, 2.4])))
    found = visited(chain_of(TINY, prior), 3_000)
    worst = max(
        abs(z_score([each == key for each in found], probability))
        for key, probability in expected.items()
        if probability > 0.05
    )
    assert worst > norm.isf(FALSE_ALARM / 2)


def test_large_counts_are_split_like_small_ones():
    counts = np.array([[5_000, 3]])
    chain = chain_of(counts, prior_of(2, 1.0, 1.0), n_components=2)
    users, features = chain.factors
    split = chain.sweep(in_order)
    assert_array_equal(split.user_counts.sum(), 5_003)
    share = users[0] * features[0] / (users[0] @ features[0])
    assert_allclose(split.feature_counts[0] / 5_000, share, atol=5.0 / np.sqrt(5_000))


def test_log_likelihood_is_that_of_the_factors_before_the_sweep():
    counts = draw_counts()
    chain = chain_of(counts, prior_of(3, 1.0, 1.0), n_components=3)
    before = equations.log_likelihood(counts, *chain.factors)
    assert_allclose(chain.sweep(in_order).log_likelihood, before)


def test_threads_change_no_bit():
    counts, prior = draw_counts(2, 400, 10, 3), prior_of(3, 1.1, 0.01, 0.1)
    one, three = (
        sampling.sample(chain_of(counts, prior, n_components=3), Plan(6, 2, 2, n_threads))
        for n_threads in (1, 3)
    )
    assert_array_equal(one.log_likelihood, three.log_likelihood)
    assert_array_equal(one.draws.users, three.draws.users)
    assert_array_equal(one.mean.features, three.mean.features)


@pytest.mark.parametrize(
    ("n_sweeps", "burn_in", "thin", "n_draws"), [(12, 6, 2, 3), (12, 0, 5, 3), (7, 6, 9, 1)]
)
def test_how_much_is_kept(n_sweeps, burn_in, thin, n_draws):
    counts = draw_counts()
    trace = sampling.sample(
        chain_of(counts, prior_of(3, 1.0, 1.0), n_components=3), Plan(n_sweeps, burn_in, thin, 1)
    )
    assert trace.draws.users.shape == (n_draws, *counts.shape[:1], 3)
    assert trace.draws.features.shape == (n_draws, counts.shape[1], 3)
    assert trace.log_likelihood.shape == trace.total_rate.shape == (n_sweeps,)
    last = equations.log_likelihood(counts, trace.draws.users[-1], trace.draws.features[-1])
    kept = range(burn_in, n_sweeps, thin)[-1]
    assert_allclose(trace.log_likelihood[kept], last)
    assert_allclose(trace.mean.features.sum(axis=0), 1.0)
    assert_allclose(trace.component_counts.sum(), counts.sum())


def test_chains_are_put_in_the_order_of_the_first():
    counts = draw_counts()
    trace = sampling.sample(chain_of(counts, prior_of(3, 1.0, 1.0), n_components=3), Plan(8, 4, 2, 1))
    order = [2, 0, 1]
    other = trace._replace(
        mean=Factors(*(each[:, order] for each in trace.mean)),
        component_counts=trace.component_counts[order],
        draws=sampling.Draws(trace.draws.users[..., order], trace.draws.features[..., order]),
    )
    both = sampling.pooled([trace, other])
    assert_allclose(both.mean.users, trace.mean.users)
    assert_array_equal(both.draws.features[2:], trace.draws.features)
    assert_array_equal(both.draws.users[2:], trace.draws.users)
    assert both.log_likelihood.shape == (2, 8)


@pytest.mark.slow
def test_geweke_joint():
    """Factors drawn from the prior, and factors of a chain whose counts are drawn anew in each step, agree."""
    prior, shape, n_steps = prior_of(2, 2.0, 0.5, 0.8)._replace(shape=np.array([2.0, 1.0])), (3, 4), 20_000
    rng = np.random.default_rng(0)

    def from_prior():
        users = rng.gamma(prior.shape, 1.0 / prior.rate, (shape[0], 2))
        return Factors(users, normalised(rng.gamma(prior.concentration, 1.0, (shape[1], 2))))

    def says(factors):
        users, features = factors
        rates = users @ features.T
        return [
            users[0, 0],
            users[0, 1],
            users.prod(),
            features[0, 0] ** 2,
            features[1, 1],
            rates[0, 0],
            rates.max(),
        ]

    expected = np.array([says(from_prior()) for _ in range(n_steps)])
    factors, found = from_prior(), []
    for step in range(n_steps):
        counts = rng.poisson(factors.users @ factors.features.T)
        chain = Chain(table_of(counts), factors, prior, (1, step))
        chain.sweep(in_order)
        factors = chain.factors
        found.append(says(factors))
    for one, other in zip(np.transpose(found), expected.T, strict=True):
        ess = effective_sample_size(one)
        assert ess >= 100
        error = np.sqrt(one.var() / ess + other.var() / n_steps)
        assert abs(one.mean() - other.mean()) < norm.isf(FALSE_ALARM / 2) * error
