"""The estimator: what it finds, what it answers, and what it refuses."""

import tracemalloc
from datetime import timedelta

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from sparsemix import (
    DataError,
    Dataset,
    ParameterError,
    StreamingTimeSensitiveMixture,
    TimeKernel,
    TimeSensitiveMixture,
    load_model,
    save_model,
)
from sparsemix.metrics import adjusted_rand
from sparsemix.models.time_sensitive import equations
from sparsemix.persistence import state_hash

DAY = 86400.0


def news(n_rows=90, family="multinomial", seed=0):
    """Three stories of thirty days: the first two at the same time, the third about the words of the first, later."""
    rng = np.random.default_rng(seed)
    story = np.sort(rng.integers(3, size=n_rows)) // 2 * 2
    story[story == 0] = rng.integers(2, size=(story == 0).sum())
    times = np.sort(rng.uniform(0.0, 30 * DAY, n_rows)) + np.where(story == 2, 100 * DAY, 0.0)
    own = np.arange(9) % 3 == np.where(story == 1, 1, 0)[:, None]
    rows = rng.poisson(np.where(own, 2.0, 0.05))
    return (np.minimum(rows, 1) if family == "bernoulli" else rows), times, story


def new_model(**changes):
    few = {"half_life": "5d", "n_sweeps": 12, "burn_in": 6, "thin": 2, "random_state": 0}
    return TimeSensitiveMixture(**few | changes)


@pytest.fixture(scope="module")
def fitted():
    rows, times, _ = news()
    return new_model().fit(rows, times=times)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
def test_stories_about_the_same_words_are_told_apart_by_time(family):
    rows, times, story = news(family=family)
    changes = {
        "family": family,
        "prior_strength": 2.0,
        "n_sweeps": 30,
        "concentration": 0.3,
        "half_life": "2d",
    }
    found = new_model(**changes).fit(rows, times=times)
    assert adjusted_rand(story, found.labels_) > 0.9
    timeless = new_model(**changes | {"time_kernel": "step", "half_life": None}).fit(rows, times=times)
    assert adjusted_rand(story, timeless.labels_) < 0.7  # the first and the third are one


def test_attributes(fitted):
    rows, _, _ = news()
    assert fitted.draws_.shape == (3, 90)
    assert fitted.log_joint_.shape == fitted.n_clusters_.shape == fitted.moves_.shape == (1, 12)
    sizes = np.bincount(fitted.labels_)
    assert (np.diff(sizes) <= 0).all()
    assert_allclose(fitted.weights_, sizes / 91.0)
    assert_array_equal(fitted.component_ids_, np.arange(sizes.size))
    assert fitted.n_features_in_ == rows.shape[1]
    assert fitted.takes_counts
    assert fitted.concentration_ == 1.0
    assert fitted.time_kernel_ == TimeKernel.exponential(half_life="5d")
    assert fitted.learning_.shape == (0, 2)


def test_log_joint_is_that_of_the_last_draw(fitted):
    rows, times, _ = news()
    logs = equations.log_weight_matrix(TimeKernel.exponential(half_life="5d"), times)
    prior = equations.Prior(0, 1.0, 0.1, 1.0, 9, np.empty(0), np.empty(0))
    expected = equations.log_joint(prior, rows, logs, fitted.draws_[-1])
    assert_allclose(fitted.log_joint_[0, -1], expected, rtol=1e-10)


def test_rows_in_any_order_are_the_same_rows(fitted):
    rows, times, _ = news()
    order = np.random.default_rng(1).permutation(90)
    shuffled = new_model().fit(rows[order], times=times[order])
    assert_array_equal(shuffled.labels_, fitted.labels_[order])
    assert_array_equal(shuffled.draws_, fitted.draws_[:, order])


def test_forms_of_rows_and_times_are_the_same(fitted):
    rows, times, _ = news()
    stamps = pd.to_datetime(np.round(times * 1e6).astype(np.int64), unit="us", utc=True)
    for given, when in (
        (sparse.csc_array(rows), times.tolist()),
        (Dataset.from_matrix(rows, times=times), None),
        (pd.DataFrame(rows), stamps),
    ):
        assert_array_equal(new_model().fit(given, times=when).labels_, fitted.labels_)


def by_definition(model, rows, times, row, when):
    """Log joint of a new row with each cluster, and of a new one, and their log prior weights, from the equations."""
    place = int(np.searchsorted(times, when, side="right"))
    all_rows, all_times = np.insert(rows, place, row, axis=0), np.insert(times, place, when)
    labels = np.insert(model.labels_, place, model.labels_.max() + 2)
    logs = equations.log_weight_matrix(TimeKernel.exponential(half_life="5d"), all_times)
    prior = equations.Prior(0, 1.0, 0.1, 1.0, 9, np.empty(0), np.empty(0))
    ids = [*range(model.labels_.max() + 1), labels.max() + 1]
    weights = np.array([equations.log_time_factor(logs, labels, place, k, 1.0) for k in ids])
    members = [all_rows[labels == k] for k in ids]
    return weights + [equations.log_predictive(prior, each, row) for each in members], weights


@pytest.mark.parametrize("day", [-1.0, 0.0, 7.3, 29.0, 40.0, 110.0, 140.0])
def test_answers_about_a_new_row_are_those_of_the_equations(fitted, day):
    rows, times, _ = news()
    for row in ([1, 0, 0, 0, 0, 0, 0, 0, 0], [0, 2, 0, 0, 1, 0, 0, 0, 3], np.zeros(9, int)):
        joint, weights = by_definition(fitted, rows, times, np.array(row), day * DAY)
        assert_allclose(
            fitted.predict_proba([row], times=[day * DAY])[0],
            np.exp(joint[:-1] - logsumexp(joint[:-1])),
            atol=1e-9,
        )
        new = fitted.new_cluster_probability([row], times=[day * DAY])
        assert_allclose(new, np.exp(joint[-1] - logsumexp(joint)), atol=1e-9)
        expected = logsumexp(joint) - logsumexp(weights)
        assert_allclose(fitted.score([row], times=[day * DAY]), expected, rtol=1e-9, atol=1e-12)


def test_where_time_rules_out_all_clusters_it_is_left_out():
    rows, times, _ = news()
    model = new_model(time_kernel=TimeKernel.window("40d"), half_life=None).fit(rows, times=times)
    late = [1000 * DAY]
    found = model.predict_proba([[3, 0, 0, 0, 0, 0, 0, 0, 0]], times=late)
    assert_allclose(found.sum(), 1.0)
    assert_allclose(model.new_cluster_probability([[3, 0, 0, 0, 0, 0, 0, 0, 0]], times=late), 1.0)
    assert_allclose(found[0], by_size(model, rows), rtol=1e-9)


def by_size(model, rows):
    """Shares of the clusters for a row of three first words, by their sizes and words alone."""
    prior = equations.Prior(0, 1.0, 0.1, 1.0, 9, np.empty(0), np.empty(0))
    row = np.array([3, 0, 0, 0, 0, 0, 0, 0, 0])
    sizes = np.bincount(model.labels_)
    joint = np.log(sizes) + [
        equations.log_predictive(prior, rows[model.labels_ == k], row) for k in range(sizes.size)
    ]
    return np.exp(joint - logsumexp(joint))


def test_threads_by_hand():
    rows, times = np.array([[2, 0], [1, 0], [0, 3], [0, 1]]), np.array([0.0, 1.0, 10.0, 11.0]) * DAY
    model = new_model(
        half_life="1d", init=[0, 0, 1, 1], n_sweeps=1, burn_in=0, concentration=1e-9, split_merge=0
    )
    first, second = model.fit(rows, times=times).threads(1, n_bins=11)
    assert (first.n_rows, first.first, first.last, first.timeline) == (2, 0.0, DAY, [1, 1, *[0] * 9])
    assert (second.n_rows, second.first, second.last) == (2, 10 * DAY, 11 * DAY)
    assert second.timeline == [*[0] * 10, 2]
    assert_allclose([first.activity, second.activity], [2.0**-11 + 2.0**-10, 1.5], rtol=1e-9)
    assert [first.features[0].feature, second.features[0].feature] == [0, 1]


def test_suggestions_come_from_the_clusters_of_the_features(fitted):
    assert {each.feature for each in fitted.suggest([1], n=2)} == {4, 7}
    assert {each.feature for each in fitted.suggest([0], [1], n=2)} == {3, 6}


def test_model_files_keep_every_bit(fitted, tmp_path):
    rows, times, _ = news()
    kernels = {
        "window": TimeKernel.window("40d"), "periodic": TimeKernel.periodic("7d", half_life="30d"),
        "power law": TimeKernel.power_law("1d"), "step": "step",
    }  # fmt: skip
    few = {"half_life": None, "n_sweeps": 2, "burn_in": 1}
    models = [new_model(time_kernel=each, **few).fit(rows, times=times) for each in kernels.values()]
    models.append(new_model(half_life=timedelta(days=5), n_sweeps=2, burn_in=1).fit(rows, times=times))
    for model in (fitted, *models):
        save_model(model, tmp_path / "threads.smx")
        same = load_model(tmp_path / "threads.smx")
        assert_array_equal(same.predict_proba(rows, times=times), model.predict_proba(rows, times=times))
        assert state_hash(same.to_payload()) == state_hash(model.to_payload())
        assert same.threads() == model.threads()
        assert clone(same).fit(rows, times=times).log_joint_.shape == model.log_joint_.shape


def test_functions_are_not_written_to_files():
    rows, times, _ = news()
    kernel = TimeKernel.of_function(lambda age: np.exp(-age / DAY), support="60d")
    model = new_model(time_kernel=kernel, half_life=None).fit(rows, times=times)
    assert np.isfinite(model.score(rows, times=times))
    with pytest.raises(ParameterError, match="'time_kernel' of save_model must be no function"):
        model.to_payload()


def test_starts():
    rows, times, _ = news()
    far = np.zeros(90, int)
    with pytest.raises(DataError, match="'init' of TimeSensitiveMixture must put no row into a cluster"):
        new_model(time_kernel=TimeKernel.window("1d"), half_life=None, init=far).fit(rows, times=times)
    assert new_model(init=np.where(times > 50 * DAY, 7, -1)).fit(rows, times=times).labels_.size == 90
    for wrong in ("random", [0, 1], np.full(90, -2), np.zeros(90), [[0], [1, 2]], None):
        with pytest.raises((DataError, ParameterError), match="'init' of TimeSensitiveMixture must be"):
            new_model(init=wrong).fit(rows, times=times)


def test_odd_rows_are_learnt():
    long = np.array([[10**6, 0, 3], [0, 10**6, 0], [0, 0, 0], [1, 1, 1]])
    tables = (long, long[:1], long[2:3], np.zeros((3, 1), int), np.pad(long, ((0, 0), (0, 2))), long > 0)
    for rows in tables:
        for family in ("multinomial", "bernoulli"):
            times = np.zeros(len(rows))
            model = new_model(family=family, binarize=0.0).fit(rows, times=times)
            assert np.isfinite(model.log_joint_).all()
            assert_allclose(model.predict_proba(rows, times=times).sum(axis=1), 1.0)
            assert np.isfinite(model.score_samples(rows, times=times)).all()
            assert np.isfinite(model.score_samples(rows, times=times + 1e15)).all()
            model.top_features(2)
            model.threads(2)


@pytest.mark.parametrize("family", ["multinomial", "bernoulli"])
@pytest.mark.usefixtures("fitted")  # compiled before memory is traced
def test_features_that_no_row_holds_take_no_memory(family):
    rows, times, _ = news(40, family)
    held, n_features = sparse.csr_array(rows), 50_000_000
    wide = sparse.csr_array((held.data, held.indices * 5_000_000, held.indptr), shape=(40, n_features))
    tracemalloc.start()
    model = new_model(family=family).fit(wide, times=times)
    assert_allclose(model.predict_proba(wide, times=times).sum(axis=1), 1.0)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < n_features / 10


def test_step_kernel_needs_no_times():
    rows, times, _ = news()
    with pytest.raises(DataError, match="'times' of TimeSensitiveMixture must be given"):
        new_model().fit(rows)
    step = {"time_kernel": "step", "half_life": None}
    assert_array_equal(new_model(**step).fit(rows).labels_, new_model(**step).fit(rows, times=times).labels_)


NO_COUNTS = (None, "x", 0, -1, 1.5, np.nan, np.inf, True, [3], {})
NO_PSEUDO_COUNTS = (None, "x", 0, -1, np.nan, np.inf, True, [3], 1e60, 1e-60)
BAD = {
    "n_sweeps": (*NO_COUNTS, 10**30), "thin": NO_COUNTS, "n_chains": (*NO_COUNTS, 1001),
    "split_merge": (None, "x", -1, np.nan, True, 1001),
    "burn_in": (None, "x", -1, 1.5, True, [3], 12), "family": (None, 3, "poisson", ["multinomial"]),
    "concentration": NO_PSEUDO_COUNTS, "smoothing": NO_PSEUDO_COUNTS, "prior_strength": NO_PSEUDO_COUNTS,
    "prior_mean": (*NO_PSEUDO_COUNTS, 1, "Empirical"), "strict": (None, "no", 1), "learn": (None, "yes", 1),
    "warm_start": (None, "no", 1, np.array([True])),
    "time_kernel": (None, "step ", 3, abs, ["step"], np.exp), "decay_rate": (1.0, "x"), "half_life": ("x", 0, -1, [3]),
    "binarize": ("x", -0.1, np.nan, True), "random_state": ("abc", -1, 1.5), "n_jobs": (0, 1.5, True, "all"),
    "verbose": (-1, "yes", None, 0.5),
}  # fmt: skip


@pytest.mark.parametrize("parameter", sorted(BAD))
def test_bad_parameters_are_named(parameter):
    rows, times, _ = news(9)
    for value in BAD[parameter]:
        with pytest.raises(ParameterError, match=f"'{parameter}'.* of TimeSensitiveMixture must "):
            new_model(**{parameter: value}).fit(rows, times=times)


def test_a_concentration_of_zero_is_explained():
    rows, times, _ = news(9)
    with pytest.raises(
        ParameterError, match="no cluster could begin; a small one, such as 1e-6, makes new clusters rare"
    ):
        new_model(concentration=0).fit(rows, times=times)
    with pytest.raises(ParameterError, match="no cluster could begin"):
        StreamingTimeSensitiveMixture(0.0).fit(rows, times=times)


def test_remedies_are_named():
    rows, times, _ = news(9)
    with pytest.raises(
        ParameterError, match=r"which is 19, but it is 20\. Set it to half of the sweeps, 10, or make more"
    ):
        TimeSensitiveMixture(n_sweeps=20).fit(rows, times=times)
    with pytest.raises(
        ParameterError, match="'sequential' or an array of clusters, one for each row, but it is 'ran"
    ):
        new_model(init="random").fit(rows, times=times)
    with pytest.raises(DataError, match="or -1, but that of row 2 is -2"):
        new_model(init=[0, -1, -2, *range(len(rows) - 3)]).fit(rows, times=times)


def test_a_rate_that_would_not_be_used_is_refused():
    rows, times, _ = news(9)
    with pytest.raises(ParameterError, match="'half_life' of TimeSensitiveMixture must be None unless"):
        new_model(time_kernel="step").fit(rows, times=times)


def test_bad_rows_and_questions(fitted):
    rows, times, _ = news()
    for wrong in (-rows, rows + 0.5, rows * np.nan, rows[:0], rows * 10**9):
        with pytest.raises(DataError, match="'X' of"):
            new_model().fit(wrong, times=times[: len(wrong)])
    with pytest.raises(DataError, match="only 0 and 1"):
        new_model(family="bernoulli").fit(rows, times=times)
    for ask in (lambda: fitted.threads(0), lambda: fitted.threads(n_bins=0), lambda: fitted.top_features(by="x"),
                lambda: fitted.suggest([99]), lambda: new_model().fit(rows, times=times, on_sweep=3)):  # fmt: skip
        with pytest.raises(ParameterError):
            ask()
    with pytest.raises(DataError, match="at least one row"):
        fitted.score(rows[:0], times=[])
    with pytest.raises(DataError, match="expecting 9 features"):
        fitted.predict(rows[:, :3], times=times)


def test_unfitted_models_say_so():
    model = new_model()
    for ask in (lambda: model.predict([[1]], times=[0]), model.threads, model.top_features, model.to_payload):
        with pytest.raises(NotFittedError):
            ask()
    for name in ("weights_", "component_ids_", "is_complete_", "n_rows_seen_"):
        assert not hasattr(model, name)


def test_onlookers_see_every_sweep_and_may_end_it(capsys):
    rows, times, _ = news()
    seen = []
    new_model(verbose=1, learn=True).fit(rows, times=times, on_sweep=seen.append)
    steps = [(each.chain, each.sweep) for each in seen]
    assert steps == [*((-1, n) for n in range(10)), *((0, n) for n in range(12))]
    printed = capsys.readouterr().out
    assert printed.count("] learning, sweep ") == 10
    assert printed.count("] chain 1, sweep ") == printed.count("log joint") - 10 == 12

    def stop(_):
        raise KeyboardInterrupt

    model = new_model()
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, times=times, on_sweep=stop)
    assert not model.is_complete_
    assert (model.moves_ >= 0).sum() == 1


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"n_sweeps": 10**7, "burn_in": 0, "thin": 1}, "thin"),
        ({"n_sweeps": 10**7, "thin": 10**7}, "n_sweeps"),
    ],
)
def test_draws_and_traces_that_fit_no_memory(changes, named):
    rows, times, _ = news()
    with pytest.raises(ParameterError, match=f"'{named}' of TimeSensitiveMixture must be "):
        new_model(**changes, n_chains=1000).fit(rows, times=times)
