"""Read a mailbox: its messages as rows of words, with their times, subjects and authors."""

import os
import time
from array import array
from collections import Counter
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.data.dataset import Dataset
from sparsemix.data.mail_file import Piece, pieces_of
from sparsemix.data.mail_parts import author_of, header, parse, text_of
from sparsemix.data.mail_quotes import split_text
from sparsemix.data.mail_times import time_sent
from sparsemix.data.mail_words import bare_subject, words_of
from sparsemix.data.object_arrays import object_array
from sparsemix.data.report import MailboxReport
from sparsemix.foundation.checks import at_least, share
from sparsemix.foundation.errors import DataError, parameter_error

FEW_MESSAGES = 20  # words of so many are never too common


@dataclass(frozen=True)
class Mailbox:
    """Messages in the order of their times.

    Attributes
    ----------
    dataset : Dataset
        Messages x words, with the messages' ids as `row_ids`, their `times`, and their authors as `groups`.
    subjects : ndarray of object (n_rows,)
        Subject (str) of each message, as it stands there.
    report : MailboxReport
    """

    dataset: Dataset
    subjects: NDArray[Any]
    report: MailboxReport

    @property
    def authors(self) -> NDArray[Any]:
        """Name, or else address, of each author, (n_rows,) of str."""
        return object_array(self.dataset.groups if self.dataset.groups is not None else [])


def read_mailbox(
    path: str | os.PathLike[str],
    *,
    subjects: bool = True,
    min_messages: int = 2,
    max_share: float = 0.05,
) -> Mailbox:
    r"""Read the messages of an mbox file as rows of words.

    Quotations and their introductions, forwarded messages, signatures, footers of lists, addresses and attachments are
    left out; where nothing else is said, what is quoted stands for it. HTML alone becomes text. A time that cannot be
    right gives way to that of the servers that passed the message on. The standard library reads file and messages.

    Parameters
    ----------
    path : str or PathLike
        An mbox file, also gzipped.
    subjects : bool, default=True
        Whether the words of the subjects count as well.
    min_messages : int >= 1, default=2
        Words of fewer messages are dropped.
    max_share : float in [0, 1], default=0.05
        Words of more messages than this share of all, and of more than 20, are dropped.

    Returns
    -------
    Mailbox
        Messages in the order of their times.

    Raises
    ------
    DataError
        If there is no such file, it is no mbox file or damaged, or no message has a date.
    ParameterError
        If an argument breaks its rule.

    Notes
    -----
    One message is in memory at a time; of all others there are the words.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> mail = "From ann\nFrom: Ann <ann@example.org>\nSubject: Tea\nDate: 2 Feb 2026 09:00 +0000\n\nGreen tea?\n"
    >>> with TemporaryDirectory() as folder:
    ...     _ = Path(folder, "mail.mbox").write_text(mail)
    ...     found = read_mailbox(Path(folder, "mail.mbox"), min_messages=1)
    >>> found.dataset
    Dataset: 1 row x 2 features, 2 non-zeros; groups, times
      message 1: green, tea x2
    >>> found.subjects, found.authors
    (array(['Tea'], dtype=object), array(['Ann'], dtype=object))
    """
    if not isinstance(subjects, bool):
        raise parameter_error("subjects", "read_mailbox", "True or False", subjects)
    at_least("min_messages", "read_mailbox", min_messages, 1)
    share("max_share", "read_mailbox", max_share)
    reader = _Reader(with_subjects=subjects, now=time.time())
    for number, piece in enumerate(pieces_of(path), start=1):
        reader.read(piece, number)
    return reader.finish(str(path), min_messages, max_share)


class _Reader:
    """Collects messages."""

    def __init__(self, *, with_subjects: bool, now: float) -> None:
        self._with_subjects, self._now = with_subjects, now
        self._seen: set[tuple[str, str]] = set()
        self._counts = {"n_messages": 0, "n_copies": 0, "n_quotations": 0, "n_silent": 0}
        self._ids: dict[str, None] = {}
        self._times = array("d")
        self._subjects: list[str] = []
        self._authors: list[str] = []
        self._words: dict[str, int] = {}
        self._columns, self._values, self._ends = array("q"), array("q"), array("q", [0])

    def read(self, piece: Piece, number: int) -> None:
        """Take in a message, unless it is a copy."""
        message = parse(piece.content)
        self._counts["n_messages"] += 1
        own_id, date = header(message, "message-id").strip("<> "), header(message, "date")
        if own_id and (own_id, date) in self._seen:
            self._counts["n_copies"] += 1
            return
        self._seen.add((own_id, date))
        self._add_id(own_id, number)
        self._times.append(time_sent(message, piece.envelope, self._now))
        self._subjects.append(header(message, "subject"))
        self._authors.append(author_of(message))
        self._add_words(*split_text(text_of(message)))

    def finish(self, source: str, least: int, share: float) -> Mailbox:
        """Return the messages in the order of their times, with the words that are neither rare nor common."""
        times, n_undated = _filled(np.array(self._times), source)
        n_rows, n_words = times.size, len(self._words)
        cells = (np.array(self._values), np.array(self._columns), np.array(self._ends))
        matrix = sparse.csr_array(cells, shape=(n_rows, n_words))
        n_messages = np.bincount(matrix.indices, minlength=n_words)
        is_rare, is_common = n_messages < least, n_messages > max(FEW_MESSAGES, share * n_rows)
        order, kept = np.argsort(times, kind="stable"), np.flatnonzero(~is_rare & ~is_common)
        dataset = Dataset.from_matrix(
            matrix[order][:, kept],
            row_ids=object_array(self._ids)[order],
            feature_names=object_array(self._words)[kept],
            groups=object_array(self._authors)[order],
            times=times[order],
        )
        dropped = {"n_rare_words": int(is_rare.sum()), "n_common_words": int((is_common & ~is_rare).sum())}
        report = MailboxReport(source, n_undated=n_undated, **self._counts, **dropped)
        return Mailbox(dataset, object_array(self._subjects)[order], report)

    def _add_id(self, own_id: str, number: int) -> None:
        name = own_id or f"message {number}"
        while name in self._ids:
            name = f"{name} ({number})"
        self._ids[name] = None

    def _add_words(self, own: str, quoted: str) -> None:
        found = words_of(own)
        if not found:
            found = words_of(quoted)
            self._counts["n_quotations"] += bool(found)
        if self._with_subjects:
            found += words_of(bare_subject(self._subjects[-1]))
        self._counts["n_silent"] += not found
        for word, n in Counter(found).items():
            self._columns.append(self._words.setdefault(word, len(self._words)))
            self._values.append(n)
        self._ends.append(len(self._columns))


def _filled(times: NDArray[np.float64], source: str) -> tuple[NDArray[np.float64], int]:
    """Give messages without a time that of the one before them in the file, and say how many those are."""
    is_known = np.isfinite(times)
    if not is_known.any():
        raise DataError(f"no message of {source} has a date that can be right. Clusters in time need dates.")
    before = np.maximum.accumulate(np.where(is_known, np.arange(times.size), -1))
    before[before < 0] = np.argmax(is_known)
    return times[before], int(np.sum(~is_known))
