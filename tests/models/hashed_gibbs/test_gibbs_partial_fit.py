"""New rows enter clusters that stay: against the equations row by row, and what must not change."""

import numpy as np
import pandas as pd
import pytest
from gibbs_models import FAMILIES, LETTERS, N_ROWS, hash_of, new_model, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse
from scipy.special import logsumexp

from sparsemix import DataError, ParameterError, UncollapsedGibbsMixture, load_model, save_model
from sparsemix.metrics import adjusted_rand
from sparsemix.models.hashed_gibbs import building, equations
from sparsemix.numeric.seeds import seed_of

pytestmark = pytest.mark.slow  # compiles much: pytest -m slow tests/models/hashed_gibbs

families = pytest.mark.parametrize("family", FAMILIES)
PRIORS = {
    "finite": {"n_components": 5},
    "dp": {"process": "dp", "n_components": 30, "concentration": 2.0},
    "pitman-yor": {"process": "dp", "n_components": 30, "discount": 0.4},
    "full": {"process": "dp", "n_components": 3},
}


def learnt(family="multinomial", n_rows=18, **changes):
    """A model whose clusters are the topics, but for one row at most."""
    rows, topics = table_of(family, n_rows)
    return new_model(family, init=topics, n_sweeps=1, burn_in=0, **changes).fit(rows)


def fresh_rows(family, n_rows=12):
    """Rows of four topics, of which one is new."""
    rng = np.random.default_rng(5)
    own = np.arange(9) % 4 == (np.arange(n_rows) % 4)[:, None]
    rows = rng.poisson(np.where(own, 2.0, 0.1))
    return np.minimum(rows, 1) if family == "bernoulli" else rows


def prior_of(model, rows):
    matrix = sparse.csr_array(rows)
    indexed = building.rows_of(matrix.indptr, matrix.indices, matrix.data, rows.shape[1])
    return building.prior_of(indexed, **model._clusters.hyper._asdict())


def entered(model, old, new, n_places):
    """Labels by definition: each row is drawn from ratios of joints, given all before it."""
    labels, rows = model.labels_.tolist(), np.vstack([old, new])
    prior = prior_of(model, rows)
    seed = np.random.SeedSequence([seed_of(model.random_state, "test"), len(old)])
    for uniform in np.random.default_rng(seed).random(len(new)):
        so_far = rows[: len(labels) + 1]
        joints = [
            equations.log_joint(prior, so_far, np.array([*labels, k]), n_places) for k in range(n_places)
        ]
        shares = np.exp(joints - logsumexp(joints))
        drawn = int(np.searchsorted(np.cumsum(shares), uniform, side="right"))
        labels.append(min(drawn, max(labels) + 1))
    return labels[len(old) :]


@pytest.mark.parametrize("prior", PRIORS)
@families
def test_rows_are_drawn_as_the_equations_say(family, prior):
    model, (old, _) = learnt(family, **PRIORS[prior]), table_of(family, 18)
    new, n_live = fresh_rows(family), model.weights_.size
    n_places = {"finite": 5, "full": max(3, n_live)}.get(prior, n_live + len(new))
    expected = entered(model, old, new, n_places)
    assert_array_equal(model.partial_fit(new).labels_, expected)
    if prior == "pitman-yor":
        assert max(expected) >= n_live  # some began a cluster


@families
def test_statistics_are_those_of_all_rows(family):
    model, new = learnt(family, process="dp"), fresh_rows(family)
    parts, hyper = [model.labels_], model._clusters.hyper
    for part in (new[:5], new[5:]):
        parts.append(model.partial_fit(part, n_sweeps=2).labels_)
    assert [part.size for part in parts] == [18, 5, 7]
    rows, labels = np.vstack([table_of(family, 18)[0], new]), np.concatenate(parts)
    assert model.n_rows_seen_ == len(rows)
    assert_array_equal(model._clusters.sizes, np.bincount(labels))
    sums = np.array([rows[labels == k].sum(axis=0) for k in range(model.weights_.size)])
    assert_array_equal(model._clusters.counts.toarray(), sums)
    assert model._clusters.hyper == hyper
    assert_allclose(model.predict_proba(rows).sum(axis=1), 1.0)
    assert_array_equal(model.component_ids_, np.arange(labels.max() + 1))


@families
def test_a_model_from_a_file_goes_on_to_the_same_bits(family, tmp_path):
    model, new = learnt(family, process="dp"), fresh_rows(family)
    drawn = []
    for _ in range(2):
        save_model(model, tmp_path / "m.smx")
        again = load_model(tmp_path / "m.smx").partial_fit(new, n_sweeps=1)
        drawn.append(model.partial_fit(new, n_sweeps=1).labels_)
        assert hash_of(again) == hash_of(model)
        assert_array_equal(again.labels_, model.labels_)
        assert_array_equal(again.predict_proba(new), model.predict_proba(new))
    assert not np.array_equal(*drawn)  # other random numbers


def test_new_rows_find_their_topics():
    rows, topics = table_of(n_rows=300, mean=4.0)
    model = new_model(process="dp", n_components=50, n_sweeps=30, burn_in=15).fit(rows[:60])
    labels = np.concatenate([model.labels_, model.partial_fit(rows[60:]).labels_])
    assert adjusted_rand(topics, labels) > 0.95


def test_clusters_are_begun_up_to_n_components():
    rows, _ = table_of()
    apart = 9 * np.eye(9, dtype=int)
    model = new_model(process="dp", n_components=4, concentration=1e6).fit(rows[:1])
    assert model.partial_fit(apart).weights_.size == 4
    assert model.set_params(n_components=2).partial_fit(apart).weights_.size == 4
    assert model.set_params(n_components=6).partial_fit(apart).weights_.size == 6
    for most in (150, 1000):  # more than there is place for at first
        many = new_model(process="dp", n_components=most, concentration=1e6).fit(np.eye(1, 300, dtype=int))
        many.partial_fit(9 * np.eye(300, dtype=int), n_sweeps=1)
        assert many.weights_.size == min(most, 301)
        assert_array_equal(many._clusters.sizes, np.bincount([0, *many.labels_]))


@pytest.mark.parametrize(
    ("family", "proposal"),
    [("multinomial", "exact"), ("poisson", "index"), ("multinomial", "hash"), ("bernoulli", "hash")],
)
def test_sweeps_draw_new_rows_given_the_old_ones(family, proposal):
    """Frequencies over many seeds, beside all assignments of two new rows."""
    model, new = learnt(family, n_components=3, proposal=proposal, n_bits=32), fresh_rows(family)[2:4]
    rows = np.vstack([table_of(family, 18)[0], new])
    labels, payload = model.labels_, model.to_payload()
    prior = prior_of(model, rows)
    pairs = [(i, j) for i in range(3) for j in range(3)]
    joints = [equations.log_joint(prior, rows, np.array([*labels, *pair]), 3) for pair in pairs]
    expected, seen = np.exp(joints - logsumexp(joints)), np.zeros(9)
    for seed in range(800):
        again = type(model).from_payload(payload).set_params(random_state=seed)
        first, second = again.partial_fit(new, n_sweeps=8).labels_
        seen[3 * first + second] += 1.0 / 800
    assert 0.5 * np.abs(seen - expected).sum() < 0.06


def test_new_names_are_new_features_and_columns_may_change_places():
    rows, _ = table_of()
    first = pd.DataFrame(rows, columns=LETTERS)
    model, plain = new_model().fit(first), new_model().fit(rows)
    model.partial_fit(first.iloc[:5, ::-1])
    plain.partial_fit(rows[:5])
    assert_array_equal(model.labels_, plain.labels_)
    model.partial_fit(pd.DataFrame({"news": [3, 0], "b": [1, 2]}))
    assert model.feature_names_in_.tolist() == [*LETTERS, "news"]
    assert model.n_features_in_ == 10
    assert model._clusters.counts[:, [9]].sum() == 3
    assert model.suggest(["news"], n=3)
    with pytest.raises(DataError, match="features"):
        plain.partial_fit(rows[:, :4])


@families
def test_the_first_call_is_a_fit(family):
    rows, _ = table_of(family)
    assert hash_of(new_model(family).partial_fit(rows)) == hash_of(new_model(family).fit(rows))


@families
def test_what_cannot_be_learnt_changes_nothing(family):
    model, (rows, _) = learnt(family), table_of(family)
    before, labels = hash_of(model), model.labels_
    for bad in (None, "abc", rows - 1, rows * 0.5, rows * np.nan, rows[0], rows[:, :3], rows * 2.0**31):
        with pytest.raises(DataError):
            model.partial_fit(bad)
    for n_sweeps in (-1, 1.5, None, "x", True, 10**30):
        with pytest.raises(ParameterError, match="'n_sweeps' of partial_fit must be"):
            model.partial_fit(rows, n_sweeps=n_sweeps)
    for name, value in (("n_components", 0), ("proposal", "x"), ("random_state", "x")):
        good = getattr(model, name)
        with pytest.raises(ParameterError, match=f"'{name}' of HashedGibbsMixture must be"):
            model.set_params(**{name: value}).partial_fit(rows)
        model.set_params(**{name: good})
    model.partial_fit(rows[:0], n_sweeps=1)
    assert hash_of(model) == before
    assert_array_equal(model.labels_, labels)


def test_sums_and_signatures_that_fit_no_memory():
    rows = np.array([[2**30, 1], [0, 3]])
    model = new_model().fit(rows)
    before = hash_of(model)
    with pytest.raises(
        DataError, match="sums of columns up to 2147483647, but that of column 0 is 2147483648"
    ):
        model.partial_fit(rows)
    with pytest.raises(ParameterError, match="'n_bits' of HashedGibbsMixture must be at most"):
        model.set_params(proposal="hash", n_components=10_000_000).partial_fit(rows[1:], n_sweeps=1)
    assert hash_of(model.set_params(proposal="auto", n_components=8)) == before


def test_rows_that_are_nothing_to_the_model_enter():
    model = learnt(process="dp", n_components=40)
    model.partial_fit(np.zeros((20, 9), int))
    assert model.n_rows_seen_ == 38
    with pytest.raises(AttributeError):
        UncollapsedGibbsMixture(2).fit(table_of()[0]).partial_fit(table_of()[0])


def test_entering_ends_an_interrupted_run():
    def stop(progress):
        if progress.sweep == 3:
            raise KeyboardInterrupt

    rows, _ = table_of()
    model = new_model(warm_start=True)
    with pytest.raises(KeyboardInterrupt):
        model.fit(rows, on_sweep=stop)
    assert not model.is_complete_
    assert model.partial_fit(rows[:3]).is_complete_
    assert model.labels_.size == 3
    assert model.n_rows_seen_ == N_ROWS + 3
