"""Real files of every form; their shapes are those that other libraries found."""

import numpy as np
import pytest
from dataset_checks import assert_canonical, assert_same, join

from sparsemix.data import guess_columns, iter_batches, read_table
from sparsemix.foundation.errors import DataError, ParameterError

TEXT = {"feature": "text", "delimiter": " "}
CASES = {
    # file: (arguments, rows, features, non-zeros, sum of counts)
    "snapchat_ads_2020/ads_keywords.parquet": ({}, 883, 274, 5_324, 5_324),
    "snapchat_ads_2020/ads_targets.parquet": ({}, 5_757, 1_051, 33_185, 33_185),
    "snapchat_ads_2020/baskets.csv": ({"delimiter": ";"}, 883, 274, 5_324, 5_324),
    "farm_ads/ads.parquet": ({}, 4_142, 2_335, 31_034, 31_034),
    "farm_ads/X.npz": ({}, 4_143, 54_877, 817_141, 817_141),
    "kddcup12_clicks/ads_keywords.parquet": ({"count": "impressions"}, 19_228, 19_803, 26_404, 83_899),
    "kddcup12_clicks/user_events.parquet": (
        {"row": "user", "feature": "ad", "count": "count"}, 30_113, 14_369, 30_297, 43_006,
    ),
    "kddcup12_clicks/Click_prediction_small.csv.gz": (
        {"row": "ad_id", "feature": "keyword_id", "count": "impression"}, 19_228, 19_803, 26_404, 83_899,
    ),
    "open_bandit/events.parquet": (
        {"row": "profile", "feature": "item", "count": "count"}, 337, 80, 9_226, 60_287,
    ),
    "open_bandit/bts_all.csv.gz": ({"row": "", "feature": "item_id"}, 10_000, 80, 10_000, 10_000),
    "citeulike_a/article_tags.parquet": ({}, 13_519, 46_390, 239_253, 239_253),
    "citation_cora/X.npz": ({}, 2_708, 1_433, 49_216, 49_216),
    "hetrec_lastfm/user_artists.parquet": (
        {"row": "user", "feature": "artist_id", "count": "plays"}, 1_892, 17_632, 92_834, 69_183_975,
    ),
    "hetrec_lastfm/user_friends.dat": ({"format": "tsv"}, 1_892, 1_892, 25_434, 25_434),
    "imdb_meka/words": ({}, 120_895, 1_001, 2_343_710, 2_343_710),
    "imdb_meka/genres.parquet": ({}, 120_919, 28, 241_798, 241_798),
    "msweb/visits.csv": ({"row": "user", "feature": "area"}, 32_711, 285, 111_809, 111_809),
    "groceries/groceries.csv": ({"format": "baskets", "delimiter": ","}, 9_835, 169, 43_367, 43_367),
    "bbc_news/bbc.csv.gz": ({"feature": "category"}, 2_225, 5, 2_225, 2_225),
    "sms_spam/SMSSpamCollection.tsv": (
        {"feature": "SMS", "delimiter": " ", "quote": None}, 5_574, 15_446, 81_027, 81_027,
    ),
    "textgcn/webkb.svmlight.gz": ({}, 4_199, 7_772, 324_285, 560_015),
    "textgcn/webkb.tsv.gz": (TEXT, 4_199, 7_772, 324_285, 324_285),
    "textgcn/r8.tsv.gz": ({**TEXT, "quote": None}, 7_674, 23_585, 447_453, 447_453),
    "ng20_binary/ng20.svmlight.gz": ({}, 19_300, 1_006, 619_079, 619_079),
    "newsgroups_threads/messages.jsonl.gz": ({"feature": "groups"}, 9_486, 10, 9_504, 9_504),
    "irc_threads/messages.jsonl.gz": ({"feature": "reply_to"}, 61_766, 39_843, 54_000, 54_000),
    "reuters21578/stories.jsonl.gz": ({"feature": "topics"}, 21_578, 120, 14_300, 14_300),
    "clinc150/queries.jsonl.gz": (TEXT, 23_700, 8_376, 192_394, 192_394),
    "mstream/News-T.jsonl": ({"feature": "textCleaned", "delimiter": " "}, 11_109, 8_110, 68_817, 68_817),
    "mstream/TS.jsonl.gz": (TEXT, 11_109, 19_671, 257_328, 257_328),
    "fimi/retail.dat": ({}, 88_162, 16_470, 908_576, 908_576),
    "fimi/mushroom.dat": ({}, 8_124, 119, 186_852, 186_852),
    "sttm_short_text/SearchSnippets.txt": ({"format": "baskets"}, 12_295, 4_720, 125_739, 125_739),
    "sttm_short_text/Biomedical.txt": ({"format": "baskets"}, 19_448, 3_892, 141_509, 141_509),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_shapes(real_data, name):
    options, *wanted = CASES[name]
    dataset = read_table(real_data / name, **options)
    total = dataset.matrix.data.sum(dtype=np.float64)
    assert [dataset.n_rows, dataset.n_features, dataset.n_nonzero, int(total)] == wanted
    assert dataset.matrix.has_canonical_format


def test_ads_with_advertisers_and_times(real_data):
    ads = read_table(real_data / "snapchat_ads_2020/ads_keywords.parquet", group="advertiser", time="start")
    assert len(set(ads.groups)) == 143
    assert ads.report.n_conflicts == {"group": 0, "time": 0}
    first, last = np.datetime64("2019-01-02"), np.datetime64("2020-09-30")
    assert first.astype("M8[s]").astype(int) <= ads.times.min() < ads.times.max()
    assert ads.times.max() < last.astype("M8[s]").astype(int)
    assert len(ads) - ads.profile().n_duplicate_rows == 195
    assert_canonical(ads)


def test_csv_and_parquet_of_the_same_ads_agree(real_data):
    long = read_table(real_data / "snapchat_ads_2020/ads_keywords.parquet")
    baskets = read_table(real_data / "snapchat_ads_2020/baskets.csv", delimiter=";")
    order = {name: i for i, name in enumerate(baskets.row_ids)}
    rows = np.array([order[name] for name in long.row_ids])
    columns = np.argsort(baskets.feature_names)
    left = long.matrix[:, np.argsort(long.feature_names)]
    assert (left != baskets.matrix[rows][:, columns]).nnz == 0


def test_times_of_csv_and_parquet_agree(real_data):
    csv = read_table(real_data / "snapchat_ads_2020/ads.csv", row="ad_id", feature="country", time="start")
    parquet = read_table(real_data / "snapchat_ads_2020/ads_keywords.parquet", time="start")
    of_csv = dict(zip(csv.row_ids, csv.times, strict=True))
    assert [of_csv[name] for name in parquet.row_ids] == parquet.times.tolist()


def test_labels(real_data):
    approved = read_table(real_data / "farm_ads/ads.parquet", label="approved")
    assert sorted(approved.label_names) == ["false", "true"]
    webkb = read_table(real_data / "textgcn/webkb.svmlight.gz")
    assert sorted(np.bincount(webkb.labels)) == [504, 930, 1124, 1641]
    news = read_table(real_data / "ng20_binary/ng20.svmlight.gz")
    assert sum("," not in news.label_names[code] for code in news.labels) == 18_765
    assert news.profile().n_empty_rows == 21
    topics = read_table(
        real_data / "mstream/News-T.jsonl", row="Id", label="clusterNo", feature="textCleaned", delimiter=" "
    )
    assert len(topics.label_names) == 152
    spam = read_table(
        real_data / "sms_spam/SMSSpamCollection.tsv", feature="SMS", delimiter=" ", label="Label", quote=None
    )
    assert np.bincount(spam.labels).tolist() == [4_827, 747]


def test_loose_marks_of_text_messages_are_not_lost_in_silence(real_data):
    path = real_data / "sms_spam/SMSSpamCollection.tsv"
    with pytest.raises(DataError, match=r"line 284: .* pass quote=None"):
        read_table(path, feature="SMS", delimiter=" ")


def test_line_breaks_inside_cells_are_no_records(real_data):
    news = read_table(real_data / "bbc_news/bbc.csv.gz", row="id", feature="category", label="category")
    assert len(news.label_names) == 5
    assert news.report.n_records == 2_225


def test_a_file_without_header_keeps_blanks_inside_values(real_data):
    """One artist of the text file is written with two blanks behind its number."""
    names = {"format": "tsv", "columns": ["user", "artist", "plays"], "row": "user", "feature": "artist"}
    plays = read_table(real_data / "hetrec_lastfm/user_artists.dat", count="plays", **names)
    assert (len(plays), plays.n_nonzero) == (1_892, 92_834)
    assert sorted(name for name in plays.feature_names if name.startswith("65 ")) == ["65  "]
    assert plays.matrix.data.max() == 352_698
    with pytest.raises(DataError, match="pass format='tsv'"):
        read_table(real_data / "hetrec_lastfm/user_artists.dat")


def test_duplicates_and_components_of_farm_ads(real_data):
    profile = read_table(real_data / "farm_ads/X.npz").profile()
    assert profile.n_duplicate_rows == 926
    assert 0 < profile.largest_component_share <= 1


def test_microseconds(real_data):
    """Times of the log are in microseconds."""
    log = read_table(real_data / "open_bandit/bts_all.csv.gz", row="", feature="item_id", time="timestamp")
    assert (log.times % 1 > 0).any()
    days = log.times.astype("M8[s]").astype("M8[D]")
    assert np.datetime64("2019-11-24") <= days.min() <= days.max() <= np.datetime64("2019-11-30")


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("imdb_meka/words/part-0[01].parquet", {}),
        ("snapchat_ads_2020/ads_keywords.parquet", {"group": "advertiser", "time": "start"}),
        ("clinc150/queries.jsonl.gz", {**TEXT, "group": "domain", "label": "intent"}),
        ("fimi/mushroom.dat", {}),
        ("textgcn/webkb.svmlight.gz", {}),
    ],
)
def test_batches_join_to_the_whole(real_data, name, options):
    whole = read_table(real_data / name, **options)
    batches = list(iter_batches(real_data / name, rows=len(whole) // 7 + 1, **options))
    assert len(batches) == 7
    assert_same(join(batches), whole, but_report=True)


def test_columns_that_can_be_guessed(real_data):
    wanted = {
        "snapchat_ads_2020/ads_keywords.parquet": ("ad_id", "keyword"),
        "farm_ads/ads.parquet": ("ad", "word"),
        "kddcup12_clicks/ads_keywords.parquet": ("ad_id", "keyword_id"),
        "citeulike_a/article_tags.parquet": ("article", "tag"),
        "imdb_meka/words": ("plot", "word"),
    }
    for name, (row, feature) in wanted.items():
        assert guess_columns(real_data / name) == {"row": row, "feature": feature}
    with pytest.raises(ParameterError, match="'user', 'area_id', 'area', 'part'"):
        guess_columns(real_data / "msweb/visits.csv")
