"""The threads of a mailbox as one plain dict that JSON can hold: what their timeline shows."""

from collections import Counter
from datetime import UTC, datetime
from typing import Any

import numpy as np

from sparsemix import __version__
from sparsemix.data.mail_words import bare_subject
from sparsemix.data.mailbox import Mailbox
from sparsemix.foundation.checks import at_least
from sparsemix.foundation.errors import DataError, parameter_error
from sparsemix.reporting.summary import SUMMARY_VERSION


def summarize_threads(
    model: Any,
    mailbox: Mailbox,
    *,
    title: str = "Threads",
    n_words: int = 5,
    most_threads: int = 200,
) -> dict[str, Any]:
    r"""Summarise the threads that a model has found in a mailbox.

    Parameters
    ----------
    model : TimeSensitiveMixture
        Fitted to the mailbox's `dataset`; not one from a file, which does not know the thread of each message.
    mailbox : Mailbox
        From `read_mailbox`.
    title : str
    n_words : int
        How many of its most distinctive words each thread shows.
    most_threads : int
        If there are more, the smallest are left out, and counted.

    Returns
    -------
    dict
        ``summary_version``, ``library_version``, ``title``, ``source``, ``n_messages``, ``n_threads`` (of all),
        ``n_threads_left_out``, ``n_messages_left_out`` and ``threads`` in the order of their first messages; each
        with ``component``, ``n_messages``, ``first`` and ``last`` (ISO texts, UTC), ``words``, ``subject`` (the most
        frequent one, without signs of replies), ``n_authors`` and ``messages`` (each with ``time``, ``subject`` and
        ``author``).

    Raises
    ------
    DataError
        If the model has learnt other rows than these.
    ParameterError
        If a number breaks its rule, the model is not fitted or of another kind, or the mailbox is none.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> import sparsemix as sm
    >>> form = "From me Thu Jan {0} 09:00:00 2026\nDate: {0} Jan 2026 09:00:00 +0000\n\n{1}\n\n"
    >>> mails = [(1, "ski trip"), (2, "ski trip snow"), (9, "budget numbers"), (10, "budget meeting")]
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "mails.mbox")
    ...     _ = path.write_text("".join(form.format(*mail) for mail in mails))
    ...     mailbox = sm.read_mailbox(path)
    >>> model = sm.TimeSensitiveMixture(half_life="1d", smoothing=0.1, random_state=0)
    >>> summary = summarize_threads(model.fit(mailbox.dataset), mailbox)
    >>> [(thread["n_messages"], thread["words"]) for thread in summary["threads"]]
    [(2, ['ski', 'trip']), (2, ['budget'])]
    """
    at_least("n_words", "summarize_threads", n_words, 1)
    at_least("most_threads", "summarize_threads", most_threads, 1)
    if not isinstance(mailbox, Mailbox):
        raise parameter_error("mailbox", "summarize_threads", "what read_mailbox returns", mailbox)
    if not hasattr(model, "labels_") or not hasattr(model, "threads"):
        remedy = (
            "Fit it to mailbox.dataset here; a model from a file does not know the thread of each message."
        )
        raise parameter_error("model", "summarize_threads", "a fitted TimeSensitiveMixture", model, remedy)
    if len(model.labels_) != len(mailbox.dataset):
        raise DataError(
            f"'model' of summarize_threads must have learnt the {len(mailbox.dataset)} messages of the mailbox, but it "
            f"has learnt {len(model.labels_)} rows. Fit it to mailbox.dataset."
        )
    members = _members(model.labels_)
    found = model.threads(n_words)
    # Clusters are numbered from the largest down.
    threads = [
        _thread(each, mailbox, members[each.component]) for each in found if each.component < most_threads
    ]
    n_shown = sum(each["n_messages"] for each in threads)
    return {
        "summary_version": SUMMARY_VERSION,
        "library_version": __version__,
        "title": title,
        "source": mailbox.report.source,
        "n_messages": len(mailbox.dataset),
        "n_threads": len(found),
        "n_threads_left_out": len(found) - len(threads),
        "n_messages_left_out": len(mailbox.dataset) - n_shown,
        "threads": threads,
    }


def _members(labels: Any) -> list[Any]:
    """Rows of each cluster, in their order."""
    order = np.argsort(labels, kind="stable")
    return np.split(order, np.cumsum(np.bincount(labels))[:-1])


def _thread(found: Any, mailbox: Mailbox, rows: Any) -> dict[str, Any]:
    times, authors = mailbox.dataset.times, mailbox.authors
    assert times is not None
    messages = [
        {"time": _iso(times[row]), "subject": mailbox.subjects[row], "author": authors[row]} for row in rows
    ]
    subjects = Counter(bare_subject(mailbox.subjects[row]) for row in rows)
    return {
        "component": found.component,
        "n_messages": found.n_rows,
        "first": _iso(found.first),
        "last": _iso(found.last),
        "words": [str(each.feature) for each in found.features],
        "subject": subjects.most_common(1)[0][0],
        "n_authors": len({authors[row] for row in rows}),
        "messages": messages,
    }


def _iso(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M:%S")
