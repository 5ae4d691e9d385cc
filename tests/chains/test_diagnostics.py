"""R-hat and effective sample size: slow twins, closed forms, another program, and cases without an answer."""

import numpy as np
import pytest
import slow_diagnostics
from hypothesis import given
from hypothesis import strategies as st

from sparsemix.chains import effective_sample_size, r_hat
from sparsemix.foundation.errors import DataError

DIAGNOSTICS = [effective_sample_size, r_hat]
both = pytest.mark.parametrize("diagnostic", DIAGNOSTICS, ids=lambda diagnostic: diagnostic.__name__)


def autoregressive(correlation, n_chains=4, n_draws=5_000, seed=0):
    """Chains x_t = correlation * x_(t-1) + noise, from their stationary distribution."""
    noise = np.random.default_rng(seed).normal(size=(n_chains, n_draws))
    chains = noise / np.sqrt(1.0 - correlation**2)
    for t in range(1, n_draws):
        chains[:, t] = correlation * chains[:, t - 1] + noise[:, t]
    return chains


def smooth_chains():
    """Four chains of 100 numbers that any machine computes alike."""
    fractions = np.modf(np.sqrt([[2.0], [3.0], [5.0], [7.0]]) * np.arange(1, 105) ** 2)[0]
    return sum(weight * fractions[:, lag : lag + 100] for lag, weight in enumerate([5, 4, 3, 2, 1]))


@both
@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(1, 4), st.integers(4, 25)),
    correlation=st.sampled_from([-0.7, 0.0, 0.9]),
)
def test_equals_its_slow_twin(diagnostic, seed, shape, correlation):
    chains = autoregressive(correlation, *shape, seed).round(1)  # ranks have ties
    expected = getattr(slow_diagnostics, diagnostic.__name__)(chains.tolist())
    assert diagnostic(chains) == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("correlation", [0.0, 0.3, 0.6, 0.9])
def test_effective_sample_size_of_autoregressive_chains(correlation):
    chains = autoregressive(correlation)
    expected = chains.size * (1.0 - correlation) / (1.0 + correlation)
    assert effective_sample_size(chains) == pytest.approx(expected, rel=0.15)
    assert r_hat(chains) < 1.01


def test_alternating_draws_are_worth_more_than_independent_ones():
    chains = autoregressive(-0.5)
    assert effective_sample_size(chains) == pytest.approx(3.0 * chains.size, rel=0.15)
    strictly = np.tile([0.0, 1.0], 50)
    assert effective_sample_size(strictly) == pytest.approx(100 * np.log10(100))  # the limit


@pytest.mark.parametrize(
    ("chains", "size", "ratio"),
    [
        (smooth_chains(), 107.41335392223091, 1.0175350383022017),
        (smooth_chains()[1:, :61], 53.45039664393529, 1.0707104373890688),
    ],
)
def test_numbers_of_another_program(chains, size, ratio):
    """The package arviz-stats 0.8: `ess` with method "bulk", `rhat` with method "rank"."""
    assert effective_sample_size(chains) == pytest.approx(size, rel=1e-9)
    assert r_hat(chains) == pytest.approx(ratio, rel=1e-9)


@both
def test_only_ranks_matter(diagnostic):
    chains = autoregressive(0.5, n_draws=200)
    if diagnostic is effective_sample_size:
        assert diagnostic(np.exp(3.0 * chains)) == pytest.approx(diagnostic(chains))
    assert diagnostic(7.0 - 2.0 * chains) == pytest.approx(diagnostic(chains))
    assert diagnostic(chains[::-1]) == pytest.approx(diagnostic(chains))


def test_r_hat_sees_chains_apart_of_other_width_and_adrift():
    noise = autoregressive(0.0, n_draws=1_000)
    wide = noise * [[1.0], [1.0], [1.0], [4.0]]
    assert r_hat(noise + np.array([[0.0], [0.0], [0.0], [1.0]])) > 1.1
    assert r_hat(wide) > 1.1
    assert r_hat(noise[0] + np.linspace(0.0, 3.0, 1_000)) > 1.1
    assert r_hat(noise) < 1.01


def test_a_vector_is_one_chain():
    chain = autoregressive(0.5, 1, 100)
    assert effective_sample_size(chain[0]) == effective_sample_size(chain)
    assert r_hat(chain[0]) == r_hat(chain)


@both
@pytest.mark.parametrize(
    "chains", [np.ones((4, 100)), np.ones(8, int), [[1.0, 2.0, 3.0]] * 4, [[1.0, 2.0]], [[5.0]]]
)
def test_no_answer_for_constant_chains_and_too_few_draws(diagnostic, chains):
    assert np.isnan(diagnostic(chains))


@both
def test_four_draws_are_enough(diagnostic):
    assert np.isfinite(diagnostic([1.0, 3.0, 2.0, 2.5]))


def test_chains_that_stand_still_at_different_values():
    chains = np.repeat([[1.0], [2.0], [2.0], [5.0]], 200, axis=1)
    assert r_hat(chains) == np.inf
    assert effective_sample_size(chains) == pytest.approx(4.0, rel=0.05)


@both
def test_input_stays_as_it_was(diagnostic):
    chains = autoregressive(0.5, n_draws=20)
    before = chains.copy()
    diagnostic(chains)
    assert (chains == before).all()


@both
@pytest.mark.parametrize(
    ("chains", "message"),
    [
        ([[1.0, 2.0], [1.0]], r"'chains' of \w+ must be a table, .* same number of draws"),
        (np.ones((2, 3, 4)), r"shape is \(2, 3, 4\)"),
        (np.ones((3, 0)), r"at least one draw, but its shape is \(3, 0\)"),
        ([["a", "b"]], "must be numbers"),
        ([[True, False]], "its type bool"),
        ([[1.0, 2.0], [3.0, -np.inf]], "draw 1 of chain 1 is -inf"),
        ([1.0, np.nan], "draw 1 of chain 0 is nan"),
    ],
)
def test_hostile_chains(diagnostic, chains, message):
    with pytest.raises(DataError, match=message):
        diagnostic(chains)
