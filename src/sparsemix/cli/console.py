"""Print: results to stdout, everything else to stderr."""

import json
import sys
from contextlib import nullcontext
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

_WIDTH_OF_PIPES = 120
_LONGEST = 60  # characters of a name in a table or a sentence


def note(message: str, *, quiet: bool = False) -> None:
    """Write one line to stderr, unless `quiet`."""
    if not quiet:
        sys.stderr.write(f"{plain(message)}\n")
        sys.stderr.flush()


def show(*parts: "RenderableType") -> None:
    """Write tables and text to stdout."""
    from rich.text import Text

    if isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="replace")  # letters that the terminal lacks are no reason to fail
    console = _console()
    with nullcontext() if sys.stdout.isatty() else console.capture() as captured:
        for part in parts:
            console.print(part, soft_wrap=isinstance(part, str | Text))
    if captured is not None:
        sys.stdout.writelines(f"{line.rstrip(' ')}\n" for line in captured.get().split("\n")[:-1])


def show_json(value: Any) -> None:
    """Write a value as JSON to stdout; what is not a number becomes null, as JSON knows no other way."""
    is_unicode = "utf" in (sys.stdout.encoding or "").lower()
    text = json.dumps(_strict(value), indent=2, ensure_ascii=not is_unicode, allow_nan=False)
    sys.stdout.write(f"{text}\n")


def plain(text: object) -> str:
    """Return text in which no character steers the terminal.

    Examples
    --------
    >>> plain("red" + chr(27) + "[31m")
    'red�[31m'
    """
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in str(text))


def brief(text: object) -> str:
    """Return `plain` text of a name, cut where it is too long to be read.

    Examples
    --------
    >>> brief("red shoes"), len(brief("x" * 1_000_000)), brief("x" * 61)[-3:]
    ('red shoes', 60, 'xx…')
    """
    whole = str(text)
    return plain(whole if len(whole) <= _LONGEST else f"{whole[: _LONGEST - 1]}…")


def _console() -> "Console":
    from rich.console import Console

    width = None if sys.stdout.isatty() else _WIDTH_OF_PIPES
    return Console(markup=False, highlight=False, emoji=False, width=width)


def _strict(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _strict(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_strict(item) for item in value]
    if isinstance(value, float) and not float("-inf") < value < float("inf"):
        return None
    return value
