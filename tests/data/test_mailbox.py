"""Mailboxes: what a message says itself, when it was sent, and mail that breaks the rules."""

import gzip
from email.message import EmailMessage

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparsemix as sm
from sparsemix.data import mailbox

NOON = "Mon, 02 Feb 2026 12:00:00 +0000"
T_NOON = 1770033600.0


def mail(body="hello", *, date=NOON, number=1, **headers):
    """Bytes of one message in a file; `date` None for none."""
    names = {"From": "Ann <ann@example.org>", "Subject": "s", "Message-ID": f"<{number}@x>", "Date": date}
    names |= {name.replace("_", "-"): value for name, value in headers.items()}
    lines = [f"{name}: {value}" for name, value in names.items() if value is not None]
    text = body if isinstance(body, bytes) else body.encode()
    return b"From ann Mon Feb  2 12:00:00 2026\n" + "\n".join(lines).encode() + b"\n\n" + text + b"\n\n"


def whole(message, number=1):
    """Bytes in a file of a message made by the standard library."""
    message["From"], message["Date"] = "Ann <ann@example.org>", NOON
    message["Message-ID"] = f"<{number}@x>"
    return b"From ann\n" + message.as_bytes() + b"\n"


@pytest.fixture
def read(tmp_path):
    def read_parts(*parts, **options):
        path = tmp_path / "mail.mbox"
        path.write_bytes(b"".join(parts))
        return sm.read_mailbox(path, **({"min_messages": 1, "subjects": False} | options))

    return read_parts


def words(found, row=0):
    """Words of a row with their counts."""
    row = found.dataset.matrix[[row]].tocoo()
    return {found.dataset.feature_names[c]: int(n) for c, n in zip(row.coords[1], row.data, strict=True)}


OWN = {
    "quotation": "Yes\n\nOn Mon, 2 Feb 2026, Ann Lee <ann@example.org>\nwrote:\n\n> tea?\n>> coffee?\n",
    "initials": "JL> tea?\nyes",
    "attribution of two lines": "yes\nAm 2.2.2026 um 12:00 schrieb Ann\nLee <ann@example.org>:\n> tea",
    "attribution below": "yes\nOn Monday, Ann wrote:\n> tea",
    "short attribution": "Ann writes:\n> tea?\nyes",
    "signature": "yes\n-- \nBob Miller\nChief",
    "dashes": "yes\n--\nBob",
    "forward": "yes\n---------- Forwarded message ---------\nFrom: x\n\ncoffee",
    "forward of a forward": "yes\n-----Original Message-----\nFrom: a\n-----Original Message-----\ntea",
    "headers above": "yes\n\nFrom: Ann Lee\nSent: Monday\nTo: Bob\nSubject: tea\n\ncoffee",
    "German headers": "yes\n\nVon: Ann\nGesendet: Montag\nAn: Bob\nBetreff: Tee\n\nKaffee",
    "footer": "yes\n_______________________________________________\nTea mailing list\nTea@example.org",
    "signed": "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA1\n\nyes\n-----BEGIN PGP SIGNATURE-----\niQA\n",
    "device": "yes\n\nSent from my telephone",
    "addresses": "yes http://a.example/tea?x ann@example.org www.example.org 42",
    "hard blanks": "yes\n\xa0> tea",
}


@pytest.mark.parametrize("body", OWN.values(), ids=OWN)
def test_only_own_words_count(read, body):
    assert words(read(mail(body, Content_Type="text/plain; charset=utf-8"))) == {"yes": 1}


def test_what_looks_like_a_quotation_and_is_none_stays(read):
    body = "I agree with this:\n> tea\nPoints:\n* one\n--\n" + "more\n" * 20 + ">From here on"
    found = words(read(mail(body)))
    assert found["more"] == 20
    assert set(found) == {"agree", "with", "this", "points", "one", "more", "from", "here", "on"}


def test_who_says_nothing_has_said_what_is_quoted(read):
    found = read(mail("> tea\n> tea"), mail("", number=2), mail("> tea\nyes", number=3))
    assert [words(found, row) for row in range(3)] == [{"tea": 2}, {}, {"yes": 1}]
    assert (found.report.n_quotations, found.report.n_silent) == (1, 1)


@pytest.mark.parametrize("subject", ["Tea", "Re: Tea", "AW: [garden] Re[2]: FWD: Tea", "=?utf-8?b?VGVh?="])
def test_words_of_subjects_count_without_signs_of_replies(read, subject):
    found = read(mail("yes", Subject=subject), subjects=True)
    assert words(found) == {"yes": 1, "tea": 1}
    assert found.subjects[0] == ("Tea" if subject.startswith("=?") else subject)


def test_rare_and_common_words_are_dropped(read):
    parts = [
        mail(f"all {'half' if k % 2 else ''} {'two' if k < 2 else ''} w{'a' * (k + 1)}", number=k)
        for k in range(29)
    ]
    found = read(*parts, min_messages=2, max_share=0.5)
    assert found.dataset.feature_names.tolist() == ["two", "half"]
    assert (found.report.n_rare_words, found.report.n_common_words) == (29, 1)
    assert "all" in read(*parts[:20], max_share=0.0).dataset.feature_names


# --- parts and encodings


def test_of_alternatives_one_counts(read):
    message = EmailMessage()
    message.set_content("plain tea")
    message.add_alternative("<p>html tea</p>", subtype="html")
    assert words(read(whole(message))) == {"plain": 1, "tea": 1}


def test_an_empty_alternative_gives_way(read):
    message = EmailMessage()
    message.set_content("\n")
    message.add_alternative("<p>html tea</p>", subtype="html")
    assert words(read(whole(message))) == {"html": 1, "tea": 1}


def test_html_alone_becomes_text(read):
    page = (
        "<html><head><title>no</title><style>p{color:red}</style></head><body><p>gr&uuml;n <b>t</b>ea<br>two"
        "<script>var no = 1 < 2;</script><div>On Monday Ann wrote:</div><blockquote><p>no</p>no</blockquote>"
        "<table><tr><td>three</td></tr></table><!-- no -->"
    )
    found = words(read(mail(page, Content_Type="text/html; charset=utf-8")))
    assert found == {"grün": 1, "tea": 1, "two": 1, "three": 1}


@pytest.mark.parametrize(
    "page", ["<p>tea<![x", "<p>tea <!doctype [", "tea</blockquote></p>", "<head>no<body>tea"]
)
def test_broken_html_keeps_its_words(read, page):
    assert "tea" in words(read(mail(page, Content_Type="text/html")))


def test_attachments_are_left_out_however_large(read):
    message = EmailMessage()
    message.set_content("tea")
    message.add_attachment(
        bytes(range(256)) * 40_960, maintype="application", subtype="pdf", filename="x.pdf"
    )
    message.add_attachment("no words", filename="notes.txt")
    content = whole(message)
    assert len(content) > 10_000_000
    assert words(read(content, mail("cake", number=2))) == {"tea": 1}


def test_attached_messages_are_quotations(read):
    inner = EmailMessage()
    inner.set_content("inner")
    middle = EmailMessage()
    middle.set_content("middle")
    middle.add_attachment(inner)
    outer = EmailMessage()
    outer.set_content("outer")
    outer.add_attachment(middle)
    assert words(read(whole(outer))) == {"outer": 1}
    bare = EmailMessage()
    bare.add_attachment(inner)
    found = read(whole(bare))
    assert words(found) == {"inner": 1}
    assert found.report.n_quotations == 1


@pytest.mark.parametrize("depth", [30, 3_000])
def test_parts_in_parts_in_parts(read, depth):
    body = "tea"
    for level in reversed(range(depth)):
        body = f"--b{level}\nContent-Type: multipart/mixed; boundary=b{level + 1}\n\n{body}"
    body = body.replace(f"multipart/mixed; boundary=b{depth}", "text/plain")
    found = read(mail(body, Content_Type="multipart/mixed; boundary=b0"), mail("cake", number=2))
    assert len(found.dataset) == 2
    assert words(found) == ({"tea": 1} if depth == 30 else {})


CODED = {
    "base64": (b"dGVhIGdyw7xu", "utf-8", "base64"),
    "base64 cut off": (b"dGVhIGdyw7xuI", "utf-8", "base64"),
    "base64 with dirt": (b"dG!!Vh\nIGd\xffyw7xu", "utf-8", "base64"),
    "quoted-printable": (b"tea gr=C3=BCn=", "utf-8", "quoted-printable"),
    "latin-1": ("tea grün".encode("latin-1"), "iso-8859-1", "8bit"),
    "wrong charset": ("tea grün".encode("latin-1"), "utf-8", "8bit"),
    "no charset": ("tea grün".encode(), None, "8bit"),
    "unknown charset": ("tea grün".encode(), "no-such-thing", "8bit"),
    "charset that is no text": ("tea grün".encode(), "base64", "8bit"),
    "charset with a zero": ("tea grün".encode(), '"u\0tf"', "8bit"),
    "charset of Python alone": ("tea grün".encode(), "unicode_escape", "8bit"),
    "UTF-16": ("tea grün".encode("utf-16"), "utf-16", "8bit"),
    "composed": (b"tea gru\xcc\x88n", "utf-8", "8bit"),
}


@pytest.mark.parametrize(("body", "charset", "transfer"), CODED.values(), ids=CODED)
def test_broken_encodings(read, body, charset, transfer):
    kind = "text/plain" if charset is None else f"text/plain; charset={charset}"
    if charset == "utf-16":
        import base64

        body, transfer = base64.b64encode(body), "base64"
    assert words(read(mail(body, Content_Type=kind, Content_Transfer_Encoding=transfer))) == {
        "tea": 1,
        "grün": 1,
    }


HEADERS = {
    "=?utf-8?q?gr=C3=BCn?= tea": "grün tea",
    "=?iso-8859-1?q?gr=FCn?=\n =?utf-8?q?_tea?=": "grün tea",
    "=?no-such-thing?q?tea?=": "tea",
    "=?utf-8?b?broken!!?= tea": None,
    "grün tea": "grün tea",
    "tea\n  folded": "tea folded",
    "tea\x1b[31m \x00": "tea\x1b[31m \x00",
    "": "",
}


@pytest.mark.parametrize("subject", HEADERS)
def test_subjects_are_decoded(read, subject):
    found = read(mail(Subject=subject)).subjects[0]
    if HEADERS[subject] is not None:
        assert found == HEADERS[subject]
    found.encode("utf-8")


@pytest.mark.parametrize(
    ("sender", "author"),
    [
        ("Ann Lee <ann@example.org>", "Ann Lee"),
        ("ann@example.org", "ann@example.org"),
        ("ann at example.org (Ann Lee)", "Ann Lee"),
        ("=?utf-8?q?M=C3=BCller=2C_Jo?= <jo@example.org>", "Müller, Jo"),
        ("<<<>>>", "<<<>>>"),
        (None, ""),
    ],
)
def test_authors(read, sender, author):
    found = read(mail(From=sender))
    assert found.authors.tolist() == [author]


# --- times

SERVERS = "from a by b; Mon, 2 Feb 2026 13:00:00 +0000"
DATES = {
    "zone": ("Mon, 2 Feb 2026 04:00:00 -0800", None, T_NOON),
    "zone by name": ("Mon, 2 Feb 2026 07:00:00 EST", None, T_NOON),
    "comment": ("Mon, 2 Feb 2026 13:00:00 +0100 (CET)", None, T_NOON),
    "no zone, no day": ("2 Feb 2026 12:00", None, T_NOON),
    "zone that cannot be": ("Mon, 2 Feb 2026 12:00:00 +9900", None, T_NOON),
    "leap second": ("Mon, 2 Feb 2026 11:59:60 +0000", None, T_NOON - 1),
    "two digits of a year": ("Mon, 2 Feb 26 12:00:00 GMT", None, T_NOON),
    "missing": (None, SERVERS, T_NOON + 3600),
    "never set": ("Thu, 1 Jan 1970 00:00:00 +0000", SERVERS, T_NOON + 3600),
    "before all mail": ("Mon, 2 Feb 1326 12:00:00 +0000", SERVERS, T_NOON + 3600),
    "after its arrival": ("Mon, 9 Feb 2026 12:00:00 +0000", SERVERS, T_NOON + 3600),
    "in the far future": ("Mon, 2 Feb 9999 12:00:00 +0000", None, T_NOON),  # that of the envelope
    "no date": ("yesterday", None, T_NOON),
    "no day of a month": ("Mon, 31 Feb 2026 12:00:00 +0000", None, T_NOON),
    "too many digits": ("Mon, 2 Feb 99999999999999999999 12:00:00 +0000", None, T_NOON),
    "broken servers": ("Mon, 2 Feb 2026 12:00:00 +0000", "by b; soon", T_NOON),
    "bytes": ("Mon, 2 F\xe9v 2026 12:00:00", None, T_NOON),
}


@pytest.mark.parametrize(("date", "servers", "seconds"), DATES.values(), ids=DATES)
def test_times(read, date, servers, seconds):
    found = read(mail(date=date, Received=servers))
    assert found.dataset.times.tolist() == [seconds]
    assert found.report.n_undated == 0


def test_a_message_without_any_date_has_that_of_the_one_before(read):
    bare = b"From ann\nSubject: x\n\ntea\n\n"
    later = mail(date="Tue, 3 Feb 2026 12:00:00 +0000", number=2)
    found = read(bare, mail(), bare, later, bare)
    assert (found.dataset.times - T_NOON).tolist() == [0, 0, 0, 86400, 86400]
    assert found.report.n_undated == 3
    assert found.dataset.row_ids.tolist() == ["message 1", "1@x", "message 3", "2@x", "message 5"]


def test_messages_come_in_the_order_of_their_times(read):
    dates = [f"Mon, 2 Feb 2026 {hour}:00:00 +0000" for hour in (15, 12, 13, 12)]
    found = read(
        *(mail(f"word{'abcd'[k]}", date=date, number=k, Subject=str(k)) for k, date in enumerate(dates))
    )
    assert found.subjects.tolist() == ["1", "3", "2", "0"]
    assert [next(iter(words(found, row))) for row in range(4)] == ["wordb", "wordd", "wordc", "worda"]
    assert np.all(np.diff(found.dataset.times) >= 0)


# --- ids and files


def test_copies_are_dropped_and_other_messages_of_the_same_id_stay(read):
    other = mail("cake", date="Tue, 3 Feb 2026 12:00:00 +0000")
    unnamed = mail("tea", Message_ID=None)
    found = read(mail("tea"), mail("tea\n-- \nlist"), other, unnamed, unnamed)
    assert found.dataset.row_ids.tolist() == ["1@x", "message 4", "message 5", "1@x (3)"]
    assert (found.report.n_messages, found.report.n_copies) == (5, 1)
    assert "dropped 1 repeated message" in str(found.report)


def test_a_line_that_begins_with_from_begins_no_message(read):
    found = read(mail("one\n\nFrom here on: tea\nFrom there: cake\n\ntwo"), mail("three", number=2))
    assert found.report.n_messages == 2
    assert {"one", "tea", "cake", "two"} <= set(words(found))


def test_other_line_ends_and_a_body_that_is_missing(read):
    text = mail("yes\n-- \nno").replace(b"\n", b"\r\n")
    found = read(text, mail("yes", number=2).replace(b"\n", b"\r\n"), b"From ann\nSubject: the end")
    assert [words(found, row) for row in range(3)] == [{"yes": 1}, {"yes": 1}, {}]


def test_gzipped_files_are_read(tmp_path):
    path = tmp_path / "mail.mbox.gz"
    path.write_bytes(gzip.compress(mail("tea")))
    assert words(sm.read_mailbox(path, min_messages=1, subjects=False)) == {"tea": 1}
    path.write_bytes(gzip.compress(mail("tea" * 100))[:-9])
    with pytest.raises(sm.DataError, match="damaged or cut off"):
        sm.read_mailbox(path)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty"),
        (b"ad,keyword\n1,red\n", "is no mailbox in mbox form: it does not begin with 'From '"),
        (b"Subject: a single message\n\ntea\n", "does not begin with 'From '"),
        (b"From here we go\nsomewhere else\n", "no headers of a message follow"),
        (b"From \n", "no headers of a message follow"),
        (b"\x00" * 500, "does not begin"),
        (gzip.compress(b"", mtime=0), "is empty|is no mailbox"),
        (gzip.compress(b"ad,keyword\n", mtime=0), "does not begin with 'From '"),
        (b"From x\nSubject: undated\n\ntea\n", "no message of .* has a date that can be right"),
    ],
)
def test_a_file_that_is_no_mailbox(read, content, message):
    with pytest.raises(sm.DataError, match=message):
        read(content)


def test_paths_that_lead_nowhere(tmp_path):
    with pytest.raises(sm.DataError, match="is a folder"):
        sm.read_mailbox(tmp_path)
    with pytest.raises(sm.DataError, match="does not exist"):
        sm.read_mailbox(tmp_path / "no.mbox")
    for path in (7, None, ""):
        with pytest.raises(
            sm.ParameterError, match="'path' of read_mailbox must be the path of an mbox file"
        ):
            sm.read_mailbox(path)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"subjects": 1}, "'subjects' of read_mailbox must be True or False"),
        ({"min_messages": 0}, "'min_messages' of read_mailbox must be an integer >= 1"),
        ({"max_share": 1.5}, r"'max_share' of read_mailbox must be a number in \[0, 1\]"),
    ],
)
def test_arguments(read, options, message):
    with pytest.raises(sm.ParameterError, match=message):
        read(mail(), **options)


def test_the_file_stays_as_it_is(tmp_path):
    path = tmp_path / "mail.mbox"
    path.write_bytes(mail("tea").replace(b"\n", b"\r\n")[:-3])
    before = path.read_bytes(), path.stat().st_mtime_ns
    sm.read_mailbox(path)
    assert (path.read_bytes(), path.stat().st_mtime_ns) == before
    assert [each.name for each in tmp_path.iterdir()] == ["mail.mbox"]


PARTS = (
    b"Content-Type: multipart/mixed; boundary=b\n",
    b"Content-Type: text/html; charset*0*=utf-8''%ff; charset=\n",
    b"Content-Transfer-Encoding: base64\n",
    b"Content-Transfer-Encoding: x-uuencode\n",
    b"Content-Disposition: attachment; filename*=''%%\n",
    b"Date: Mon, 2 Feb 2026 12:00:00\n",
    b"Date: ,;:()\n",
    b"From: =?utf-8?b?a?= <<@,\xff\n",
    b"Subject: =?=?utf-8?q?=zz?=\n",
    b"Message-ID: <\n",
    b"--b\n",
    b"--b--\n",
    b"\n",
    b"<p>x<blockquote><![CDATA[ <!-- <a b='\n",
    b"> q\n",
    b"begin 644 x\n#0V%T\n",
    b"From \n",
)


@settings(max_examples=300, deadline=None)
@given(st.lists(st.sampled_from(PARTS) | st.binary(max_size=30), max_size=15))
def test_nothing_but_a_data_error_comes_of_any_file(tmp_path_factory, parts):
    path = tmp_path_factory.mktemp("mail") / "mail.mbox"
    path.write_bytes(b"From ann Mon Feb  2 12:00:00 2026\nSubject: x\n" + b"".join(parts))
    try:
        found = mailbox.read_mailbox(path, min_messages=1)
    except sm.DataError:
        return
    assert len(found.dataset) == len(found.subjects) == found.report.n_messages - found.report.n_copies
    " ".join([*found.subjects, *found.authors, *found.dataset.feature_names]).encode("utf-8")
