"""Cut a table of events in two: one to learn from, one to see how good predictions are."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparsemix.foundation.checks import inside, one_of
from sparsemix.foundation.errors import DataError, parameter_error, shorten
from sparsemix.models.gamma_poisson.events import (
    KINDS,
    Columns,
    Records,
    Vocabulary,
    as_records,
    cells_of,
    check_column,
    column_names,
)
from sparsemix.numeric.seeds import seed_of

OWNER = "split_events"
WAYS = ("impressions", "pairs", "time")
MOST_COUNT = 10**9 - 1  # that is divided at random


class EventSplit(NamedTuple):
    """Two event tables, each a dict of columns under the names of the table that was split."""

    learnt: dict[str, NDArray[Any]]
    held_out: dict[str, NDArray[Any]]


def split_events(
    events: Any,
    held_out: float = 0.2,
    *,
    by: str = "impressions",
    user: str = "user",
    ad: str = "ad",
    event: str = "event",
    count: str | None = "count",
    time: str = "time",
    random_state: int | np.random.RandomState | None = None,
) -> EventSplit:
    """Cut a table of events in two, so that clicks stay with their impressions.

    Parameters
    ----------
    events : data frame (pandas, polars, Arrow) or mapping of column names to vectors
        As `ClickRateModel.fit` takes it.
    held_out : float in (0, 1), default=0.2
        Share that is expected to be set aside: of the impressions, of the pairs of a user and an ad, or of all events.
    by : {"impressions", "pairs", "time"}, default="impressions"
        "impressions" sets each impression aside or not, and with it the click that it led to, if any: how good is what
        a model says of users and ads that it knows? "pairs" sets all events of a user with an ad aside or none: is
        anything known of ads that a user has not seen? "time" learns from the past and sets the end aside, as in use.
    user, ad, event, count : str
        Columns, as in `ClickRateModel`; `count` may be None.
    time : str, default="time"
        Column of times for ``by="time"``: dates, or numbers that grow. Records of one time stay together.
    random_state : int, RandomState or None, default=None

    Returns
    -------
    EventSplit
        ``learnt`` and ``held_out``. With "impressions" they have a record for each user, ad and kind of event, sorted;
        with the others the records as they were, in their order. A count is always there.

    Raises
    ------
    ParameterError
        If a parameter breaks its rule.
    DataError
        If a column is missing or holds what it must not, or nothing is left on one side; with "impressions" also if
        counts are not whole.

    Notes
    -----
    With "impressions", of the n impressions of a pair Binomial(n, held_out) are set aside, and of its clicks and
    conversions as many as fall on them when clicks are spread over impressions at random, and conversions over clicks.
    Clicks that no impression went before count as impressions, too. O(records log records).

    Examples
    --------
    >>> import sparsemix as sm
    >>> events = {
    ...     "user": ["ann", "ann", "bob"],
    ...     "ad": ["tea", "tea", "car"],
    ...     "event": ["impression", "click", "impression"],
    ...     "count": [6, 2, 4],
    ...     "day": [1, 1, 2],
    ... }
    >>> sm.split_events(events, 0.5, random_state=0).held_out["count"].sum() > 0
    np.True_
    >>> sm.split_events(events, 0.5, by="time", time="day").held_out["user"].tolist()
    ['bob']
    """
    inside("held_out", OWNER, held_out, "a number in (0, 1)", 0.0, 1.0, open_low=True)
    one_of("by", OWNER, by, WAYS)
    columns = Columns(user, ad, event, count)
    records = as_records(events, columns, OWNER)
    names = (user, ad, event, Columns().counts if count is None else count)
    if by == "time":
        is_late = _is_late(_times(events, time, records.counts.size), records.counts, float(held_out))
        return _checked(*(_table(records.take(each), names) for each in (~is_late, is_late)))
    rng = np.random.default_rng([seed_of(random_state, OWNER), 3])
    if by == "pairs":
        is_aside = _of_pairs(records, float(held_out), rng)
        return _checked(*(_table(records.take(each), names) for each in (~is_aside, is_aside)))
    return _checked(*(_table(each, names) for each in _thinned(records, float(held_out), rng)))


def _table(records: Records, names: tuple[Any, ...]) -> dict[str, NDArray[Any]]:
    kinds = np.array(KINDS, dtype=object)[records.kind]
    return dict(zip(names, (records.user, records.ad, kinds, records.counts), strict=True))


def _checked(learnt: dict[str, NDArray[Any]], aside: dict[str, NDArray[Any]]) -> EventSplit:
    for table, remedy in ((learnt, "smaller"), (aside, "larger")):
        if not list(table.values())[-1].any():
            raise DataError(
                f"nothing is left on one side of the split. Take a {remedy} 'held_out', or more events."
            )
    return EventSplit(learnt, aside)


def _pairs(records: Records) -> tuple[Vocabulary, Vocabulary]:
    return Vocabulary(np.unique(records.user)), Vocabulary(np.unique(records.ad))


def _of_pairs(records: Records, held_out: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Which records belong to pairs that are set aside."""
    users, ads = _pairs(records)
    key = users.numbers(records.user) * len(ads) + ads.numbers(records.ad)
    keys, pair = np.unique(key, return_inverse=True)
    return np.asarray((rng.random(keys.size) < held_out)[pair])


def _thinned(records: Records, held_out: float, rng: np.random.Generator) -> tuple[Records, Records]:
    """Each impression on one side, with its click and its conversion."""
    if np.any(records.counts != np.floor(records.counts)) or np.any(records.counts > MOST_COUNT):
        raise DataError(
            f"'count' of {OWNER} must hold whole numbers up to {MOST_COUNT:,} with by='impressions'. Round them, "
            f"or take by='pairs'."
        )
    users, ads = _pairs(records)
    cells = cells_of(records, users, ads)
    shown, clicks, conversions = (
        each.astype(np.int64) for each in (cells.impressions, cells.clicks, cells.conversions)
    )
    shown_aside = rng.binomial(shown, held_out)
    clicks_aside = rng.hypergeometric(clicks, shown - clicks, shown_aside)
    # Conversions are spread over clicks in turn, as often as there are more of them than clicks.
    rest = np.where(clicks > 0, conversions % np.maximum(clicks, 1), 0)
    whole = (conversions - rest) // np.maximum(clicks, 1)
    of_clicks = whole * clicks_aside + rng.hypergeometric(rest, np.maximum(clicks - rest, 0), clicks_aside)
    conversions_aside = np.where(clicks > 0, of_clicks, rng.binomial(conversions, held_out))
    aside = (shown_aside, clicks_aside, conversions_aside)
    sides = []
    for parts in (tuple(n - m for n, m in zip((shown, clicks, conversions), aside, strict=True)), aside):
        counts = np.column_stack(parts)
        cell, kind = np.nonzero(counts)
        place = (users.ids[cells.user[cell]], ads.ids[cells.ad[cell]], kind)
        sides.append(Records(*place, counts[cell, kind].astype(np.float64)))
    return sides[0], sides[1]


def _times(events: Any, name: str, n_records: int) -> NDArray[Any]:
    check_column("time", name, OWNER)
    if name not in column_names(events, OWNER):
        raise DataError(f"'events' of {OWNER} must have the column {shorten(name)} for by='time'.")
    times = np.asarray(events[name])
    if times.dtype.kind == "O":
        times = _plain(times)
    if times.ndim != 1 or times.size != n_records or times.dtype.kind not in "iufM":
        rule = "the name of a column of dates or numbers, one for each record"
        raise parameter_error("time", OWNER, rule, name, "Turn text into dates first.")
    missing = np.isnat(times) if times.dtype.kind == "M" else np.isnan(times.astype(float))
    if missing.any():
        raise DataError(
            f"'{name}' of {OWNER} must hold a time in each record, but record {missing.argmax()} has none."
        )
    return times


def _plain(times: NDArray[Any]) -> NDArray[Any]:
    """Dates of Python as those of NumPy, in UTC; as they were if they are something else."""
    try:
        stamps = [np.nan if each is None else each.timestamp() for each in times]
    except AttributeError:
        return times
    return np.array(stamps, float)


def _is_late(times: NDArray[Any], counts: NDArray[np.float64], held_out: float) -> NDArray[np.bool_]:
    """Which records come after the time before which the wanted share of the events lies, or at it."""
    different, place = np.unique(times, return_inverse=True)
    before = np.cumsum(np.bincount(place, counts))
    before = np.concatenate([[0.0], before[:-1]])
    cut = int(np.abs(before - (1.0 - held_out) * counts.sum()).argmin())
    return np.asarray(times >= different[cut])
