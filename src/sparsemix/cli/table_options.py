"""The options that say how a table is read, declared once for all commands that read one."""

import csv
import io
import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from sparsemix.cli import options
from sparsemix.cli.gathering import Command, gathers, what_was_given
from sparsemix.foundation.errors import DataError

_BESIDES = {"count": options.Count, "group": options.Group, "label": options.Label, "time": options.Time}
_COLUMNS = {"row": options.Row, "feature": options.Feature}
_FORM = {
    "delimiter": options.Delimiter,
    "format": options.Format,
    "columns": options.Columns,
    "separator": options.Separator,
    "quote": options.Quote,
}
TABLE_OPTIONS = (*_COLUMNS, *_BESIDES, *_FORM)
"""Their names, as `read_table` has them."""

_BAD_VALUE = re.compile(r"(?<=: )'(\w+)' (?=must be )")  # after the place where it stands


def takes_table(*besides: str) -> Callable[[Command], Command]:
    """Give a command the options of tables; it gets them as one dict `reading`, ready for `read_table`.

    Parameters
    ----------
    *besides : str
        Columns that the command can use besides row and feature: ``"count"``, ``"group"``, ``"label"``, ``"time"``.

    Returns
    -------
    callable
        Decorator of a command that takes `reading`.
    """
    added = _COLUMNS | {role: _BESIDES[role] for role in besides} | _FORM
    return gathers("reading", added, reading_arguments)


def takes_form(command: Command) -> Command:
    """Give a command the options of a table's layout alone; it gets them as one dict `reading`."""
    form = {name: kind for name, kind in _FORM.items() if name != "delimiter"}
    return gathers("reading", form, reading_arguments)(command)


def reading_arguments(given: Mapping[str, str | None]) -> dict[str, Any]:
    r"""Turn what was typed into arguments of `read_table`; what was not given is left out.

    Parameters
    ----------
    given : dict of str to str or None
        Name of an option to its text.

    Returns
    -------
    dict

    Examples
    --------
    >>> reading_arguments({"row": "ad", "feature": None, "columns": "ad, keyword", "separator": r"\t", "quote": "none"})
    {'row': 'ad', 'columns': ['ad', 'keyword'], 'separator': '\t', 'quote': None}
    """
    return {name: _PARSE.get(name, str)(text) for name, text in what_was_given(given).items()}


def typed(reading: Mapping[str, Any]) -> list[str]:
    r"""Return the words of a command line that stand for arguments of `read_table`.

    Examples
    --------
    >>> typed({"row": "ad", "columns": ["ad", "keyword"], "separator": "\t", "quote": None})
    ['--row', 'ad', '--columns', 'ad,keyword', '--separator', '\\t', '--quote', 'none']
    """
    return [word for name, value in reading.items() for word in (f"--{name}", _typed(value))]


def _typed(value: Any) -> str:
    if value is None:
        return "none"
    if isinstance(value, list):
        text = io.StringIO()
        csv.writer(text).writerow(value)
        return text.getvalue().rstrip("\r\n")
    return str(value).replace("\t", r"\t")


@contextmanager
def columns_by_option(columns: Mapping[str, Any]) -> Iterator[None]:
    """Name the columns of bad values by their options, as the library names them by its arguments.

    Parameters
    ----------
    columns : dict of str to str
        Option to the name of its column; where none is named, the option stands alone.

    Raises
    ------
    DataError
        The one that was raised inside, in other words.

    Examples
    --------
    >>> with columns_by_option({"count": "n"}):
    ...     raise DataError("ads.csv, line 2: 'count' must be a whole number >= 0.")
    Traceback (most recent call last):
    sparsemix.foundation.errors.DataError: ads.csv, line 2: --count n must be a whole number >= 0.
    """

    def by_option(found: re.Match[str]) -> str:
        column = columns.get(found[1])
        return f"--{found[1]} " if column is None else f"--{found[1]} {shlex.quote(column)} "

    try:
        yield
    except DataError as error:
        raise DataError(_BAD_VALUE.sub(by_option, str(error), count=1)) from error


def names_in(text: str) -> list[str]:
    """Return names with commas between them; one that holds a comma stands in quotation marks.

    Examples
    --------
    >>> names_in('size, "price, net"')
    ['size', 'price, net']
    """
    return next(csv.reader([text], skipinitialspace=True), [])


def _sign(text: str) -> str:
    return text.replace(r"\t", "\t")


def _mark(text: str) -> str | None:
    return None if text == "none" else text


_PARSE: dict[str, Callable[[str], Any]] = {
    "columns": names_in,
    "separator": _sign,
    "delimiter": _sign,
    "quote": _mark,
}
