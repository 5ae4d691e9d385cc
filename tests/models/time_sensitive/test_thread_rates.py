"""A decay rate for each cluster: conditionals and moves, enumerated over all partitions and rates of their clusters."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from thread_cases import SIX, SIX_TIMES, TIMES, TINY, all_partitions, approach, setting
from thread_entries import collect, halve_sums, log_q_of_sides, log_split_ratio, score_near

import sparsemix as sm
from sparsemix.chains.inputs import by_first_appearance
from sparsemix.models.time_sensitive import (
    building,
    equations,
    kernels,
    rate_kernels,
)
from sparsemix.models.time_sensitive.engine import Chain

KERNEL = sm.TimeKernel.each_cluster([0.4, 3.0], [0.3, 0.7])
SIZES = [4, *(pytest.param(n, marks=pytest.mark.slow) for n in (5, 6))]
sizes = pytest.mark.parametrize("n_rows", SIZES)


def case_of(n_rows, family="multinomial"):
    dense, times = (SIX, SIX_TIMES) if n_rows == 6 else (TINY[:n_rows], TIMES[:n_rows])
    return setting(family, KERNEL, dense, times)


class States:
    """All partitions with all rates of their clusters, which stand in the order of their first members."""

    def __init__(self, case):
        self.case = case
        self.all = [
            (labels, np.array(which))
            for labels in all_partitions(len(case.dense))
            for which in itertools.product((0, 1), repeat=labels.max() + 1)
        ]
        self.number = {self.key(*state): k for k, state in enumerate(self.all)}
        joints = [
            equations.log_joint_of_rates(case.prior, case.dense, case.timing.times, *state, KERNEL)
            for state in self.all
        ]
        self.joints = np.array(joints)
        self.posterior = np.exp(self.joints - logsumexp(self.joints))

    @staticmethod
    def key(labels, which):
        """A state, whatever its labels are."""
        return tuple(by_first_appearance(labels)), tuple(which[list(dict.fromkeys(labels.tolist()))])

    def number_of(self, labels, which):
        return self.number[self.key(labels, which)]

    def check(self, transitions):
        """Moves from each state, as pairs of a state and its probability, are reversible and leave the posterior."""
        matrix = np.zeros((len(self.all), len(self.all)))
        for k, (labels, which) in enumerate(self.all):
            for moved, rates, chance in transitions(labels, which):
                matrix[k, self.number_of(moved, rates)] += chance
            matrix[k, k] += 1.0 - matrix[k].sum()
        assert matrix.min() > -1e-12
        assert_allclose(self.posterior @ matrix, self.posterior, rtol=0, atol=1e-11)
        flow = self.posterior[:, None] * matrix
        assert_allclose(flow, flow.T, rtol=0, atol=1e-11)
        assert matrix.max(axis=0).sum() > 1.0


def chains_of(case, labels, which):
    chains = building.no_clusters(labels.size)
    assert building.fill(chains, case.timing, labels, which)
    return chains


def visit(case, labels, which, row):
    """States after a visit to a row, from the kernels."""
    chains, window = chains_of(case, labels, which), building.window_of(case.rows, case.prior, 2)
    approach(case, chains, window, row)
    kernels.take_out(case.rows, row, case.prior, case.timing, chains, window)
    n = score_near(case.rows, row, case.prior, case.timing, chains, window, np.inf)
    shares = np.exp(window.scores[:n] - logsumexp(window.scores[:n]))
    own, rates = labels.copy(), np.append(which, [0, 1])
    for cluster, share in zip([*window.active[: n - 2], which.size, which.size + 1], shares, strict=True):
        own[row] = cluster
        yield own.copy(), rates, share


def test_prior_sums_to_one_over_all_partitions_and_rates():
    case = case_of(5)
    total = 0.0
    for labels, which in States(case).all:
        logs = equations.log_weights_by_cluster(TIMES, labels, np.array(KERNEL.rates)[which])
        log_shares = np.log(KERNEL.shares)[which].sum()
        total += np.exp(equations.log_prior(logs, labels, 0.7) + log_shares)
    assert_allclose(total, 1.0, rtol=1e-12)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
@sizes
def test_visits_leave_the_posterior_as_it_is(n_rows, family):
    states = States(case_of(n_rows, family))
    for row in range(n_rows):
        states.check(lambda labels, which, row=row: visit(states.case, labels, which, row))


@sizes
def test_draws_of_rates_leave_the_posterior_as_it_is(n_rows):
    states = States(case_of(n_rows))

    def draws(labels, which):
        chains, logs, scores = chains_of(states.case, labels, which), np.empty(2), np.empty(2)
        cluster = labels[-1]
        rate_kernels.score_rates(
            states.case.timing, chains, states.case.prior.concentration, cluster, logs, scores
        )
        for rate, share in enumerate(np.exp(scores - logsumexp(scores))):
            changed = which.copy()
            changed[cluster] = rate
            yield labels, changed, share

    states.check(draws)


def cuts_and_joins(case, labels, which, first, second):
    """States after a move for a pair of rows, by Metropolis-Hastings."""
    halves, chains = building.no_halves(case.rows), chains_of(case, labels, which)
    members, side = halves.members, halves.side
    own, other = labels[first], labels[second]
    is_cut = own != other
    n = collect(chains, own, other if is_cut else -1, members)
    taken = [row for row in members[:n] if row not in (first, second)]
    for sides in itertools.product((0, 1), repeat=len(taken)):
        place = dict(zip(taken, sides, strict=True)) | {first: 0, second: 1}
        side[:n] = [place[row] for row in members[:n]]
        if is_cut and not np.array_equal(side[:n], labels[members[:n]] != own):
            continue
        for new in (which[other],) if is_cut else (0, 1):
            rates, state = (which[own], new), (case.rows, case.prior, case.timing, halves, n)
            log_q = log_q_of_sides(*state, first, second, rates)
            ratio = log_split_ratio(*state, rates)
            ratio += halve_sums(case.timing, chains, case.prior.concentration, halves, n, rates, is_cut)
            moved = labels.copy()
            moved[members[:n]] = own if is_cut else np.where(side[:n] == 0, own, which.size)
            if is_cut:
                yield moved, which, np.exp(min(0.0, log_q - ratio))
            else:
                chance = np.exp(log_q + min(0.0, ratio - log_q)) * KERNEL.shares[new]
                yield moved, np.append(which, new), chance


@sizes
def test_cuts_and_joins_leave_the_posterior_as_it_is(n_rows):
    states = States(case_of(n_rows))
    for pair in [(0, 5), (4, 1), (2, 3)] if n_rows == 6 else [(0, 1), (0, 2), (3, 1)]:
        states.check(lambda labels, which, pair=pair: cuts_and_joins(states.case, labels, which, *pair))


def stream(n_rows, rng):
    times = np.cumsum(np.round(rng.exponential(0.5, n_rows), 1))
    topic = (times // 5).astype(int) + rng.integers(3, size=n_rows)
    centre = rng.dirichlet(np.full(8, 0.3), topic.max() + 1)
    return np.array([rng.multinomial(4, centre[t]) for t in topic]), times


@pytest.mark.slow
def test_sums_and_weights_stay_right_and_the_log_joint_is_that_of_the_equations():
    rng = np.random.default_rng(5)
    dense, times = stream(40, rng)
    case = setting("multinomial", KERNEL, dense, times)
    chain = Chain(case.rows, case.prior, case.timing, 1.0, rng)
    assert chain.start(np.full(40, -1))
    for _ in range(8):
        found = chain.sweep()
        chains = chain.chains
        labels = by_first_appearance(chains.assigned)
        slots = chains.assigned[np.unique(labels, return_index=True)[1]]
        fresh = chains_of(case, labels.astype(np.int64), chains.rate[slots])
        assert_allclose(chains.sums, fresh.sums, rtol=1e-9, atol=1e-11)
        assert_allclose(chains.weight, fresh.weight, rtol=1e-9)
        state = (labels, chains.rate[slots], KERNEL)
        expected = equations.log_joint_of_rates(case.prior, case.dense, times, *state)
        assert_allclose(found.log_joint, expected, rtol=1e-11)
    assert found.n_clusters > 3
    assert np.unique(chains.rate[slots]).size == 2


def test_with_rates_that_are_nearly_equal_it_is_the_exponential_kernel():
    rng = np.random.default_rng(6)
    dense, times = stream(30, rng)
    near = sm.TimeKernel.each_cluster([2.0, 2.0 * (1 + 1e-13)])
    one = setting("multinomial", sm.TimeKernel.exponential(half_life=2.0), dense, times)
    two = setting("multinomial", near, dense, times)
    labels = np.arange(30) % 7
    for row in (0, 11, 29):
        found = []
        for case in (one, two):
            chains, window = (
                building.no_clusters(30),
                building.window_of(case.rows, case.prior, case.timing.rates.size),
            )
            building.fill(chains, case.timing, labels)
            approach(case, chains, window, row)
            kernels.take_out(case.rows, row, case.prior, case.timing, chains, window)
            n = score_near(case.rows, row, case.prior, case.timing, chains, window, np.inf)
            scores = np.exp(window.scores[:n] - logsumexp(window.scores[:n]))
            found.append([*scores[:7], scores[7:].sum()])
        assert_allclose(found[0], found[1], rtol=1e-9)


# --- the estimator


def threads_of_two_kinds(rng):
    """Seven of two hours, every fifth day, about something else each time, and one that goes on day by day; seconds."""
    times, texts = [], []
    for number in range(7):
        shares = np.zeros(18)
        shares[2 * number : 2 * number + 2] = 0.5
        times += (5 * number + rng.uniform(0, 2 / 24, 6)).tolist()
        texts += rng.multinomial(6, shares, 6).tolist()
    shares = np.repeat([0.0, 0.25], [14, 4])
    times += (np.arange(35) + rng.uniform(0, 1, 35)).tolist()
    texts += rng.multinomial(6, shares, 35).tolist()
    return np.array(texts), np.array(times) * 86400


@pytest.fixture(scope="module")
def fitted():
    texts, times = threads_of_two_kinds(np.random.default_rng(0))
    kernel = sm.TimeKernel.each_cluster(["1h", "3d"])
    model = sm.TimeSensitiveMixture(0.1, time_kernel=kernel, n_sweeps=40, burn_in=20, random_state=0)
    return model.fit(texts, times=times), texts, times


def test_short_threads_and_long_ones_are_told_apart(fitted):
    model, texts, times = fitted
    slow = model.labels_[-1]
    assert np.all(model.labels_[42:] == slow)
    assert len(model.weights_) == 8
    half_lives = np.log(2) / model.decay_rates_ / 86400
    assert_allclose(half_lives, np.where(np.arange(8) == slow, 3.0, 1 / 24))
    with pytest.raises(AttributeError, match="no decay rates"):
        _ = sm.TimeSensitiveMixture(time_kernel="step", n_sweeps=2, burn_in=1).fit(texts).decay_rates_
    active = {each.component: each.activity for each in model.threads()}
    ages = times.max() - times[model.labels_ == slow]
    assert_allclose(active[slow], np.exp(-np.log(2) * ages / (3 * 86400)).sum())


def test_answers_about_new_rows_are_the_conditionals(fitted):
    model, texts, times = fitted
    day = 86400.0
    found = model.predict_proba(texts[[0, 70]], times=[0.1 * day, 36 * day])
    assert found.argmax(axis=1).tolist() == [model.labels_[0], model.labels_[70]]
    assert np.all(model.new_cluster_probability(texts[:1], times=[75 * day]) > 0.9)
    check_one_answer(model, texts, times)


def check_one_answer(model, texts, times):
    """Against the joint of all rows and the new one, by definition."""
    row, time = texts[3], 0.02 * 86400
    order = np.argsort(np.append(times, time), kind="stable")
    dense, when = np.vstack([texts, row])[order], np.append(times, time)[order]
    kernel, hyper = model.time_kernel_, model._clusters.hyper
    rows = building.rows_of(sparse.csr_array(dense), np.arange(order.size))
    prior = building.prior_of(rows, 18, "multinomial", hyper.concentration, hyper.a, hyper.b)
    which, joints = np.searchsorted(kernel.rates, model.decay_rates_), []
    for cluster, new_rate in [*((k, 0) for k in range(8)), (8, 0), (8, 1)]:
        labels = np.append(model.labels_, cluster)[order]
        joints.append(
            equations.log_joint_of_rates(prior, dense, when, labels, np.append(which, new_rate), kernel)
        )
    shares = np.exp(joints - logsumexp(joints))
    assert_allclose(model.new_cluster_probability(row[None], times=[time])[0], shares[8:].sum(), rtol=1e-8)
    found = model.predict_proba(row[None], times=[time])[0]
    assert_allclose(found, shares[:8] / shares[:8].sum(), rtol=1e-7, atol=1e-12)


def test_files_keep_the_rates(fitted, tmp_path):
    model, texts, times = fitted
    path = tmp_path / "threads.smx"
    sm.save_model(model, path)
    loaded = sm.load_model(path)
    assert loaded.time_kernel_ == loaded.time_kernel == model.time_kernel_
    assert_array_equal(loaded.decay_rates_, model.decay_rates_)
    question = (texts[:20] + 1, {"times": times[:20]})
    assert_array_equal(
        loaded.predict_proba(question[0], **question[1]), model.predict_proba(question[0], **question[1])
    )


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"rates": np.array([1.0, 1.0])}, "rates that cannot be"),
        ({"rates": np.array([1.0])}, "rates that cannot be"),
        ({"rates": np.array([-1.0, 1.0])}, "rates that cannot be"),
        ({"shares": np.array([0.7, 0.7])}, "rates that cannot be"),
        ({"rate": np.full(8, 2)}, "outside 0 to 1"),
        ({"rate": np.zeros(7, np.int64)}, "shape"),
    ],
)
def test_files_with_odd_rates_are_refused(fitted, refused, arrays, message):
    stored = fitted[0].to_payload()
    assert message in refused(replace(stored, arrays=stored.arrays | arrays))


def test_chains_and_learning_go_with_rates():
    texts, times = threads_of_two_kinds(np.random.default_rng(1))
    kernel = sm.TimeKernel.each_cluster(["6h", "10d"], [1, 3])
    options = {
        "time_kernel": kernel,
        "n_sweeps": 12,
        "burn_in": 6,
        "n_chains": 2,
        "learn": True,
        "random_state": 3,
    }
    model = sm.TimeSensitiveMixture(**options).fit(texts, times=times)
    assert np.isfinite(model.log_joint_).all()
    assert model.time_kernel_ == kernel
    assert model.learning_.shape == (10, 2)
    again = sm.TimeSensitiveMixture(**options, n_jobs=2).fit(texts, times=times)
    assert_array_equal(again.draws_, model.draws_)
    assert_allclose(kernel.weights([0.0, 86400.0]), [1.0, 0.75 * 2**-0.1 + 0.25 * 2**-4])


@pytest.mark.parametrize(
    ("half_lives", "shares", "message"),
    [
        (["3d"], None, "'half_lives' of TimeKernel must be from 2 to 32 different durations"),
        (["3d", "72h"], None, "different durations"),
        ("3d", None, "different durations"),
        (7, None, "different durations"),
        (["3d", "soon"], None, "'half_lives' of TimeKernel must be a duration from "),
        (["3d", "1d"], [1.0], "'shares' of TimeKernel must be 2 numbers > 0"),
        (["3d", "1d"], [1.0, 0.0], "'shares' of TimeKernel must be 2 numbers > 0"),
        (["3d", "1d"], [1.0, 1e-9], "none below 1e-06 of their sum"),
        (["3d", "1d"], [1.0, "x"], "'shares' of TimeKernel must be 2 numbers > 0"),
    ],
)
def test_rules_of_rates(half_lives, shares, message):
    with pytest.raises(sm.ParameterError, match=message):
        sm.TimeKernel.each_cluster(half_lives, shares)


def test_what_does_not_go_with_rates():
    kernel = sm.TimeKernel.each_cluster(["1h", "3d"])
    with pytest.raises(
        sm.ParameterError, match="'strict' of TimeSensitiveMixture must be False where each cluster"
    ):
        sm.TimeSensitiveMixture(time_kernel=kernel, strict=True).fit([[1]], times=[0])
    with pytest.raises(sm.ParameterError, match="'time_kernel' of StreamingTimeSensitiveMixture must be"):
        sm.StreamingTimeSensitiveMixture(time_kernel=kernel).fit([[1]], times=[0])
