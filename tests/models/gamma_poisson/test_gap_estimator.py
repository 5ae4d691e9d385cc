"""scikit-learn's contract, and what factors answer: new users, new features, rates, log probabilities, tips."""

import numpy as np
import pandas as pd
import pytest
from gap_cases import draw_counts, hash_of, new_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse, stats
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from sparsemix import DataError, GammaPoissonFactors, ParameterError
from sparsemix.chains import r_hat
from sparsemix.models.gamma_poisson import equations

SOLVERS = ["ml", "map", "gibbs"]
solvers = pytest.mark.parametrize("solver", SOLVERS)
COUNTS = draw_counts()
NAMES = [f"ad{j}" for j in range(COUNTS.shape[1])]


@pytest.fixture(scope="module")
def fitted():
    return {solver: new_model(solver, tol=1e-8, max_iter=3000).fit(COUNTS) for solver in SOLVERS}


@pytest.mark.parametrize("changes", [
    {"n_components": 0}, {"n_components": 1.5}, {"solver": "vb"}, {"shape": 0.0}, {"shape": [1.0, 2.0]},
    {"shape": "flat"}, {"rate": -1.0}, {"rate": [1.0, np.nan, 1.0]}, {"feature_concentration": 0.0},
    {"algorithm": "newton"}, {"n_init": 0}, {"max_iter": 0}, {"tol": -1.0}, {"n_sweeps": 0}, {"burn_in": 200},
    {"thin": 0}, {"n_chains": 0}, {"random_state": -1}, {"n_jobs": 0}, {"verbose": -1},
])  # fmt: skip
def test_parameters_that_break_their_rule(changes):
    [name] = changes
    with pytest.raises(ParameterError, match=f"'{name}' of GammaPoissonFactors must be"):
        GammaPoissonFactors(**{"n_components": 3, **changes}).fit(COUNTS)


def test_the_flat_prior_is_maximum_likelihood(fitted):
    twin = new_model("map", shape=1.0, rate=0.0, tol=1e-8, max_iter=3000).fit(COUNTS)
    assert_array_equal(twin.trace_, fitted["ml"].trace_)
    assert_array_equal(twin.user_factors_, fitted["ml"].user_factors_)


@solvers
def test_what_a_fit_leaves(fitted, solver):
    model = fitted[solver]
    assert model.user_factors_.shape == (60, 3)
    assert model.feature_factors_.shape == (3, 12)
    assert_allclose(model.feature_factors_.sum(axis=1), 1.0)
    assert list(model.get_feature_names_out()) == [f"gammapoissonfactors{k}" for k in range(3)]
    if solver == "gibbs":
        assert model.trace_.shape == (1, 30)
        assert model.n_iter_ == 30
        return
    assert model.converged_
    assert model.trace_.shape == (model.n_iter_ + 1,)
    assert np.diff(model.trace_).min() > -1e-9
    users, features = model.user_factors_, model.feature_factors_.T
    prior = equations.log_prior(users, 1.1, 0.01) if solver == "map" else 0.0
    assert_allclose(model.trace_[-1], equations.log_likelihood(COUNTS, users, features) + prior)


def test_what_chains_leave():
    model = new_model("gibbs", n_chains=2).fit(COUNTS)
    assert model.user_draws_.shape == (8, 60, 3)
    assert model.feature_draws_.shape == (8, 3, 12)
    assert model.trace_.shape == (2, 30)
    found = model.diagnostics_["log_likelihood"]
    assert found.r_hat == r_hat(model.trace_[:, 10:])
    assert set(model.diagnostics_) == {"log_likelihood", "total_rate"}
    mean = np.einsum("dnk,dkm->nm", model.user_draws_, model.feature_draws_) / 8
    assert_allclose(model.rates([3, 4], [1, 2]), mean[[3, 4], [1, 2]])


def test_draws_are_of_chains_alone(fitted):
    for name in ("user_draws_", "feature_draws_", "diagnostics_"):
        assert not hasattr(fitted["map"], name)
    assert not hasattr(GammaPoissonFactors(), "user_factors_")


@solvers
def test_users_that_were_learnt_are_found_again(fitted, solver):
    model = fitted[solver]
    again, learnt = (
        users @ model.feature_factors_ for users in (model.transform(COUNTS), model.user_factors_)
    )
    if solver == "gibbs":  # two means of the same posterior, the one approximate, the other of a short chain
        assert np.corrcoef(again.ravel(), learnt.ravel())[0, 1] > 0.99
    else:
        assert_allclose(again, learnt, atol=1e-2)


@solvers
def test_a_new_user_is_at_the_top_of_the_objective(fitted, solver):
    model = fitted[solver]
    shape, rate = (1.0, 0.0) if solver == "ml" else (1.1, 0.01)
    new = draw_counts(9)[:5]
    users, features = model.transform(new), model.feature_factors_.T

    def objective(candidate):
        rates = candidate @ features.T
        return (new * np.log(np.maximum(rates, 1e-300)) - rates).sum() + equations.log_prior(
            candidate, shape, rate
        )

    if solver == "gibbs":  # a mean, which adds up to events and prior
        assert_allclose(users.sum(axis=1), (new.sum(axis=1) + 3 * shape) / (1 + rate))
        return
    rng = np.random.default_rng(0)
    for _ in range(20):
        assert objective(users) >= objective(users * rng.uniform(0.97, 1.03, users.shape)) - 1e-6


@solvers
def test_users_without_history(fitted, solver):
    expected = {"ml": 0.0, "map": 0.1 / 1.01, "gibbs": 1.1 / 1.01}[solver]
    assert_allclose(fitted[solver].transform(np.zeros((2, 12))), expected)
    mean = fitted[solver].user_factors_.mean(axis=0) @ fitted[solver].feature_factors_
    [tips] = fitted[solver].recommend(np.zeros((1, 12)), n=3)
    assert [j for j, _ in tips] == np.argsort(-mean)[:3].tolist()


@solvers
def test_a_row_does_not_depend_on_the_others(fitted, solver):
    model = fitted[solver]
    assert_array_equal(model.transform(COUNTS)[7:9], model.transform(COUNTS[7:9]))


@pytest.mark.parametrize("solver", ["ml", "map"])
def test_new_features_are_most_likely(fitted, solver):
    model = fitted[solver]
    if solver == "ml":  # with a prior, users have more or less in all than the events that features share
        assert_allclose(model.fold_in_features(COUNTS), model.feature_factors_, atol=2e-3)
    before = hash_of(model)
    new = model.fold_in_features(np.column_stack([COUNTS[:, 0] + COUNTS[:, 1], np.zeros(60)]))
    assert new.shape == (3, 2)
    assert not new[:, 1].any()
    assert_allclose((model.user_factors_ @ new).sum(), COUNTS[:, :2].sum(), rtol=1e-5)
    assert hash_of(model) == before
    with pytest.raises(DataError, match="a row for each of the 60 users"):
        model.fold_in_features(np.ones((59, 1)))


def test_new_features_of_chains_are_smoothed(fitted):
    model = fitted["gibbs"]
    found = model.fold_in_features(COUNTS)
    assert np.corrcoef(found.ravel(), model.feature_factors_.ravel())[0, 1] > 0.95
    assert (model.fold_in_features(np.zeros((60, 1))) > 0).all()


def test_new_users_are_learnt():
    model = new_model().fit(COUNTS)
    before, features = model.user_factors_.copy(), model.feature_factors_.copy()
    assert model.partial_fit(COUNTS[:20]) is model
    assert_array_equal(model.user_factors_[:60], before)
    assert model.user_factors_.shape == (80, 3)
    assert_allclose(model.feature_factors_.sum(axis=1), 1.0)
    assert 0 < np.abs(model.feature_factors_ - features).max() < 0.1
    assert_allclose(
        model.fold_in_features(np.vstack([COUNTS, COUNTS[:20]])), model.feature_factors_, atol=0.05
    )


def test_partial_fit_begins_with_a_fit_and_is_not_for_chains():
    first, whole = new_model().partial_fit(COUNTS), new_model().fit(COUNTS)
    assert hash_of(first) == hash_of(whole)
    with pytest.raises(ParameterError, match="transform"):
        new_model("gibbs").fit(COUNTS).partial_fit(COUNTS)


@solvers
def test_recommendations_leave_out_what_was_seen(fitted, solver):
    model, rows = fitted[solver], COUNTS[:30]
    rates = model.transform(rows) @ model.feature_factors_
    for own, seen, tips in zip(rates, rows, model.recommend(rows, n=4), strict=True):
        order = [j for j in np.argsort(-own, kind="stable") if not seen[j]][:4]
        if seen.any():
            assert [j for j, _ in tips] == order
            assert_allclose([rate for _, rate in tips], own[order])
        assert len(tips) == min(4, int((seen == 0).sum()))
    everything = model.recommend(rows, n=99, exclude_seen=False)
    assert {len(tips) for tips in everything} == {12}


def test_recommendations_by_name_and_among_some():
    model = new_model().fit(pd.DataFrame(COUNTS, columns=NAMES))
    [tips] = model.recommend(
        pd.DataFrame(COUNTS[:1], columns=NAMES), n=9, among=["ad3", "ad1"], exclude_seen=False
    )
    assert {name for name, _ in tips} == {"ad1", "ad3"}
    for unknown in (["ad99"], [["ad1"]], "ad1", True, 1j):
        with pytest.raises(ParameterError, match="'among' of recommend must be"):
            model.recommend(COUNTS[:1], among=unknown)
    assert model.recommend(COUNTS[:2], among=[]) == [[], []]


def test_scores_are_log_probabilities(fitted):
    model = fitted["map"]
    held_out = draw_counts(11)
    rates = model.transform(COUNTS) @ model.feature_factors_
    expected = stats.poisson.logpmf(held_out, 0.5 * np.maximum(rates, 1e-300)).sum(axis=1)
    found = model.score_samples(held_out, observed=COUNTS, exposure=0.5)
    assert_allclose(found, expected, rtol=1e-6)
    assert_allclose(model.score(held_out, observed=COUNTS, exposure=0.5), expected.mean(), rtol=1e-6)
    with pytest.raises(DataError, match="same rows"):
        model.score(held_out, observed=COUNTS[:3])
    with pytest.raises(ParameterError, match="exposure"):
        model.score(held_out, exposure=0.0)
    with pytest.raises(DataError, match="at least one row"):
        model.score(COUNTS[:0])


@pytest.mark.parametrize("exposure", [0.0, np.inf, "1", 10**400])
def test_exposures_that_cannot_be(fitted, exposure):
    with pytest.raises(ParameterError, match=r"'exposure' of score must be a number > 0, below 1e.50"):
        fitted["map"].score(COUNTS, exposure=exposure)


def test_an_impossible_count_has_no_probability_and_no_nan(fitted):
    rows = np.zeros((1, 12))
    rows[0, -1] = 2  # nobody has ever seen it
    assert fitted["ml"].score_samples(rows)[0] == -np.inf
    assert np.isfinite(fitted["ml"].transform(rows)).all()
    assert np.isfinite(fitted["gibbs"].score_samples(rows)).all()


def test_rates_of_pairs(fitted):
    model = fitted["map"]
    whole = model.user_factors_ @ model.feature_factors_
    assert_allclose(model.rates([0, 5], [1, 2]), whole[[0, 5], [1, 2]])
    assert_allclose(
        model.rates([1], [2], X=COUNTS[4:6]), model.inverse_transform(model.transform(COUNTS[5:6]))[:, 2]
    )
    for users, features in ([60], [0]), ([0], [12]), ([-1], [0]), ([0.5], [0]), ([0, 1], [0]):
        with pytest.raises(DataError):
            model.rates(users, features)
    with pytest.raises(DataError, match="3 columns"):
        model.inverse_transform(np.ones((2, 4)))
    for bad in (np.nan, np.inf, -1.0):
        with pytest.raises(DataError, match="factors >= 0"):
            model.inverse_transform([[1.0, bad, 0.0]])
    for bad in ("x", {}, [[1.0], [1.0, 2.0]], [[10**400, 0, 0]]):
        with pytest.raises(DataError, match="3 columns of factors"):
            model.inverse_transform(bad)


@solvers
def test_forms_of_the_input_do_not_matter(solver):
    whole = hash_of(new_model(solver).fit(COUNTS))
    doubled = sparse.coo_array(
        (np.r_[COUNTS[COUNTS > 0] - 1, np.ones((COUNTS > 0).sum())], tuple(np.tile(np.nonzero(COUNTS), 2))),
        shape=COUNTS.shape,
    )  # entries twice, and explicit zeros
    for form in (sparse.csr_array(COUNTS), sparse.csc_matrix(COUNTS.astype(np.int8)), doubled):
        assert hash_of(new_model(solver).fit(form)) == whole


@solvers
def test_the_seed_decides_and_threads_do_not(solver):
    first, twin, other = (
        new_model(solver, n_init=2, random_state=seed, n_jobs=n_jobs).fit(COUNTS)
        for seed, n_jobs in ((0, 1), (0, 2), (1, 1))
    )
    assert_array_equal(first.user_factors_, twin.user_factors_)
    assert not np.array_equal(first.user_factors_, other.user_factors_)


def test_the_best_start_stays():
    options = {"solver": "ml", "tol": 1e-6, "max_iter": 1000}
    many = new_model(n_init=5, **options).fit(COUNTS)
    starts = {}
    new_model(n_init=5, **options).fit(COUNTS, on_sweep=lambda p: starts.update({p.start: p.objective}))
    assert len(starts) == 5
    assert many.trace_[-1] == max(starts.values())


def test_questions_change_nothing(fitted):
    for model in fitted.values():
        before = hash_of(model)
        model.transform(COUNTS)
        model.recommend(COUNTS, n=2)
        model.score(COUNTS)
        model.rates([0], [0])
        assert hash_of(model) == before


@pytest.mark.parametrize("X", [np.zeros((0, 3)), [[-1.0, 2.0]], [[np.nan, 1.0]], "file.csv", [["a", "b"]]])
@solvers
def test_tables_that_are_none(solver, X):
    with pytest.raises(DataError):
        new_model(solver).fit(X)


def test_chains_take_whole_counts_and_say_if_draws_are_too_many(monkeypatch):
    with pytest.raises(DataError, match="whole numbers"):
        new_model("gibbs").fit(COUNTS + 0.5)
    monkeypatch.setattr("sparsemix.models.gamma_poisson.checks.MOST_CELLS", 500)
    with pytest.raises(ParameterError, match="2 draws of 216 factors"):
        new_model("gibbs").fit(COUNTS)


@solvers
@pytest.mark.parametrize("counts", [np.zeros((3, 2)), [[5]], np.eye(4), [[10**6, 1], [0, 0]]])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_odd_tables_give_finite_answers(solver, counts):
    model = new_model(solver, n_components=2).fit(counts)
    for values in (
        model.user_factors_,
        model.feature_factors_,
        model.transform(counts),
        model.trace_,
    ):
        assert np.isfinite(values).all()
    assert len(model.recommend(counts)) == len(counts)


def test_too_few_sweeps_are_said():
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        model = new_model(max_iter=2, tol=0.0).fit(COUNTS)
    assert not model.converged_
    assert model.n_iter_ == 2


def test_progress_is_told_and_can_end_the_fit(capsys):
    class StopError(Exception):
        pass

    def stop(progress):
        if progress.sweep == 3:
            raise StopError

    model = new_model(verbose=1).fit(COUNTS)
    assert "[GammaPoissonFactors] start 1, sweep 1:" in capsys.readouterr().out
    with pytest.raises(StopError):
        model.fit(COUNTS, on_sweep=stop)
    assert (model.is_complete_, model.n_iter_) == (False, 3)
    with pytest.raises(ParameterError, match="on_sweep"):
        model.fit(COUNTS, on_sweep=1)


def test_not_fitted():
    for name in ("transform", "recommend", "score", "inverse_transform", "fold_in_features"):
        with pytest.raises(NotFittedError):
            getattr(GammaPoissonFactors(), name)(COUNTS)
    with pytest.raises(NotFittedError):
        GammaPoissonFactors().to_payload()


def test_smoothing_predicts_what_a_component_has_not_made():
    counts = draw_counts(scale=1.0)
    observed = np.random.default_rng(0).binomial(counts, 0.5)
    scores = [
        new_model(feature_smoothing=smoothing).fit(observed).score(counts - observed, observed=observed)
        for smoothing in (0.0, 0.3)
    ]
    assert scores[1] > scores[0]
    plain = new_model("ml").fit(observed)
    assert hash_of(
        new_model("ml", feature_smoothing=0.3).fit(observed).set_params(feature_smoothing=0.0)
    ) == hash_of(plain)
    with pytest.raises(ParameterError, match="feature_smoothing"):
        new_model(feature_smoothing=-0.1).fit(observed)
