"""The command line: parse, call the library, print."""

import signal
import sys
from collections.abc import Sequence

STOPPED_BY_USER = "sparsemix: error: stopped; no file is left half written."


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program ``sparsemix`` and return its exit code.

    Parameters
    ----------
    arguments : sequence of str, optional
        What stands after the program's name; by default what the shell gave.

    Returns
    -------
    int
        0 success, 1 trouble with data or a model file, 2 wrong usage or parameter, 130 stopped by the user.
    """
    try:
        from sparsemix.cli.app import run

        return run(arguments)
    except KeyboardInterrupt:  # while the program was loaded, or once more while it was about to stop
        sys.stderr.write(f"{STOPPED_BY_USER}\n")
        return 130
    finally:
        if arguments is None:
            signal.signal(signal.SIGINT, signal.SIG_IGN)  # nothing is left to stop but the end of the process
