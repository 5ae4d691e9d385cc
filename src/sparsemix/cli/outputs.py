"""Whether a file may be written where the user wants it, found out before the work is done."""

import os
from pathlib import Path

from sparsemix.cli.inputs import Source
from sparsemix.cli.own_files import (
    ASSIGNMENT_COLUMNS,
    RATE_COLUMNS,
    is_model_file,
    is_report,
    is_table_of,
)
from sparsemix.foundation.errors import ParameterError, parameter_error


def check_output(path: Path, source: Source | None = None) -> None:
    """Check that a file can be written and is none of those that are read.

    Parameters
    ----------
    path : Path
    source : Source or None
        The table that the command reads.

    Raises
    ------
    ParameterError
        When the folder is missing, or the path is there and no regular file, or a part of the table.
    PermissionError
        When the folder does not allow it.
    """
    folder = path.absolute().parent
    if not folder.is_dir():
        raise ParameterError(
            f"cannot write {str(path)!r}: the folder {str(path.parent)!r} does not exist. Create it first."
        )
    if path.is_dir():
        raise ParameterError(f"cannot write {str(path)!r}: it is a folder. Give the name of a file.")
    if path.exists() and not path.is_file():
        raise ParameterError(f"cannot write {str(path)!r}: it is no regular file. Give the name of a file.")
    if not os.access(folder, os.W_OK):
        raise PermissionError(13, "Permission denied", str(folder))
    if source is not None and path.exists() and any(path.samefile(file) for file in source.files()):
        raise ParameterError(f"cannot write {str(path)!r}: it is the table to read. Give another --output.")


def check_folder(folder: Path) -> None:
    """Check that a folder for output is there or can be made.

    Raises
    ------
    ParameterError
        When a file is in the way.
    PermissionError
        When the folder, or the one that it would be made in, may not be written to.
    """
    nearest = next(each for each in (folder, *folder.parents) if each.exists())
    if not nearest.is_dir():
        raise ParameterError(f"{str(nearest)!r} is a file. Choose another folder with --out.")
    if not os.access(nearest, os.W_OK):
        raise PermissionError(13, "Permission denied", str(nearest))


def make_folder(folder: Path) -> None:
    """Make a folder for output if it is missing; raises as `check_folder`."""
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)


def check_model_output(path: Path, source: Source | None = None) -> None:
    """Check also that no file of another kind would be replaced by a model.

    Raises
    ------
    ParameterError, PermissionError
        As `check_output`; and when the file is there, holds something and is no model.
    """
    check_output(path, source)
    if path.exists() and path.stat().st_size and not is_model_file(path):
        raise _in_the_way(path, "a model file")


def check_page_output(path: Path, source: Source | None = None) -> None:
    """Check also that no page of somebody else would be replaced by a report.

    Raises
    ------
    ParameterError, PermissionError
        As `check_output`; and when the file is there, holds something and is no report.
    """
    check_output(path, source)
    if path.exists() and path.stat().st_size and not is_report(path):
        raise _in_the_way(path, "a report of sparsemix")


def check_assignments_output(path: Path, source: Source) -> None:
    """Check also the ending of the name, and that no other table would be replaced by assignments.

    Raises
    ------
    ParameterError, PermissionError
        As `check_output`; when the name ends in neither ``.parquet`` nor ``.csv``; when the file is there, holds
        something and is no table of assignments; and when it would lie in the folder that is read.
    """
    _check_table(path, source, "assign", ASSIGNMENT_COLUMNS, "a table of assignments")


def check_rates_output(path: Path, source: Source) -> None:
    """The same for click rates."""
    _check_table(path, source, "ctr", RATE_COLUMNS, "a table of click rates")


def _check_table(path: Path, source: Source, command: str, columns: list[str], what: str) -> None:
    if path.suffix.lower() not in (".parquet", ".csv"):
        remedy = "Use a .csv file to open it in a spreadsheet, .parquet for anything large."
        raise parameter_error(
            "output", command, "a file name that ends in .parquet or .csv", str(path), remedy
        )
    check_output(path, source)
    folder = Path(source.path)
    if folder.is_dir() and folder.resolve() in path.resolve().parents:
        raise ParameterError(
            f"{str(path)!r} would be a part of the table in {source.path!r}. Choose another folder."
        )
    if path.exists() and path.stat().st_size and not is_table_of(path, columns):
        raise _in_the_way(path, what)


def _in_the_way(path: Path, what: str) -> ParameterError:
    return ParameterError(f"{str(path)!r} exists and is not {what}. Give another name, or remove it first.")
