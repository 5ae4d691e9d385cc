"""scikit-learn's contract, what a fit leaves, and answers about rows against the equations."""

import itertools

import numpy as np
import pandas as pd
import pytest
from gibbs_models import FAMILIES, LETTERS, N_ROWS, hash_of, new_model, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import gammaln

from sparsemix import load_model, save_model
from sparsemix.chains import effective_sample_size
from sparsemix.foundation.errors import UnknownFeaturesWarning
from sparsemix.metrics import adjusted_rand

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

families = pytest.mark.parametrize("family", FAMILIES)


def test_fitting_leaves_parameters_alone():
    rows, topics = table_of()
    given = np.where(np.arange(N_ROWS) % 2, -1, topics)
    model, kept = new_model(init=given, process="dp"), given.copy()
    before = model.get_params()
    assert model.fit(rows) is model
    assert all(model.get_params()[name] is value for name, value in before.items())
    assert_array_equal(given, kept)


@pytest.mark.parametrize("proposal", ["exact", "index", "hash"])
@families
def test_the_seed_decides_and_threads_do_not(family, proposal):
    rows, _ = table_of(family)
    first, threads, again = (
        new_model(family, proposal=proposal, n_chains=3, n_jobs=n_jobs).fit(rows) for n_jobs in (1, 2, None)
    )
    other = new_model(family, proposal=proposal, n_chains=3, random_state=1).fit(rows)
    for twin in (threads, again):
        for name in ("draws_", "labels_", "log_joint_", "n_clusters_", "moves_"):
            assert_array_equal(getattr(twin, name), getattr(first, name))
        assert twin.acceptance_rate_ == first.acceptance_rate_
    assert not np.array_equal(other.draws_, first.draws_)
    assert not np.array_equal(first.draws_[:3], first.draws_[3:6])  # chains differ


@pytest.mark.parametrize(
    ("n_sweeps", "burn_in", "thin", "n_draws"), [(12, 6, 2, 3), (12, 0, 5, 3), (7, 6, 9, 1), (1, 0, 1, 1)]
)
def test_shapes_of_what_was_sampled(n_sweeps, burn_in, thin, n_draws):
    rows, _ = table_of()
    told = []
    model = new_model(n_sweeps=n_sweeps, burn_in=burn_in, thin=thin, n_chains=2).fit(
        rows, on_sweep=told.append
    )
    assert model.draws_.shape == (2 * n_draws, N_ROWS)
    assert model.draws_.dtype == np.int32
    assert 0 <= model.draws_.min() <= model.draws_.max() < 8
    for name in ("log_joint_", "n_clusters_", "moves_"):
        assert getattr(model, name).shape == (2, n_sweeps), name
    assert 0.0 <= model.acceptance_rate_ <= 1.0
    assert [(each.chain, each.sweep) for each in told] == list(itertools.product(range(2), range(n_sweeps)))
    assert [each.result.log_joint for each in told] == model.log_joint_.ravel().tolist()
    last = [np.unique(chain[-1]).size for chain in model.draws_.reshape(2, n_draws, N_ROWS)]
    assert last == model.n_clusters_[:, -1].tolist()


@families
def test_attributes_agree(family):
    rows, _ = table_of(family)
    model = new_model(family).fit(rows)
    sizes = np.bincount(model.labels_)
    assert np.all(np.diff(sizes) <= 0)  # largest first
    assert sizes.min() >= 1
    assert_array_equal(model.component_ids_, np.arange(sizes.size))
    assert_allclose(model.weights_, (sizes + 1.0) / (sizes + 1.0).sum())
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert_array_equal(model.predict_proba(rows).argmax(axis=1), model.predict(rows))
    assert model.score(rows) == pytest.approx(model.score_samples(rows).mean())
    assert [summary.n_rows for summary in model.top_features(2)] == sizes.tolist()
    assert_array_equal(model.fit_predict(rows), model.labels_)


@pytest.mark.parametrize(
    "prior", [{}, {"process": "dp"}, {"process": "dp", "discount": 0.3}], ids=["finite", "dp", "pitman-yor"]
)
@families
def test_three_clear_clusters_are_found_among_fifty(family, prior):
    rows, topics = table_of(family, 150, mean=4.0)
    sparse_weights = {} if prior else {"weight_concentration": 0.02}
    model = new_model(family, n_components=50, n_sweeps=30, burn_in=15, **prior, **sparse_weights).fit(rows)
    assert adjusted_rand(topics, model.labels_) > 0.95
    assert np.bincount(model.labels_)[:3].sum() >= 148


def test_given_clusters_are_where_chains_start():
    rows, topics = table_of()
    whole = new_model(init=topics, n_sweeps=1, burn_in=0, thin=1).fit(rows)
    assert adjusted_rand(topics, whole.draws_[0]) > 0.9
    other = new_model(process="dp").fit(rows).labels_
    for given in (np.where(np.arange(N_ROWS) % 2, -1, topics), np.full(N_ROWS, -1), other, pd.Series(other)):
        assert new_model(init=given).fit(rows).labels_.shape == (N_ROWS,)


def test_labels_of_given_clusters_of_a_process_may_have_gaps():
    rows, topics = table_of()
    plain = new_model(process="dp", init=topics, n_components=100).fit(rows)
    gaps = new_model(process="dp", init=topics * 40, n_components=100).fit(rows)
    assert_array_equal(gaps.draws_, plain.draws_)


def test_random_starts_of_chains_differ():
    rows, _ = table_of()
    model = new_model(init="random", n_chains=2, n_sweeps=1, burn_in=0, thin=1, proposal="index").fit(rows)
    assert model.moves_.max() < N_ROWS
    assert np.sum(model.draws_[0] == model.draws_[1]) < N_ROWS // 2


def test_a_process_never_needs_more_clusters_than_rows():
    rows, _ = table_of()
    expected = new_model(process="dp", proposal="index", n_components=N_ROWS).fit(rows)
    model = new_model(process="dp", proposal="index", n_components=10_000_000).fit(rows)
    assert_array_equal(model.draws_, expected.draws_)


@families
def test_asking_changes_nothing(family):
    rows, _ = table_of(family)
    fitted = new_model(family).fit(rows)
    before = hash_of(fitted)
    for _ in range(2):
        fitted.predict(rows), fitted.predict_proba(rows), fitted.score(rows), fitted.unknown_rows(rows)
        fitted.top_features(3), fitted.suggest([0], [1]), fitted.sample(5, random_state=0)
    assert hash_of(fitted) == before


@families
def test_probabilities_of_all_rows_sum_to_one(family):
    rows, _ = table_of(family)
    narrow = rows[:, :3]
    model = new_model(family, n_components=3).fit(narrow)
    if family == "bernoulli":
        every = np.array(list(itertools.product([0, 1], repeat=3)))
        copies = np.ones(len(every))
    elif family == "poisson":
        every = np.array(list(itertools.product(range(40), repeat=3)))
        copies = np.ones(len(every))
    else:  # rows of five words in their order
        every = np.array([each for each in itertools.product(range(6), repeat=3) if sum(each) == 5])
        copies = np.exp(gammaln(6.0) - gammaln(every + 1.0).sum(axis=1))
    assert np.exp(model.score_samples(every)) @ copies == pytest.approx(1.0, abs=2e-4)


def log_score(model, row, sizes, counts):
    """Log weight and log predictive of each cluster for a row, by definition; (K,)."""
    a, family = model.smoothing, model.family
    if family == "multinomial":
        everything = counts.sum(axis=1) + a * counts.shape[1]
        own = (gammaln(counts + a + row) - gammaln(counts + a)).sum(axis=1)
        return np.log(sizes + 1.0) + own + gammaln(everything) - gammaln(everything + row.sum())
    a = model.prior_mean * model.prior_strength
    if family == "poisson":
        b, shape = model.prior_strength + sizes[:, None], counts + a
        own = gammaln(shape + row) - gammaln(shape) + shape * np.log(b / (b + 1.0)) - row * np.log(b + 1.0)
        return np.log(sizes + 1.0) + own.sum(axis=1)
    chance = (counts + a) / (sizes[:, None] + model.prior_strength)
    return np.log(sizes + 1.0) + (row * np.log(chance) + (1 - row) * np.log1p(-chance)).sum(axis=1)


@pytest.mark.parametrize("length", [1, 30, 3000])
@pytest.mark.parametrize("pseudo_count", [0.3, 1e-6])
@families
def test_far_clusters_are_weighed_like_near_ones(family, pseudo_count, length):
    rng = np.random.default_rng(1)
    truth = np.repeat(np.arange(3), 12)
    chance = np.where(np.arange(30) // 10 == truth[:, None], 0.9, 0.12)
    learnt = (rng.random((36, 30)) < chance).astype(int)
    asked = (rng.random((12, 30)) < chance[::3]) * (1 if family == "bernoulli" else -(-length // 10))
    prior = {"smoothing": pseudo_count, "prior_mean": pseudo_count, "prior_strength": 1.0}
    model = new_model(family, init=truth, n_components=3, n_sweeps=1, burn_in=0, **prior).fit(learnt)
    sizes = np.bincount(model.labels_)
    counts = np.array([learnt[model.labels_ == k].sum(axis=0) for k in range(sizes.size)])
    expected = np.array([log_score(model, row, sizes, counts) for row in asked])
    best = expected.argmax(axis=1)
    assert_array_equal(model.predict(asked), best)
    with np.errstate(divide="ignore"):
        found = np.log(model.predict_proba(asked))
    likely = expected - expected.max(axis=1, keepdims=True) > -600.0
    differences = (found - found.max(axis=1, keepdims=True)) - (
        expected - expected.max(axis=1, keepdims=True)
    )
    assert_allclose(differences[likely], 0.0, atol=0.05)


def test_unknown_features_by_name_and_columns_in_any_order():
    rows, _ = table_of()
    named = new_model().fit(pd.DataFrame(rows, columns=LETTERS))
    assert named.feature_names_in_.tolist() == LETTERS
    turned = pd.DataFrame(rows[:, ::-1], columns=LETTERS[::-1])
    assert_array_equal(named.predict_proba(turned), named.predict_proba(pd.DataFrame(rows, columns=LETTERS)))
    more = pd.DataFrame({"b": [1, 0, 0], "news": [3, 2, 0]})
    assert_array_equal(named.unknown_rows(more), [False, True, False])
    with pytest.warns(UnknownFeaturesWarning):
        shares = named.predict_proba(more)
    assert_allclose(shares[1], shares[2])
    assert_allclose(shares[2], named.weights_)
    assert named.suggest(["a"], ["b"], n=2)[0].feature in LETTERS


@families
def test_files_bring_the_model_back_to_the_bit(family, tmp_path):
    rows, _ = table_of(family)
    for names in (None, LETTERS):
        table = rows if names is None else pd.DataFrame(rows, columns=names)
        model = new_model(family, process="dp", discount=0.2, init=np.zeros(N_ROWS, int)).fit(table)
        save_model(model, tmp_path / "m.smx")
        loaded = load_model(tmp_path / "m.smx")
        assert hash_of(loaded) == hash_of(model)
        assert_array_equal(loaded.predict_proba(table), model.predict_proba(table))
        assert_array_equal(loaded.score_samples(table), model.score_samples(table))
        assert loaded.suggest([table.columns[0] if names else 0]) == model.suggest([names[0] if names else 0])
        assert loaded.top_features(3) == model.top_features(3)
        assert loaded.init == "sequential"
        assert not hasattr(loaded, "labels_")


def test_drawn_rows_look_like_those_that_were_learnt():
    for family in FAMILIES:
        rows, _ = table_of(family, 300)
        model = new_model(family, process="dp", n_components=20).fit(rows)
        drawn, components = model.sample(4000, random_state=0)
        assert drawn.shape == (4000, 9)
        assert_allclose(drawn.mean(axis=0), rows.mean(axis=0), rtol=0.2)
        assert_allclose(np.bincount(components)[0] / 4000, model.weights_[0], atol=0.05)
        assert np.mean(model.predict(drawn) == components) > 0.5


def test_the_mean_number_of_clusters_of_rows_that_say_nothing():
    """Rows without features leave the prior: a Dirichlet process has a known mean; the chain is trusted by its size."""
    n_rows, concentration = 12, 2.0
    model = new_model(process="dp", concentration=concentration, n_components=12, n_sweeps=3000, burn_in=50)
    model.set_params(proposal="exact").fit(np.zeros((n_rows, 2), int))
    chain = model.n_clusters_[:, 50:].astype(float)
    size = effective_sample_size(chain)
    expected = np.sum(concentration / (concentration + np.arange(n_rows)))
    assert size > 200
    assert abs(chain.mean() - expected) < 4.0 * chain.std() / np.sqrt(size)


@pytest.mark.slow
def test_data_and_clusters_drawn_in_turn_have_the_prior():
    """Geweke's joint test: one sweep, then new rows given the clusters, against clusters from the prior alone."""
    rng = np.random.default_rng(3)
    n_rows, n_features, n_components, length, n_turns = 12, 4, 3, 3, 4000
    labels = rng.integers(n_components, size=n_rows)
    sizes_seen = np.empty(n_turns)
    for turn in range(n_turns):
        chances = rng.dirichlet(np.full(n_features, 0.5), n_components)
        rows = np.array([rng.multinomial(length, chances[k]) for k in labels])
        model = new_model(
            init=labels, n_components=n_components, smoothing=0.5, n_sweeps=1, burn_in=0, thin=1,
            proposal=("exact", "index", "hash")[turn % 3], n_bits=32, random_state=turn,
        )  # fmt: skip
        labels = model.fit(rows).draws_[0].astype(np.int64)
        sizes_seen[turn] = np.bincount(labels, minlength=n_components).max()
    prior = rng.dirichlet(np.ones(n_components), 20_000)
    largest = np.array([rng.multinomial(n_rows, p).max() for p in prior])
    for moment in (lambda v: v, np.square):
        chain = moment(sizes_seen)
        error = chain.std() / np.sqrt(effective_sample_size(chain[None]))
        assert abs(chain.mean() - moment(largest.astype(float)).mean()) < 4.0 * error
