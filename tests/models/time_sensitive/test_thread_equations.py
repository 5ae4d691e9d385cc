"""The equations against brute force: all partitions of tiny streams."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.special import gammaln, logsumexp
from thread_cases import FAMILIES, KERNELS, RULES, TIMES, TINY, all_partitions, setting

from sparsemix.models.time_sensitive import equations

families = pytest.mark.parametrize("family", FAMILIES)
rules = pytest.mark.parametrize(("kernel", "strict"), RULES)


def joints_of(case, partitions):
    return np.array([equations.log_joint(case.prior, case.dense, case.logs, each) for each in partitions])


@rules
def test_prior_sums_to_one_over_all_partitions(kernel, strict):
    times = np.append(TIMES, 6.0)
    logs = setting(kernel=kernel, times=times, dense=np.vstack([TINY, TINY[0]]), strict=strict).logs
    total = sum(np.exp(equations.log_prior(logs, each, 0.7)) for each in all_partitions(6))
    assert_allclose(total, 1.0, rtol=1e-12)


def test_step_kernel_is_the_chinese_restaurant_process():
    logs = setting(kernel="step").logs
    for labels in all_partitions(5):
        sizes = np.bincount(labels)
        sizes = sizes[sizes > 0]
        expected = sizes.size * np.log(0.7) + gammaln(sizes).sum() + gammaln(0.7) - gammaln(0.7 + labels.size)
        assert_allclose(equations.log_prior(logs, labels, 0.7), expected, rtol=1e-12)


@families
def test_evidence_is_a_product_of_predictives(family):
    case = setting(family)
    total = sum(equations.log_predictive(case.prior, case.dense[:n], case.dense[n]) for n in range(5))
    assert_allclose(equations.log_evidence(case.prior, case.dense), total, rtol=1e-12)


def test_predictive_of_one_word_by_hand():
    prior = setting().prior  # a = 0.3, four words
    members, row = np.array([[2, 0, 1, 0]]), np.array([1, 0, 0, 0])
    assert_allclose(np.exp(equations.log_predictive(prior, members, row)), (2 + 0.3) / (3 + 4 * 0.3))


def test_weights_of_two_clusters_by_hand():
    # Figure 1 of the paper: rows of cluster 1 at 0, 2, 6 and of cluster 2 at 3, 4, with a rate of one half.
    times = np.array([0.0, 2.0, 3.0, 4.0, 6.0, 7.0])
    logs = equations.log_weight_matrix(KERNELS["exponential"], times)
    assert_allclose(np.exp(logs[5, [0, 1, 4]]).sum(), np.exp(-3.5) + np.exp(-2.5) + np.exp(-0.5))
    assert_allclose(np.exp(logs[5, [2, 3]]).sum(), np.exp(-2.0) + np.exp(-1.5))


@rules
@families
def test_conditional_is_that_of_the_joint(family, kernel, strict):
    case = setting(family, kernel, TINY[:4], TIMES[:4], strict=strict)
    for labels in all_partitions(4):
        if np.isneginf(equations.log_prior(case.logs, labels, 0.7)):
            continue
        for i in range(4):
            expected = equations.log_conditional_by_definition(case.prior, case.dense, case.logs, labels, i)
            found = equations.log_conditional(case.prior, case.dense, case.logs, labels, i)
            assert_allclose(np.exp(found), np.exp(expected), rtol=0, atol=1e-12)


@rules
def test_visits_leave_the_posterior_as_it_is(kernel, strict):
    case, partitions = setting(kernel=kernel, strict=strict), all_partitions(5)
    number = {tuple(each): n for n, each in enumerate(partitions)}
    joints = joints_of(case, partitions)
    posterior = np.exp(joints - logsumexp(joints))
    for i in range(5):
        matrix = np.zeros((len(partitions), len(partitions)))
        for n in np.flatnonzero(posterior):
            labels = partitions[n]
            shares = np.exp(equations.log_conditional(case.prior, case.dense, case.logs, labels, i))
            for c, share in zip(equations.candidates(labels, i), shares, strict=True):
                moved = labels.copy()
                moved[i] = c
                matrix[n, number[in_order(moved)]] += share
        assert_allclose(posterior @ matrix, posterior, rtol=0, atol=1e-12)


def in_order(labels):
    """The same partition, with labels in the order of first appearance."""
    seen: dict[int, int] = {}
    return tuple(seen.setdefault(int(label), len(seen)) for label in labels)


def test_a_state_that_occurs_only_later_is_no_second_new_cluster():
    case = setting(kernel="exponential", dense=np.zeros((3, 2), int), times=np.array([0.0, 1.0, 2.0]))
    labels = np.array([0, 1, 1])
    found = np.exp(equations.log_conditional(case.prior, case.dense, case.logs, labels, 0))
    # Without words only the prior speaks: {0 with 1, 2} against {0 alone}.
    together = np.exp(equations.log_prior(case.logs, np.array([0, 0, 0]), 0.7))
    alone = np.exp(equations.log_prior(case.logs, labels, 0.7))
    assert_allclose(found, np.array([together, alone]) / (together + alone), rtol=1e-12)


def test_a_sweep_follows_its_uniforms():
    case = setting()
    labels = equations.sweep(case.prior, case.dense, case.logs, np.zeros(5, int), np.full(5, 1 - 1e-12))
    assert len(set(labels)) == 5  # the new cluster is the last candidate
    labels = equations.sweep(case.prior, case.dense, case.logs, np.arange(5), np.zeros(5))
    assert len(set(labels)) == 1
