"""The columns that several files have in common, and what to say of those that they have not."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from sparsemix.foundation.errors import DataError, listed, shorten

Headers = Mapping[Path, Sequence[str]]


def common_columns(headers: Headers) -> list[str]:
    """Return the names that all files have, in the order of the first file.

    Examples
    --------
    >>> common_columns({Path("a.csv"): ["ad", "word"], Path("b.csv"): ["word", "other", "ad"]})
    ['ad', 'word']
    """
    first, *others = headers.values()
    return [name for name in first if all(name in other for other in others)]


def difference(headers: Headers) -> str:
    """Return a sentence about the first file whose columns are others than those of the first, or "".

    A file that lacks a column comes before one that has more.

    Examples
    --------
    >>> difference({Path("a.csv"): ["ad", "word"], Path("b.csv"): ["ad", "x"]})
    "Only columns that all files have are read: a.csv has 'ad', 'word', but b.csv has 'ad', 'x'."
    """
    if not headers:
        return ""
    start = next(iter(headers))
    others = [file for file in headers if set(headers[file]) != set(headers[start])]
    if not others:
        return ""
    other = min(others, key=lambda file: set(headers[start]) <= set(headers[file]))
    return (
        f"Only columns that all files have are read: {start} has {listed(headers[start])}, "
        f"but {other} has {listed(headers[other])}."
    )


def check_names_once(names: Sequence[str], wanted: Collection[str], source: object) -> None:
    """Raise DataError if a wanted column stands several times."""
    for name in wanted:
        if names.count(name) > 1:
            raise DataError(f"{source} has {names.count(name)} columns named {shorten(name)}. Rename them.")
