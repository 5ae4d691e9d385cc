"""The experiments of online clustering of ads: tiny sizes, all results, what ads may be given, and sizes wished for."""

import csv

import numpy as np
import pandas as pd
import pytest

from sparsemix import ParameterError
from sparsemix.data import Dataset, read_table
from sparsemix.reproduction import Table, Wish, ads, results_of, write_result
from sparsemix.reproduction.ads_methods import AVERAGE, BAYES, CLUTTER, EM, KMEANS, WARD
from sparsemix.reproduction.ads_pairs import METHODS as PAIR_METHODS
from sparsemix.reproduction.ads_tables import DISCARDED
from sparsemix.reproduction.ads_tables import METHODS as AD_METHODS

SIZES = ads.Sizes(n_rows=300, n_sets=1, n_ads=800, n_corpora=1, clusters=(2,), most=300)
NAMES = [
    *(
        "figure_3_a",
        "figure_3_bc",
        "figure_3_d",
        "figure_3",
        "table_3",
        "figure_4",
        "figure_4_rates",
        "graphs",
    ),
    *("clusters", "table_4", "table_1", "table_2", "order"),
]


def given_ads(counts=1):
    """Two trades with an advertiser each, ten keywords a trade."""
    rng = np.random.default_rng(0)
    rows = np.zeros((60, 20), int)
    rows[:30, :10], rows[30:, 10:] = rng.random((2, 30, 10)) < 0.6
    names = [f"keyword {number}" for number in range(20)]
    return Dataset.from_matrix(rows * counts, feature_names=names, groups=["acme"] * 30 + ["zeta"] * 30)


@pytest.fixture(scope="module")
def found():
    told = []
    results = {result.name: result for result in ads.run(SIZES, told.append, given_ads(3))}
    return results, told


@pytest.fixture(scope="module")
def scores(found):
    """Rows of Table 1 and of Table 2 by ads and method, as dicts."""
    return [
        {(row[0], row[2]): dict(zip(found[0][name].columns, row, strict=True)) for row in found[0][name].rows}
        for name in ("table_1", "table_2")
    ]


def test_all_results_come_in_their_order(found):
    results, told = found
    assert list(results) == NAMES
    assert told == [
        "Compiling the kernels, if that has not been done yet.",
        "Figure 4: data set 1 of 1.",
        "Ads made-up, 2 clusters: set or split 1 of 1.",
        "Ads given, 2 clusters: set or split 1 of 1.",
    ]


def test_tables_have_all_ads_and_methods(scores):
    training, tests = scores
    assert set(training) == {(name, method) for name in ("made-up", "given") for method in AD_METHODS}
    assert set(tests) == {*training, ("made-up", DISCARDED), ("given", DISCARDED)}
    for row in training.values():
        assert 0.5 <= row["largest"] <= 1.0  # there are two clusters
        assert row["CPU s"] >= 0.0
    for (_, method), row in tests.items():
        assert (row["NLL"] == "-") == (method in {KMEANS, AVERAGE, WARD, DISCARDED})


def test_two_trades_that_share_nothing_are_told_apart(scores):
    training, tests = scores
    for method in (BAYES, EM, WARD):
        assert training["given", method]["largest"] == 0.5
        assert tests["given", method]["entropy"] < 1e-3
    assert training["given", BAYES]["in trade"] == "-"
    assert training["made-up", BAYES]["in trade"] > 0.9


def test_advertisers_are_in_fewer_clusters_without_the_clutter(scores):
    tests = scores[1]
    assert tests["made-up", DISCARDED]["entropy"] < tests["made-up", CLUTTER]["entropy"]


def test_the_curves_of_figure_4_rise_and_labels_are_points(found):
    points = {method: [] for method in PAIR_METHODS}
    for method, across, up in found[0]["figure_4"].rows:
        points[method].append((across, up))
    for method, own in points.items():
        if method in {KMEANS, AVERAGE, WARD}:
            assert len(own) == 1
        across, up = np.array(own).T
        assert (np.diff(across) <= 0.0).all()  # thresholds go up
        assert (np.diff(up) <= 0.0).all()
        assert ((across >= 0.0) & (across <= 100.0) & (up >= 0.0) & (up <= 100.0)).all()
    assert max(len(own) for own in points.values()) > 1
    rates = {row[0]: row for row in found[0]["figure_4_rates"].rows}
    assert (rates[KMEANS][4], rates[KMEANS][1]) == points[KMEANS][0]
    assert rates[BAYES][1] > 98.0


def test_the_graph_of_made_up_ads_is_in_one_part_after_the_cut(found):
    rows = {row[0]: [] for row in found[0]["graphs"].rows}
    for name, *cells in found[0]["graphs"].rows:
        rows[name].append(dict(zip(found[0]["graphs"].columns[1:], cells, strict=True)))
    raw, cut, shorter = rows["made-up"]
    assert (raw["fewest"], cut["fewest"], cut["longest"], shorter["longest"]) == ("-", 2, 500, 100)
    assert raw["n ads"] == 800
    assert raw["singles"] > 20
    assert cut["parts"] == 1
    assert shorter["n ads"] <= cut["n ads"] < raw["n ads"]
    assert cut["n keywords"] < raw["n keywords"]
    assert rows["given"][1]["n ads"] == 60


def test_clusters_are_read_by_their_keywords(found):
    keywords = {row[0]: [] for row in found[0]["clusters"].rows}
    for name, _, share, listed in found[0]["clusters"].rows:
        assert 0.0 < share < 1.0
        keywords[name].append(listed.split(", "))
    goods = [
        {"aquariums" if "aquariums" in each else "awnings" for each in own} for own in keywords["made-up"]
    ]
    assert sorted(map(sorted, goods)) == [["aquariums"], ["awnings"]]
    trades = [{int(each.split()[1]) // 10 for each in own} for own in keywords["given"]]
    assert sorted(map(sorted, trades)) == [[0], [1]]
    for name, _, subscribed, suggested, probability, low, high in found[0]["table_4"].rows:
        assert suggested not in subscribed.split(", ")
        assert 0.0 <= low < probability < high <= 1.0
        if name == "given":
            assert subscribed.startswith("keyword")


def test_claims_are_of_pairs_and_of_both_kinds_of_ads(found):
    claims = {row[0]: row[1] for row in found[0]["order"].rows}
    assert claims["made-up ads, K = 2: average linkage has most ads in one cluster"] == "yes"
    assert claims["given ads, K = 2: Ward linkage has most ads in one cluster"] == "no"
    assert claims["made-up ads, K = 2: in fewer still without the clutter"] == "yes"
    assert claims["Bayes has more true positives than k-means"] == "yes"
    assert len([claim for claim in claims if claim.startswith("Bayes has")]) == 10


def test_results_are_written_as_tables_and_pages(found, tmp_path):
    for result in found[0].values():
        table, page = write_result(result, tmp_path)
        with table.open(encoding="utf-8", newline="") as file:
            heads, *rows = csv.reader(file)
        assert heads == list(result.columns)
        assert len(set(heads)) == len(heads)
        assert len(rows) == len(result.rows)
        kind = '"type":"table"' if isinstance(result, Table) else '"type":"scatter"'
        assert kind in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"given": Dataset.from_matrix(np.eye(9))},
            "'group' of reproduce must be the column of the advertisers",
        ),
        (
            {"given": given_ads()[:9], "clusters": (8,)},
            "'clusters' of reproduce must be at most 7, since 9 of 9 ads",
        ),
        ({"n_ads": 100, "clusters": (100,)}, "of 100 ads are left after the cuts, but it is 100."),
    ],
    ids=["no advertisers", "few given ads", "few made-up ads"],
)
def test_what_cannot_be_clustered_is_refused_before_anything_is_done(change, message):
    given = change.pop("given", None)
    told = []
    with pytest.raises(ParameterError, match=message):
        next(ads.run(SIZES._replace(**change), told.append, given))
    assert not told


def test_only_ads_take_a_table():
    with pytest.raises(ParameterError, match="'table' of reproduce must be None for tdpm"):
        next(results_of("tdpm", Wish(ads=given_ads())))
    with pytest.raises(ParameterError, match="'features' of reproduce must be None for ads"):
        next(results_of("ads", Wish(n_features=500)))


def test_sizes_that_are_wished_for(monkeypatch):
    asked = []
    monkeypatch.setattr(ads, "run", lambda sizes, _tell, given: asked.append((sizes, given)) or iter(()))
    table = pd.DataFrame({"ad": ["a", "b"], "keyword": ["x", "y"], "owner": ["o", "p"]})
    given = read_table(table, row="ad", feature="keyword", group="owner")
    list(results_of("ads", Wish()))
    list(results_of("ads", Wish(is_quick=True, ads=given)))
    list(results_of("ads", Wish(clusters=(7, 9), n_rows=500, n_sets=4)))
    assert asked == [
        (ads.FULL, None),
        (ads.QUICK, given),
        (ads.Sizes(n_rows=10_000, n_sets=4, n_ads=500, n_corpora=4, clusters=(7, 9), most=5_000), None),
    ]
