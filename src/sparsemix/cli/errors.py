"""What an error means to the shell: one line and an exit code."""

import os
import re
import sys

import typer

from sparsemix.foundation.errors import ParameterError, SparsemixError

TROUBLE, USAGE, STOPPED = 1, 2, 130

# How the library's messages name an argument, such as ``feature=``.
_ARGUMENT = re.compile(r"(?<![\w-])(row|feature|count|group|label|delimiter)=(?=[\s,.)]|$)")


def exit_code(error: BaseException) -> int:
    """Return 2 for wrong usage, 130 for a stop by the user, and 1 for anything else.

    Parameters
    ----------
    error : exception

    Returns
    -------
    int

    Examples
    --------
    >>> exit_code(ParameterError("'n' must be >= 1")), exit_code(FileNotFoundError())
    (2, 1)
    """
    if isinstance(error, ParameterError):
        return USAGE
    if isinstance(error, typer.Abort | KeyboardInterrupt):
        return STOPPED
    return int(getattr(error, "exit_code", TROUBLE))


def one_line(error: BaseException, program: str) -> str:
    """Return what to tell the user, on one line; nothing when nobody listens any more.

    Parameters
    ----------
    error : exception
    program : str

    Returns
    -------
    str

    Examples
    --------
    >>> one_line(ParameterError("'n' of suggest must be >= 1."), "sparsemix")
    "sparsemix: error: 'n' of suggest must be >= 1."
    """
    if isinstance(error, BrokenPipeError):
        _forget_output()
        return ""
    message = " ".join(_message(error, program).split())
    return f"{program}: error: {_ARGUMENT.sub(_as_option, message)}"


def _as_option(match: re.Match[str]) -> str:
    return f"--{match[1].replace('_', '-')}"


def _message(error: BaseException, program: str) -> str:
    if isinstance(error, SparsemixError):
        return str(error)
    if isinstance(error, typer.Abort | KeyboardInterrupt):
        return "stopped; files are as they were before."
    if hasattr(error, "format_message"):
        message = error.format_message().strip()
        return f"{message}{'' if message.endswith(('.', '?')) else '.'} {_help_hint(error, program)}"
    if isinstance(error, OSError) and error.strerror:
        where = f" ({error.filename})" if error.filename else ""
        return f"{error.strerror}{where}."
    if isinstance(error, MemoryError):
        return "out of memory. Stream the table from disk with --batch-rows, or ask for fewer clusters."
    return f"{type(error).__name__}: {error}. This is a fault of {program}; --debug shows where it happened."


def _help_hint(error: BaseException, program: str) -> str:
    context = getattr(error, "ctx", None)
    path = context.command_path if context is not None else program
    return f"See '{path} --help'."


def _forget_output() -> None:
    # The reader of the pipe is gone; without this Python complains again when it flushes at exit.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
