"""Rows drawn from clusters in time: how often each cluster at each time, and which features."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.exceptions import NotFittedError

from sparsemix import DataError, ParameterError, StreamingTimeSensitiveMixture, TimeSensitiveMixture

ROWS = np.array([[3, 1, 0, 0], [2, 1, 0, 0], [0, 0, 4, 0], [0, 0, 3, 1], [0, 1, 3, 0]])
TIMES = np.array([0.0, 1.0, 8.0, 9.0, 10.0])
MANY = 3_000
FAMILIES = ("multinomial", "bernoulli")


def sampled(family="multinomial", **changes):
    """Two threads as they were given, for no sweep moves a row with this concentration."""
    settings = {"half_life": 4.0, "init": [0, 0, 1, 1, 1], "n_sweeps": 1, "burn_in": 0, "split_merge": 0}
    settings |= {"concentration": 0.5, "family": family, "binarize": 0.0, "random_state": 0}
    model = TimeSensitiveMixture(**settings | changes)
    return model.fit(ROWS, times=TIMES)


def streamed(family="multinomial", **changes):
    model = StreamingTimeSensitiveMixture(0.5, half_life=4.0, family=family, binarize=0.0, **changes)
    return model.fit(ROWS, times=TIMES)


def weights_at(model, time):
    """Shares of the clusters of both models and of a new one at a time, by definition."""
    labels = model.labels_
    past = (0.5 ** ((time - TIMES) / 4.0))[:, None] * (labels[:, None] == model.component_ids_)
    weights = np.append(past.sum(axis=0), 0.5)
    return weights / weights.sum()


def near(found, expected, n):
    """Shares of n draws are within four standard errors."""
    assert np.all(np.abs(found - expected) <= 4.0 * np.sqrt(expected * (1.0 - expected) / n) + 1e-9)


@pytest.mark.parametrize("make", [sampled, streamed])
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("time", [None, 10.0, 13.0, 40.0])
def test_clusters_come_by_their_weight_at_the_time(make, family, time):
    model = make(family)
    times = None if time is None else np.full(MANY, time)
    rows, components = model.sample(MANY, times=times, random_state=1)
    assert rows.shape == (MANY, 4)
    candidates = [*model.component_ids_, -1]
    found = (components[:, None] == candidates).mean(axis=0)
    near(found, weights_at(model, 10.0 if time is None else time), MANY)


def test_a_time_between_rows_weighs_what_comes_later_too():
    model = sampled()
    log_weights = model.new_cluster_probability(np.zeros((1, 4), int), times=[4.0])
    _, components = model.sample(MANY, times=np.full(MANY, 4.0), random_state=0)
    near((components == -1).mean(), log_weights, MANY)
    assert np.any(components == model.labels_[-1])  # a thread that begins after it


@pytest.mark.parametrize("make", [sampled, streamed])
def test_words_come_from_the_predictive(make):
    model = make()
    rows, components = model.sample(MANY, random_state=2)
    mean = ROWS.sum() / 5
    for component in [*model.component_ids_, -1]:
        own, n = rows[components == component].toarray(), (components == component).sum()
        assert_allclose(own.sum(axis=1).mean(), mean, atol=4.0 * np.sqrt(mean / n))
        pseudo = ROWS[model.labels_ == component].sum(axis=0) + model.smoothing
        shares, total = pseudo / pseudo.sum(), pseudo.sum()
        assert_allclose(own.sum(axis=0) / own.sum(), shares, atol=8.0 / np.sqrt(own.sum()))
        pairs = own[own.sum(axis=1) == 2]  # the same word twice, by the urn
        expected = np.sum(shares * (pseudo + 1.0) / (total + 1.0))
        assert (
            abs((pairs.max(axis=1) == 2).mean() - expected)
            < 4.0 * np.sqrt(expected * (1 - expected) / len(pairs)) + 1e-9
        )


@pytest.mark.parametrize("make", [sampled, streamed])
def test_presence_comes_from_the_predictive(make):
    model = make("bernoulli", prior_mean=0.2, prior_strength=1.5)
    rows, components = model.sample(MANY, random_state=3)
    assert set(np.unique(rows.data)) == {1.0}
    for component in [*model.component_ids_, -1]:
        own, is_own = rows[components == component].toarray(), model.labels_ == component
        shares = ((ROWS[is_own] > 0).sum(axis=0) + 0.3) / (is_own.sum() + 1.5)
        near(own.mean(axis=0), shares, len(own))
        near((own[:, 0] * own[:, 2]).mean(), shares[0] * shares[2], len(own))


@pytest.mark.parametrize("make", [sampled, streamed])
def test_seeds_and_sizes(make):
    model = make()
    first, again = (model.sample(50, times=np.arange(50.0), random_state=4) for _ in range(2))
    assert_array_equal(first[0].toarray(), again[0].toarray())
    assert_array_equal(first[1], again[1])
    rows, components = model.sample(0)
    assert rows.shape == (0, 4)
    assert components.shape == (0,)
    assert model.sample()[0].shape == (1, 4)
    for wrong in (-1, 1.5, None, 10**12):
        with pytest.raises(ParameterError, match="'n_rows' of sample must be"):
            model.sample(wrong)
    with pytest.raises(ParameterError, match=r"at most 1e\+08 features are drawn, .* have 3\.8 on average"):
        model.sample(50_000_000)
    with pytest.raises(DataError, match=r"'times' of .*TimeSensitiveMixture must be one for each of 2 rows"):
        model.sample(2, times=[1.0])
    with pytest.raises(ParameterError, match="'random_state' of sample"):
        model.sample(random_state="x")
    with pytest.raises(NotFittedError):
        type(model)().sample()


def test_streams_tell_ids_and_know_no_time_before_their_last_row():
    rows = np.vstack([ROWS, ROWS[:2]])
    model = StreamingTimeSensitiveMixture(1e-9, half_life=0.5).fit(rows, times=[*TIMES, 100.0, 100.5])
    assert model.component_ids_.min() > 0
    _, components = model.sample(30, times=np.zeros(30), random_state=0)
    assert set(components) == set(model.component_ids_)


def test_without_time_clusters_come_by_their_sizes():
    model = sampled(time_kernel="step", half_life=None, concentration=1.0)
    _, components = model.sample(MANY, random_state=5)
    sizes = np.append(np.bincount(model.labels_), 1.0)
    near((components[:, None] == [*range(sizes.size - 1), -1]).mean(axis=0), sizes / sizes.sum(), MANY)
