"""Parts of the experiments on ads: the golden numbers of the paper, made-up ads, and the arithmetic of the tables."""

from fractions import Fraction

import numpy as np
import pytest
from scipy.stats import beta as beta_law

from sparsemix.metrics import PairRoc, advertiser_entropy
from sparsemix.reproduction.ad_corpus import ad_corpus
from sparsemix.reproduction.ad_words import ANYTHING, GOODS, SEARCHES, goods_of
from sparsemix.reproduction.ads_pairs import METHODS as PAIR_METHODS
from sparsemix.reproduction.ads_pairs import pairs_claims, pairs_figure, pairs_table
from sparsemix.reproduction.ads_scores import Found, consistency, without_clutter
from sparsemix.reproduction.ads_tables import DISCARDED, METHODS, ads_claims, scores_table, training_table
from sparsemix.reproduction.ads_updates import order_of_keywords, update_figures, update_table, updated


def test_figure_3_a_row_may_take_pseudo_counts_away():
    """Beta(1, 9): the paper draws the greatest loss at a responsibility of 0.4; it is a little below."""
    rows = {row[0]: row[1:] for row in update_table().rows}
    assert rows[0.0][:3] == (1.0, 9.0, 10.0)
    assert rows[1.0][:3] == pytest.approx((2.0, 9.0, 11.0))
    first = Fraction(3, 5) * Fraction(1, 10) + Fraction(2, 5) * Fraction(2, 11)
    second = Fraction(3, 5) * Fraction(2, 110) + Fraction(2, 5) * Fraction(6, 132)
    count = (first - second) / (second - first**2)
    assert rows[0.4][:3] == pytest.approx(
        [float(each) for each in (first * count, (1 - first) * count, count)]
    )
    [least] = set(rows) - {0.0, 0.4, 1.0}
    assert least == pytest.approx(0.363, abs=1e-3)
    assert rows[least][2] <= rows[0.4][2] < 1.002 * rows[least][2]
    assert rows[0.4][3] == pytest.approx(float(first))  # the mean is that of the mixture
    assert rows[0.4][4] > beta_law(1, 9).std()  # less sure than before


def test_figure_3_has_alpha_beta_and_densities():
    examples, counts, shown = update_figures()
    at = {(name, round(share, 2)): value for name, share, value in counts.rows}
    for share in (0.0, 0.4, 1.0):
        alpha, beta = updated(share)
        found = [at[name, share] for name in ("alpha", "beta", "alpha + beta")]
        assert found == pytest.approx([alpha, beta, alpha + beta])
    assert {name for name, *_ in examples.rows} == {"Beta(2, 8)", "Beta(20, 80)"}
    density = {(name, round(place, 2)): value for name, place, value in shown.rows}
    assert density["before", 0.0] == pytest.approx(9.0)
    after = "after, responsibility 0.4"
    assert density[after, 0.3] == pytest.approx(beta_law(*updated(0.4)).pdf(0.3))
    assert density[after, 0.3] > density["before", 0.3]


def test_table_3_pest_control_falls_from_first_to_last():
    rows = order_of_keywords().rows
    by_mean, by_alpha = ([row[2] for row in rows if row[0] == by] for by in ("mean", "alpha"))
    assert (by_mean[0], by_alpha[-1]) == ("pest control", "pest control")
    assert by_alpha == ["nissan altima", "nissan quest", "nissan maxima", "nissan dealer", "pest control"]
    cells = {row[2]: row[3:] for row in rows}
    assert cells["pest control"] == (pytest.approx(0.1137, abs=5e-5), 44, 343)
    printed = {"altima": 0.074, "maxima": 0.065, "quest": 0.065, "dealer": 0.051}
    for name, mean in printed.items():
        assert cells[f"nissan {name}"][0] == pytest.approx(mean, abs=1e-3)


def test_made_up_ads_are_sparse_readable_and_of_advertisers_that_specialise():
    ads = ad_corpus(5_000, 8, seed=1)
    own = 8 * len(SEARCHES)
    assert ads.feature_names[:2].tolist() == ["aquariums", "buy aquariums"]
    assert set(ANYTHING) == set(ads.feature_names[own : own + len(ANYTHING)])
    usual = ads.labels >= 0
    assert 0.86 < usual.mean() < 0.91
    widths = np.diff(ads.matrix.indptr)
    assert 7.0 < widths[usual].mean() < 9.0
    of_trade = ads.matrix[:, :own].toarray().reshape(len(ads), 8, -1).sum(axis=2)
    assert (of_trade[usual].argmax(axis=1) == ads.labels[usual]).mean() > 0.99
    assert advertiser_entropy(ads.labels[usual], ads.groups[usual]) < 0.5 * np.log(8)
    assert widths.max() > 0.5 * own  # overlong ads
    assert (widths == 1).mean() > 0.04  # ads with a keyword that no other has
    assert set(ads.matrix.data.tolist()) == {1.0}


def test_made_up_ads_follow_from_their_seed():
    first, again, other = (ad_corpus(300, 3, seed) for seed in (0, 0, 1))
    assert (first.matrix != again.matrix).nnz == 0
    assert first.groups.tolist() == again.groups.tolist()
    assert first.labels.tolist() != other.labels.tolist()


def test_words_are_all_different():
    for words in (GOODS, SEARCHES, ANYTHING, goods_of(3 * len(GOODS))):
        assert len(set(words)) == len(words)
    assert len(GOODS) >= 100


def test_consistency_without_known_trades_or_other_clusters():
    labels = np.array([3, 3, 3])
    assert consistency(labels, np.array([-1, -1, -1])) == (None, None)
    assert consistency(labels, np.array([0, 1, 1])) == (pytest.approx(2 / 3), None)


def test_without_the_clutter_its_ads_are_left_out_and_shares_add_up_again():
    components, groups = np.array([0, 1, -1]), np.array(["acme", "acme", "acme", "zeta"], object)
    shares = np.array([[0.8, 0.0, 0.2], [0.4, 0.1, 0.5], [0.0, 0.5, 0.5], [0.0, 0.9, 0.1]])
    labels = np.array([0, -1, 1, 1])
    kept = without_clutter(shares, components, labels, groups)
    assert kept == pytest.approx(advertiser_entropy([0, 1, 1], ["acme", "acme", "zeta"]))
    assert without_clutter(shares, components, np.full(4, -1), groups) is None


def rates(true, false):
    return PairRoc(np.array([0.1]), np.full(9, true), np.full(9, false))


def test_arithmetic_of_pairs():
    found = [{method: rates(0.9, 0.02) for method in PAIR_METHODS} for _ in range(2)]
    found[0]["k-means"], found[1]["k-means"] = rates(0.5, 0.01), rates(0.7, 0.02)
    rows = {row[0]: row[1:] for row in pairs_table(found).rows}
    assert rows["k-means"] == pytest.approx((60.0, np.sqrt(200.0), 94.3, 1.5, np.sqrt(0.5), 2.28))
    assert rows["Bayes"][:3] == (90.0, 0.0, 99.5)
    assert [row for row in pairs_figure(found).rows if row[0] == "k-means"] == [
        ("k-means", 1.5, pytest.approx(60.0))
    ]
    claims = dict(pairs_claims(found))
    assert claims["Bayes has more true positives than k-means"].mean == pytest.approx(30.0)
    assert claims["Bayes has fewer false positives than k-means"].mean == pytest.approx(-0.5)
    assert claims["Bayes has more true positives than EM"].mean == 0.0


def one(method, seed):
    """Methods get ever larger numbers; the second data set has larger ones than the first."""
    number = METHODS.index(method) + seed
    is_mixture = number - seed < 4
    return Found(
        ads="made-up",
        n_clusters=9,
        method=method,
        seconds=10.0 * number,
        largest=0.1 * number,
        consistent=0.5,
        others=None,
        test_nll=20.0 + number if is_mixture else None,
        entropy=1.0 + number,
        discarded=1.5 if method == "Bayes with clutter" else None,
    )


def test_arithmetic_of_tables_1_and_2():
    found = [one(method, seed) for seed in (0, 1) for method in METHODS]
    training = {row[2]: row[3:] for row in training_table(found).rows}
    half = pytest.approx(np.sqrt(0.5))
    assert training["EM"] == (25.0, pytest.approx(np.sqrt(50.0)), "40 h", 0.25, "even", 0.5, "-")
    scores = {row[2]: row[3:] for row in scores_table(found).rows}
    assert scores["EM"] == (22.5, half, 12.98, 3.5, half, 2.61)
    assert scores["k-means"] == ("-", "-", "-", 5.5, half, "-")
    assert scores[DISCARDED] == ("-", "-", "-", 1.5, 0.0, 0.96)
    assert list(scores).index(DISCARDED) == 2
    claims = {claim.removeprefix("made-up ads, K = 9: "): gain.mean for claim, gain in ads_claims(found)}
    assert claims["Bayes trains in less time than EM"] == 20.0
    assert claims["k-means has most ads in one cluster"] == pytest.approx(-0.05)
    assert claims["the largest cluster is smaller by Bayes than by k-means"] == pytest.approx(0.4)
    assert claims["EM predicts test ads better than Bayes"] == -2.0
    assert claims["advertisers are in fewer clusters by Bayes than by EM"] == 2.0
    assert claims["in fewer still without the clutter"] == 1.0


def test_without_a_clutter_there_is_no_claim_about_it():
    found = [one(method, 0)._replace(discarded=None) for method in METHODS]
    assert not [claim for claim, _ in ads_claims(found) if "clutter" in claim]
    assert {row[2]: row[6] for row in scores_table(found).rows}[DISCARDED] == "-"
