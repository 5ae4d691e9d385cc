import numpy as np
import pytest

from harness import streams


def message(text, time, thread="a", subject=None, group="g"):
    return {"text": text, "time": time, "thread": thread, "subject": subject, "group": group}


def read(messages, **options):
    return streams.stream_of(messages, seconds=lambda one: float(one["time"]), **options)


@pytest.mark.parametrize(
    ("subject", "plain"),
    [
        ("Re: Printing", "printing"),
        ("RE: re:  Fwd: Printing in  colour", "printing in colour"),
        ("Re[2]: Printing", "printing"),
        ("Re^2: Printing", "printing"),
        ("Regarding: Printing", "regarding: printing"),
        (None, ""),
    ],
)
def test_a_subject_loses_its_marks_of_replies(subject, plain):
    assert streams.plain_subject(subject) == plain


def test_rows_come_in_the_order_of_time_and_ties_keep_theirs():
    found = read([message("late late", 9, "b"), message("tie", 5, "c"), message("late tie", 5, "a")])
    assert found.times.tolist() == [0.0, 0.0, 4.0]
    assert found.threads.tolist() == [2, 0, 1]
    assert found.rows.toarray().tolist() == [[0.0, 1.0], [1.0, 1.0], [2.0, 0.0]]


def test_words_of_one_text_and_words_of_all_are_left_out(monkeypatch):
    monkeypatch.setattr(streams, "LARGEST_SHARE", 0.5)
    texts = ["the cat once", "the cat", "the dog", "the dog dog"]
    assert streams.feature_counts(texts, [[]] * 4).toarray().tolist() == [[1, 0], [1, 0], [0, 1], [0, 2]]


def test_people_are_features_however_common():
    found = streams.feature_counts(["yes", "no", "well", "so"], [["@a"], ["@a"], ["@a", "@a"], ["@b"]])
    assert found.toarray().tolist() == [[1], [1], [2], [0]]


def test_rows_alone_in_their_thread_are_not_scored():
    found = read([message("x", 1, "a"), message("y", 2, "b"), message("z", 3, "a")])
    assert found.is_scored.tolist() == [True, False, True]


def test_equal_subjects_have_one_number():
    told = [
        message("x", 1, subject="Re: One"),
        message("y", 2, subject="Two"),
        message("z", 3, subject="one"),
    ]
    first, second, third = read(told, with_subjects=True).subjects
    assert first == third != second


def test_groups_keep_the_order_of_their_messages():
    told = [message("x", 1, group="b"), message("y", 2, group="a"), message("z", 3, group="b")]
    assert [[one["text"] for one in part] for part in streams.by_group(told)] == [["y"], ["x", "z"]]


@pytest.mark.parametrize(
    ("name", "n_streams", "n_rows", "n_threads"),
    [
        ("newsgroup threads", 3, 2_986, 1_739),
        ("IRC, and senders", 10, 2_336, 330),
        ("News-T", 1, 3_000, 42),
        ("Reuters", 1, 1_000, 40),
    ],
)
def test_real_streams_are_read_whole(real_data, monkeypatch, name, n_streams, n_rows, n_threads):
    monkeypatch.setenv("SPARSEMIX_DATA", str(real_data))
    found = streams.STREAMS[name]()
    assert len(found) == n_streams
    assert sum(stream.rows.shape[0] for stream in found) == n_rows
    assert sum(np.unique(stream.threads).size for stream in found) == n_threads
    assert all(np.all(np.diff(stream.times) >= 0.0) for stream in found)
