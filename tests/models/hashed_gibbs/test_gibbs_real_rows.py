"""Gaussian rows: scikit-learn's contract, what a fit leaves, and answers about rows against the equations."""

import numpy as np
import pandas as pd
import pytest
from gibbs_models import hash_of, new_model
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp
from sklearn.utils.estimator_checks import check_estimator

from sparsemix import load_model, save_model
from sparsemix.chains import effective_sample_size
from sparsemix.metrics import adjusted_rand
from sparsemix.models.hashed_gibbs import equations, real_building
from sparsemix.models.hashed_gibbs.real_state import REAL_FAMILIES
from sparsemix.numeric.seeds import seed_of

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

families = pytest.mark.parametrize("family", REAL_FAMILIES)
proposals = pytest.mark.parametrize("proposal", ["exact", "hash"])
COLUMNS = ["length", "width", "weight"]


def rows_of(n_rows=60, spread=1.0):
    """Rows of three kinds, and their kinds."""
    kinds = np.arange(n_rows) % 3
    centres = np.array([[0.0, 0.0, 100.0], [8.0, 8.0, 100.0], [0.0, 9.0, 130.0]])
    noise = np.random.default_rng(0).normal(0.0, spread, (n_rows, 3)) * [1.0, 1.0, 4.0]
    return centres[kinds] + noise, kinds


def log_shares(model, rows, labels, row):
    """Log weight plus log predictive of each cluster, by definition."""
    prior, found = real_building.prior_of(model._clusters.hyper), []
    for k in range(labels.max() + 1):
        members = rows[labels == k]
        more = equations.log_evidence_of_real_rows(prior, np.vstack([members, row]))
        found.append(np.log(len(members) + 1.0) + more - equations.log_evidence_of_real_rows(prior, members))
    return np.array(found)


@pytest.mark.parametrize("proposal", ["auto", "hash"])
@families
def test_scikit_learns_own_checks(family, proposal):
    model = new_model(family, n_components=3, n_sweeps=4, burn_in=2, thin=1, proposal=proposal)
    results = check_estimator(model, on_fail=None, on_skip=None)
    failed = {r["check_name"]: r["exception"] for r in results if r["status"] == "failed"}
    assert set(failed) <= {
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_dtype_object",
    }


@proposals
@families
def test_the_seed_decides_and_threads_do_not(family, proposal):
    rows, _ = rows_of(spread=4.0)
    first, threads = (new_model(family, proposal=proposal, n_chains=3, n_jobs=n).fit(rows) for n in (1, 2))
    other = new_model(family, proposal=proposal, n_chains=3, random_state=1).fit(rows)
    for name in ("draws_", "labels_", "log_joint_", "moves_"):
        assert_array_equal(getattr(threads, name), getattr(first, name))
    assert not np.array_equal(other.draws_, first.draws_)
    assert not np.array_equal(first.draws_[:3], first.draws_[3:6])  # chains differ
    assert proposal == "hash" or first.acceptance_rate_ == 1.0


@pytest.mark.parametrize(
    ("proposal", "init"),
    [("auto", "sequential"), ("auto", "mixed"), ("auto", "random"), ("hash", "sequential")],
)
@families
def test_three_clear_clusters_are_found_among_many(family, proposal, init):
    rows, kinds = rows_of(150)
    model = new_model(family, n_components=12, process="dp", proposal=proposal, n_sweeps=40, burn_in=20)
    assert adjusted_rand(kinds, model.set_params(init=init).fit(rows).labels_) > 0.9


@families
def test_answers_are_those_of_the_equations(family):
    rows, _ = rows_of(40)
    model = new_model(family).fit(rows)
    asked = np.vstack([rows[:5], rows[:5] + 3.0, [[1e4, -1e4, 0.0]]])
    shares = np.array([log_shares(model, rows, model.labels_, row) for row in asked])
    total = np.log(40 + model.weights_.size)
    assert_allclose(model.score_samples(asked), logsumexp(shares, axis=1) - total, atol=1e-8)
    assert_allclose(
        model.predict_proba(asked), np.exp(shares - logsumexp(shares, axis=1, keepdims=True)), atol=1e-9
    )
    assert_array_equal(model.predict(asked), shares.argmax(axis=1))
    assert not model.unknown_rows(asked).any()
    sizes = np.bincount(model.labels_)
    assert_allclose(model.weights_, (sizes + 1.0) / (sizes + 1.0).sum())
    assert_array_equal(model.fit_predict(rows), model.labels_)


@families
def test_density_integrates_to_one(family):
    model = new_model(family).fit(rows_of()[0][:, :1])
    grid = np.sinh(np.linspace(-12.0, 12.0, 20_001))[:, None] + 4.0
    assert np.trapezoid(np.exp(model.score_samples(grid)), grid[:, 0]) == pytest.approx(1.0, abs=1e-3)


@pytest.mark.parametrize(
    "prior", [{"n_components": 6}, {"process": "dp", "n_components": 30, "discount": 0.5}]
)
@families
def test_new_rows_are_drawn_as_the_equations_say(family, prior):
    rows, kinds = rows_of(30, spread=3.0)
    model = new_model(family, init=kinds[:18], n_sweeps=1, burn_in=0, **prior).fit(rows[:18])
    labels, gaussian = model.labels_.tolist(), real_building.prior_of(model._clusters.hyper)
    n_places = 6 if prior["n_components"] == 6 else model.weights_.size + 12
    seed = np.random.SeedSequence([seed_of(0, "test"), 18])
    for uniform in np.random.default_rng(seed).random(12):
        so_far = rows[: len(labels) + 1]
        joints = [
            equations.log_joint(gaussian, so_far, np.array([*labels, k]), n_places) for k in range(n_places)
        ]
        shares = np.exp(joints - logsumexp(joints))
        drawn = int(np.searchsorted(np.cumsum(shares), uniform, side="right"))
        labels.append(min(drawn, max(labels) + 1))
    assert_array_equal(model.partial_fit(rows[18:]).labels_, labels[18:])


@proposals
@families
def test_new_rows_leave_the_statistics_of_all(family, proposal):
    rows, _ = rows_of(90, spread=3.0)
    model = new_model(family, process="dp", proposal=proposal).fit(rows[:60])
    parts = [model.labels_]
    parts += [model.partial_fit(rows[60:75], n_sweeps=2).labels_]
    labels = np.concatenate([*parts, model.partial_fit(rows[75:], n_sweeps=1).labels_])
    assert model.n_rows_seen_ == labels.size == 90
    prior = real_building.prior_of(model._clusters.hyper)
    anew = real_building.clusters_of(rows, prior, labels, model.weights_.size)
    assert_array_equal(model._clusters.sizes, np.bincount(labels))
    found = real_building.log_evidence(prior, model._clusters.clusters)
    assert_allclose(found, real_building.log_evidence(prior, anew), rtol=1e-10)


@proposals
@families
def test_files_bring_the_model_back_to_the_bit(family, proposal, tmp_path):
    rows, _ = rows_of(spread=3.0)
    for table in (rows, pd.DataFrame(rows, columns=COLUMNS)):
        model = new_model(family, process="dp", proposal=proposal, discount=0.2).fit(table[:40])
        for _ in range(2):
            save_model(model, tmp_path / "m.smx")
            loaded = load_model(tmp_path / "m.smx")
            assert hash_of(loaded) == hash_of(model)
            assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
            assert loaded.top_features(3) == model.top_features(3)
            assert_array_equal(loaded.covariances_, model.covariances_)
            loaded.partial_fit(table[40:], n_sweeps=2)
            assert hash_of(loaded) == hash_of(model.partial_fit(table[40:], n_sweeps=2))


@proposals
@families
def test_an_interrupted_fit_goes_on_to_the_same_bits(family, proposal, tmp_path):
    rows, _ = rows_of(spread=4.0)
    whole = new_model(family, proposal=proposal, n_chains=2, warm_start=True).fit(rows)

    def stop(progress):
        if (progress.chain, progress.sweep) == (1, 7):
            raise KeyboardInterrupt

    model = new_model(family, proposal=proposal, n_chains=2, warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, on_sweep=stop)
    save_model(model, tmp_path / "m.smx")
    again = load_model(tmp_path / "m.smx").fit(rows)
    for name in ("draws_", "labels_", "log_joint_", "moves_"):
        assert_array_equal(getattr(again, name), getattr(whole, name))
    assert hash_of(again) == hash_of(whole)


FORMS = {
    "frame": pd.DataFrame, "lists": lambda rows: rows.tolist(), "fortran": np.asfortranarray,
    "sparse": sparse.csr_array, "coo": sparse.coo_array, "other byte order": lambda rows: rows.astype(">f8"),
    "objects": lambda rows: rows.astype(object), "read only": lambda rows: np.lib.stride_tricks.as_strided(
        rows, writeable=False),
}  # fmt: skip


@pytest.mark.parametrize("form", FORMS)
def test_rows_of_every_form_are_the_same(form):
    rows, _ = rows_of()
    expected, kept = new_model("gaussian").fit(rows), rows.copy()
    model = new_model("gaussian").fit(FORMS[form](rows))
    assert hash_of(model) == hash_of(expected)
    assert_array_equal(model.predict_proba(FORMS[form](rows)), expected.predict_proba(rows))
    assert_array_equal(rows, kept)


def test_columns_may_change_places():
    rows, _ = rows_of()
    table = pd.DataFrame(rows, columns=COLUMNS)
    model = new_model("gaussian_full").fit(table)
    expected = model.predict_proba(table)
    assert_array_equal(model.predict_proba(table[COLUMNS[::-1]]), expected)
    plain = new_model("gaussian_full").fit(rows)
    model.partial_fit(table[COLUMNS[::-1]].iloc[:7])
    assert_array_equal(model.labels_, plain.partial_fit(rows[:7]).labels_)


@families
def test_what_clusters_look_like(family):
    rows, kinds = rows_of(600)
    model = new_model(family, init=kinds, n_sweeps=1, burn_in=0, n_components=3).fit(
        pd.DataFrame(rows, columns=COLUMNS)
    )
    for k in range(3):
        members = rows[model.labels_ == k]
        assert_allclose(model.means_[k], members.mean(axis=0), rtol=0.02, atol=0.05)
        covariance = np.cov(members.T)
        expected = covariance if family == "gaussian_full" else np.diag(covariance)
        assert_allclose(model.covariances_[k], expected, rtol=0.2, atol=0.3)
    summaries = model.top_features(2, level=0.9)
    assert [summary.n_rows for summary in summaries] == [200.0, 200.0, 200.0]
    far = (model.means_ - rows.mean(axis=0)) / rows.std(axis=0)
    for k, summary in enumerate(summaries):
        for each in summary.features:
            at = k, COLUMNS.index(each.feature)
            assert each.low < each.mean == model.means_[at] < each.high
            assert_allclose(each.lift, far[at], rtol=0.03, atol=0.03)
            assert_allclose((each.high - each.mean) / (each.mean - each.low), 1.0)
    by_mean = model.top_features(3, by="mean")[0].features
    assert [each.mean for each in by_mean] == sorted((each.mean for each in by_mean), reverse=True)
    assert len(model.top_features(10, by="lift")[0].features) == 3


@families
def test_intervals_of_means_hold_the_truth_as_often_as_they_say(family):
    rng, hits = np.random.default_rng(0), []
    for _ in range(300):
        rows = rng.normal(size=(20, 1))
        model = new_model(family, n_components=1, n_sweeps=1, burn_in=0, smoothing=1e-6).fit(rows)
        (only,) = model.top_features(1, level=0.8)[0].features
        hits.append(only.low < 0.0 < only.high)
    assert 0.72 < np.mean(hits) < 0.88


@families
def test_drawn_rows_look_like_those_that_were_learnt(family):
    rows, _ = rows_of(300)
    model = new_model(family, process="dp", n_components=20).fit(rows)
    drawn, components = model.sample(4000, random_state=0)
    assert drawn.shape == (4000, 3)
    assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), rtol=0.05)
    assert_allclose(np.cov(drawn.T), np.cov(rows.T), rtol=0.2, atol=1.0)
    assert np.mean(model.predict(drawn) == components) > 0.9


@proposals
@families
def test_data_and_clusters_drawn_in_turn_have_the_prior(family, proposal):
    """Geweke's joint test on labels: one sweep, then new rows given the clusters, against clusters from the prior."""
    rng, n_rows, n_turns = np.random.default_rng(3), 8, 1500
    hyper = real_building.RealHyperparameters(family, "finite", 1.0, 0.0, 0.3, 4.0, np.zeros(2), np.ones(2))
    prior = real_building.prior_of(hyper)
    labels, largest = rng.integers(3, size=n_rows), np.empty(n_turns)
    for turn in range(n_turns):
        rows = drawn_rows(rng, prior, labels)
        labels = swept(prior, rows, labels, proposal, turn)
        largest[turn] = np.bincount(labels, minlength=3).max()
    shares = rng.dirichlet(np.ones(3), 20_000)
    expected = np.array([rng.multinomial(n_rows, each).max() for each in shares]).mean()
    error = largest.std() / np.sqrt(effective_sample_size(largest[None]))
    assert abs(largest.mean() - expected) < 4.0 * error


def drawn_rows(rng, prior, labels):
    """Rows of clusters whose Gaussians are drawn from the prior."""
    rows = np.empty((labels.size, 2))
    for k in np.unique(labels):
        if prior.is_full:
            draws = rng.standard_normal((int(prior.gaussian.degrees), 2)) @ np.linalg.inv(
                prior.gaussian.factor
            )
            covariance = np.linalg.inv(draws.T @ draws)
        else:
            covariance = np.diag(prior.gaussian.rate / rng.gamma(prior.gaussian.shape, size=2))
        mean = rng.multivariate_normal(np.zeros(2), covariance / 0.3)
        rows[labels == k] = rng.multivariate_normal(mean, covariance, np.count_nonzero(labels == k))
    return rows


def swept(prior, rows, labels, proposal, seed):
    from sparsemix.models.hashed_gibbs.engine import Plan
    from sparsemix.models.hashed_gibbs.real_engine import RealChain
    from sparsemix.models.hashed_gibbs.signatures import Frame, HashForm

    chain = RealChain(rows, prior, 3, Plan((proposal,), HashForm(32), 1), np.random.SeedSequence(seed))
    chain.start(labels)
    n_parameters = 5 if prior.is_full else 4
    chain._frame = Frame(np.ones(n_parameters), np.zeros(n_parameters))  # not from the rows' own clusters
    chain.sweep(adapts=False)
    return chain.assigned
