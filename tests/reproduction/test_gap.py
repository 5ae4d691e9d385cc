"""The experiments of Gamma-Poisson factors: made-up events, tiny sizes, tables, figures, arithmetic."""

import numpy as np
import pytest

from sparsemix.reproduction import Curves, Panels, Table, Wish, gap, results_of
from sparsemix.reproduction.ad_events import ad_events, split_cells, toy_table
from sparsemix.reproduction.gap_tables import data_table, error_table, order_table
from sparsemix.reproduction.spread import spread_of

SIZES = gap.Sizes(n_users=60, n_ads=12, n_events=400, components=(1, 2), n_sets=2, n_sweeps=10)


@pytest.fixture(scope="module")
def found():
    told = []
    return {result.name: result for result in gap.run(SIZES, told.append)}, told


def test_events_are_as_many_as_the_posters():
    sets = [ad_events(960, 110, 6_052, seed) for seed in range(20)]
    assert {each.shape for each in sets} == {(960, 330)}
    assert {int(each.sum()) for each in sets} == {6_052}
    assert min(each.sum(axis=1).min() for each in sets) == 1
    cells = [np.count_nonzero(each) for each in sets]
    assert abs(np.mean(cells) - 2_548) < 150
    impressions, clicks, conversions = (sum(each[:, kind::3].sum() for each in sets) for kind in range(3))
    assert impressions > clicks > conversions > 0
    assert (ad_events(960, 110, 6_052, 3) == sets[3]).all()


def test_cells_set_aside_are_zero_in_training_and_nothing_else_changes():
    counts = ad_events(200, 20, 1_500, 0)
    split = split_cells(counts, 0)
    assert (split.counts > 0).all()
    assert not split.train[split.users, split.features].any()
    whole = split.train.copy()
    whole[split.users, split.features] = split.counts
    assert (whole == counts).all()
    assert split.mean == split.train[split.train > 0].mean()
    assert 0.1 < split.counts.size / np.count_nonzero(counts) < 0.3


def test_the_toy_table_has_four_blocks():
    table = toy_table(0)
    blocks = table[1::3].reshape(-1, 4, 6).sum(axis=2)
    assert table.shape == (40, 24)
    assert (blocks.argmax(axis=1) == np.arange(40)[1::3] // 10).all()


def test_all_results_come_in_their_order_with_all_models(found):
    results, told = found
    assert list(results) == ["figure_1", "data", "table_1", "figure_2", "order"]
    assert told == ["Figure 1: a toy table.", "Data set 1 of 2.", "Data set 2 of 2."]
    table, curves = results["table_1"], results["figure_2"]
    assert isinstance(table, Table)
    assert isinstance(curves, Curves)
    names = {"mean", "Gibbs GaP", "Gibbs NMF", "NMF", "EM GaP"}
    assert {row[:2] for row in table.rows} == {(n, name) for n in (1, 2) for name in names}
    assert {(name, x): y for name, x, y in curves.rows} == {(row[1], row[0]): row[2] for row in table.rows}
    assert all(0.0 < row[2] < 100.0 for row in table.rows)
    assert len({row[2] for row in table.rows if row[1] == "mean"}) == 1
    assert len({row[2] for row in table.rows if row[0] == 2}) == 5


def test_figure_1_shows_rates_like_the_data(found):
    figure = found[0]["figure_1"]
    assert isinstance(figure, Panels)
    assert dict(figure.kinds) == dict.fromkeys(["data", "NMF", "EM GaP", "Gibbs GaP"], "picture")
    tables = {name: np.array([row[3] for row in figure.rows if row[0] == name]) for name in figure.kinds}
    for name in ("NMF", "EM GaP"):
        assert np.corrcoef(tables["data"], tables[name])[0, 1] > 0.75


def test_arithmetic_of_the_tables():
    errors = [
        {("mean", 1): 3.0, ("Gibbs GaP", 1): 2.0, ("NMF", 1): 2.5, ("Gibbs GaP", 20): 3.5, ("NMF", 20): 4.0},
        {("mean", 1): 5.0, ("Gibbs GaP", 1): 3.0, ("NMF", 1): 5.5, ("Gibbs GaP", 20): 4.0, ("NMF", 20): 5.0},
    ]
    for each in errors:
        each["mean", 20] = each["mean", 1]
    rows = {row[:2]: row[2:] for row in error_table(errors).rows}
    assert rows[1, "NMF"] == (4.0, pytest.approx(np.sqrt(4.5)), 0.5, "-")
    assert rows[20, "Gibbs GaP"] == (3.75, pytest.approx(np.sqrt(0.125)), 0.5, 3.119)
    assert [row[:3] for row in order_table(errors).rows] == [
        ("Gibbs GaP beats the mean, K = 1", "yes", 1.5),
        ("NMF beats the mean, K = 1", "no", 0.0),
        ("Gibbs GaP beats the mean, K = 20", "no", 0.25),
        ("Gibbs GaP beats NMF, K = 20", "yes", 0.75),
    ]
    facts = data_table([np.array([[1, 0, 2]]), np.array([[1, 1, 4]])]).rows
    assert facts[2] == ("events", 4.5, pytest.approx(np.sqrt(4.5)), 6_052)
    assert facts[3][1] == 2.5
    assert spread_of([4.0]) == (4.0, 0.0, 0.0)


def test_sizes_that_are_wished_for(monkeypatch):
    asked = []
    monkeypatch.setattr(gap, "run", lambda sizes, _tell: asked.append(sizes) or iter(()))
    list(results_of("gap", Wish()))
    list(results_of("gap", Wish(is_quick=True)))
    list(results_of("gap", Wish(clusters=(1, 7), n_rows=480, n_features=150, n_sets=3)))
    wished = gap.Sizes(n_users=480, n_ads=50, n_events=3_026, components=(1, 7), n_sets=3, n_sweeps=200)
    assert asked == [gap.FULL, gap.QUICK, wished]
