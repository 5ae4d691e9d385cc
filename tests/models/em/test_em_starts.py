"""Where EM starts: samples of rows, seeds far apart, repairs, given responsibilities, and broken symmetry."""

import numpy as np
import pytest
from em_cases import FLAT, Dense, draw_rows, log_joint_of, rows_of, topic_rows
from hypothesis import given
from hypothesis import strategies as st
from mixture_cases import MIXTURES, N_ROWS, draw_shares, hash_of, new_model, some_labels, table_of
from numpy.testing import assert_allclose, assert_array_equal
from scipy import sparse

from sparsemix.metrics import adjusted_rand
from sparsemix.models.em import engine, starts
from sparsemix.models.em.families import FAMILIES
from sparsemix.models.em.state import Prior, Statistics


def ground_of(name, dense, labels=None, row_weights=None, n_components=3, prior=FLAT):
    rows = rows_of(dense, labels, row_weights)
    return starts.Ground(rows, np.shape(dense)[1], n_components, FAMILIES[name], prior)


def blocks_of(n_rows, labelled=(), size=1000):
    """Rows that hold their own number, in blocks."""
    numbers = np.arange(1.0, n_rows + 1)
    labels = np.full(n_rows, -1)
    labels[list(labelled)] = 0
    for first in range(0, n_rows, size):
        yield rows_of(numbers[first : first + size, None], labels[first : first + size])


def test_small_tables_are_taken_whole():
    rows = starts.some_rows(blocks_of(5_000), 3, np.random.default_rng(0))
    assert_array_equal(rows.values, np.arange(1, 5_001))


@pytest.mark.parametrize("n_rows", [21_000, 95_000])
def test_of_large_tables_a_sample_is_taken(monkeypatch, n_rows):
    """Without replacement, in order, with all labelled rows; and from anywhere in the table."""
    monkeypatch.setattr(starts, "FEWEST_ROWS", 500)
    labelled = [0, 7, 20_999, n_rows - 1]
    rows = starts.some_rows(blocks_of(n_rows, labelled), 3, np.random.default_rng(0))
    assert np.all(np.diff(rows.values) > 0)
    known = rows.values[rows.labels >= 0]
    assert known.tolist() == [number + 1 for number in sorted(set(labelled))]
    assert rows.n_rows == 500 + known.size
    # The mean of 500 of n numbers without replacement: a false alarm in about 1e6.
    spread = n_rows / np.sqrt(12 * 500)
    assert abs(rows.values.mean() - n_rows / 2) < 4.9 * spread * 1.1
    other = starts.some_rows(blocks_of(n_rows, labelled), 3, np.random.default_rng(1))
    assert other.values.tolist() != rows.values.tolist()


def test_a_sample_does_not_depend_on_the_blocks(monkeypatch):
    monkeypatch.setattr(starts, "FEWEST_ROWS", 200)
    samples = [
        starts.some_rows(blocks_of(700, size=size), 1, np.random.default_rng(0)).values
        for size in (700, 99, 1)
    ]
    assert_array_equal(samples[0], samples[1])
    assert_array_equal(samples[0], samples[2])


def test_more_components_take_more_rows(monkeypatch):
    monkeypatch.setattr(starts, "FEWEST_ROWS", 10)
    assert starts.some_rows(blocks_of(5_000), 20, np.random.default_rng(0)).n_rows == 2_000


def test_draws_follow_the_masses():
    rng, masses = np.random.default_rng(0), np.array([0.0, 1.0, 3.0, 0.0])
    drawn = np.bincount(starts._drawn(masses, 40_000, rng), minlength=4)
    assert drawn[[0, 3]].tolist() == [0, 0]
    assert abs(drawn[2] - 30_000) < 4.9 * np.sqrt(40_000 * 0.75 * 0.25)  # a false alarm in about 1e6
    assert set(starts._drawn(np.zeros(3), 100, rng)) == {0, 1, 2}


def test_rows_without_weight_are_no_seeds(name):
    """The odd row is far from all others, but counts for nothing."""
    dense = np.zeros((11, 6))
    dense[:5, :2] = dense[5:10, 2:4] = dense[10, 4:] = 1
    weights = np.ones(11)
    weights[10] = 0.0
    n_apart = 0
    for seed in range(20):
        start = starts.from_seeds(ground_of(name, dense, None, weights, 2), np.random.default_rng(seed))
        assert_array_equal(start.counts[4:], 0.0)
        n_apart += np.unique(start.counts[:4].argmax(axis=0) // 2).tolist() == [0, 1]
    assert n_apart >= 15  # both tries of the second seed may be like the first one


@given(seed=st.integers(0, 10_000))
@pytest.mark.parametrize("family", sorted(MIXTURES))
def test_statistics_of_every_start_are_possible(family, seed):
    """Rows and counts that some rows have: nothing negative, totals that fit, no feature more often than rows."""
    rng = np.random.default_rng(seed)
    dense, topics = topic_rows(rng, family, 20)
    labels = np.where(rng.random(20) < 0.3, topics, -1)
    weights = rng.integers(0, 3, 20).astype(float)
    weights[0] = 1.0
    n_components = int(rng.integers(3, 6))
    for start in starts.STARTS.values():
        ground = ground_of(family, dense, labels, weights, n_components, Prior(0.1, 0.0))
        found = start(ground, rng)
        assert found.sizes.shape == (n_components,)
        assert found.counts.shape == (9, n_components)
        assert np.all(np.isfinite(found.counts))
        assert np.all(found.counts >= 0.0)
        assert found.sizes.sum() == pytest.approx(weights.sum())
        if family == "bernoulli":
            assert np.all(found.counts <= found.sizes * (1 + 1e-12))
        if start is not starts.from_seeds:
            assert_allclose(found.counts.sum(axis=1), weights @ dense, atol=1e-9)


def test_seeds_lie_far_apart(name):
    """Of three topics each gives a seed, in most draws."""
    dense, topics = table_of(name, 300)
    hits = 0
    for seed in range(20):
        start = starts.from_seeds(ground_of(name, dense), np.random.default_rng(seed))
        profiles = (start.counts / start.sizes) - dense.mean(axis=0)[:, None]
        own = [[profiles[topic::3, k].sum() for topic in range(3)] for k in range(3)]
        hits += set(np.argmax(own, axis=1)) == {0, 1, 2}
    assert hits >= 15
    assert set(topics) == {0, 1, 2}


def test_components_with_labels_start_from_their_rows(name):
    dense, topics = table_of(name)
    labels = np.where(np.arange(N_ROWS) < 12, topics, -1)
    labels[topics == 2] = -1
    for start in (starts.from_seeds, starts.repaired):
        found = start(ground_of(name, dense, labels, prior=Prior(0.1, 0.0)), np.random.default_rng(0))
        profiles = found.counts / found.sizes
        for topic in (0, 1):
            assert (
                profiles[topic::3, topic].mean() > 2 * np.delete(profiles[:, topic], np.s_[topic::3]).mean()
            )


def test_components_with_seed_words_start_from_them(name):
    dense, _ = table_of(name)
    words = sparse.csr_array(([10.0, 10.0], ([4, 2], [0, 2])), shape=(9, 3))
    found = starts.from_seeds(ground_of(name, dense, prior=Prior(0.1, 0.0, words)), np.random.default_rng(0))
    profiles = found.counts / found.sizes
    assert profiles[:, 0].argmax() == 4
    assert profiles[:, 2].argmax() == 2


def test_repairs_find_more_than_seeds(name):
    """Ten topics, of which seeds alone miss some; by the agreement of the first E step."""
    dense, topics = topic_rows(np.random.default_rng(2), name, 400, 10, 60)
    rows, found = rows_of(dense), {}
    for word in ("k-means++", "repaired"):
        scores = []
        for seed in range(5):
            start = starts.STARTS[word](
                ground_of(name, dense, n_components=10, prior=Prior(0.1, 0.0)), np.random.default_rng(seed)
            )
            parameters = FAMILIES[name].maximize(start, Prior(0.1, 0.0))
            scores.append(adjusted_rand(topics, engine.assignments([rows], parameters)))
        found[word] = np.mean(scores)
    assert found["repaired"] > found["k-means++"] + 0.05
    assert found["repaired"] > 0.8


def test_labelled_components_are_not_merged_away(name):
    dense, topics = table_of(name)
    labels = np.where(np.arange(N_ROWS) < 6, topics, -1)
    labels[:2] = [3, 4]  # two components of their own for what looks like topics 0 and 1
    ground = ground_of(name, dense, labels, n_components=5, prior=Prior(0.1, 0.0))
    assert np.all(starts.repaired(ground, np.random.default_rng(0)).sizes[[0, 1, 2, 3, 4]] > 0.0)


def test_random_responsibilities_are_uniform_on_the_simplex(name):
    ground = ground_of(name, np.eye(4)[np.arange(4_000) % 4])
    start = starts.at_random(ground, np.random.default_rng(0))
    # A share has variance 1/18; a false alarm in about 1e6 for each of three.
    assert np.all(np.abs(start.sizes - 4_000 / 3) < 5.1 * np.sqrt(4_000 / 18))


def test_given_responsibilities_are_summed(rows):
    shares = draw_shares(N_ROWS)
    labels = np.full(N_ROWS, -1)
    labels[:2] = [2, 0]
    weights = np.arange(1.0, N_ROWS + 1)
    parts = [rows_of(rows[a:b], labels[a:b], weights[a:b]) for a, b in ((0, 25), (25, 60))]
    found = starts.from_given(parts, shares.tolist(), 3, 9)
    clamped = shares.copy()
    clamped[:2] = np.eye(3)[[2, 0]]
    assert_allclose(found.sizes, weights @ clamped, rtol=1e-12)
    assert_allclose(found.counts, rows.T @ (weights[:, None] * clamped), rtol=1e-12)


def test_components_that_are_alike():
    def statistics(profiles, sizes):
        return Statistics(np.array(sizes), np.array(sizes) * np.array(profiles).T)

    same, other = [0.5, 0.25], [0.5, 0.3]
    assert starts.alike(statistics([same, same], [1.0, 3.0]))
    assert starts.alike(statistics([other, same, same], [1.0, 3.0, 0.7]))
    assert not starts.alike(statistics([same, other], [1.0, 3.0]))
    assert not starts.alike(Statistics(np.array([1.0, 0.0, 0.0]), np.ones((2, 3)) * [1.0, 0.0, 0.0]))
    assert not starts.alike(Statistics(np.array([5.0]), np.ones((2, 1))))


SYMMETRIC = {
    "uniform": np.full((N_ROWS, 3), 1 / 3),
    "two alike": np.column_stack([draw_shares(N_ROWS, 2)[:, [0]], *[draw_shares(N_ROWS, 2)[:, [1]] / 2] * 2]),
    "in proportion": np.outer(np.ones(N_ROWS), [0.2, 0.3, 0.5]),
}


@pytest.mark.parametrize(
    ("algorithm", "kind"),
    [*(("soft", kind) for kind in SYMMETRIC), ("hard", "uniform"), ("hard", "two alike")],
)
def test_symmetry_is_broken_with_a_warning(name, rows, kind, algorithm):
    """TEXT, question 8: EM would keep what is alike alike."""
    model = new_model(name, init=SYMMETRIC[kind], algorithm=algorithm)
    with pytest.warns(UserWarning, match="'init' makes components alike, and EM would keep them so") as told:
        model.fit(rows)
    assert [each.filename for each in told] == [__file__]
    for a, b in ((0, 1), (1, 2), (0, 2)):
        assert np.abs(model.profiles_[a] - model.profiles_[b]).max() > 1e-3
    with pytest.warns(UserWarning, match="'init' makes components alike"):
        assert hash_of(new_model(name, init=SYMMETRIC[kind], algorithm=algorithm).fit(rows)) == hash_of(model)


def test_labels_break_the_symmetry_themselves(name, rows, topics):
    model = new_model(name, init=SYMMETRIC["uniform"]).fit(rows, some_labels(topics))
    assert adjusted_rand(topics, model.labels_) > 0.8


def test_one_hot_responsibilities_of_the_truth_stay(name, rows, topics):
    model = new_model(name, init=np.eye(3)[topics]).fit(rows)
    assert np.mean(model.labels_ == topics) > 0.85


def test_shaken_counts_stay_near(name):
    dense, _ = table_of(name)
    start = starts.at_random(ground_of(name, dense), np.random.default_rng(0))
    shaken = starts.shaken(start, np.random.default_rng(1))
    assert_array_equal(shaken.sizes, start.sizes)
    assert np.all(np.abs(shaken.counts / start.counts - 1.0) <= 0.05)
    assert np.all(shaken.counts != start.counts)


@pytest.mark.parametrize("name", sorted(FAMILIES))
@given(seed=st.integers(0, 1000))
def test_divergences_equal_the_definition(name, seed):
    """What a row loses by a profile against the one that suits it best."""
    rng = np.random.default_rng(seed)
    dense, blends = draw_rows(rng, name), rng.dirichlet(np.ones(6), 2) * 0.99 + 0.001
    ground = ground_of(name, dense)
    highest = ground.family.highest(ground.matrix())
    found = starts._divergences(ground, highest, blends)
    profiles = blends / blends.sum(axis=1, keepdims=True) if name == "multinomial" else blends
    expected = highest[:, None] - log_joint_of(name, Dense(np.ones(2), profiles), dense)
    assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    assert (found >= 0.0).all()


def test_words_do_not_diverge_from_their_own_profile():
    ground = ground_of("multinomial", [[3.0, 1.0, 2.0, 0.0], [0.0, 0.0, 0.0, 0.0]])
    blends = np.array([[3.0, 1.0, 2.0, 0.0], [1.5, 1.5, 1.5, 1.5]]) / 6.0
    found = starts._divergences(ground, ground.family.highest(ground.matrix()), blends)
    assert_allclose(found[:, 0], 0.0, atol=1e-4)
    assert found[0, 1] == pytest.approx(3 * np.log(2) + np.log(2 / 3) + 2 * np.log(4 / 3), abs=1e-4)
    assert found[1, 1] == 0.0
