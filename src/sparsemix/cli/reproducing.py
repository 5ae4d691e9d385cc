"""Run the experiments of a paper, write what they find, and print its tables."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparsemix.cli.console import note, show, show_json
from sparsemix.cli.inputs import open_source
from sparsemix.cli.outputs import check_folder, make_folder
from sparsemix.cli.own_files import is_reproduction
from sparsemix.cli.tables import results_table
from sparsemix.foundation.errors import ParameterError, parameter_error
from sparsemix.reproduction import Table, Wish, check_plotly, results_of, write_result


def reproduce_paper(paper: str, wish: Wish, out: Path, *, json: bool, quiet: bool) -> None:
    """Write CSV and pages to a folder, each result as soon as it is found.

    Parameters
    ----------
    paper : str
    wish : Wish
        How large the experiments shall be.
    out : Path
        A folder, which is made when it is missing and there is something to write.
    json : bool
        Print the names of the files and the results as JSON in the place of tables.
    quiet : bool

    Raises
    ------
    MissingExtraError
        When Plotly is not installed.
    ParameterError
        When a size breaks its rule, or a table or page is in the folder that this command has not written.
    """
    check_plotly()
    check_folder(out)
    _check_free(out)
    found = []
    for result in results_of(paper, wish, lambda message: note(message, quiet=quiet)):
        make_folder(out)
        files = [str(path) for path in write_result(result, out)]
        found.append({"files": files, **result._asdict()})
        if isinstance(result, Table) and not json:
            show(result.title, "", results_table(result.columns, result.rows), "")
    if json:
        show_json({"paper": paper, "results": found})
    else:
        show("Written:", *(f"  {path}" for each in found for path in each["files"]))


def with_table(wish: Wish, table: str | None, reading: Mapping[str, Any], *, quiet: bool) -> Wish:
    """Return a wish with the ads of a table, if one was given.

    Raises
    ------
    ParameterError
        When there are options for reading a table and no table.
    """
    if table is not None:
        return wish._replace(ads=open_source(table, reading, quiet=quiet).read())
    for name, value in reading.items():
        raise parameter_error(name, "reproduce", "None for made-up ads", value, "Give --table, too.")
    return wish


def _check_free(folder: Path) -> None:
    for path in sorted([*folder.glob("*.csv"), *folder.glob("*.html")]):
        if not is_reproduction(path):
            raise ParameterError(
                f"{str(path)!r} is no file of 'sparsemix reproduce'. Give a folder of its own with --out."
            )
