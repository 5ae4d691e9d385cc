"""Learning of concentration and decay: slopes, maxima, and the truth of made-up streams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from thread_cases import KERNELS, all_partitions, chains_of, setting

from sparsemix import TimeKernel, TimeSensitiveMixture
from sparsemix.models.time_sensitive import building, chain_kernels, equations, learning


def prior_and_slopes(case, labels, concentration, rate):
    out = np.empty(3)
    chain_kernels.log_prior_by_rate(case.timing.times, chains_of(case, labels), concentration, rate, out)
    return out


def by_definition(case, labels, concentration, rate):
    logs = equations.log_weight_matrix(TimeKernel.exponential(rate), case.timing.times)
    return equations.log_prior(logs, labels, concentration)


def test_prior_and_its_slopes_are_those_of_the_equations():
    case, step = setting(), 1e-6
    for labels in all_partitions(5)[::9]:
        for concentration, rate in ((0.7, 0.5), (3.0, 0.05), (0.01, 4.0)):
            value, by_concentration, by_rate = prior_and_slopes(case, labels, concentration, rate)
            assert_allclose(value, by_definition(case, labels, concentration, rate), rtol=1e-12)
            more, less = (by_definition(case, labels, concentration * (1 + s), rate) for s in (step, -step))
            assert_allclose(
                by_concentration, (more - less) / (2 * step * concentration), rtol=1e-6, atol=1e-6
            )
            more, less = (by_definition(case, labels, concentration, rate * (1 + s)) for s in (step, -step))
            assert_allclose(by_rate, (more - less) / (2 * step * rate), rtol=1e-6, atol=1e-6)


def test_gaps_beyond_double_precision_have_slopes():
    times = np.array([0.0, 1.0, 1e5, 1e5 + 1.0])
    case = setting(dense=np.zeros((4, 2), int), times=times, kernel=KERNELS["exponential"])
    assert np.isfinite(prior_and_slopes(case, np.zeros(4, int), 1.0, 0.5)).all()


@pytest.mark.parametrize("kernel", KERNELS)
def test_the_concentration_found_is_better_than_any_other(kernel):
    times = np.array([0.0, 0.5, 1.0, 1.6, 2.0])
    case, labels = setting(kernel=kernel, times=times), np.array([0, 1, 0, 0, 1])
    chains = chains_of(case, labels)
    concentration, rate = learning.most_probable(case.timing, chains, 1.0)
    kernel_found = TimeKernel.exponential(rate) if kernel == "exponential" else KERNELS[kernel]
    logs = equations.log_weight_matrix(kernel_found, times)
    best = equations.log_prior(logs, labels, concentration)
    for factor in (0.5, 0.9, 1.1, 2.0):
        assert equations.log_prior(logs, labels, concentration * factor) < best
    if kernel != "exponential":
        assert rate == case.timing.rate


def stream_of(n_rows, concentration, rate, rng):
    """Times and labels from the prior."""
    times, labels = np.cumsum(rng.exponential(1.0, n_rows)), np.zeros(n_rows, int)
    for i in range(1, n_rows):
        weights = np.bincount(labels[:i], np.exp(-rate * (times[i] - times[:i])))
        share = np.append(weights, concentration)
        labels[i] = rng.choice(share.size, p=share / share.sum())
    return times, labels


def test_true_partitions_tell_the_truth_within_its_error():
    found = []
    for seed in range(12):
        times, labels = stream_of(300, 0.2, 0.5, np.random.default_rng(seed))
        timing = building.timing_of(TimeKernel.exponential(1.0), times, 1.0)
        chains = building.no_clusters(300)
        assert building.fill(chains, timing, labels)
        found.append(np.log(learning.most_probable(timing, chains, 1.0)))
    error = np.std(found, axis=0, ddof=1) / np.sqrt(12)
    off = np.abs(np.mean(found, axis=0) - np.log([0.2, 0.5]))
    assert (off < 4.0 * error + 0.02).all()
    assert (error < 0.15).all()


def test_a_fit_learns_both():
    rng = np.random.default_rng(5)
    times, labels = stream_of(300, 0.2, 0.5, rng)
    words = rng.dirichlet(np.full(30, 0.1), labels.max() + 1)
    rows = np.array([rng.multinomial(20, words[k]) for k in labels])
    few = {"n_sweeps": 4, "burn_in": 2, "thin": 1, "random_state": 0}
    model = TimeSensitiveMixture(5.0, decay_rate=0.01, learn=True, **few).fit(rows, times=times)
    assert model.learning_.shape == (10, 2)
    assert_allclose(np.log([model.concentration_, model.time_kernel_.rate]), np.log([0.2, 0.5]), atol=0.7)
    again = TimeSensitiveMixture.from_payload(model.to_payload())
    assert again.concentration_ == model.concentration_
    assert again.time_kernel_ == model.time_kernel_
    step = TimeSensitiveMixture(5.0, time_kernel="step", learn=True, **few).fit(rows)
    assert step.concentration_ != 5.0
    assert step.time_kernel_ == TimeKernel.step()
    strict = TimeSensitiveMixture(5.0, decay_rate=0.01, strict=True, learn=True, **few).fit(rows, times=times)
    assert strict.time_kernel_.rate == 0.01


def test_a_single_row_teaches_nothing_that_breaks():
    model = TimeSensitiveMixture(learn=True, n_sweeps=2, burn_in=1, random_state=0)
    assert np.isfinite(model.fit([[1, 2]], times=[5.0]).log_joint_).all()
    assert np.isfinite(model.fit([[1, 2], [0, 1]], times=[5.0, 5.0]).log_joint_).all()
