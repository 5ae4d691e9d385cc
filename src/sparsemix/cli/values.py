"""What is wrong with a value on the command line, in the words that the library has for its parameters."""

import re
from typing import Any

from sparsemix.foundation.errors import shorten

_BOUNDS = {
    "greater_than": ("above", "gt"),
    "greater_than_equal": ("at least", "ge"),
    "less_than": ("below", "lt"),
    "less_than_equal": ("at most", "le"),
}
_KINDS = {"int": "an integer", "float": "a number", "bool": "true or false"}
_CHOICES = re.compile(r"is not (one of .+?)\.?$")


def rule_broken(error: Any) -> str:
    """Return the sentence about a value that Typer refuses; "" if it is about anything else.

    Parameters
    ----------
    error : BadParameter
        Its cause knows the value and the rule.

    Returns
    -------
    str
        Without a remedy.
    """
    cause = error.__cause__
    if getattr(error, "param", None) is None or not hasattr(cause, "errors"):
        return ""
    found = cause.errors()[0]
    bound, choices = _BOUNDS.get(found["type"]), _CHOICES.search(found["msg"])
    if bound is not None:
        words, name = bound
        limit, given = str(found["ctx"][name]).removesuffix(".0"), shorten(found["input"]).strip("'")
        return f"{_name_of(error.param)} must be {words} {limit}, but it is {given}."
    if choices is not None:
        rule = choices[1]
    elif (kind := found["type"].partition("_")[0]) in _KINDS:
        rule = _KINDS[kind]
    else:
        return ""
    return f"{_name_of(error.param)} must be {rule}, but it is {shorten(found['input'])}."


def _name_of(parameter: Any) -> str:
    """What the user calls an option, or an argument."""
    longest = max(parameter.opts, key=len)
    return longest if longest.startswith("-") else str(parameter.metavar or longest)
