"""`sparsemix mailbox` finds threads and writes their timeline."""

import json
import mailbox
import sys
from email.message import EmailMessage

import pytest

import sparsemix as sm

TALK = {"Frost": "frost cold night cover", "Party": "party cake music lanterns"}


@pytest.fixture(scope="module")
def mail(tmp_path_factory):
    path = tmp_path_factory.mktemp("mail") / "mail.mbox"
    box = mailbox.mbox(path)
    for number, (subject, day) in enumerate([("Frost", 1), ("Party", 10), ("Frost", 28)] * 6):
        message = EmailMessage()
        message["From"], message["Subject"] = "Ann <ann@example.org>", f"Re: {subject}"
        message["Date"] = f"Sun, {day} Mar 2026 09:{number:02}:00 +0000"
        message["Message-ID"] = f"<{number}@example.org>"
        message.set_content(f"{TALK[subject]}\n-- \nsigned")
        box.add(message)
    box.close()
    return path


def test_page_model_and_table(sparsemix, mail, tmp_path):
    page, model = tmp_path / "threads.html", tmp_path / "threads.smx"
    options = ["--save", model, "--half-life", "12h", "--concentration", 0.5, "-n", 2, "--title", "Club"]
    assert sparsemix("mailbox", mail, "-o", page, *options) == 0
    assert "18 messages in 3 threads:" in sparsemix.out
    assert "2026-03-10   2026-03-10          6" in sparsemix.out
    assert f"Wrote the page to {page}" in sparsemix.err
    assert "<title>Club</title>" in page.read_text("utf-8")
    loaded = sm.load_model(model)
    assert (loaded.half_life, loaded.concentration, len(loaded.weights_)) == ("12h", 0.5, 3)
    assert "signed" not in loaded.feature_names_in_


def test_json_and_a_second_run_in_the_same_place(sparsemix, mail, tmp_path):
    page = tmp_path / "threads.html"
    options = [
        "--half-life",
        "12h",
        "--no-subjects",
        "--n-sweeps",
        5,
        "--json",
        "--quiet",
        "--most-threads",
        2,
    ]
    for _ in range(2):
        assert sparsemix("mailbox", mail, "-o", page, *options) == 0
        assert sparsemix.err == ""
    found = json.loads(sparsemix.out)
    assert found["output"] == str(page)
    assert len(found["threads"]) == min(found["n_threads"], 2)
    assert sum(each["n_messages"] for each in found["threads"]) + found["n_messages_left_out"] == 18


def test_what_is_dropped_is_said(sparsemix, mail, tmp_path):
    assert sparsemix("mailbox", mail, "-o", tmp_path / "t.html", "--min-messages", 7, "--learn") == 0
    assert "Dropped 4 rare words and 0 common ones." in sparsemix.err


@pytest.mark.parametrize(
    ("options", "code", "message"),
    [
        (["--half-life", "soon"], 2, "--half-life must be"),
        (["--max-share", "2"], 2, "--max-share"),
        (["--concentration", "0"], 2, "--concentration must be a number > 0"),
        (["--concentration", "-1"], 2, "--concentration must be a number > 0"),
    ],
)
def test_wrong_options(sparsemix, mail, tmp_path, options, code, message):
    assert sparsemix("mailbox", mail, "-o", tmp_path / "t.html", *options) == code
    assert message in sparsemix.err
    assert list(tmp_path.iterdir()) == []


def test_parameters_are_checked_before_the_mail_is_read(sparsemix, tmp_path):
    assert sparsemix("mailbox", tmp_path / "absent.mbox", "-o", tmp_path / "t.html", "--half-life", "0") == 2
    assert "--half-life must be a duration from 1e-50 to 1e+50 seconds, such as '90s'" in sparsemix.err


def test_files_that_are_no_mailbox_or_in_the_way(sparsemix, mail, tmp_path, monkeypatch):
    page = tmp_path / "t.html"
    table = tmp_path / "ads.csv"
    table.write_text("ad,keyword\n1,red\n")
    assert sparsemix("mailbox", table, "-o", page) == 1
    assert "is no mailbox in mbox form: it does not begin with 'From '" in sparsemix.err
    assert sparsemix("mailbox", mail, "-o", table) == 2
    assert "exists and is not a report of sparsemix" in sparsemix.err
    assert sparsemix("mailbox", mail, "-o", mail) == 2
    assert sparsemix("mailbox", mail, "-o", page, "--save", table) == 2
    monkeypatch.setitem(sys.modules, "plotly", None)
    monkeypatch.setitem(sys.modules, "plotly.graph_objects", None)
    assert sparsemix("mailbox", mail, "-o", page) == 1
    assert "pip install 'sparsemix[report]'" in sparsemix.err
    assert not page.exists()


@pytest.mark.parametrize(
    ("copies", "options", "remedy"),
    [(1, ["--min-messages", 100], "Lower --min-messages."), (4, ["--max-share", 0], "Raise --max-share.")],
)
def test_messages_that_share_no_word(sparsemix, mail, tmp_path, copies, options, remedy):
    page, longer = tmp_path / "threads.html", tmp_path / "longer.mbox"
    text = mail.read_text()
    longer.write_text(
        "".join(text.replace("@example.org>", f"{copy}@example.org>") for copy in range(copies))
    )
    assert sparsemix("mailbox", longer, "-o", page, *options, "--quiet") == 1
    assert f"several messages have and not too many, but there are none. {remedy}" in sparsemix.err
    assert not page.exists()


def test_the_model_has_a_file_of_its_own(sparsemix, mail, tmp_path):
    page = tmp_path / "threads.html"
    assert sparsemix("mailbox", mail, "-o", page, "--save", page) == 2
    assert "--save must be another file than --output" in sparsemix.err
    assert not page.exists()
