"""The command line: parse, call the library, print."""

from collections.abc import Sequence


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
    from sparsemix.cli.app import run

    return run(arguments)
