"""Give a command options that it gets as one dict, declared once for all commands that have them."""

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Any

Command = Callable[..., None]


def gathers(
    argument: str, added: Mapping[str, Any], as_dict: Callable[[Mapping[str, Any]], dict[str, Any]]
) -> Callable[[Command], Command]:
    """Return a decorator that adds options to a command.

    Parameters
    ----------
    argument : str
        What the command calls the dict.
    added : dict
        Name of an option to its type with what Typer must know.
    as_dict : callable
        Makes the dict from the values; None is what was not given.

    Returns
    -------
    callable
        Decorator of a command that takes `argument`.
    """

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def run(**values: Any) -> None:
            given = {name: values.pop(name) for name in added}
            command(**values, **{argument: as_dict(given)})

        own = [each for each in inspect.signature(command).parameters.values() if each.name != argument]
        more = [
            inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind)
            for name, kind in added.items()
        ]
        run.__signature__ = inspect.Signature([*own, *more])  # type: ignore[attr-defined]  # typer reads it
        run.__annotations__ = {each.name: each.annotation for each in [*own, *more]}
        return run

    return decorate


def what_was_given(values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are not None.

    Examples
    --------
    >>> what_was_given({"row": "ad", "feature": None})
    {'row': 'ad'}
    """
    return {name: value for name, value in values.items() if value is not None}
