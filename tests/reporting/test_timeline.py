"""The timeline of a mailbox: what it says, and that hostile mail stays text."""

import json
import re
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import sparsemix as sm
from sparsemix.data import Mailbox, MailboxReport
from sparsemix.reporting import render_timeline, summarize_model, summarize_threads, write_timeline

HOSTILE = "</script><script>alert(1)</script><b>&amp;"
DAY = 86400.0


def small_mailbox(subjects=("Tea", "Re: Tea", "Cake"), authors=("Ann", "Bob", "Ann")):
    dataset = sm.Dataset.from_matrix(
        np.array([[2, 1, 0], [1, 2, 0], [0, 0, 3]]),
        feature_names=["tea", "green", "cake"],
        groups=list(authors),
        times=[0.0, DAY, 40 * DAY],
    )
    return Mailbox(dataset, np.array(subjects, object), MailboxReport("mail.mbox", n_messages=3))


@pytest.fixture(scope="module")
def model():
    start = np.array([0, 0, 1])
    fitted = sm.TimeSensitiveMixture(
        half_life="1d", n_sweeps=1, burn_in=0, split_merge=0, init=start, random_state=0
    )
    fitted.fit(small_mailbox().dataset)
    assert fitted.labels_.tolist() == [0, 0, 1]
    return fitted


def test_the_summary(model):
    summary = summarize_threads(model, small_mailbox(), title="Mine", n_words=2)
    assert json.loads(json.dumps(summary)) == summary
    first, second = summary.pop("threads")
    assert summary.pop("library_version") == sm.__version__
    assert summary == {
        "summary_version": 1,
        "title": "Mine",
        "source": "mail.mbox",
        "n_messages": 3,
        "n_threads": 2,
        "n_threads_left_out": 0,
        "n_messages_left_out": 0,
    }
    assert sorted(first.pop("words")) == ["green", "tea"]
    assert first == {
        "component": 0,
        "n_messages": 2,
        "first": "1970-01-01 00:00:00",
        "last": "1970-01-02 00:00:00",
        "subject": "Tea",
        "n_authors": 2,
        "messages": [
            {"time": "1970-01-01 00:00:00", "subject": "Tea", "author": "Ann"},
            {"time": "1970-01-02 00:00:00", "subject": "Re: Tea", "author": "Bob"},
        ],
    }
    assert (second["first"], second["words"][0], second["n_messages"]) == ("1970-02-10 00:00:00", "cake", 1)


def test_the_smallest_threads_are_left_out_and_counted(model):
    summary = summarize_threads(model, small_mailbox(), most_threads=1)
    assert [each["component"] for each in summary["threads"]] == [0]
    assert (summary["n_threads"], summary["n_threads_left_out"], summary["n_messages_left_out"]) == (2, 1, 1)
    assert "The 1 smallest threads, with 1 messages, are left out." in render_timeline(summary)
    assert "left out" not in without_plotly(render_timeline(summarize_threads(model, small_mailbox())))


def test_another_mailbox_is_refused(model):
    with pytest.raises(
        sm.DataError, match="must have learnt the 3 messages of the mailbox, but it has learnt 2 rows"
    ):
        summarize_threads(SimpleNamespace(labels_=np.zeros(2, int), threads=None), small_mailbox())
    for name in ("n_words", "most_threads"):
        with pytest.raises(sm.ParameterError, match=f"'{name}' of summarize_threads must be an integer >= 1"):
            summarize_threads(model, small_mailbox(), **{name: 0})


def test_what_is_no_fitted_model_or_no_mailbox_is_refused(model, tmp_path):
    sm.save_model(model, tmp_path / "m.smx")
    for other in (sm.TimeSensitiveMixture(), sm.load_model(tmp_path / "m.smx"), sm.OnlineBernoulliMixture()):
        with pytest.raises(
            sm.ParameterError, match=r"must be a fitted TimeSensitiveMixture, .* Fit it to mailbox"
        ):
            summarize_threads(other, small_mailbox())
    with pytest.raises(
        sm.ParameterError, match="'mailbox' of summarize_threads must be what read_mailbox returns"
    ):
        summarize_threads(model, small_mailbox().dataset)


def test_what_cannot_be_written_is_refused(model, tmp_path):
    summary = summarize_threads(model, small_mailbox())
    with pytest.raises(sm.ParameterError, match="'path' of write_timeline must be in a folder that exists"):
        write_timeline(tmp_path / "absent" / "threads.html", summary)
    for wrong in ({}, None, {"threads": []}, summarize_model(model)):
        with pytest.raises(sm.DataError, match="must be what summarize_threads returns, but it is "):
            write_timeline(tmp_path / "threads.html", wrong)
    assert list(tmp_path.iterdir()) == []


def without_plotly(page):
    """The page without the library that is inside."""
    scripts = re.findall(r"<script[^>]*>.*?</script>", page, re.DOTALL)
    return page.replace(max(scripts, key=len), "")


def traces_of(page):
    found = re.search(
        r'Plotly\.newPlot\(\s*"timeline",\s*(\[.*?\]),\s*(\{".*?\}),\s*\{"displayModeBar', page, re.DOTALL
    )
    return json.loads(found[1]), json.loads(found[2])


def test_the_page_has_a_line_for_each_thread_and_a_mark_for_each_message(model, tmp_path):
    path = tmp_path / "threads.html"
    write_timeline(path, summarize_threads(model, small_mailbox(), n_words=1))
    page = path.read_text("utf-8")
    (spans, marks), layout = traces_of(page)
    assert spans["x"] == [
        "1970-01-01 00:00:00",
        "1970-01-02 00:00:00",
        None,
        *["1970-02-10 00:00:00"] * 2,
        None,
    ]
    assert spans["y"] == [0, 0, None, 1, 1, None]
    assert marks["y"] == [0, 0, 1]
    assert marks["customdata"] == [["Tea", "Ann"], ["Re: Tea", "Bob"], ["Cake", "Ann"]]
    assert layout["yaxis"]["ticktext"][1] == "cake"
    assert page.count('<tr id="thread-') == 2
    assert "Written by sparsemix" in page


def test_the_page_takes_nothing_from_elsewhere(model):
    page = render_timeline(summarize_threads(model, small_mailbox()))
    assert "default-src 'none'" in page
    assert not re.findall(r"<(?:script|link|img|iframe)[^>]+(?:src|href)=", without_plotly(page))


def test_hostile_mail_stays_text(model):
    box = small_mailbox((HOSTILE, HOSTILE, "\x1b[31m"), (HOSTILE, "", "\u202e"))
    page = without_plotly(render_timeline(summarize_threads(model, box, title=HOSTILE)))
    assert "<script>alert" not in page
    assert "\x1b" not in page
    (_, marks), _ = traces_of(page)
    assert (
        marks["customdata"][0][0] == "&lt;/script&gt;&lt;script&gt;alert(1)&lt;/script&gt;&lt;b&gt;&amp;amp;"
    )
    assert "<title>&lt;/script&gt;" in page


def test_without_plotly_the_error_names_the_extra(model, monkeypatch):
    summary = summarize_threads(model, small_mailbox())
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    with pytest.raises(sm.MissingExtraError, match=re.escape("pip install 'sparsemix[report]'")):
        render_timeline(summary)
