"""The errors that users meet: each says the parameter, the rule, the value and the remedy."""

from collections.abc import Sequence


class SparsemixError(Exception):
    """Base of every error that sparsemix raises on purpose."""


class ParameterError(SparsemixError, ValueError):
    """A parameter breaks its rule."""


class DataError(SparsemixError, ValueError):
    """Input data cannot be used as they are."""


class ModelFileError(SparsemixError, ValueError):
    """A model file is damaged, foreign or too new."""


class MissingExtraError(SparsemixError, ImportError):
    """A library is not installed that only some installations need; the message names the extra that brings it."""


class ClusterError(SparsemixError, RuntimeError):
    """The machines or processes that were to do the work cannot be reached, or were lost again and again."""


class UnknownFeaturesWarning(UserWarning):
    """Some rows hold features, but none that the model knows, so answers for them are hardly more than a guess."""


def parameter_error(name: str, owner: str, rule: str, value: object, remedy: str = "") -> ParameterError:
    """Build the one wording of a broken parameter.

    Parameters
    ----------
    name, owner : str
        The parameter and the class or function that takes it.
    rule : str
        What holds for good values, such as ``"an integer >= 1"``.
    value : object
        What was given; long values are cut.
    remedy : str, optional
        One sentence on what to do instead.

    Returns
    -------
    ParameterError

    Examples
    --------
    >>> print(parameter_error("n", "suggest", "an integer >= 1", 0, "Ask for at least one."))
    'n' of suggest must be an integer >= 1, but it is 0. Ask for at least one.
    """
    shown = shorten(value)
    message = f"'{name}' of {owner} must be {rule}, but it is {shown}."
    return ParameterError(f"{message} {remedy}".rstrip())


def shorten(value: object, width: int = 80) -> str:
    """Return ``repr(value)`` on one line of at most `width` characters.

    Examples
    --------
    >>> shorten("x" * 100, width=10)
    "'xxxxx…"
    """
    try:
        text = repr(value)
    except ValueError:  # an integer of more digits than Python writes
        text = f"<{type(value).__name__} too long to show>"
    text = " ".join(text.split()).encode("utf-8", "backslashreplace").decode()
    return text if len(text) <= width else text[: width - 4] + "…"


def listed(values: Sequence[object], most: int = 20) -> str:
    """Return the first values, each shortened, and how many more there are; "none" if there are none.

    Examples
    --------
    >>> listed(["red", "blue"]), listed(range(9), most=2), listed([])
    ("'red', 'blue'", '0, 1 and 7 more', 'none')
    """
    shown = ", ".join(shorten(value, 40) for value in values[:most])
    more = len(values) - most
    return (f"{shown} and {more:,} more" if more > 0 else shown) or "none"
