"""The program: its commands, and what becomes of errors."""

import sys
import traceback
import warnings
from collections.abc import Sequence
from typing import Annotated

import typer

from sparsemix import __version__
from sparsemix.cli import commands
from sparsemix.cli.console import note
from sparsemix.cli.errors import STOPPED, StoppedError, exit_code, one_line
from sparsemix.cli.stopping import remembering_ctrl_c
from sparsemix.foundation.errors import UnknownFeaturesWarning

PROGRAM = "sparsemix"

app = typer.Typer(
    name=PROGRAM,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    help="Cluster ads by their keywords, see what the clusters are about, and get more keywords for an ad.",
    epilog=(
        "Start with  sparsemix demo,  or with your own table:\n\n"
        "sparsemix fit ads.csv -o ads.smx\n\n"
        "sparsemix suggest ads.smx --keyword 'window cleaning'\n\n"
        "Exit codes: 0 success, 1 trouble with data or a model file, 2 wrong usage, 130 stopped by Ctrl-C."
    ),
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"{PROGRAM} {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", help="Show the version.", callback=_show_version, is_eager=True)
    ] = False,
    debug: Annotated[
        bool,
        typer.Option("--debug", help="Show the whole trace of an error; works in any place of the line."),
    ] = False,
) -> None:
    """Take the options of the program itself."""


for _name, _command, _examples in commands.ALL:
    app.command(_name, epilog=f"Examples:\n\n{_examples}")(_command)


def run(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code; errors become one line on stderr.

    Parameters
    ----------
    arguments : sequence of str, optional
        By default what the shell gave.

    Returns
    -------
    int
    """
    given = list(sys.argv[1:] if arguments is None else arguments)
    words = [word for word in given if word != "--debug"]
    with remembering_ctrl_c() as was_pressed, warnings.catch_warnings():
        warnings.simplefilter("ignore", UnknownFeaturesWarning)  # commands count such rows themselves
        warnings.showwarning = lambda message, *_where: note(f"warning: {message}")
        try:
            code = int(app(words or ["--help"], prog_name=PROGRAM, standalone_mode=False) or 0)
            if code == STOPPED:  # Typer swallows the exception
                raise KeyboardInterrupt
            return code
        except (Exception, KeyboardInterrupt) as error:
            if "--debug" in given:
                traceback.print_exception(error)
            # Libraries turn Ctrl-C into errors of their own.
            is_stopped = was_pressed() and not isinstance(error, StoppedError)
            return _tell(KeyboardInterrupt() if is_stopped else error, is_told="--debug" in given)


def _tell(error: BaseException, *, is_told: bool) -> int:
    """Write an error to stderr in one line, unless it is told already, and return its exit code."""
    if not is_told and (message := one_line(error, PROGRAM)):
        sys.stderr.write(f"{message}\n")
    return exit_code(error)
