"""What an error means to the shell: one line and an exit code."""

import os
import re
import shlex
import sys

from sparsemix.cli import STOPPED_BY_USER
from sparsemix.cli.factor_options import EVENT_OPTIONS, FACTOR_OPTIONS
from sparsemix.cli.sampling_options import SAMPLING_OPTIONS
from sparsemix.cli.table_options import TABLE_OPTIONS
from sparsemix.cli.time_options import TIME_OPTIONS
from sparsemix.cli.values import rule_broken
from sparsemix.foundation.errors import ParameterError, SparsemixError

TROUBLE, USAGE, STOPPED = 1, 2, 130

_OTHERS = (
    "n_components binarize clutter priming_rows reservoir_rows half_life_rows n_passes batch_rows "
    "min_rows_per_feature max_features_per_row output "
    "component level completeness keyword reject by title model algorithm smoothing unlabeled_weight n_init max_iter "
    "n_jobs held_out clusters features data_sets table min_messages max_share late"
)
_OPTIONS = {
    name: f"--{name.replace('_', '-')}"
    for name in [
        *TABLE_OPTIONS,
        *SAMPLING_OPTIONS,
        *TIME_OPTIONS,
        *FACTOR_OPTIONS,
        *EVENT_OPTIONS,
        *_OTHERS.split(),
    ]
}
_OPTIONS |= {"random_state": "--seed", "rows": "--batch-rows", "n": "-n", "times": "--time"}

# How the library's messages name arguments: ``feature=``, ``format='csv'``, and ``'level' of suggest must be``.
_SET = "|".join([*TABLE_OPTIONS, "proposal", "late"])
_ARGUMENT = re.compile(rf"(?<![\w'\"-])({_SET})=(?:'([^']*)'|(None)|(?=[\s,.)]|$))")
_RULE = re.compile(rf"'({'|'.join(_OPTIONS)})' of [\w. -]+? must( be None for)?(.*)")


# What the library takes and no command line can hold, and what stands there instead.
_NOT_TYPED = {
    " or None, but": ", but",
    " be None or ": " be ",
    " or an array of clusters, one for each row, but": ", but",
    " n_sweeps - 1, which": " one less than --n-sweeps, which",
    ", as a number, a timedelta, or text such as ": ", such as ",
}


class StoppedError(Exception):
    """The user has stopped the work and has been told what becomes of it."""

    exit_code = STOPPED


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
    if isinstance(error, KeyboardInterrupt):
        return STOPPED
    return int(getattr(error, "exit_code", TROUBLE))


def one_line(error: BaseException, program: str) -> str:
    """Return what to tell the user, on one line; nothing when all is said or nobody listens any more.

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
    'sparsemix: error: -n must be >= 1.'
    """
    if isinstance(error, StoppedError):
        return ""
    if isinstance(error, KeyboardInterrupt):
        return STOPPED_BY_USER
    if isinstance(error, BrokenPipeError):
        _forget_output()
        return ""
    message = re.sub(r"(?<=[\w)])\.\.(?=\s|$)", ".", " ".join(_message(error, program).split()))
    return f"{program}: error: {in_options(message)}"


def in_options(message: str) -> str:
    """Return a message of the library with options of the command line in the place of arguments.

    Examples
    --------
    >>> in_options("'random_state' of fit must be an integer, but it is 'x'. Or pass format='csv' and quote=None.")
    "--seed must be an integer, but it is 'x'. Or pass --format csv and --quote none."
    """
    return _ARGUMENT.sub(_as_option, _RULE.sub(_as_rule, message))


def _as_rule(found: re.Match[str]) -> str:
    rest = found[3]
    for words, instead in _NOT_TYPED.items():
        rest = rest.replace(words, instead)
    return f"{_OPTIONS[found[1]]} must{' be left out for' if found[2] else ''}{rest}"


def _as_option(found: re.Match[str]) -> str:
    name, text, nothing = found.groups()
    value = f" {shlex.quote(text)}" if text is not None else " none" if nothing else ""
    return f"{_OPTIONS[name]}{value}"


def _message(error: BaseException, program: str) -> str:
    if isinstance(error, SparsemixError):
        return str(error)
    if hasattr(error, "format_message"):
        message = rule_broken(error) or error.format_message().strip()
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
