"""The experiments of clusters in time: made-up texts, tiny sizes, the tables and figures, and their arithmetic."""

import numpy as np
import pytest

from sparsemix.reproduction import Panels, Wish, results_of, tdpm
from sparsemix.reproduction.tdpm_figures import together
from sparsemix.reproduction.tdpm_tables import Found, order_table, sizes_of, summary_table
from sparsemix.reproduction.thread_texts import N_WORDS, threads

SIZES = tdpm.Sizes(n_texts=20, lengths={"hard": 5, "easy": 50}, n_sets=2, burn_in=20, n_draws=10, thin=2)


@pytest.fixture(scope="module")
def found():
    told = []
    return {result.name: result for result in tdpm.run(SIZES, told.append)}, told


def test_the_length_of_texts_changes_nothing_but_their_words():
    short, long = threads(100, 20, 3), threads(100, 50, 3)
    for name in ("times", "truth", "words"):
        assert (getattr(short, name) == getattr(long, name)).all()
    assert set(short.counts.sum(axis=1).tolist()) == {20}
    assert set(long.counts.sum(axis=1).tolist()) == {50}
    assert short.counts.shape == (100, N_WORDS)
    assert (threads(100, 20, 4).truth != short.truth).any()


def test_texts_come_a_second_apart_and_clusters_are_as_the_prior_has_them():
    """Of new clusters there are as many as their probabilities add up to, within the error of the mean."""
    sets = [threads(100, 20, seed) for seed in range(200)]
    gaps = np.concatenate([np.diff(each.times) for each in sets])
    assert abs(gaps.mean() - 1.0) < 5.0 * gaps.std() / np.sqrt(gaps.size)
    differences = []
    for each in sets:
        assert list(dict.fromkeys(each.truth.tolist())) == list(range(each.truth.max() + 1))
        ages = each.times[:, None] - each.times[None, :]
        weights = np.tril(np.exp(-0.5 * np.abs(ages)), -1).sum(axis=1)
        differences.append(each.truth.max() + 1 - (0.2 / (weights + 0.2)).sum())
    assert abs(np.mean(differences)) < 4.0 * np.std(differences) / np.sqrt(len(sets))


def test_all_results_come_in_their_order(found):
    results, told = found
    assert list(results) == ["figure_4", "figure_5", "figure_6", "summary", "order"]
    assert told == ["Data set 1 of 2.", "Data set 2 of 2."]
    rows = results["summary"].rows
    assert [row[:2] for row in rows] == [(d, m) for d in ("hard", "easy") for m in ("tDPM", "DPM")]
    for row in rows:
        assert 0.0 <= row[2] <= 2.0 * np.log(20)
        assert 1.0 <= row[7] <= 20.0
    assert rows[0][2] > rows[2][2]  # five words say less than fifty


def test_figures_have_the_papers_layout(found):
    figures = [found[0][f"figure_{n}"] for n in (4, 5, 6)]
    assert all(isinstance(each, Panels) and each.n_across == 2 for each in figures)
    kinds = [list(each.kinds.values()) for each in figures]
    assert kinds[0] == ["points", "points", "picture", "picture", "picture", "picture"]
    assert kinds[1] == ["bars", "bars", "picture", "picture", "picture", "picture"]
    assert kinds[2] == ["bars", "bars", "picture", "picture"]
    for figure in figures:
        assert {row[0] for row in figure.rows} == set(figure.kinds)
    in_time = [row[1:3] for row in figures[0].rows if row[0] == "clusters in time, hard"]
    texts = threads(20, 5, 0)
    assert in_time == list(zip(texts.times.tolist(), texts.truth.tolist(), strict=True))
    for figure in figures[1:]:
        shares = [row[3] for row in figure.rows if row[0] == "number of clusters, easy"]
        assert sum(shares) == pytest.approx(1.0)


def test_pictures_have_texts_in_the_order_of_the_true_clusters(found):
    figure = found[0]["figure_5"]
    matrix = np.array([row[3] for row in figure.rows if row[0] == "in one cluster, true, hard"]).reshape(
        20, 20
    )
    truth = np.sort(threads(20, 5, 0).truth)
    assert (matrix == (truth[:, None] == truth)).all()
    draws = np.array([row[3] for row in figure.rows if row[0] == "in one cluster, tDPM, easy"]).reshape(
        20, 20
    )
    assert (np.diagonal(draws) == 1.0).all()
    assert (draws == draws.T).all()


def test_shares_of_draws():
    draws = np.array([[0, 0, 1], [2, 0, 0]])
    assert together(draws).tolist() == [[1.0, 0.5, 0.0], [0.5, 1.0, 0.5], [0.0, 0.5, 1.0]]
    assert sizes_of(draws).tolist() == [0, 0, 2]


def test_arithmetic_of_the_tables():
    one, two, three = np.array([[0, 0, 0]]), np.array([[0, 0, 1]]), np.array([[0, 1, 2]])
    found = []
    for seed, vi in enumerate((1.0, 2.0)):
        for difficulty, add in (("hard", 1.0), ("easy", 0.0)):
            found.append(Found(difficulty, "tDPM", 3, three, np.array([vi + add - 0.5, vi + add + 0.5])))
            found.append(Found(difficulty, "DPM", 3, (one, two)[seed], np.array([3.0 + add])))
    rows = {row[:2]: row[2:] for row in summary_table(found).rows}
    assert rows["hard", "tDPM"] == (2.5, pytest.approx(np.sqrt(0.5)), 0.5, 0.9272, 3.0, 3.0)
    assert rows["easy", "DPM"] == (3.0, 0.0, 0.0, 0.6630, 3.0, 1.5)
    claims = {row[0]: row[1:3] for row in order_table(found).rows}
    assert claims["easy: tDPM has a lower VI than DPM"] == ("yes", 1.5)
    assert claims["easy: DPM finds fewer clusters than tDPM"] == ("yes", 1.5)
    assert claims["DPM: hard has a higher VI than easy"] == ("yes", 1.0)


def test_sizes_that_are_wished_for(monkeypatch):
    asked = []
    monkeypatch.setattr(tdpm, "run", lambda sizes, _tell: asked.append(sizes) or iter(()))
    list(results_of("tdpm", Wish()))
    list(results_of("tdpm", Wish(is_quick=True)))
    list(results_of("tdpm", Wish(n_rows=200, n_sets=7)))
    assert asked == [tdpm.FULL, tdpm.QUICK, tdpm.FULL._replace(n_texts=200, n_sets=7)]
    assert tdpm.FULL[2:] == (50, 100, 109, 11)
