"""The options that say how a table is read, declared once for all commands that read one."""

import csv
import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

from sparsemix.cli import options

_BESIDES = {"count": options.Count, "group": options.Group, "label": options.Label}
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


def takes_table(*besides: str) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Give a command the options of tables; it gets them as one dict `reading`, ready for `read_table`.

    Parameters
    ----------
    *besides : str
        Columns that the command can use besides row and feature: ``"count"``, ``"group"``, ``"label"``.

    Returns
    -------
    callable
        Decorator of a command that takes `reading`.
    """
    added = _COLUMNS | {role: _BESIDES[role] for role in besides} | _FORM

    def decorate(command: Callable[..., None]) -> Callable[..., None]:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in added}
            command(**values, reading=reading_arguments(given))

        own = [each for each in inspect.signature(command).parameters.values() if each.name != "reading"]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in added.items()
        ]
        run.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in [*own, *more]}
        return run

    return decorate


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
    return {name: _PARSE.get(name, str)(text) for name, text in given.items() if text is not None}


def _names(text: str) -> list[str]:
    return next(csv.reader([text], skipinitialspace=True), [])


def _sign(text: str) -> str:
    return text.replace(r"\t", "\t")


def _mark(text: str) -> str | None:
    return None if text == "none" else text


_PARSE: dict[str, Callable[[str], Any]] = {
    "columns": _names,
    "separator": _sign,
    "delimiter": _sign,
    "quote": _mark,
}
