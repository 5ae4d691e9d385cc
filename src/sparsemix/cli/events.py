"""Tables of events, and of pairs of a user and an ad, as a command was given them."""

import re
from collections.abc import Mapping
from typing import Any

from sparsemix.cli.inputs import Source
from sparsemix.cli.progress import waiting
from sparsemix.cli.table_options import columns_by_option
from sparsemix.foundation.errors import DataError, ParameterError

COLUMNS = {name: name for name in ("user", "ad", "event")}
COUNT = "count"
PAIR_COLUMNS = {name: name for name in ("user", "ad")}
_OPTION_OF_EVENTS = re.compile(r"(?:'|--)(user|ad)(?:' of read_table)?(?= .*must be )")
_NOT_OF_EVENTS = ("row", "feature", "delimiter", "group", "label")


def events_of(source: Source, named: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns user, ad, event and, if there is one, count of a table of events.

    Parameters
    ----------
    source : Source
    named : dict of str to str
        Columns that were named; the others are called what they are.

    Raises
    ------
    ParameterError
        When a column does not exist, or an option is not for tables of events.
    DataError
        When the table cannot be read, or a value is missing or no id or count.
    """
    from sparsemix.data.event_tables import has_column

    form = _form(source)
    wanted = COLUMNS | dict(named)
    if COUNT in form:
        wanted[COUNT] = form.pop(COUNT)
    elif has_column(source.path, COUNT, **form):
        wanted[COUNT] = COUNT
    return _read(source, wanted, form)


def pairs_of(source: Source, named: Mapping[str, str]) -> dict[str, Any]:
    """Return the columns user and ad of a table; `named` and errors as with `events_of`, but for other options."""
    try:
        return _read(source, PAIR_COLUMNS | dict(named), _form(source))
    except (ParameterError, DataError) as error:
        told = _OPTION_OF_EVENTS.sub(r"--\1-column", str(error), count=1)
        raise type(error)(told) from error


def _form(source: Source) -> dict[str, Any]:
    form = dict(source.reading)
    for name in _NOT_OF_EVENTS:
        if name in form:
            raise ParameterError(f"--{name} is not for tables of events. Name columns with --user and --ad.")
    return form


def _read(source: Source, columns: Mapping[str, str], form: Mapping[str, Any]) -> dict[str, Any]:
    from sparsemix.data.event_tables import read_events

    with waiting(f"Reading {source.path}", quiet=source.quiet), columns_by_option(columns):
        return read_events(source.path, columns, **form)
