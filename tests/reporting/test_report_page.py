"""The page is parsed and asked for what it must show; hostile names stay text."""

import re
from html.parser import HTMLParser

import pytest

from sparsemix import ParameterError
from sparsemix.reporting import render_report, write_report

COUNTS = [0, 0, 0, 0, 0, 100, 100, 200, 400, 1200]
HOSTILE = [
    "<script>alert(1)</script>",
    '"><svg onload=alert(1)>',
    "</style><script>",
    "{{ 7 * 7 }}",
    "&amp;lt;",
]


class Page(HTMLParser):
    """Collects tags, attributes and text, and checks that tags are closed in order."""

    VOID = frozenset({"meta", "col"})

    def __init__(self, page):
        super().__init__()
        self.tags, self.attributes, self.texts, self.ids, self.open = [], [], [], [], []
        self.feed(page)
        self.close()
        assert self.open == []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs
        self.ids += [value for name, value in attrs if name == "id"]
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open and self.open[-1] != "style":
            self.texts.append(data)

    @property
    def text(self):
        return re.sub(r"[ \n]+", " ", " ".join(self.texts))


def feature(name, mean=0.5, low=0.4, high=0.6, lift=8.0):
    return {"feature": name, "mean": mean, "low": low, "high": high, "evidence": 100 * mean, "lift": lift}


def cluster(component, share, *features):
    return {"component": component, "share": share, "n_rows": 2000 * share, "features": list(features)}


def summary(**changes):
    clusters = [
        cluster(7, 0.62, feature("window cleaning"), feature("maid")),
        cluster(3, 0.30, feature("nissan altima", 0.0004, 0, 0.003)),
        cluster(-1, 0.08),
    ]
    certainty = {
        "n_rows": 2000,
        "mean_probability": 0.934,
        "mean_entropy": 0.2,
        "histogram": {"edges": [step / 10 for step in range(11)], "counts": COUNTS},
        "members": [{"component": 7, "n_rows": 2000}],
    }
    facts = {
        "title": "My ads",
        "row_noun": "ads",
        "n_rows": 2000,
        "n_features": 12345,
        "level": 0.9,
        "n_clusters": 2,
    }
    facts |= {"summary_version": 1, "library_version": "0.1.0", "clusters": clusters, "certainty": certainty}
    facts |= {
        "model_kind": "online-bernoulli-mixture",
        "takes_counts": False,
        "takes_real_numbers": False,
        "log_evidence": -40_000.0,
        "log_evidence_per_row": -20.0,
    }
    return facts | {"log_likelihood": None, "log_likelihood_per_row": None} | changes


LIKELIHOOD = {"log_evidence": None, "log_evidence_per_row": None}
LIKELIHOOD |= {"log_likelihood": -30_000.0, "log_likelihood_per_row": -15.0}


def test_the_page_shows_the_numbers():
    page = Page(render_report(summary()))
    for text in ["My ads", "2\u202f000 ads", "12\u202f345", "\u221220.00", "93\u202f%", "90\u202f% credible"]:
        assert text in page.text
    for text in [
        "window cleaning · maid",
        "Cluster 7 · 62\u202f% of ads · about 1\u202f240",
        "nissan altima",
    ]:
        assert text in page.text
    assert "<\u202f0.1\u202f%" in page.text


def test_clusters_come_in_order_and_clutter_has_a_name():
    page = Page(render_report(summary()))
    assert [each for each in page.ids if each.startswith("cluster-")] == [
        "cluster-7",
        "cluster-3",
        "cluster--1",
    ]
    assert "Clutter: ads of no cluster" in page.text


def test_bars_and_intervals_have_the_right_length():
    bar, interval = r'class="bar" width="([\d.]+)"', r'class="interval" x="([\d.]+)" y="3.5" width="([\d.]+)"'
    rows = re.findall(f"{bar}.*?{interval}", render_report(summary()))
    assert rows == [("50.00", "40.00", "20.00"), ("50.00", "40.00", "20.00"), ("0.04", "0.00", "0.30")]


def test_the_histogram_has_a_bar_for_every_bin():
    page = render_report(summary())
    heights = [float(each) for each in re.findall(r'width="44" y="[\d.]+" height="([\d.]+)"', page)]
    assert heights == pytest.approx([0, 0, 0, 0, 0, 130 / 12, 130 / 12, 130 / 6, 130 / 3, 130], abs=0.01)


def test_without_rows_there_is_no_certainty():
    page = Page(render_report(summary(certainty=None)))
    assert "How sure" not in page.text
    assert "Mean certainty" not in page.text


def test_models_that_learn_all_rows_at_once_show_their_likelihood():
    one_pass = Page(render_report(summary()))
    assert "learnt in one pass" in one_pass.text
    assert "og likelihood" not in one_pass.text
    page = Page(render_report(summary(model_kind="bernoulli-mixture", **LIKELIHOOD)))
    assert "og evidence" not in page.text
    assert "one pass" not in page.text
    assert "Mean log likelihood \u221215.00" in page.text
    assert "Log likelihood of all ads: \u221230000.0 nats" in page.text
    assert "Written by sparsemix" in page.text


def test_bars_of_counts_are_stretched_to_what_they_share():
    clusters = [cluster(0, 1.0, feature("dollar", 0.04, 0.03, 0.05), feature("bank", 0.01, 0.0, 0.02))]
    page = render_report(summary(takes_counts=True, clusters=clusters, **LIKELIHOOD))
    bar, interval = r'class="bar" width="([\d.]+)"', r'class="interval" x="([\d.]+)" y="3.5" width="([\d.]+)"'
    assert re.findall(f"{bar}.*?{interval}", page) == [
        ("80.00", "60.00", "40.00"),
        ("20.00", "0.00", "40.00"),
    ]
    assert "share of the keyword among all that the cluster's ads hold" in Page(page).text
    assert "evidence of 4.0 occurrences" in page
    assert "evidence of 4.0 ads" in render_report(summary(clusters=clusters))


def test_no_clusters_at_all():
    assert "0 clusters" in Page(render_report(summary(clusters=[], n_clusters=0))).text


@pytest.mark.parametrize(
    ("share", "shown"),
    [
        (0, "0.0"),
        (1, "100"),
        (0.9999, "> 99.9"),
        (0.993, "99.3"),
        (0.5, "50"),
        (0.032, "3.2"),
        (0.0001, "< 0.1"),
    ],
)
def test_shares(share, shown):
    page = Page(render_report(summary(clusters=[cluster(0, share)])))
    assert f"{shown} % of ads".replace(" ", "\u202f", shown.count(" ") + 1) in page.text


def test_nothing_is_loaded_or_executed():
    page = Page(render_report(summary()))
    assert not {"script", "link", "img", "iframe", "object", "embed", "form", "base", "a"} & set(page.tags)
    assert not [name for name, _value in page.attributes if name.startswith("on") or name in {"src", "href"}]
    assert "//" not in render_report(summary()).replace("<!doctype", "")
    assert ("content", "default-src 'none'; style-src 'unsafe-inline'") in page.attributes


@pytest.mark.parametrize("hostile", HOSTILE)
def test_hostile_names_stay_text(hostile):
    clusters = [cluster(0, 1.0, feature(hostile))]
    page = Page(render_report(summary(title=hostile, row_noun=hostile, clusters=clusters)))
    assert "script" not in page.tags
    assert not [name for name, _value in page.attributes if name.startswith("on")]
    assert page.text.count(" ".join(hostile.split())) >= 4
    assert "49" not in page.text


def test_characters_that_turn_or_hide_text_are_shown():
    clusters = [cluster(0, 1.0, feature("safe\u202egnidliub\x07"))]
    page = render_report(summary(clusters=clusters))
    assert "safe\ufffdgnidliub\ufffd" in page
    assert "\u202e" not in page


def test_dark_and_light():
    page = render_report(summary())
    assert "prefers-color-scheme: dark" in page
    assert '<meta name="color-scheme" content="light dark">' in page


def test_a_failed_write_leaves_the_old_page(tmp_path):
    path = tmp_path / "report.html"
    write_report(path, summary())
    before = path.read_bytes()
    with pytest.raises(UnicodeEncodeError):
        write_report(path, summary(library_version="\ud800"))
    assert path.read_bytes() == before
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]


def test_a_missing_folder_is_named_before_the_work(tmp_path):
    path = tmp_path / "absent" / "report.html"
    with pytest.raises(ParameterError) as caught:
        write_report(path, summary())
    rule = "'path' of write_report must be in a folder that exists"
    assert str(caught.value).startswith(rule)
    assert str(caught.value).endswith("Create it first.")
    assert not path.parent.exists()


def test_means_of_real_numbers_have_bars_on_the_side_where_they_lie():
    features = [
        feature("price", 1234.5, 1200.0, 1300.0, lift=2.0),
        feature("size", -0.25, -0.5, 0.0, lift=-1.0),
    ]
    page = Page(render_report(summary(takes_real_numbers=True, clusters=[cluster(0, 1.0, *features)])))
    bars = [value for name, value in page.attributes if name in {"x", "width"}]
    assert {"50.00", "25.00"} <= set(bars)
    assert "1\u202f234" in page.text
    assert "\u22120.25" in page.text
    assert "Mean" in page.texts
    assert "Probability" not in page.texts
    assert "keyword" not in page.text.lower()
