"""When a message was sent, by the most credible of its stamps."""

import math
from collections.abc import Iterator
from datetime import UTC, datetime
from email.message import Message
from email.utils import parsedate_tz

EARLIEST = datetime(1980, 1, 2, tzinfo=UTC).timestamp()  # clocks that were never set begin the day before
TOLERANCE = 86400.0  # seconds by which a sender's clock may be ahead
FARTHEST_ZONE = 15 * 3600


def time_sent(message: "Message[str, str]", envelope: str, now: float) -> float:
    """Return seconds since 1970 UTC, NaN if no stamp can be right.

    The date of the sender stands unless it lies before 1980, or more than a day after the latest stamp of the servers
    that passed the message on (or after `now`). Then the servers' is taken, or that of the envelope.

    Parameters
    ----------
    message : Message
    envelope : str
        The line that begins the message in its file, ``From address date``.
    now : float
        Seconds since 1970 UTC; no message is from the future.

    Returns
    -------
    float
    """
    received = [each for each in _servers_stamps(message) if EARLIEST <= each <= now + TOLERANCE]
    latest = max(received, default=now)
    stamps = [seconds_of(message.get("date", "")), *received[:1], seconds_of(_after_address(envelope))]
    return next((each for each in stamps if EARLIEST <= each <= latest + TOLERANCE), math.nan)


def seconds_of(stamp: object) -> float:
    """Return a date of a header as seconds since 1970 UTC, NaN if it is none; a zone that cannot be is UTC.

    Examples
    --------
    >>> seconds_of("Thu, 1 Jan 1970 02:00:00 +0100"), seconds_of("Thu, 32 Jan 1970 00:00:00 +0000")
    (3600.0, nan)
    """
    try:
        found = parsedate_tz(str(stamp))
        if found is None:
            return math.nan
        year, month, day, hour, minute, second = found[:6]
        time = datetime(year, month, day, hour, minute, min(second, 59), tzinfo=UTC)
    except (ValueError, TypeError, IndexError, OverflowError):
        return math.nan
    zone = found[9] or 0
    return time.timestamp() - (zone if abs(zone) <= FARTHEST_ZONE else 0)


def _servers_stamps(message: "Message[str, str]") -> Iterator[float]:
    """Stamps of the servers, the last one first; NaN where there is none."""
    for line in message.get_all("received", []):
        yield seconds_of(str(line).rpartition(";")[2])


def _after_address(envelope: str) -> str:
    return " ".join(envelope.split()[2:])
