"""The experiments of hash clustering: tiny sizes, the tables and figures that come of them, and their arithmetic."""

import math

import numpy as np
import pytest

from sparsemix import ParameterError
from sparsemix.reproduction import Curves, Table, Wish, fastex, results_of
from sparsemix.reproduction.fastex_chains import SAMPLERS, Point, seconds_to
from sparsemix.reproduction.texts import clustered_texts

SIZES = fastex.Sizes((3, 5), 400, 500, 40, (8, 64), 64, 60.0, N_SWEEPS := 10)


@pytest.fixture(scope="module")
def found():
    told = []
    return {result.name: result for result in fastex.run(SIZES, told.append)}, told


@pytest.mark.slow
def test_table_1_has_all_sizes_and_what_can_be(found):
    table = found[0]["table_1"]
    assert isinstance(table, Table)
    assert [row[:3] for row in table.rows] == [
        (k, bits, form) for k in (3, 5) for bits in (8, 64) for form in ("centred", "raw")
    ]
    for row in table.rows:
        assert len(row) == len(table.columns)
        assert 0.0 < row[3] < 1e5
        assert 0.0 < row[4] < 1e5
        assert 0.0 <= row[5] <= 1.0


@pytest.mark.slow
def test_curves_begin_alike_and_come_near_the_truth(found):
    for n_clusters in (3, 5):
        curves = found[0][f"convergence_{n_clusters}"]
        assert isinstance(curves, Curves)
        assert curves.is_log
        assert {name for name, _, _ in curves.rows} == set(SAMPLERS)
        starts = set()
        for name in SAMPLERS:
            seconds, vi = zip(*[row[1:] for row in curves.rows if row[0] == name], strict=True)
            assert len(vi) == N_SWEEPS + 1
            assert list(seconds) == sorted(seconds)
            assert vi[-1] < vi[0]
            starts.add(vi[0])
        assert len(starts) == 1


@pytest.mark.slow
def test_speed_is_that_of_the_curves(found):
    speed = found[0]["speed"]
    assert [row[:2] for row in speed.rows] == [(k, name) for k in (3, 5) for name in SAMPLERS]
    for n_clusters, name, n_sweeps, _, vi, *factors in speed.rows:
        points = [row for row in found[0][f"convergence_{n_clusters}"].rows if row[0] == name]
        assert (n_sweeps, vi) == (N_SWEEPS, points[-1][2])
        assert all(each == "-" or each > 0.0 for each in factors)
        if name in ("uncollapsed", "collapsed"):
            assert factors[("uncollapsed", "collapsed").index(name)] == 1.0
    assert found[1][0].startswith("Compiling")
    assert "Convergence: 5 clusters, hash." in found[1]


def test_how_many_times_sooner():
    slow = [Point(1.0, 3.0), Point(10.0, 2.0), Point(20.0, 1.0)]
    quick = [Point(1.0, 3.0), Point(4.0, 0.5)]
    never = [Point(1.0, 3.0)]
    curves = [("uncollapsed", slow), ("collapsed", quick), ("index", never)]
    rows = fastex._speed(7, curves)
    assert rows == [
        (7, "uncollapsed", 2, 20.0, 1.0, 1.0, "-"),
        (7, "collapsed", 1, 4.0, 0.5, 5.0, 1.0),
        (7, "index", 0, 1.0, 3.0, "-", "-"),
    ]
    stuck = [Point(1.0, 3.0), Point(2.0, 3.5)]
    assert fastex._speed(7, [("uncollapsed", stuck), ("collapsed", quick)]) == [
        (7, "uncollapsed", 1, 2.0, 3.5, "-", "-"),
        (7, "collapsed", 1, 4.0, 0.5, "-", 1.0),
    ]
    assert seconds_to(2.0, slow) == 10.0
    assert seconds_to(0.1, slow) is None


def test_sizes_that_are_wished_for(monkeypatch):
    asked = []
    monkeypatch.setattr(fastex, "run", lambda sizes, _tell: asked.append(sizes) or iter(()))
    list(results_of("fastex", Wish()))
    list(results_of("fastex", Wish(is_quick=True)))
    list(results_of("fastex", Wish(is_quick=True, clusters=(9,), n_rows=500, n_features=800)))
    assert asked == [
        fastex.FULL,
        fastex.QUICK,
        fastex.QUICK._replace(clusters=(9,), n_rows=500, n_features=800),
    ]


@pytest.mark.parametrize(
    ("paper", "wish", "message"),
    [
        (
            "nature",
            Wish(),
            "'paper' of reproduce must be one of 'ads', 'fastex', 'gap', 'tdpm', but it is 'nature'",
        ),
        ("fastex", Wish(clusters=(1,)), "'clusters' of reproduce must be an integer >= 2"),
        ("fastex", Wish(n_sets=3), "'data_sets' of reproduce must be None for fastex, but it is 3"),
        ("gap", Wish(clusters=(5, 0)), "'clusters' of reproduce must be an integer >= 1"),
        ("gap", Wish(n_sets=0), "'data_sets' of reproduce must be an integer >= 1"),
        ("fastex", Wish(n_rows=3), "'rows' of reproduce must be an integer >= 100"),
        ("fastex", Wish(n_features=3), "'features' of reproduce must be an integer >= 100"),
    ],
)
def test_wishes_that_cannot_be(paper, wish, message):
    with pytest.raises(ParameterError, match=message):
        next(results_of(paper, wish))


def test_texts_have_their_length_and_words_of_their_own():
    rows, truth = clustered_texts(400, 2_000, 4, 50, seed=1)
    assert rows.shape == (400, 2_000)
    assert set(rows.sum(axis=1).tolist()) == {50}
    again, other = clustered_texts(400, 2_000, 4, 50, 1)[0], clustered_texts(400, 2_000, 4, 50, 2)[0]
    assert (rows != again).nnz == 0
    assert (rows != other).nnz > 0
    profiles = np.array([rows[truth == k].sum(axis=0) for k in range(4)])
    best = [np.argsort(-(own / (profiles.sum(axis=0) + 10.0)))[:40] for own in profiles]
    for k, words in enumerate(best):
        shares = [profile[words].sum() / profile.sum() for profile in profiles]
        assert int(np.argmax(shares)) == k
        assert math.isclose(shares[k], 0.5, abs_tol=0.2)
