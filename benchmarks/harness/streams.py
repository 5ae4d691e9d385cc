"""Real streams of texts with times and gold threads, read from a folder outside the project; see `realdata`.

A set is a list of streams that are clustered one by one: a newsgroup, an hour of chat, all news.
"""

import json
import re
from collections import Counter
from collections.abc import Callable, Sequence
from datetime import datetime
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse import csr_array

from harness.realdata import counted, folder, gzipped

LARGEST_SHARE = 0.05  # of a stream's texts that hold a word; more common ones tell nothing of a thread
FEWEST_TEXTS = 2
MOST_STORIES, MOST_TITLES = 1_000, 3_000
MOST_GROUPS = 3
REPLIES = re.compile(r"^\s*((re|fwd?|aw)(\[\d+\]|\^\d+)?\s*:\s*)+", re.IGNORECASE)

Message = dict[str, Any]


class Stream(NamedTuple):
    """Rows of counts in the order of their times, in seconds, the gold thread of each, and its subject's number."""

    rows: csr_array
    times: np.ndarray
    threads: np.ndarray
    subjects: np.ndarray | None = None

    @property
    def is_scored(self) -> np.ndarray:
        """Which rows have company in their thread; the others tell nothing about pairs."""
        return np.bincount(self.threads)[self.threads] > 1


def newsgroup_threads() -> list[Stream]:
    """Three newsgroups of those with threads; the gold is the thread."""
    messages = _json_lines(gzipped("newsgroups_threads", "messages.jsonl.gz"))
    streams = [stream_of(part, seconds=_seconds_of_text, with_subjects=True) for part in by_group(messages)]
    return [stream for stream in streams if stream.is_scored.any()][::2][:MOST_GROUPS]


def chats(*, with_senders: bool) -> list[Stream]:
    """The ten logs of chats for development; the gold is the conversation.

    Those whom a message addresses are features beside its words, and its sender if `with_senders`.
    """
    messages = _json_lines(gzipped("irc_threads", "messages.jsonl.gz"))
    logs = [part for part in by_group(messages) if part[0]["split"] == "dev"]

    def people(message: Message) -> list[str]:
        named = message["mentions"] + ([message["from_hash"]] if with_senders else [])
        return [f"@{name}" for name in named]

    return [stream_of(log, seconds=lambda message: float(message["time"]), people=people) for log in logs]


def news_in_order() -> list[Stream]:
    """The first news titles in the order of their lines, one a second; the gold is the story."""
    titles = _json_lines((folder() / "mstream" / "News-T.jsonl").read_text(encoding="utf-8"))
    messages = [
        {"text": title["textCleaned"], "thread": title["clusterNo"], "time": number}
        for number, title in enumerate(titles[:MOST_TITLES])
    ]
    return [stream_of(messages, seconds=lambda message: float(message["time"]))]


def reuters_by_date() -> list[Stream]:
    """The first stories of one topic each; the gold is the topic."""
    stories = _json_lines(gzipped("reuters21578", "stories.jsonl.gz"))
    usable = [
        {"text": f"{story['subject'] or ''} {story['text']}", "thread": story["group"], "time": story["time"]}
        for story in stories
        if story["has_topics"] == "YES" and len(story["topics"]) == 1 and story["time"]
    ]
    return [stream_of(usable[:MOST_STORIES], seconds=_seconds_of_text)]


STREAMS: dict[str, Callable[[], list[Stream]]] = {
    "newsgroup threads": newsgroup_threads,
    "IRC, words and addressees": lambda: chats(with_senders=False),
    "IRC, and senders": lambda: chats(with_senders=True),
    "News-T": news_in_order,
    "Reuters": reuters_by_date,
}


def by_group(messages: Sequence[Message]) -> list[list[Message]]:
    """Cut messages into their groups, in the order of the groups' names; the order within stays."""
    key = lambda message: message["group"]  # noqa: E731
    return [list(part) for _, part in groupby(sorted(messages, key=key), key=key)]


def stream_of(
    messages: Sequence[Message],
    *,
    seconds: Callable[[Message], float],
    people: Callable[[Message], list[str]] = lambda _: [],
    with_subjects: bool = False,
) -> Stream:
    """Make a stream of messages with "text", "thread" and, if wanted, "subject"; equal times keep their order."""
    times = np.array([seconds(message) for message in messages])
    order = np.argsort(times, kind="stable")
    told = [messages[i] for i in order]
    rows = feature_counts([message["text"] for message in told], [people(message) for message in told])
    subjects = _numbered([plain_subject(message["subject"]) for message in told]) if with_subjects else None
    return Stream(
        rows, times[order] - times.min(), _numbered([message["thread"] for message in told]), subjects
    )


def feature_counts(texts: Sequence[str], people: Sequence[Sequence[str]]) -> csr_array:
    """Return texts x words and people, how often each text has each.

    Left out are words in more than `LARGEST_SHARE` of the texts, and all that fewer than `FEWEST_TEXTS` have.
    """
    lists = [re.findall("[a-z]{2,}", text.lower()) for text in texts]
    common = {
        word for word, n in _in_texts(lists).items() if n > max(LARGEST_SHARE * len(texts), FEWEST_TEXTS)
    }
    told = [
        [w for w in words if w not in common] + list(who) for words, who in zip(lists, people, strict=True)
    ]
    known = sorted(one for one, n in _in_texts(told).items() if n >= FEWEST_TEXTS)
    columns = {one: j for j, one in enumerate(known)}
    return counted([[columns[one] for one in row if one in columns] for row in told], len(known))


def plain_subject(subject: str | None) -> str:
    """Return a subject without the marks of replies, in small letters and with single blanks."""
    return " ".join(REPLIES.sub("", subject or "").lower().split())


def _in_texts(lists: Sequence[Sequence[str]]) -> Counter[str]:
    return Counter(one for row in lists for one in set(row))


def _numbered(names: Sequence[object]) -> np.ndarray:
    return np.unique([str(name) for name in names], return_inverse=True)[1]


def _seconds_of_text(message: Message) -> float:
    return datetime.fromisoformat(message["time"]).timestamp()


def _json_lines(text: str) -> list[Message]:
    return [json.loads(line) for line in text.splitlines()]
