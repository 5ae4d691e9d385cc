"""Tables of ad events: who saw or clicked which ad how often, as sparse counts of users x ads."""

from collections.abc import Mapping
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from sparsemix.foundation.checks import LARGEST
from sparsemix.foundation.errors import DataError, listed, parameter_error, shorten

KINDS = ("impression", "click", "conversion")
Ids = NDArray[Any]


class Columns(NamedTuple):
    """Names of the columns of an event table; without `counts` each record is one event."""

    user: str = "user"
    ad: str = "ad"
    event: str = "event"
    counts: str | None = "count"


class Records(NamedTuple):
    """Records of an event table: ids (text or whole numbers), kinds (0 to 2, as in `KINDS`) and counts."""

    user: Ids
    ad: Ids
    kind: NDArray[np.int64]
    counts: NDArray[np.float64]

    def take(self, chosen: NDArray[Any]) -> "Records":
        """Some of the records."""
        return Records(*(part[chosen] for part in self))


class Vocabulary:
    """Ids to consecutive numbers.

    Parameters
    ----------
    ids : (n,) array of different ids, sorted
    """

    def __init__(self, ids: Ids) -> None:
        self.ids = ids

    def __len__(self) -> int:
        return int(self.ids.size)

    def numbers(self, wanted: Ids) -> NDArray[np.int64]:
        """Number of each id, -1 where it is not known."""
        if not self.ids.size or (wanted.dtype.kind in "iu") != (self.ids.dtype.kind in "iu"):
            return np.full(wanted.size, -1)
        places = np.minimum(np.searchsorted(self.ids, wanted), self.ids.size - 1)
        return np.where(self.ids[places] == wanted, places, -1)


def as_records(events: Any, columns: Columns, owner: str) -> Records:
    """Check an event table.

    Parameters
    ----------
    events : data frame (pandas, polars, Arrow) or mapping of column names to vectors
    columns : Columns
    owner : str
        Who asks, for messages.

    Raises
    ------
    ParameterError
        If there is no table, or what is to name a column is no name.
    DataError
        If a column is missing, columns differ in length, an id is neither text nor a whole number, a kind is not in
        `KINDS` or a count is negative or no number.

    Examples
    --------
    >>> table = {"user": ["ann", "bob"], "ad": [7, 7], "event": ["impression", "click"], "count": [3, 1]}
    >>> as_records(table, Columns(), "the model").kind
    array([0, 1])
    """
    names = column_names(events, owner)
    check_columns(columns, owner)
    is_optional = columns.counts == Columns().counts and columns.counts not in names
    count = None if is_optional else columns.counts
    for name in (columns.user, columns.ad, columns.event, *([] if count is None else [count])):
        if name not in names:
            raise DataError(
                f"'events' of {owner} must have the columns {', '.join(map(str, columns[:3]))} and perhaps a count, "
                f"but {shorten(name)} is missing. It has {listed(sorted(map(str, names)))}."
            )
    user, ad = (ids_of(events[name], name, owner) for name in (columns.user, columns.ad))
    kind = _kinds(np.atleast_1d(np.asarray(events[columns.event], dtype=object)), owner)
    counts = np.ones(user.size) if count is None else _counts(events[count], count, owner)
    if not user.size == ad.size == kind.size == counts.size:
        raise DataError(f"'events' of {owner} must have columns of one length.")
    return Records(user, ad, kind, counts)


def check_columns(columns: Columns, owner: str) -> None:
    """Raise ParameterError unless all of them can be names of columns; that of counts may be None."""
    for role, name in zip(("user", "ad", "event", "count"), columns, strict=True):
        if role != "count" or name is not None:
            check_column(role, name, owner)


def check_column(role: str, name: Any, owner: str) -> None:
    """Raise ParameterError unless it can be the name of a column: text, or a number where there are no names."""
    if not isinstance(name, str | Integral) or isinstance(name, bool):
        raise parameter_error(role, owner, "the name of a column", name)


def column_names(events: Any, owner: str) -> list[Any]:
    """Names of the columns of an event table; ParameterError if it is none."""
    if isinstance(events, Mapping):
        return list(events)
    names = getattr(events, "column_names", None)
    names = getattr(events, "columns", None) if names is None else names
    if names is None:
        rule = "a data frame or a mapping from column names to vectors"
        raise parameter_error("events", owner, rule, events, "Read a file with pandas.read_parquet, say.")
    return list(names)


def ids_of(values: Any, name: str, owner: str) -> Ids:
    """Ids as a vector of text or of whole numbers; DataError for others."""
    wrong = DataError(
        f"'{name}' of {owner} must hold ids that are text or whole numbers, one for each record."
    )
    try:
        ids = np.atleast_1d(np.asarray(values))
    except ValueError as error:  # a list for an id
        raise wrong from error
    if ids.dtype.kind == "O" and all(isinstance(each, str) for each in ids.flat):
        ids = ids.astype(str)
    is_whole = ids.dtype.kind == "O" and all(isinstance(each, int | np.integer) for each in ids.flat)
    if ids.size and (is_whole or ids.dtype.kind == "u"):
        largest = max(map(abs, map(int, (ids.min(), ids.max()))))
        if largest > np.iinfo(np.int64).max:
            raise DataError(
                f"'{name}' of {owner} must hold ids below 2**63, but there is {shorten(largest)}. Make them text."
            )
        ids = ids.astype(np.int64)
    if ids.ndim != 1 or (ids.size and ids.dtype.kind not in "iuU"):
        raise wrong
    return ids if ids.dtype.kind == "U" else ids.astype(np.int64)


def _kinds(events: NDArray[np.object_], owner: str) -> NDArray[np.int64]:
    position = {kind: number for number, kind in enumerate(KINDS)}
    known = [position.get(each, -1) if isinstance(each, str) else -1 for each in events]
    found = np.array(known, np.int64)
    if (found < 0).any():
        odd = shorten(events[int((found < 0).argmax())])
        raise DataError(f"'event' of {owner} must be one of {', '.join(KINDS)}, but there is {odd}.")
    return found


def _counts(values: Any, name: str, owner: str) -> NDArray[np.float64]:
    rule = f"'{name}' of {owner} must hold numbers >= 0, at most {LARGEST:g}"
    try:
        counts = np.atleast_1d(np.asarray(values)).astype(np.float64)
    except OverflowError as error:
        raise DataError(f"{rule}, but there is a larger one.") from error
    except (TypeError, ValueError) as error:
        raise DataError(f"'{name}' of {owner} must hold numbers.") from error
    wrong = ~((counts >= 0.0) & (counts <= LARGEST))
    if wrong.any():
        raise DataError(f"{rule}, but there is {counts.flat[int(wrong.argmax())]!s}.")
    return counts


def totals(numbers: NDArray[np.int64], values: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    """Sums of the values with each number, (n,)."""
    return np.bincount(numbers, values, minlength=n).astype(np.float64)


class Cells(NamedTuple):
    """Pairs of a user and an ad that have events, each once.

    user, ad : (n_cells,) numbers; impressions, clicks, conversions : (n_cells,).
    n_mended : clicks that no impression went before; each is counted as an impression too.
    """

    user: NDArray[np.int64]
    ad: NDArray[np.int64]
    impressions: NDArray[np.float64]
    clicks: NDArray[np.float64]
    conversions: NDArray[np.float64]
    n_mended: float

    def take(self, chosen: NDArray[Any]) -> "Cells":
        """Some of the cells."""
        places = (self.user[chosen], self.ad[chosen])
        sums = (self.impressions[chosen], self.clicks[chosen], self.conversions[chosen])
        return Cells(*places, *sums, self.n_mended)

    def factor_table(self, n_users: int, n_ads: int) -> Any:
        """Counts of users x (three events of each ad), CSR."""
        parts = np.concatenate([self.impressions, self.clicks, self.conversions])
        columns = np.concatenate([len(KINDS) * self.ad + kind for kind in range(len(KINDS))])
        places = (np.tile(self.user, len(KINDS)), columns)
        return sparse.csr_array((parts, places), shape=(n_users, len(KINDS) * n_ads))


def cells_of(records: Records, users: Vocabulary, ads: Vocabulary) -> Cells:
    """Sums over records with the same user and ad; unknown ones are numbered -1 and kept apart from no one."""
    user, ad = users.numbers(records.user), ads.numbers(records.ad)
    key = (user + 1) * (len(ads) + 1) + ad + 1
    keys, cell = np.unique(key, return_inverse=True)
    shown, clicks, conversions = (
        totals(cell[records.kind == kind], records.counts[records.kind == kind], keys.size)
        for kind in range(len(KINDS))
    )
    impressions = np.maximum(shown, clicks)
    n_mended = float((impressions - shown).sum())
    user, ad = keys // (len(ads) + 1) - 1, keys % (len(ads) + 1) - 1
    return Cells(user, ad, impressions, clicks, conversions, n_mended)
