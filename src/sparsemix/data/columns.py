"""Which column plays which role: checks, and guesses where there is one obvious choice."""

import difflib
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from sparsemix.foundation.errors import ParameterError, listed, parameter_error, shorten

ROLES = ("row", "feature", "count", "time", "group", "label")

ROW_WORDS = (
    "row",
    "ad",
    "advertisement",
    "document",
    "doc",
    "user",
    "article",
    "basket",
    "transaction",
    "id",
)
FEATURE_WORDS = ("feature", "keyword", "word", "term", "token", "tag", "item", "interest")
COUNT_NAMES = (
    "count",
    "counts",
    "n",
    "times",
    "quantity",
    "qty",
    "frequency",
    "freq",
    "occurrences",
)
RECORD_NUMBER = "(record number)"


@dataclass(frozen=True)
class Roles:
    """Columns by role.

    Attributes
    ----------
    columns : dict of str to str
        Role to name of its column. Without ``"row"`` the records are the rows.
    guessed : dict of str to str
        The part of it that was guessed.
    unused_counts : tuple of str
        Columns that have a name for counts and no role.
    """

    columns: dict[str, str]
    guessed: dict[str, str]
    unused_counts: tuple[str, ...] = ()

    def with_count(self, name: str) -> "Roles":
        """Return the roles with a column that was guessed to hold the counts."""
        return Roles({**self.columns, "count": name}, {**self.guessed, "count": name})


def check_columns(requested: Mapping[str, str], available: Sequence[str]) -> None:
    """Check that every requested column exists and that row and feature differ.

    Raises
    ------
    ParameterError
        The message lists the columns that exist.
    """
    for role, name in requested.items():
        if name not in available:
            close = difflib.get_close_matches(str(name), available, n=1, cutoff=0.5)
            hint = f"Did you mean {shorten(close[0])}?" if close else _separator_hint(available)
            raise parameter_error(role, "read_table", f"one of the columns ({listed(available)})", name, hint)
    row = requested.get("row")
    if row is not None and row == requested.get("feature"):
        raise ParameterError(
            f"'row' of read_table must be another column than feature=, but both are {shorten(row)}."
        )


def assign_roles(requested: Mapping[str, str], available: Sequence[str], rows_may_be_records: bool) -> Roles:
    """Check the requested columns, and guess row and feature where they are missing.

    Parameters
    ----------
    requested : dict of str to str
        Role to column, for the roles that the caller named.
    available : sequence of str
        Columns of the table.
    rows_may_be_records : bool
        Whether each record may be a row (basket form), if no column looks like a row id.

    Raises
    ------
    ParameterError
        If a column does not exist, or there is no obvious choice; the message lists the columns.
    """
    check_columns(requested, available)
    free = [name for name in available if name not in requested.values()]
    wanted = [role for role in ("row", "feature") if role not in requested]
    guessed = _guess(wanted, [name for name in free if not looks_like_count(name)], rows_may_be_records)
    if len(guessed) < len(wanted):
        guessed = _guess(wanted, free, rows_may_be_records)
    if len(guessed) < len(wanted):
        missing = " and ".join(f"{role}=" for role in wanted if role not in guessed)
        raise ParameterError(
            f"There is no one obvious choice for {missing}. "
            f"Name the columns; the table has {listed(available)}. {_separator_hint(available)}".rstrip()
        )
    ordered = {role: guessed[role] for role in wanted}
    named = {role: name for role, name in ordered.items() if name != RECORD_NUMBER}
    columns = {**requested, **named}
    unused = [name for name in available if looks_like_count(name) and name not in columns.values()]
    return Roles(columns, ordered, () if "count" in columns else tuple(unused))


def guess_row(names: Sequence[str]) -> str | None:
    """Return the one column that looks like one of row ids, or None.

    Examples
    --------
    >>> guess_row(["size", "ad"]), guess_row(["size", "flatId"]), guess_row(["size", "price"])
    ('ad', 'flatId', None)
    """
    ids = [name for name in names if _plain(name).endswith("_id")]
    return ids[0] if len(ids) == 1 else _obvious("row", names, ROW_WORDS)


def looks_like_count(name: str) -> bool:
    """Whether a column is called what columns of counts are called.

    Examples
    --------
    >>> looks_like_count("Count"), looks_like_count("n"), looks_like_count("country")
    (True, True, False)
    """
    return _plain(name) in COUNT_NAMES


def looks_like_list(name: str) -> bool:
    """Whether the name of a column of features is a plural.

    Examples
    --------
    >>> looks_like_list("keywords"), looks_like_list("keyword")
    (True, False)
    """
    plain = _plain(name)
    return plain.endswith("s") and _stem(name) in FEATURE_WORDS


def _guess(wanted: Collection[str], free: Sequence[str], rows_may_be_records: bool) -> dict[str, str]:
    """Guess the wanted roles among the free columns; a role without an obvious choice is left out."""
    words = {"row": ROW_WORDS, "feature": FEATURE_WORDS}
    guessed: dict[str, str] = {}
    for role in wanted:
        found = _obvious(role, free, words[role])
        if found is not None:
            guessed[role] = found
    rest = [name for name in free if name not in guessed.values()]
    open_roles = [role for role in wanted if role not in guessed]
    if "row" in open_roles and rows_may_be_records:
        guessed["row"] = RECORD_NUMBER
    elif len(free) == len(wanted):
        guessed |= dict(zip(open_roles, rest, strict=True))
    return guessed


def _obvious(role: str, names: Sequence[str], words: Sequence[str]) -> str | None:
    """Return the one column that fits; of ``tag`` and ``tag_id`` a row takes the id, a feature the name."""
    found = _candidates(names, words)
    if len({_stem(name) for name in found}) != 1:
        return None
    ids = [name for name in found if _plain(name).endswith("id")]
    preferred = ids if role == "row" else [name for name in found if name not in ids]
    chosen = preferred or found
    return chosen[0] if len(chosen) == 1 else None


def _candidates(names: Sequence[str], words: Sequence[str]) -> list[str]:
    return [name for name in names if _stem(name) in words]


def _stem(name: str) -> str:
    """Reduce a name to its word: ``Ad ID``, ``adId`` and ``ads`` to ``ad``."""
    plain = _plain(name)
    if plain == "id":
        return plain
    return plain.removesuffix("_id").removesuffix("id").rstrip("_").removesuffix("s")


def _plain(name: str) -> str:
    spaced = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", name.strip())
    return re.sub(r"[^a-z0-9]+", "_", spaced.lower()).strip("_")


def _separator_hint(available: Sequence[str]) -> str:
    if len(available) != 1:
        return ""
    found = next((sign for sign in (";", "\t", "|", ",") if sign in available[0]), None)
    return "" if found is None else f"If the values are separated by {found!r}, pass separator={found!r}."
